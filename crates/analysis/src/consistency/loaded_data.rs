//! Whether all contenders began with the same data, by the checksums of every table after loading.

use crate::findings::{ContenderValue, Finding, TableSums, What};
use crate::gathered::joined;
use crate::groups;
use crate::validity;
use record::check::{CheckResult, Verdict};
use record::run::{Run, StoredTrial};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The loaded data of all contenders under the same scenario and swept values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedData {
    pub coordinates: String,
    /// Contenders whose checksums are known.
    pub contenders: Vec<String>,
    /// Tables for which each of these contenders has a checksum.
    pub tables: u32,
    /// Tables that differ; empty if all data are equal.
    pub differing: Vec<TableSums>,
}

pub fn all(run: &Run) -> Vec<LoadedData> {
    let groups = groups::of_plan(&run.plan).into_iter();
    let compared = groups.map(|group| {
        let sums = group.cells.iter().map(|cell| (cell.contender.as_str(), of_cell(run, cell.id)));
        side_by_side(group.coordinates, &sums.filter(|(_, sums)| !sums.is_empty()).collect::<Vec<_>>())
    });
    compared.filter(|data| !data.contenders.is_empty()).collect()
}

/// Each table's number of rows and checksum, as text; several are joined if they differ.
type Checksums<'a> = BTreeMap<&'a str, String>;

/// The checksums of the data that a cell's measured machines began with; a machine that is not measured may have other data.
pub fn of_cell(run: &Run, cell: u32) -> Checksums<'_> {
    let machines = validity::trials_of(run, cell).flat_map(StoredTrial::measured_machines);
    joined(machines.flat_map(|(_, machine)| machine.findings.iter().filter_map(checksum)), " or ")
}

/// A table's name, and what was seen of it.
pub fn checksum(finding: &CheckResult) -> Option<(&str, &str)> {
    let seen = match &finding.verdict {
        Verdict::Holds { seen } => seen.as_deref()?,
        Verdict::Violated { seen } => seen,
        Verdict::Undecided { .. } => return None,
    };
    Some((finding.checksum_of()?, seen))
}

fn side_by_side(coordinates: String, sums: &[(&str, Checksums<'_>)]) -> LoadedData {
    let names: BTreeSet<&str> = sums.iter().flat_map(|(_, tables)| tables.keys().copied()).collect();
    let (mut tables, mut differing) = (0, Vec::new());
    for name in names {
        let of_table: Vec<Option<&String>> = sums.iter().map(|(_, tables)| tables.get(name)).collect();
        tables += u32::from(of_table.iter().all(Option::is_some));
        if of_table.windows(2).any(|pair| pair[0] != pair[1]) {
            let mut table = TableSums { table: name.to_owned(), sums: Vec::new(), without: Vec::new() };
            for ((contender, _), sum) in sums.iter().zip(of_table) {
                let contender = (*contender).to_owned();
                match sum {
                    Some(sum) => table.sums.push(ContenderValue { contender, value: sum.clone() }),
                    None => table.without.push(contender),
                }
            }
            differing.push(table);
        }
    }
    let contenders = sums.iter().map(|(contender, _)| (*contender).to_owned()).collect();
    LoadedData { coordinates, contenders, tables, differing }
}

pub fn findings(loaded: &[LoadedData]) -> Vec<Finding> {
    let differing = loaded.iter().filter(|data| !data.differing.is_empty());
    let finding = |data: &LoadedData| {
        Finding::new(What::LoadedDataDiffer { tables: data.differing.clone() }).at(&data.coordinates)
    };
    differing.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn equal_data_are_silent_and_one_changed_row_is_not() {
        let mut run = synthetic::run(3);
        let found = all(&run);
        assert_eq!((found.len(), found[0].tables, found[0].differing.len()), (1, 2, 0));
        assert_eq!(found[0].contenders, ["native", "kvm"]);
        assert!(findings(&found).is_empty());
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
            let sum = trial.findings.iter_mut().find(|finding| finding.checksum_of() == Some("stock")).unwrap();
            sum.verdict = Verdict::Holds { seen: Some("100000 rows, checksum 00ff".to_owned()) };
        }
        let told =
            |contender: &str, value: &str| ContenderValue { contender: contender.to_owned(), value: value.to_owned() };
        let stock = TableSums {
            table: "stock".to_owned(),
            sums: vec![
                told("native", "200000 rows, checksum 50b91db7da4f671d"),
                told("kvm", "100000 rows, checksum 00ff"),
            ],
            without: Vec::new(),
        };
        let expected = Finding::new(What::LoadedDataDiffer { tables: vec![stock] });
        assert_eq!(findings(&all(&run)), [expected]);
    }

    #[test]
    fn a_machine_that_is_not_measured_may_hold_other_data() {
        let mut run = synthetic::consolidated::run(1, None);
        let of_three = |trial: &&mut StoredTrial| trial.machines.len() == 3 && trial.record.contender == "kvm";
        let trial = run.trials.iter_mut().find(of_three).unwrap();
        for sum in trial.machines[1].findings.iter_mut().filter(|finding| finding.checksum_of().is_some()) {
            sum.verdict = Verdict::Holds { seen: Some("7 rows, checksum 00ff".to_owned()) };
        }
        trial.bystander = Some(2);
        assert!(findings(&all(&run)).is_empty());
        run.trials.iter_mut().for_each(|trial| trial.bystander = None);
        let told = findings(&all(&run));
        assert_eq!(told.len(), 1, "if it is measured, it counts: {told:?}");
    }

    #[test]
    fn records_without_checksums_are_not_compared() {
        let mut run = synthetic::run(1);
        run.trials.iter_mut().for_each(|trial| trial.findings.clear());
        assert_eq!(all(&run), []);
    }
}

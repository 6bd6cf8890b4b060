//! Whether the contenders did the same work for each transaction. If not, their speeds are not comparable.

use crate::cells;
use record::run::Run;
use record::trial::Work;
use serde::{Deserialize, Serialize};

/// Contenders of a block get the same inputs but do not get equally far through them, so means over thousands of
/// transactions differ by chance by a part of a percent. What differs by more is a different workload.
pub const TOLERANCE: f64 = 0.02;

/// Work for each transaction of all contenders under the same scenario and swept values. Plain readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkComparison {
    pub coordinates: String,
    pub tolerance: f64,
    pub contenders: Vec<WorkReading>,
    /// What differs by more than the tolerance, each a sentence; empty if the work was equal.
    pub unequal: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkReading {
    pub contender: String,
    pub transactions: u64,
    pub statements: f64,
    pub rows_returned: f64,
    pub rows_changed: f64,
}

pub fn all(run: &Run) -> Vec<WorkComparison> {
    let groups = cells::groups(&run.plan).into_iter();
    let compared = groups.map(|group| {
        let readings = group.cells.iter().filter_map(|cell| {
            let drivers = cells::completed(run, cell.id).filter_map(|trial| trial.record.driver.as_ref());
            let baseline = cell.baseline;
            reading(&cell.contender, drivers.map(|driver| driver.work)).map(|reading| (baseline, reading))
        });
        compare(group.coordinates, readings.collect())
    });
    compared.filter(|comparison| !comparison.contenders.is_empty()).collect()
}

fn reading(contender: &str, parts: impl Iterator<Item = Work>) -> Option<WorkReading> {
    let sum = parts.fold(Work::default(), |sum, part| Work {
        transactions: sum.transactions + part.transactions,
        statements: sum.statements + part.statements,
        rows_returned: sum.rows_returned + part.rows_returned,
        rows_changed: sum.rows_changed + part.rows_changed,
    });
    let each = |count: u64| count as f64 / sum.transactions as f64;
    (sum.transactions > 0).then(|| WorkReading {
        contender: contender.to_owned(),
        transactions: sum.transactions,
        statements: each(sum.statements),
        rows_returned: each(sum.rows_returned),
        rows_changed: each(sum.rows_changed),
    })
}

/// Compares each reading with the baseline's, or with the first if the baseline has none.
fn compare(coordinates: String, readings: Vec<(bool, WorkReading)>) -> WorkComparison {
    let reference = readings.iter().position(|(baseline, _)| *baseline).unwrap_or(0);
    let contenders: Vec<WorkReading> = readings.into_iter().map(|(_, reading)| reading).collect();
    let mut unequal = Vec::new();
    if let Some(base) = contenders.get(reference) {
        for other in contenders.iter().filter(|other| other.contender != base.contender) {
            let pairs = [
                ("statements", base.statements, other.statements),
                ("rows returned", base.rows_returned, other.rows_returned),
                ("rows changed", base.rows_changed, other.rows_changed),
            ];
            let differing = pairs.into_iter().filter(|&(_, one, two)| differ(one, two));
            unequal.extend(differing.map(|(what, one, two)| {
                let (first, second) = (&base.contender, &other.contender);
                format!("{what} per transaction: {one:.2} on {first}, {two:.2} on {second}")
            }));
        }
    }
    WorkComparison { coordinates, tolerance: TOLERANCE, contenders, unequal }
}

fn differ(one: f64, two: f64) -> bool {
    (one - two).abs() > TOLERANCE * one.max(two)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(transactions: u64, statements: u64) -> impl Iterator<Item = Work> {
        std::iter::once(Work { transactions, statements, rows_returned: 0, rows_changed: 0 })
    }

    /// 200 requests of sysbench's classic transaction are 20 for each of 10 transactions.
    #[test]
    fn work_is_counted_for_each_transaction() {
        let reading = reading("a", work(10, 200)).unwrap();
        assert_eq!(reading.statements.to_bits(), 20.0_f64.to_bits());
        assert_eq!(super::reading("a", work(0, 0)), None);
    }

    #[test]
    fn a_difference_beyond_the_tolerance_is_named() {
        let of = |name: &str, statements| reading(name, work(100, statements)).unwrap();
        let near = compare(String::new(), vec![(true, of("native", 2000)), (false, of("kvm", 2030))]);
        assert_eq!(near.unequal, Vec::<String>::new());
        let far = compare(String::new(), vec![(false, of("kvm", 2100)), (true, of("native", 2000))]);
        assert_eq!(far.unequal, ["statements per transaction: 20.00 on native, 21.00 on kvm"]);
    }
}

//! Whether two runs ask for the same workload, data and load. A ratio between answers to different questions means nothing.

use super::{Matched, name};
use crate::consistency::loaded_data;
use crate::findings::ValueChange;
use crate::gathered::differing;
use crate::throughput;
use crate::validity;
use record::plan::Cell;
use record::run::Run;

/// The tables of a cell that say what is measured; the others say on what.
const TABLES: [&str; 2] = ["workload", "load"];

/// How two runs ask for different things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// No cell is in both runs; these are the cells of each.
    NoCommonCell { old: Vec<String>, new: Vec<String> },
    /// A difference in the cell of this name.
    OfCell { cell: String, what: DifferenceKind, change: ValueChange },
}

/// The kind of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// A key of the study.
    Key,
    /// The checksum of a loaded table.
    LoadedTable,
    /// The kinds of transactions that throughput counts.
    Throughput,
}

/// Empty if the runs can be compared.
pub fn differences(old: &Run, new: &Run, matched: &[Matched<'_>]) -> Vec<Difference> {
    if matched.is_empty() {
        let [old, new] = [old, new].map(|run| run.plan.cells.iter().map(name).collect());
        return vec![Difference::NoCommonCell { old, new }];
    }
    let of_pair = |(before, after): &Matched<'_>| {
        let keys = asked(before, after).into_iter().map(|change| (DifferenceKind::Key, change));
        let tables = data(old, new, before, after).into_iter().map(|change| (DifferenceKind::LoadedTable, change));
        let metric = counted(old, new, before, after).into_iter().map(|change| (DifferenceKind::Throughput, change));
        let all = keys.chain(tables).chain(metric);
        all.map(|(what, change)| Difference::OfCell { cell: name(before), what, change }).collect::<Vec<_>>()
    };
    matched.iter().flat_map(of_pair).collect()
}

/// A key that only one run has came with another version of the tool; the study did not ask for something else.
fn asked(before: &Cell, after: &Cell) -> Vec<ValueChange> {
    let differing = before.settings.differing(&after.settings).into_iter();
    differing.filter(|key| key.is_of(&TABLES) && key.is_in_both()).map(ValueChange::from).collect()
}

fn data(old: &Run, new: &Run, before: &Cell, after: &Cell) -> Vec<ValueChange> {
    let (old, new) = (loaded_data::of_cell(old, before.id), loaded_data::of_cell(new, after.id));
    let change = |(table, old, new): (&&str, Option<&String>, Option<&String>)| {
        Some(ValueChange { name: (*table).to_owned(), old: Some(old?.clone()), new: Some(new?.clone()) })
    };
    differing(&old, &new).filter_map(change).collect()
}

fn counted(old: &Run, new: &Run, before: &Cell, after: &Cell) -> Option<ValueChange> {
    let of =
        |run: &Run, cell: &Cell| validity::valid_trials(run, cell.id).find_map(throughput::metric).unwrap_or_default();
    let (old, new) = (of(old, before), of(new, after));
    let differs = !old.name.is_empty() && !new.name.is_empty() && old != new;
    differs.then(|| ValueChange { name: "throughput".to_owned(), old: Some(old.name), new: Some(new.name) })
}

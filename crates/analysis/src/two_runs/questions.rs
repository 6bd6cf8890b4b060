//! Whether two runs ask for the same: workload, data and load. A ratio between answers to different questions means nothing.

use super::keys::{self, Differing};
use super::{Matched, name};
use crate::consistency::loaded_data;
use crate::{cells, throughput};
use record::plan::Cell;
use record::run::Run;
use serde_json::{Map, Value};

/// The tables of a cell that say what is asked for; the others say of whom.
const ASKED: [&str; 2] = ["workload", "load"];

/// In what the runs ask for different things, each a sentence; empty if they can be compared.
pub fn differences(old: &Run, new: &Run, matched: &[Matched<'_>]) -> Vec<String> {
    if matched.is_empty() {
        let cells = |run: &Run| run.plan.cells.iter().map(name).collect::<Vec<_>>().join(", ");
        return vec![format!("they have no cell in common: {} before, {} now", cells(old), cells(new))];
    }
    let mut found: Vec<String> = Vec::new();
    for (before, after) in matched {
        let mut told = asked(before, after);
        told.extend(data(old, new, before, after));
        told.extend(counted(old, new, before, after));
        found.extend(told.into_iter().map(|what| format!("{}: {what}", name(before))));
    }
    found
}

/// A key that only one of them has came with another version of the tool, and is no other wish of the study.
fn asked(before: &Cell, after: &Cell) -> Vec<String> {
    let table = |cell: &Cell, name: &str| cell.settings.get(name).and_then(Value::as_object).cloned();
    let of_table = |name: &&str| {
        let (old, new): (Map<_, _>, Map<_, _>) =
            (table(before, name).unwrap_or_default(), table(after, name).unwrap_or_default());
        keys::differing(name, &old, &new)
    };
    ASKED.iter().flat_map(of_table).filter(Differing::is_in_both).map(|key| key.in_words()).collect()
}

fn data(old: &Run, new: &Run, before: &Cell, after: &Cell) -> Vec<String> {
    let (old, new) = (loaded_data::of_cell(old, before.id), loaded_data::of_cell(new, after.id));
    let differing = old.iter().filter_map(|(table, sum)| {
        let other = new.get(table).filter(|other| *other != sum)?;
        Some(format!("the loaded table {table} had {sum} and has {other}"))
    });
    differing.collect()
}

fn counted(old: &Run, new: &Run, before: &Cell, after: &Cell) -> Option<String> {
    let of = |run: &Run, cell: &Cell| cells::sound(run, cell.id).find_map(throughput::metric).unwrap_or_default();
    let (old, new) = (of(old, before), of(new, after));
    let differs = !old.name.is_empty() && !new.name.is_empty() && old != new;
    differs.then(|| format!("throughput was counted as {} and is counted as {}", old.name, new.name))
}

//! Reads, writes and log behind the transactions, and whether the data fit the caches.

use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::missing;
use crate::{format, measures};
use analysis::activity::{Activity, Sizes};
use analysis::cells::CellResult;
use analysis::measures::Measure;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let is_wanted =
        |measure: &Measure| ["database.", "device.", "workload/"].iter().any(|family| measure.id.starts_with(family));
    let of_group = |cells: &[&CellResult]| {
        let Some(table) = measures::table("activity", analysis, cells, is_wanted) else { return Vec::new() };
        let group: Vec<&Activity> =
            analysis.activity.iter().filter(|one| cells.iter().any(|cell| cell.cell == one.cell)).collect();
        let fits = group.iter().map(|activity| fit(activity)).collect();
        vec![Block::Table(table), Block::List(fits), Block::Note(note(&group))]
    };
    headed("Reads, writes and log", each_group(analysis, of_group), None)
}

/// Whether the data fit the cache and the memory of a contender.
fn fit(activity: &Activity) -> String {
    let Sizes { data_bytes, cache_bytes, memory_bytes } = activity.sizes;
    let Some(data) = data_bytes else {
        return format!("{}: how large the data are is not known.", activity.contender);
    };
    let size = |what: &str, size: Option<u64>| match size.filter(|size| *size > 0) {
        Some(size) => format!("the {what} has {}", format::bytes(size)),
        None => format!("the size of the {what} is not known"),
    };
    let (cache, memory) = (size("database's cache", cache_bytes), size("machine's memory", memory_bytes));
    format!("{}: the data take {}, {cache}, and {memory}.", activity.contender, format::bytes(data))
}

fn note(group: &[&Activity]) -> String {
    let read = "Database and device counters were read twice within the measured window; their figures cover the time \
            between. The workload's figures cover the whole window.";
    let of_one = |activity: &&Activity| {
        let name = &activity.contender;
        let device = activity.device.iter();
        let device =
            device.map(|device| format!("The device of {name} is {device}, with everything else that uses it."));
        let missing = activity.missing.iter().map(|why| format!("Of {name}, {}.", missing::why(why)));
        activity.meaning.iter().cloned().chain(device).chain(missing).collect::<Vec<_>>()
    };
    let said: Vec<String> = group.iter().flat_map(of_one).collect();
    format::distinct(std::iter::once(read).chain(said.iter().map(String::as_str))).join(" ")
}

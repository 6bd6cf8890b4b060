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
    let mut sentences = vec![
        "Database and device counters were read twice within the measured window; their figures cover the time \
            between. The workload's figures cover the whole window."
            .to_owned(),
    ];
    let mut add = |sentence: String| {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    };
    for activity in group {
        activity.meaning.iter().for_each(|meaning| add(meaning.clone()));
        if let Some(device) = &activity.device {
            add(format!("The device of {} is {device}, with everything else that uses it.", activity.contender));
        }
        activity.missing.iter().for_each(|why| add(format!("Of {}, {}.", activity.contender, missing::why(why))));
    }
    sentences.join(" ")
}

//! Reads, writes and redo behind the transactions, and whether the data fit the caches.

use super::comparison::estimate;
use super::{heading, place};
use crate::document::{Block, Cell, Column, Table};
use crate::format;
use analysis::activity::{Activity, Figure, Sizes, Source, Unit};
use analysis::summary::Analysis;

const MEGABYTE: f64 = 1e6;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    for group in groups(analysis).iter().filter(|group| group.iter().any(|one| !one.figures.is_empty())) {
        found.extend(place(&group[0].coordinates));
        found.push(Block::Table(table(group)));
        found.push(Block::List(group.iter().map(|activity| fit(activity)).collect()));
        found.push(Block::Note(note(group)));
    }
    if found.is_empty() { found } else { std::iter::once(heading("Reads, writes and redo")).chain(found).collect() }
}

fn groups(analysis: &Analysis) -> Vec<Vec<&Activity>> {
    let mut groups: Vec<Vec<&Activity>> = Vec::new();
    for activity in &analysis.activity {
        match groups.iter_mut().find(|group| group[0].coordinates == activity.coordinates) {
            Some(group) => group.push(activity),
            None => groups.push(vec![activity]),
        }
    }
    groups
}

fn table(group: &[&Activity]) -> Table {
    let mut columns = vec![Column::text("counted by"), Column::text("")];
    columns.extend(group.iter().map(|activity| Column::number(&activity.contender)));
    let mut kinds: Vec<&Figure> = Vec::new();
    for figure in group.iter().flat_map(|activity| &activity.figures) {
        if !kinds.iter().any(|known| is_same(known, figure)) {
            kinds.push(figure);
        }
    }
    // What only one contender's device or server counts stands with its like.
    kinds.sort_by_key(|figure| figure.source);
    let mut before = None;
    let rows = kinds.into_iter().map(|kind| {
        let source = if before == Some(kind.source) { "" } else { source_name(kind.source) };
        before = Some(kind.source);
        let value = |activity: &&Activity| {
            let figure = activity.figures.iter().find(|figure| is_same(figure, kind));
            estimate(figure.map(|figure| &figure.value), |value| number(value, kind.unit))
        };
        let name = format!("{}{}", kind.name, unit_name(kind.unit));
        [Cell::new(source), Cell::new(name)].into_iter().chain(group.iter().map(value)).collect()
    });
    Table { caption: "Means over trials".to_owned(), columns, rows: rows.collect() }
}

fn is_same(one: &Figure, other: &Figure) -> bool {
    (one.source, &one.name) == (other.source, &other.name)
}

fn source_name(source: Source) -> &'static str {
    match source {
        Source::Database => "database",
        Source::Device => "device",
        Source::Workload => "workload",
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "/s",
        Unit::BytesPerSecond => ", MB/s",
        Unit::Milliseconds => ", ms",
        Unit::Share => ", %",
    }
}

fn number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::PerSecond => format::quantity(value),
        Unit::BytesPerSecond => format::quantity(value / MEGABYTE),
        Unit::Milliseconds => format::decimal(value, 3),
        Unit::Share => format::decimal(value * 100.0, 2),
    }
}

/// Whether the data fit the cache and the memory of a contender.
fn fit(activity: &Activity) -> String {
    let Sizes { data_bytes, cache_bytes, memory_bytes } = activity.sizes;
    let Some(data) = data_bytes else {
        return format!("{}: how large the data are is not known.", activity.contender);
    };
    let against = |what: &str, size: Option<u64>| match size.filter(|size| *size > 0) {
        Some(size) => {
            format!("{} times the {what} of {}", format::ratio(data as f64 / size as f64), format::bytes(size))
        }
        None => format!("the {what} is not known"),
    };
    let (cache, memory) = (against("database's cache", cache_bytes), against("machine's memory", memory_bytes));
    format!("{}: the data take {}: {cache}; {memory}.", activity.contender, format::bytes(data))
}

fn note(group: &[&Activity]) -> String {
    let mut sentences = vec![
        "Database and device were looked at twice within the measured window, while load was driven; their figures are over \
         the time between. The workload's are over the whole window."
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
        activity.missing.iter().for_each(|why| add(format!("Of {}, {why}.", activity.contender)));
    }
    sentences.join(" ")
}

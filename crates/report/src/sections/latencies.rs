//! Latency percentiles of every kind of transaction and every contender.

use super::comparison::groups;
use super::profiles::waits;
use super::{heading, place};
use crate::document::{Block, Cell, Column, Table};
use crate::format;
use crate::measures::estimate;
use analysis::cells::CellResult;
use analysis::latency::{BUCKETS_MS, Latency, QUANTILES};
use analysis::measures::latency::{mean, percentile};
use analysis::summary::Analysis;
use record::intervals::Span;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = Vec::new();
    for cells in groups(analysis).iter().filter(|cells| cells.iter().any(|cell| !cell.latency.is_empty())) {
        blocks.extend(place(&cells[0].coordinates));
        blocks.push(Block::Table(table(cells, Span::Response, "Response time in ms, from due to done")));
        let service = Block::Table(table(cells, Span::Service, "Service time in ms, from sent to done"));
        blocks.push(Block::Fold { title: "Service times: without waiting".to_owned(), blocks: vec![service] });
        let histograms = vec![Block::Table(waits(cells)), Block::Table(histogram(cells))];
        blocks.push(Block::Fold { title: "Histogram: how many took how long".to_owned(), blocks: histograms });
    }
    if blocks.is_empty() {
        return blocks;
    }
    let note = "Means and percentiles are geometric means of those of single trials, with intervals over blocks. The longest time is a plain \
                reading. A percentile with no transaction above it in some trial is not shown.";
    std::iter::once(heading("Latency")).chain(blocks).chain([Block::Note(note.to_owned())]).collect()
}

fn table(cells: &[&CellResult], span: Span, caption: &str) -> Table {
    let all: Vec<(&CellResult, &Latency)> = cells
        .iter()
        .flat_map(|cell| cell.latency.iter().map(|latency| (*cell, latency)))
        .filter(|(_, latency)| latency.span == span)
        .collect();
    let mut columns =
        vec![Column::text("kind"), Column::text("contender"), Column::number("count"), Column::number("mean")];
    columns.extend(QUANTILES.map(|quantile| Column::number(format::percentile(quantile))));
    columns.push(Column::number("longest"));
    let mut kinds: Vec<&str> = Vec::new();
    for (_, latency) in &all {
        if !kinds.contains(&latency.kind.as_str()) {
            kinds.push(&latency.kind);
        }
    }
    let of_kind = |kind: &&str| all.iter().filter(|(_, latency)| latency.kind == *kind).enumerate().collect::<Vec<_>>();
    let of_mean = |(cell, latency): &(&CellResult, &Latency)| cell.level(&mean(span, &latency.kind))?.bounds.known();
    let plain = all.iter().all(|one| of_mean(one).is_none());
    let rows = kinds.iter().flat_map(of_kind).map(|(index, (cell, latency))| {
        let kind = if index == 0 { latency.kind.as_str() } else { "" };
        let cells = row(kind, cell, latency);
        // Where nothing has an interval, the caption says so once.
        cells.into_iter().map(|cell| if plain { Cell { detail: None, ..cell } } else { cell }).collect()
    });
    let caption = if plain { format!("{caption}; all are plain readings") } else { caption.to_owned() };
    Table { caption, columns, rows: rows.collect() }
}

/// Response times in the classic buckets, each up to twice as long as the one before.
fn histogram(cells: &[&CellResult]) -> Table {
    let mut columns = vec![Column::text("kind"), Column::text("contender")];
    columns.extend(BUCKETS_MS.map(|end_ms| Column::number(format!("<{}", format::count(end_ms)))));
    columns.push(Column::number("longer"));
    let responses = |cell: &&CellResult| {
        let contender = cell.contender.clone();
        let latencies = cell.latency.iter().filter(|latency| latency.span == Span::Response).cloned();
        latencies.map(move |latency| (latency.kind.clone(), contender.clone(), latency.buckets)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = cells.iter().flat_map(responses).collect();
    let order: Vec<String> = all.iter().map(|(kind, ..)| kind.clone()).collect();
    // Kind by kind as in the tables above; contenders keep their order.
    all.sort_by_key(|(kind, ..)| order.iter().position(|known| known == kind));
    let rows = all.into_iter().map(|(kind, contender, buckets)| {
        let counts =
            buckets.into_iter().map(|count| if count == 0 { Cell::none() } else { Cell::new(format::count(count)) });
        [Cell::new(kind), Cell::new(contender)].into_iter().chain(counts).collect()
    });
    Table {
        caption: "Transactions by response time in ms, over all trials; plain readings".to_owned(),
        columns,
        rows: rows.collect(),
    }
}

fn row(kind: &str, cell: &CellResult, latency: &Latency) -> Vec<Cell> {
    let level = |measure: String| estimate(cell.level(&measure), format::milliseconds);
    let mut cells = vec![Cell::new(kind), Cell::new(&cell.contender), Cell::new(format::count(latency.count))];
    cells.push(level(mean(latency.span, &latency.kind)));
    cells.extend(QUANTILES.map(|quantile| level(percentile(latency.span, quantile, &latency.kind))));
    cells.push(Cell::new(format::milliseconds(latency.max_us as f64)));
    cells
}

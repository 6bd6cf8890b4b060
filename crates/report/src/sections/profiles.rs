//! Tables as published studies print them: load, operating system and I/O of two contenders, and a histogram of waits.

use crate::document::{Block, Cell, Column, Table};
use crate::format;
use crate::measures::estimate;
use analysis::cells::CellResult;
use analysis::explanation::Explanation;
use analysis::explanation::profile::{ProfileRow, ProfileTable};
use analysis::latency::BUCKETS_MS;
use record::intervals::Span;

pub fn blocks(explanation: &Explanation) -> Vec<Block> {
    let tables = explanation.profiles.iter().map(|profile| Block::Table(table(explanation, profile)));
    let mut blocks: Vec<Block> = tables.collect();
    if !blocks.is_empty() {
        let note = "As each machine sees itself, over the measured window: means over blocks with Student's t intervals, and ratios paired by \
                    block. A native machine sees the host's device and, where nothing tells its CPUs apart, all of the host.";
        blocks.push(Block::Note(note.to_owned()));
    }
    blocks
}

fn table(explanation: &Explanation, profile: &ProfileTable) -> Table {
    let columns = vec![
        Column::text(""),
        Column::number(format!("{} (baseline)", explanation.baseline)),
        Column::number(&explanation.contender),
        Column::number("ratio"),
    ];
    let row = |row: &ProfileRow| {
        vec![
            Cell::new(&row.name),
            estimate(row.baseline.as_ref(), format::quantity),
            estimate(row.contender.as_ref(), format::quantity),
            estimate(row.ratio.as_ref(), format::ratio),
        ]
    };
    Table { caption: profile.title.clone(), columns, rows: profile.rows.iter().map(row).collect() }
}

/// How long transactions of all kinds waited for their answers, as shares in the classic buckets.
pub fn waits(cells: &[&CellResult]) -> Table {
    let ends = BUCKETS_MS.map(|end_ms| Column::number(format!("<{}", format::count(end_ms))));
    let columns = std::iter::once(Column::text("contender")).chain(ends).chain([Column::number("longer")]);
    let caption = "Shares of all transactions by response time in ms, %; plain readings".to_owned();
    Table { caption, columns: columns.collect(), rows: cells.iter().filter_map(|cell| wait_row(cell)).collect() }
}

fn wait_row(cell: &CellResult) -> Option<Vec<Cell>> {
    let mut counts = vec![0_u64; BUCKETS_MS.len() + 1];
    for latency in cell.latency.iter().filter(|latency| latency.span == Span::Response) {
        for (sum, count) in counts.iter_mut().zip(&latency.buckets) {
            *sum += count;
        }
    }
    let all: u64 = counts.iter().sum();
    let share = |count: u64| {
        if count == 0 { Cell::none() } else { Cell::new(format::decimal(count as f64 * 100.0 / all as f64, 2)) }
    };
    let name = Cell::new(&cell.contender);
    (all > 0).then(|| std::iter::once(name).chain(counts.into_iter().map(share)).collect())
}

//! Latency percentiles of every kind of transaction and every contender.

use super::comparison::each_group;
use super::headed;
use super::profiles::{buckets, some, waits};
use crate::document::Block;
use crate::format::{self, Digits, Style, grouped_by};
use crate::measures::level;
use crate::table::{Cell, Column, Table, columns, id};
use analysis::cells::CellResult;
use analysis::latency::{Latency, QUANTILES};
use analysis::measures::latency::{mean, percentile};
use analysis::summary::Analysis;
use record::intervals::Span;
use record::trial::KindTotals;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let of_group = |cells: &[&CellResult]| {
        if cells.iter().all(|cell| cell.latency.is_empty()) {
            return Vec::new();
        }
        let table = |span, what: &str, caption: &str| Block::Table(table(analysis, cells, span, what, caption));
        let service = vec![table(Span::Service, "service-times", "Service time in ms, from sent to done")];
        let histograms = vec![Block::Table(waits(cells)), Block::Table(histogram(cells))];
        vec![
            table(Span::Response, "response-times", "Response time in ms, from due to done"),
            Block::Table(endings(cells)),
            Block::Fold { title: "Service times: without waiting".to_owned(), blocks: service },
            Block::Fold { title: "Histogram: how many took how long".to_owned(), blocks: histograms },
        ]
    };
    let note = "Means and percentiles are geometric means over trials, with 95 % confidence intervals over blocks. The \
            longest time is a point value. A percentile is shown if each trial has a transaction above it.";
    headed("Latency", each_group(analysis, of_group), Some(note.to_owned()))
}

fn table(analysis: &Analysis, cells: &[&CellResult], span: Span, what: &str, caption: &str) -> Table {
    let all = of_span(cells, span);
    let mut columns = columns(&["kind", "contender"], &["count", "mean"]);
    columns.extend(QUANTILES.map(|quantile| Column::number(format::percentile(quantile))));
    columns.push(Column::number("longest"));
    let of_mean = |(cell, latency): &(&CellResult, &Latency)| cell.level(&mean(span, &latency.kind))?.bounds.known();
    let plain = all.iter().all(|one| of_mean(one).is_none());
    let rows = by_kind(all, |latency| &latency.kind).map(|(kind, cell, latency)| {
        let cells = row(analysis, kind, cell, latency);
        // If nothing has an interval, the caption says so once.
        cells.into_iter().map(|cell| if plain { cell.detail("") } else { cell }).collect()
    });
    let caption = if plain { format!("{caption}; all are point values") } else { caption.to_owned() };
    Table::new(id(what, &cells[0].coordinates), caption, columns, rows)
}

/// What became of the transactions of each kind. Those that the workload rolls back are part of it.
fn endings(cells: &[&CellResult]) -> Table {
    let all: Vec<(&CellResult, &KindTotals)> = cells
        .iter()
        .flat_map(|cell| cell.totals.iter().map(|totals| (*cell, totals)))
        .filter(|(_, totals)| !totals.step && totals.finished() + totals.failed > 0)
        .collect();
    let share = Style { digits: Digits::Decimals(2), ..Style::PERCENT };
    let of = |count: u64, of: u64| Cell::number(count as f64 / of as f64, share);
    let rows = by_kind(all, |totals| &totals.kind).map(|(kind, cell, totals)| {
        let begun = totals.finished() + totals.failed;
        vec![
            Cell::text(kind),
            Cell::text(&cell.contender),
            Cell::count(usize::try_from(totals.committed).unwrap_or(usize::MAX)),
            of(totals.rolled_back, begun),
            of(totals.retries, begun),
            of(totals.failed, begun),
        ]
    });
    let numbers = ["committed", "rolled back, %", "tried again, %", "given up, %"];
    let caption = "What became of the transactions; point values over all valid trials";
    Table::new(id("endings", &cells[0].coordinates), caption, columns(&["kind", "contender"], &numbers), rows)
}

/// Sorted by kind, which only the first of each names; contenders keep their order.
fn by_kind<'a, T>(
    all: Vec<(&'a CellResult, &'a T)>,
    kind: impl Fn(&'a T) -> &'a String,
) -> impl Iterator<Item = (&'a str, &'a CellResult, &'a T)> {
    let groups = grouped_by(all, |one| kind(one.1));
    groups.into_iter().flat_map(move |group| {
        let first = kind(group[0].1).as_str();
        let names = std::iter::once(first).chain(std::iter::repeat(""));
        names.zip(group).map(|(name, (cell, one))| (name, cell, one))
    })
}

fn of_span<'a>(cells: &[&'a CellResult], span: Span) -> Vec<(&'a CellResult, &'a Latency)> {
    let all = cells.iter().flat_map(|cell| cell.latency.iter().map(|latency| (*cell, latency)));
    all.filter(|(_, latency)| latency.span == span).collect()
}

/// Response times in the classic buckets, each of which ends at twice the end of the one before.
fn histogram(cells: &[&CellResult]) -> Table {
    let rows = by_kind(of_span(cells, Span::Response), |latency| &latency.kind).map(|(_, cell, latency)| {
        let counts = latency.buckets.iter().map(|count| some(*count, Cell::count(*count)));
        [Cell::text(&latency.kind), Cell::text(&cell.contender)].into_iter().chain(counts).collect()
    });
    let id = id("response-time-counts", &cells[0].coordinates);
    let caption = "Transactions by response time in ms, over all trials; point values";
    Table::new(id, caption, buckets(&["kind", "contender"]), rows)
}

fn row(analysis: &Analysis, kind: &str, cell: &CellResult, latency: &Latency) -> Vec<Cell> {
    let level = |measure: String| level(analysis, cell, &measure, Style::MILLISECONDS);
    let mut cells = vec![Cell::text(kind), Cell::text(&cell.contender), Cell::count(latency.count)];
    cells.push(level(mean(latency.span, &latency.kind)));
    cells.extend(QUANTILES.map(|quantile| level(percentile(latency.span, quantile, &latency.kind))));
    cells.push(Cell::number(latency.max_us as f64, Style::MILLISECONDS));
    cells
}

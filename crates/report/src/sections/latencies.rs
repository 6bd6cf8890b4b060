//! Latency percentiles of every kind of transaction and every contender.

use super::comparison::each_group;
use super::headed;
use super::profiles::{buckets, some, waits};
use crate::document::Block;
use crate::format::{self, Digits, Style, grouped_by};
use crate::measures::level;
use crate::table::{Cell, Table, TableOf, id};
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
    let all = by_kind(of_span(cells, span), |latency| &latency.kind);
    let of_mean = |(_, cell, latency): &OfKind<'_, Latency>| cell.level(&mean(span, &latency.kind))?.bounds.known();
    // If nothing has an interval, the caption says so once.
    let plain = all.iter().all(|one| of_mean(one).is_none());
    let level = |cell: &CellResult, measure: &str| {
        let level = level(analysis, cell, measure, Style::MILLISECONDS);
        if plain { level.detail("") } else { level }
    };
    let table = TableOf::new(&all)
        .text("kind", |(kind, ..)| Cell::text(*kind))
        .text("contender", |(_, cell, _)| Cell::text(&cell.contender))
        .number("count", |(.., latency)| Cell::count(latency.count))
        .number("mean", |(_, cell, latency)| level(cell, &mean(span, &latency.kind)));
    let table = QUANTILES.into_iter().fold(table, |table, quantile| {
        let measure = |latency: &Latency| percentile(span, quantile, &latency.kind);
        table.number(format::percentile(quantile), |(_, cell, latency)| level(cell, &measure(latency)))
    });
    let caption = if plain { format!("{caption}; all are point values") } else { caption.to_owned() };
    table
        .number("longest", |(.., latency)| Cell::number(latency.max_us as f64, Style::MILLISECONDS))
        .table(id(what, &cells[0].coordinates), caption)
}

/// What became of the transactions of each kind. Those that the workload rolls back are part of it.
fn endings(cells: &[&CellResult]) -> Table {
    let all: Vec<(&CellResult, &KindTotals)> = cells
        .iter()
        .flat_map(|cell| cell.totals.iter().map(|totals| (*cell, totals)))
        .filter(|(_, totals)| !totals.step && totals.finished() + totals.failed > 0)
        .collect();
    let share = Style { digits: Digits::Decimals(2), ..Style::PERCENT };
    let of = |totals: &KindTotals, count: u64| {
        Cell::number(count as f64 / (totals.finished() + totals.failed) as f64, share)
    };
    let caption = "What became of the transactions; point values over all valid trials";
    TableOf::new(&by_kind(all, |totals| &totals.kind))
        .text("kind", |(kind, ..)| Cell::text(*kind))
        .text("contender", |(_, cell, _)| Cell::text(&cell.contender))
        .number("committed", |(.., totals)| Cell::count(totals.committed))
        .number("rolled back, %", |(.., totals)| of(totals, totals.rolled_back))
        .number("tried again, %", |(.., totals)| of(totals, totals.retries))
        .number("given up, %", |(.., totals)| of(totals, totals.failed))
        .table(id("endings", &cells[0].coordinates), caption)
}

/// The kind if it is the first of it, the contender's cell, and what both have.
type OfKind<'a, T> = (&'a str, &'a CellResult, &'a T);

/// Sorted by kind; contenders keep their order.
fn by_kind<'a, T>(all: Vec<(&'a CellResult, &'a T)>, kind: fn(&T) -> &String) -> Vec<OfKind<'a, T>> {
    let groups = grouped_by(all, |one| kind(one.1)).into_iter();
    let of_group = groups.flat_map(|group| {
        let names = std::iter::once(kind(group[0].1).as_str()).chain(std::iter::repeat(""));
        names.zip(group).map(|(name, (cell, one))| (name, cell, one))
    });
    of_group.collect()
}

fn of_span<'a>(cells: &[&'a CellResult], span: Span) -> Vec<(&'a CellResult, &'a Latency)> {
    let all = cells.iter().flat_map(|cell| cell.latency.iter().map(|latency| (*cell, latency)));
    all.filter(|(_, latency)| latency.span == span).collect()
}

/// Response times in the classic buckets, each of which ends at twice the end of the one before.
fn histogram(cells: &[&CellResult]) -> Table {
    let rows =
        by_kind(of_span(cells, Span::Response), |latency| &latency.kind).into_iter().map(|(_, cell, latency)| {
            let counts = latency.buckets.iter().map(|count| some(*count, Cell::count(*count)));
            [Cell::text(&latency.kind), Cell::text(&cell.contender)].into_iter().chain(counts).collect()
        });
    let id = id("response-time-counts", &cells[0].coordinates);
    let caption = "Transactions by response time in ms, over all trials; point values";
    Table::new(id, caption, buckets(&["kind", "contender"]), rows)
}

//! Counters for each transaction of two contenders side by side, those first that differ most surely.

use crate::document::{Block, Cell, Column, Table, Tone};
use crate::format;
use crate::measures::estimate;
use analysis::counted::unit::Unit;
use analysis::explanation::Explanation;
use analysis::explanation::counters::{CounterRow, OneSided};
use record::telemetry::{Behaviour, Side};

/// Rows on the page; the others are folded away.
const MOST_SHOWN: usize = 12;

const MILLION: f64 = 1e6;

/// Of counters that are said to differ, so many may not.
const FALSE_SHARE: f64 = 0.05;

pub fn blocks(explanation: &Explanation) -> Vec<Block> {
    let counters = &explanation.counters;
    let (counting, standing): (Vec<&CounterRow>, Vec<&CounterRow>) =
        counters.rows.iter().partition(|row| row.behaviour == Behaviour::Counts);
    if counting.is_empty() && standing.is_empty() {
        return Vec::new();
    }
    let (first, others) = counting.split_at(counting.len().min(MOST_SHOWN));
    let mut blocks =
        vec![Block::Table(table(explanation, first, "Counters for each transaction, the surest differences first"))];
    let by_chance = counters.differing as f64 * FALSE_SHARE;
    blocks.push(Block::Note(format!(
        "The least difference is a share of the larger side. Of {} counters that were compared {} differ; about {} of \
         these, at most, do so by chance (Benjamini and Hochberg). The intervals of single differences do not allow for that; the last \
         column does.",
        counters.asked,
        counters.differing,
        format::ratio(by_chance)
    )));
    let mut folded = Vec::new();
    if !others.is_empty() {
        folded.push(Block::Table(table(explanation, others, "Counters for each transaction")));
    }
    if !standing.is_empty() {
        folded.push(Block::Table(table(explanation, &standing, "Readings of the moment, means over the window")));
    }
    folded.extend(one_sided(explanation));
    if counters.negligible > 0 {
        folded.push(Block::Note(format!(
            "Left out: {} counters of which there is less than one, 1 KiB or 1 ms a second on both.",
            counters.negligible
        )));
    }
    if !folded.is_empty() {
        blocks.push(Block::Fold { title: "All other counters".to_owned(), blocks: folded });
    }
    blocks
}

fn table(explanation: &Explanation, rows: &[&CounterRow], caption: &str) -> Table {
    let columns = vec![
        Column::text("counter"),
        Column::text("seen"),
        Column::number(&explanation.baseline),
        Column::number(&explanation.contender),
        Column::number("ratio"),
        Column::number("difference"),
        Column::number("least difference, %"),
    ];
    Table { caption: caption.to_owned(), columns, rows: rows.iter().map(|counter| row(counter)).collect() }
}

fn row(row: &CounterRow) -> Vec<Cell> {
    let (unit, divisor) = shown_in(row);
    let name = Cell::new(if unit.is_empty() { row.name.clone() } else { format!("{}, {unit}", row.name) });
    let number = |value: f64| quantity(value / divisor);
    let sure = match row.surely_apart {
        None => Cell::none().detail("no interval"),
        Some(share) if share > 0.0 => Cell::new(format::decimal(share * 100.0, 1)),
        Some(_) => Cell::new("0").tone(Tone::Muted),
    };
    vec![
        name,
        Cell::new(seen(row.side)),
        estimate(Some(&row.baseline), number),
        estimate(Some(&row.contender), number),
        estimate(row.ratio.as_ref(), format::ratio),
        estimate(Some(&row.difference), number),
        sure,
    ]
}

/// Times and sizes that stand are large, those of a transaction are not.
fn shown_in(row: &CounterRow) -> (String, f64) {
    match (&row.unit, row.behaviour) {
        (Unit::Things, _) => (String::new(), 1.0),
        (Unit::Milliseconds, _) => ("ms".to_owned(), 1.0),
        (Unit::Bytes, Behaviour::Counts) => ("bytes".to_owned(), 1.0),
        (Unit::Bytes, Behaviour::Stands) => ("MB".to_owned(), MILLION),
        (Unit::Other(name), _) => (name.clone(), 1.0),
    }
}

fn seen(side: Side) -> &'static str {
    match side {
        Side::Machine => "inside",
        Side::Host => "host",
    }
}

/// Three digits are more than a counter is known to.
fn quantity(value: f64) -> String {
    format::ratio(value)
}

fn one_sided(explanation: &Explanation) -> Option<Block> {
    let columns = &explanation.counters.one_sided;
    let of = |contender: &str| {
        let own: Vec<String> = columns.iter().filter(|column| column.on == contender).map(named).collect();
        (!own.is_empty()).then(|| format!("Only of {contender}: {}.", own.join(", ")))
    };
    let lines: Vec<String> =
        [&explanation.baseline, &explanation.contender].into_iter().filter_map(|name| of(name)).collect();
    (!lines.is_empty()).then_some(Block::List(lines))
}

fn named(column: &OneSided) -> String {
    format!("{} ({})", column.name, seen(column.side))
}

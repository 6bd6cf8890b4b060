//! Counters per transaction for two contenders side by side; those that differ most certainly come first.

use crate::document::Block;
use crate::figures::course::place;
use crate::format::Style;
use crate::table::{Cell, Table, Tone, columns, id};
use analysis::counted::unit::Unit;
use analysis::explanation::Explanation;
use analysis::explanation::counters::{CounterRow, OneSided};
use record::telemetry::{Behaviour, Side};

/// Rows on the page; the others are folded away.
const MOST_SHOWN: usize = 12;

pub fn blocks(explanation: &Explanation) -> Vec<Block> {
    let counters = &explanation.counters;
    let (counting, standing): (Vec<&CounterRow>, Vec<&CounterRow>) =
        counters.rows.iter().partition(|row| row.behaviour == Behaviour::Counts);
    if counting.is_empty() && standing.is_empty() {
        return Vec::new();
    }
    let (first, others) = counting.split_at(counting.len().min(MOST_SHOWN));
    let table = |what: &str, rows: &[&CounterRow], caption: &str| table(explanation, what, rows, caption);
    let note = format!(
        "Sorted by the least difference: the smallest one that is still plausible, in per cent of the larger value. Of {} counters \
         {} differ; at most 5 % of these do so by chance (Benjamini and Hochberg).",
        counters.asked, counters.differing
    );
    let first = table("counters", first, "Counters for each transaction, by their least difference");
    let mut blocks = vec![Block::Table(first), Block::Note(note)];
    let others = table("other-counters", others, "Counters for each transaction");
    let standing = table("readings", &standing, "Readings of the moment, means over the window");
    let tables = [others, standing].into_iter().filter_map(Table::unless_empty);
    let negligible = (counters.negligible > 0).then(|| {
        let count = counters.negligible;
        Block::Note(format!(
            "Left out: {count} counters of which there is less than one, 1 KiB or 1 ms a second on both."
        ))
    });
    let folded: Vec<Block> = tables.map(Block::Table).chain(one_sided(explanation)).chain(negligible).collect();
    if !folded.is_empty() {
        blocks.push(Block::Fold { title: "All other counters".to_owned(), blocks: folded });
    }
    blocks
}

fn table(explanation: &Explanation, what: &str, rows: &[&CounterRow], caption: &str) -> Table {
    let (baseline, contender) = (&explanation.baseline, &explanation.contender);
    let numbers = [baseline, contender, "ratio", "difference", "least difference, %"];
    let columns = columns(&["counter", "seen"], &numbers);
    Table::new(id(what, &place(explanation)), caption, columns, rows.iter().map(|counter| row(counter)))
}

fn row(row: &CounterRow) -> Vec<Cell> {
    let style = style(row);
    let name = if style.unit.is_empty() { row.name.clone() } else { format!("{}, {}", row.name, style.unit) };
    let sure = match row.surely_apart {
        None => Cell::missing("no interval").detail("no interval"),
        Some(share) if share > 0.0 => Cell::number(share, Style::PERCENT),
        Some(_) => Cell::number(0.0, Style { unit: "%", ..Style::COUNT }).tone(Tone::Muted),
    };
    vec![
        Cell::text(name),
        Cell::text(seen(row.side)),
        Cell::estimate(Some(&row.baseline), style, ""),
        Cell::estimate(Some(&row.contender), style, ""),
        Cell::estimate(row.ratio.as_ref(), Style::EFFECT, "one side has none"),
        // Levels with a ratio are geometric means, whose difference would be another one.
        if row.ratio.is_some() { Cell::text("") } else { Cell::estimate(Some(&row.difference), style, "") },
        sure,
    ]
}

/// Times and sizes of readings are large, those per transaction are not. Counters are not known to more than three digits.
fn style(row: &CounterRow) -> Style<'_> {
    let unit = match (&row.unit, row.behaviour) {
        (Unit::Things, _) => "",
        (Unit::Milliseconds, _) => "ms",
        (Unit::Bytes, Behaviour::Counts) => "bytes",
        (Unit::Bytes, Behaviour::Stands) => return Style { unit: "MB", scale: |bytes| bytes / 1e6, ..Style::RATIO },
        (Unit::Other(name), _) => name,
    };
    Style { unit, ..Style::RATIO }
}

fn seen(side: Side) -> &'static str {
    match side {
        Side::Machine => "inside",
        Side::Host => "host",
    }
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

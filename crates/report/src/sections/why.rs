//! Why contenders differ, as far as counters show: sentences first, then counters per transaction, the most certain differences first.

use super::{headed, heading, place};
use crate::document::Block;
use crate::figures::curve;
use crate::format::{self, Style, within};
use crate::reasons;
use crate::table::{Table, TableCell, TableOf, Tone, id};
use analysis::counted::unit::CountedUnit;
use analysis::explanation::Explanation;
use analysis::explanation::counters::CounterRow;
use analysis::explanation::rules::Reason;
use analysis::summary::Analysis;
use record::telemetry::{Behaviour, Side};

const NONE: &str = "There is no telemetry of two contenders in one block, so nothing is known of why they differ.";

/// The most reasons per comparison that are not folded.
const MOST_REASONS: usize = 3;

/// The first reasons of each comparison.
pub fn reasons(analysis: &Analysis) -> Vec<Block> {
    let of_one = |explanation: &Explanation| {
        let of_telemetry =
            explanation.reasons.iter().filter(|reason| !matches!(reason, Reason::StolenDisagreement { .. }));
        let list = Block::list(of_telemetry.map(reasons::sentence).take(MOST_REASONS));
        let place = place(&title(analysis, explanation)).filter(|_| list.is_some());
        place.into_iter().chain(list).collect::<Vec<_>>()
    };
    let found = analysis.explanations.iter().flat_map(of_one);
    headed("Why", found, "These differ together with the throughput. That does not prove a cause.")
}

/// Everything behind these reasons.
pub fn details(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("All reasons and counters")];
    if analysis.explanations.is_empty() {
        blocks.push(Block::Paragraph(NONE.to_owned()));
    }
    for explanation in &analysis.explanations {
        blocks.extend(place(&title(analysis, explanation)));
        blocks.extend(of_comparison(explanation));
    }
    blocks
}

/// The point of the study and, if there are several comparisons, the pair.
fn title(analysis: &Analysis, explanation: &Explanation) -> String {
    let Explanation { coordinates, baseline, contender, .. } = explanation;
    let pair = format!("{contender} and {baseline}");
    match (coordinates.as_str(), analysis.explanations.len()) {
        (_, 1) => coordinates.clone(),
        ("", _) => pair,
        (place, _) => format!("{place}: {pair}"),
    }
}

fn of_comparison(explanation: &Explanation) -> Vec<Block> {
    let note = format!(
        "Each is found by a rule whose condition the 95 % confidence interval over {} meets.",
        format::counted(explanation.blocks as u64, "block")
    );
    let mut blocks = match Block::list(explanation.reasons.iter().map(reasons::sentence)) {
        Some(list) => vec![list, Block::Note(note)],
        None => vec![Block::Paragraph("Nothing can be said for sure.".to_owned())],
    };
    let unknown = Block::list(explanation.unknown.iter().map(reasons::unknown));
    blocks.extend(Block::fold("What was not available", unknown));
    blocks.extend(curve::of_counters(explanation).map(Block::Figure));
    blocks.extend(counters(explanation));
    blocks
}

/// Rows on the page; the others are folded away.
const MOST_SHOWN: usize = 12;

fn counters(explanation: &Explanation) -> Vec<Block> {
    let counters = &explanation.counters;
    let (counting, standing): (Vec<&CounterRow>, Vec<&CounterRow>) =
        counters.rows.iter().partition(|row| row.behaviour == Behaviour::Counts);
    if counting.is_empty() && standing.is_empty() {
        return Vec::new();
    }
    let (first, others) = counting.split_at(counting.len().min(MOST_SHOWN));
    let table = |what: &str, rows: &[&CounterRow], caption: &str| counter_table(explanation, what, rows, caption);
    let note = format!(
        "Sorted by the least difference: the smallest one that is still plausible, in per cent of the larger value. Of {} counters \
         {} differ; at most 5 % of these do so by chance (Benjamini and Hochberg).",
        counters.asked, counters.differing
    );
    let first = table("counters", first, "Counters for each transaction, by their least difference");
    let others = table("other-counters", others, "Counters for each transaction");
    let standing = table("readings", &standing, "Readings of the moment, means over the window");
    let tables = [others, standing].into_iter().flatten().map(Block::Table);
    let few = format!(
        "Left out: {} counters of which there is less than one, 1 KiB or 1 ms a second on both.",
        counters.negligible
    );
    let folded = tables.chain((counters.negligible > 0).then_some(Block::Note(few)));
    let first = first.into_iter().flat_map(|table| [Block::Table(table), Block::Note(note.clone())]);
    first.chain(Block::fold("All other counters", folded)).collect()
}

fn counter_table(explanation: &Explanation, what: &str, rows: &[&CounterRow], caption: &str) -> Option<Table> {
    let name = |row: &CounterRow| row.name.clone() + &within(", ", style(row).unit, "");
    let sure = |row: &CounterRow| match row.surely_apart {
        None => TableCell::missing("no interval").detail("no interval"),
        Some(share) if share > 0.0 => TableCell::number(share, Style::PERCENT),
        Some(_) => TableCell::number(0.0, Style { unit: "%", ..Style::COUNT }).tone(Tone::Muted),
    };
    // Levels with a ratio are geometric means, whose difference would be another one.
    let difference = |row: &CounterRow| match row.ratio {
        Some(_) => TableCell::text(""),
        None => TableCell::estimate(Some(&row.difference), style(row), ""),
    };
    TableOf::new(rows)
        .text("counter", |row| TableCell::text(name(row)))
        .text("seen", |row| TableCell::text(if row.side == Side::Machine { "inside" } else { "host" }))
        .number(&explanation.baseline, |row| TableCell::estimate(Some(&row.baseline), style(row), ""))
        .number(&explanation.contender, |row| TableCell::estimate(Some(&row.contender), style(row), ""))
        .number("ratio", |row| TableCell::estimate(row.ratio.as_ref(), Style::EFFECT, "one side has none"))
        .number("difference", |row| difference(row))
        .number("least difference, %", |row| sure(row))
        .table(id(what, &curve::place(explanation)), caption)
}

/// Times and sizes of readings are large, those per transaction are not. Counters are not known to more than three digits.
fn style(row: &CounterRow) -> Style<'_> {
    let unit = match (&row.unit, row.behaviour) {
        (CountedUnit::Things, _) => "",
        (CountedUnit::Milliseconds, _) => "ms",
        (CountedUnit::Bytes, Behaviour::Counts) => "bytes",
        (CountedUnit::Bytes, Behaviour::Stands) => {
            return Style { unit: "MB", scale: |bytes| bytes / 1e6, ..Style::RATIO };
        }
        (CountedUnit::Other(name), _) => name,
    };
    Style { unit, ..Style::RATIO }
}

//! Why contenders differ, as far as what was counted tells: sentences first, then where the response time went, then the
//! tables of [`super::profiles`] and [`super::counters`].

use super::comparison::estimate;
use super::{counters, heading, place, profiles};
use crate::document::{Block, Cell, Column, Table, Tone};
use crate::{figures, format};
use analysis::explanation::Explanation;
use analysis::explanation::response::{Part, ResponseSplit, WaitKind};
use analysis::summary::Analysis;

const NONE: &str =
    "The record has no telemetry of two contenders in one block, so nothing is known of why they differ.";

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("Why")];
    if analysis.explanations.is_empty() {
        blocks.push(Block::Paragraph(NONE.to_owned()));
    }
    for explanation in &analysis.explanations {
        blocks.extend(place(&title(analysis, explanation)));
        blocks.extend(of_comparison(explanation));
    }
    blocks
}

/// Where it is compared and, if there are several, what.
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
    let said: Vec<String> = explanation.sentences.iter().map(|sentence| sentence.text.clone()).collect();
    let mut blocks = Vec::new();
    if said.is_empty() {
        blocks.push(Block::Paragraph("No rule found anything that it could say for sure.".to_owned()));
    } else {
        blocks.push(Block::List(said));
        let plural = if explanation.blocks == 1 { "" } else { "s" };
        blocks.push(Block::Note(format!(
            "By rules, each with a condition that its 95 % interval over {} block{plural} must meet. What differs together with the \
             throughput need not be the cause of it.",
            explanation.blocks
        )));
    }
    if !explanation.not_available.is_empty() {
        let lines = vec![Block::List(explanation.not_available.clone())];
        blocks.push(Block::Fold { title: "What was not available".to_owned(), blocks: lines });
    }
    blocks.extend(profiles::blocks(explanation));
    blocks.extend(response(&explanation.responses));
    blocks.extend(figures::course::figure(explanation).map(Block::Figure));
    blocks.extend(counters::blocks(explanation));
    blocks
}

fn response(splits: &[ResponseSplit]) -> Vec<Block> {
    if splits.iter().all(|split| split.parts.is_empty()) {
        return Vec::new();
    }
    let columns = [Column::text(""), Column::text("")]
        .into_iter()
        .chain(splits.iter().map(|split| Column::number(&split.contender)));
    let mut rows = vec![row("response", "mean of all kinds, from due to done", splits, |split| {
        estimate(Some(&split.response_ms), number)
    })];
    let mut before = None;
    for (kind, name) in names(splits) {
        let title = if before == Some(kind) { "" } else { title_of(kind) };
        before = Some(kind);
        rows.push(row(title, &name, splits, |split| reading(split, &name)));
    }
    rows.push(row("the rest", "response less what counts", splits, |split| {
        let tone = if split.rest_ms.point < 0.0 { Tone::Bad } else { Tone::Plain };
        estimate(Some(&split.rest_ms), number).tone(tone)
    }));
    let caption = "Where the response time went, ms for each transaction".to_owned();
    let mut note = "Readings of one kind are the same wait seen from different places: they are not added up, and only the largest, \
                    marked “counts”, is taken from the response. Some of them are waits of work in the background, so the rest is at least \
                    what is shown: running, the network, and what nobody counts."
        .to_owned();
    for split in splits.iter().filter(|split| split.rest_ms.point < 0.0) {
        note = format!(
            "{note} Of {} the rest is below nothing: more was waited for than by those whose response was timed.",
            split.contender
        );
    }
    vec![Block::Table(Table { caption, columns: columns.collect(), rows }), Block::Note(note)]
}

fn row(title: &str, name: &str, splits: &[ResponseSplit], of: impl Fn(&ResponseSplit) -> Cell) -> Vec<Cell> {
    [Cell::new(title), Cell::new(name)].into_iter().chain(splits.iter().map(of)).collect()
}

fn reading(split: &ResponseSplit, name: &str) -> Cell {
    let Some(part) = split.parts.iter().find(|part| part.name == name) else { return Cell::none() };
    let cell = estimate(Some(&part.each_ms), number);
    if !part.counts {
        return cell.tone(Tone::Muted);
    }
    let detail = cell.detail.clone().map_or_else(|| "counts".to_owned(), |detail| format!("{detail}; counts"));
    cell.detail(detail)
}

/// The readings that any contender has, in their order.
fn names(splits: &[ResponseSplit]) -> Vec<(WaitKind, String)> {
    let mut names: Vec<(WaitKind, String)> = Vec::new();
    // Who has most of them has those of the other between its own.
    let mut splits: Vec<&ResponseSplit> = splits.iter().collect();
    splits.sort_by_key(|split| std::cmp::Reverse(split.parts.len()));
    let mut parts: Vec<&Part> = splits.into_iter().flat_map(|split| &split.parts).collect();
    parts.sort_by_key(|part| order(part.kind));
    for part in parts {
        if !names.iter().any(|(_, name)| *name == part.name) {
            names.push((part.kind, part.name.clone()));
        }
    }
    names
}

fn order(kind: WaitKind) -> usize {
    [WaitKind::Driver, WaitKind::Lock, WaitKind::Cpu, WaitKind::Storage]
        .iter()
        .position(|one| *one == kind)
        .unwrap_or(0)
}

fn title_of(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Driver => "before it was sent",
        WaitKind::Lock => "for a lock",
        WaitKind::Cpu => "for a CPU",
        WaitKind::Storage => "for storage",
    }
}

fn number(value_ms: f64) -> String {
    format::milliseconds(value_ms * 1_000.0)
}

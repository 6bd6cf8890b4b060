//! Why machines of a trial do not get the same: what is owed to a machine, its place and its start order.

use super::contender;
use crate::document::Block;
use crate::format::{Style, listed, within};
use crate::table::{TableCell, TableOf, Tone, said};
use analysis::consolidation::Consolidation;
use analysis::consolidation::attribution::{LabelAttribution, LabelKind, Level, Untold};
use analysis::consolidation::slots::is_held_back;
use analysis::contrast::Position;
use analysis::estimate::Estimate;
use std::collections::BTreeSet;

const NOTE: &str = "Machines change places and the order in which they are started from block to block. The first figure is what machines got there \
     over the mean of the others of their trial, whatever else was different about them. The second is what is left of that when \
     what is owed to the other labels is taken out, with intervals that hold for all of a cell together; a place is held against those \
     on the same memory node.";

/// Where only the numbers of machines are known, nothing else can be the cause.
fn labels(one: &Consolidation) -> &[LabelAttribution] {
    let labels = one.attribution.as_ref().map_or(&[][..], |found| &found.labels);
    let tell_more = labels.iter().any(|label| label.label != LabelKind::Machine && !label.levels.is_empty());
    let is_open = labels.iter().any(|label| !changed_together(label).is_empty());
    if tell_more || is_open { labels } else { &[] }
}

/// The labels that surely make a difference.
pub fn known(one: &Consolidation) -> Vec<String> {
    labels(one).iter().flat_map(|label| of_label(label, one.machines)).collect()
}

/// The labels that cannot be distinguished.
pub fn unknown(one: &Consolidation) -> Option<String> {
    let together: BTreeSet<LabelKind> = labels(one).iter().flat_map(changed_together).collect();
    let together = listed(together.into_iter().map(|kind| words(kind).0));
    let unknown = within("It is not known what is owed to which of ", &together, ", which changed together.");
    Some(unknown).filter(|unknown| !unknown.is_empty())
}

fn changed_together(label: &LabelAttribution) -> Vec<LabelKind> {
    match &label.untold {
        Some(Untold::ChangedTogether { with }) => std::iter::once(label.label).chain(with.iter().copied()).collect(),
        _ => Vec::new(),
    }
}

/// If some get less, it is nothing new that the others are ahead of them.
fn of_label(label: &LabelAttribution, machines: usize) -> Vec<String> {
    let (name, whoever) = words(label.label);
    let is = |position| label.levels.iter().filter(move |level| level.position == position);
    let apart = if is(Position::Below).next().is_some() { Position::Below } else { Position::Above };
    let sentence = |level: &Level| {
        let (which, did) = (self::level(label.label, level, machines), said(level.effect.as_ref()?, Style::EFFECT));
        Some(format!(
            "{whoever} {which} did {did} against the mean of the others, all else taken out: it is the {name}."
        ))
    };
    is(apart).filter_map(sentence).collect()
}

/// The name of a label, and how a sentence about one of its levels begins.
fn words(kind: LabelKind) -> (&'static str, &'static str) {
    match kind {
        LabelKind::Machine => ("machine", "Machine"),
        LabelKind::Place => ("place", "Whichever machine had"),
        LabelKind::Node => ("memory node", "Whichever machine was on memory"),
        LabelKind::StartOrder => ("start order", "Whichever machine was started"),
    }
}

/// A level as the table shows it, below its label: "CPU 0", "CPUs 0-1", "node 0", "first", "last".
fn level(kind: LabelKind, level: &Level, machines: usize) -> String {
    let level = level.level.as_str();
    match (kind, level.split_once('/')) {
        (LabelKind::StartOrder, _) if level == "1" => "first".to_owned(),
        (LabelKind::StartOrder, _) if level == machines.to_string() => "last".to_owned(),
        (LabelKind::StartOrder, _) => format!("as number {level}"),
        (_, Some(("cpus", cpus))) => format!("CPU{} {cpus}", if cpus.contains([',', '-']) { "s" } else { "" }),
        (_, Some((kind, number))) => format!("{kind} {number}"),
        (_, None) => level.to_owned(),
    }
}

/// The figures behind the sentences, with a row for each level; only the first one has the name of the label.
pub fn blocks(found: &[&Consolidation]) -> Vec<Block> {
    let all = found.iter().flat_map(|one| labels(one).iter().map(move |label| (*one, label)));
    let rows: Vec<(&Consolidation, LabelKind, usize, &Level)> = all
        .flat_map(|(one, label)| (0..).zip(&label.levels).map(move |(place, level)| (one, label.label, place, level)))
        .collect();
    let effect = |level: &Level| {
        let effect = level.effect.as_ref();
        TableCell::estimate(effect, Style::EFFECT, "labels changed together").tone(tone(effect))
    };
    let table = TableOf::new(&rows)
        .text("contender", |(one, ..)| contender(&one.contender, &one.coordinates))
        .text("distinguished by", |(_, kind, place, _)| TableCell::text(if *place == 0 { words(*kind).0 } else { "" }))
        .text("which", |(one, kind, _, level)| TableCell::text(self::level(*kind, level, one.machines)))
        .number("of the mean of the others", |(.., level)| {
            TableCell::estimate(level.seen.as_ref(), Style::EFFECT, "no trial has it beside others")
        })
        .number("the rest taken out", |(.., level)| effect(level))
        .table("attribution", "What is owed to machine, place and start order");
    table.map_or_else(Vec::new, |table| vec![Block::Table(table), Block::Note(NOTE.to_owned())])
}

/// The tone of a ratio to the other machines.
pub fn tone(ratio: Option<&Estimate>) -> Tone {
    match ratio {
        Some(ratio) if is_held_back(ratio) => Tone::Bad,
        Some(ratio) if ratio.bounds.against(1.0) == Position::Below => Tone::Marked,
        Some(_) | None => Tone::Plain,
    }
}

//! Why machines of a trial do not get the same: in sentences, and in words for the table.

use crate::format;
use analysis::consolidation::Consolidation;
use analysis::consolidation::attribution::{Attribution, LabelAttribution, LabelKind, Level, Untold};
use analysis::consolidation::slots::HELD_BACK;
use analysis::contrast::Position;
use analysis::estimate::Estimate;
use std::collections::BTreeSet;

/// What the labels of one cell's machines show, if more than their numbers tells them apart.
pub fn sentences(one: &Consolidation) -> Vec<String> {
    let Some(found) = one.attribution.as_ref().filter(|found| is_worth_telling(found)) else { return Vec::new() };
    let judged: Vec<&LabelAttribution> = found.labels.iter().filter(|label| is_judged(label)).collect();
    let mut said: Vec<String> = judged.iter().flat_map(|label| owed_to(found, label, one.machines)).collect();
    let makes_none = |label: &&LabelAttribution| all_are(label, Position::Across);
    if judged.len() > 1 && judged.iter().all(makes_none) {
        said.push(format!("Neither {} surely makes a difference to what a machine gets.", names(&judged, "nor")));
    }
    said.extend(too_few(found, &judged));
    said.extend(changed_together(found));
    said
}

/// Where only the numbers of machines are known, nothing else can be the cause.
pub fn is_worth_telling(found: &Attribution) -> bool {
    found.labels.iter().any(|label| label.label != LabelKind::Machine && !label.levels.is_empty())
}

fn is_judged(label: &LabelAttribution) -> bool {
    label.untold.is_none() && !label.levels.is_empty()
}

/// A place that is alone on its memory node has no effect, and does not count.
fn all_are(label: &LabelAttribution, position: Position) -> bool {
    let mut asked = label.levels.iter().filter(|level| level.effect.is_some());
    asked.all(|level| level.position == position)
}

/// If some get less, it is nothing new that the others are ahead of them.
fn owed_to(found: &Attribution, label: &LabelAttribution, machines: usize) -> Vec<String> {
    let is = |position| -> Vec<&Level> { label.levels.iter().filter(|level| level.position == position).collect() };
    let less = is(Position::Below);
    let apart = if less.is_empty() { is(Position::Above) } else { less };
    let is_innocent = |label: &LabelAttribution| {
        label.label == LabelKind::Machine && is_judged(label) && all_are(label, Position::Across)
    };
    let not_machine = if found.labels.iter().any(is_innocent) { ", not the machine" } else { "" };
    let sentence = |level: &&Level| {
        let effect = level.effect.as_ref()?;
        let (figure, kind) = (format::effect_of(effect), label.label);
        let ((guilty, whoever), which) = (words(kind), self::level(kind, &level.level, machines));
        let is_within_node = kind == LabelKind::Place && judges(found, LabelKind::Node);
        let others = if is_within_node { "the others on its node" } else { "the others" };
        let wherever = if kind == LabelKind::Machine { wherever(found) } else { String::new() };
        let how_much = match kind {
            _ if is_little(effect) => ", by little",
            LabelKind::Machine => "",
            _ => not_machine,
        };
        Some(format!(
            "{whoever} {which} did {figure} against the mean of {others}{wherever}: it is the {guilty}{how_much}."
        ))
    };
    apart.iter().filter_map(sentence).collect()
}

/// True if the nearer end of the interval is so close to one that the effect does not matter.
fn is_little(effect: &Estimate) -> bool {
    let near = |(low, high): (f64, f64)| if low > 1.0 { 1.0 / low } else { high };
    effect.bounds.known().map(near).is_some_and(|near| near >= 1.0 - HELD_BACK)
}

fn judges(found: &Attribution, kind: LabelKind) -> bool {
    found.labels.iter().any(|label| label.label == kind && is_judged(label))
}

/// Which labels were taken out of a machine's own figure.
fn wherever(found: &Attribution) -> String {
    let parts = [(LabelKind::Place, "wherever it ran"), (LabelKind::StartOrder, "whenever it was started")];
    let parts: Vec<&str> = parts.into_iter().filter(|(kind, _)| judges(found, *kind)).map(|(_, words)| words).collect();
    if parts.is_empty() { String::new() } else { format!(" {}", parts.join(" and ")) }
}

/// "CPU 0", "CPUs 0-1", "place 1", "node 0".
fn place(level: &str) -> String {
    match level.split_once('/') {
        Some(("cpus", one)) if one.bytes().all(|byte| byte.is_ascii_digit()) => format!("CPU {one}"),
        Some(("cpus", several)) => format!("CPUs {several}"),
        Some((kind, number)) => format!("{kind} {number}"),
        None => level.to_owned(),
    }
}

/// "first", "as number 2", "last".
fn when(position: &str, machines: usize) -> String {
    match position {
        "1" => "first".to_owned(),
        position if position == machines.to_string() => "last".to_owned(),
        position => format!("as number {position}"),
    }
}

pub fn name(kind: LabelKind) -> &'static str {
    words(kind).0
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

/// A level as the table shows it, below its label.
pub fn level(kind: LabelKind, level: &str, machines: usize) -> String {
    match kind {
        LabelKind::Machine => level.to_owned(),
        LabelKind::Place | LabelKind::Node => place(level),
        LabelKind::StartOrder => when(level, machines),
    }
}

fn too_few(found: &Attribution, judged: &[&LabelAttribution]) -> Option<String> {
    let is_untold = judged.len() > 1 && judged.iter().all(|label| all_are(label, Position::Unknown));
    let more = match found.blocks_needed.saturating_sub(found.blocks) {
        0 => "the trials that are missing would do".to_owned(),
        more => format!("{more} more would do"),
    };
    is_untold.then(|| format!("Too few blocks to tell what is owed to {}: {more}.", names(judged, "or")))
}

fn names(labels: &[&LabelAttribution], last: &str) -> String {
    joined(&labels.iter().map(|label| name(label.label)).collect::<Vec<_>>(), last)
}

/// "machine, place or start order".
pub fn joined(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// Said once about all labels that changed together.
fn changed_together(found: &Attribution) -> Option<String> {
    let mut together: BTreeSet<LabelKind> = BTreeSet::new();
    for label in &found.labels {
        if let Some(Untold::ChangedTogether { with }) = &label.untold {
            together.insert(label.label);
            together.extend(with);
        }
    }
    let names: Vec<&str> = together.into_iter().map(name).collect();
    let more = match found.blocks_needed.saturating_sub(found.blocks) {
        0 => "more blocks may tell them apart".to_owned(),
        1 => "1 more block would tell them apart".to_owned(),
        more => format!("{more} more blocks would tell them apart"),
    };
    let names = joined(&names, "and");
    (!names.is_empty())
        .then(|| format!("It is not known what is owed to which of {names}, which changed together: {more}."))
}

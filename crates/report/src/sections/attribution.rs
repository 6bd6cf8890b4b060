//! What machines side by side got by their numbers, their places and when they were started: the figures behind the sentences.

use super::consolidation::{name, tone};
use crate::attribution as words;
use crate::document::{Block, Cell, Column, Table};
use crate::format;
use crate::measures::estimate;
use analysis::consolidation::Consolidation;
use analysis::consolidation::attribution::{Attribution, LabelAttribution, Level};

/// Nothing where machines can be told apart by their numbers only.
pub fn blocks(found: &[&Consolidation]) -> Vec<Block> {
    let rows: Vec<Vec<Cell>> =
        found.iter().filter_map(|one| Some((*one, one.attribution.as_ref()?))).flat_map(rows).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = [
        Column::text("contender"),
        Column::text("told apart by"),
        Column::text("which"),
        Column::number("of the mean of the others"),
        Column::number("the rest taken out"),
    ];
    let caption = "What is owed to machine, place and start order".to_owned();
    vec![Block::Table(Table { caption, columns: columns.into(), rows }), Block::Note(note())]
}

fn rows((one, found): (&Consolidation, &Attribution)) -> Vec<Vec<Cell>> {
    if !words::is_worth_telling(found) {
        return Vec::new();
    }
    let of_label = |label: &LabelAttribution| {
        let first = std::iter::once(words::name(label.label)).chain(std::iter::repeat(""));
        label.levels.iter().zip(first).map(|(level, title)| row(one, label, level, title)).collect::<Vec<_>>()
    };
    found.labels.iter().flat_map(of_label).collect()
}

fn row(one: &Consolidation, label: &LabelAttribution, level: &Level, title: &str) -> Vec<Cell> {
    vec![
        name(one),
        Cell::new(title),
        Cell::new(words::level(label.label, &level.level, one.machines)),
        estimate(level.seen.as_ref(), format::ratio),
        estimate(level.effect.as_ref(), format::ratio).tone(tone(level.standing)),
    ]
}

fn note() -> String {
    "Machines change places and the order in which they are started from block to block. The first figure is what machines got there \
     over the mean of the others of their trial, whatever else was different about them. The second is what is left of that when \
     what is owed to the other labels is taken out, with intervals that hold for all of a cell together; a place is held against those \
     on the same memory node. It is missing where labels changed together in all blocks."
        .to_owned()
}

//! What machines side by side got by number, place and start order: the figures behind the sentences.

use super::contender;
use crate::attribution as words;
use crate::document::Block;
use crate::format::Style;
use crate::table::{Cell, Table, Tone, columns, id};
use analysis::consolidation::Consolidation;
use analysis::consolidation::attribution::{LabelAttribution, Level};
use analysis::consolidation::slots::is_held_back;
use analysis::contrast::Position;
use analysis::estimate::Estimate;

/// Empty if only their numbers tell machines apart.
pub fn blocks(found: &[&Consolidation]) -> Vec<Block> {
    let told = |one: &&Consolidation| one.attribution.as_ref().is_some_and(words::is_worth_telling);
    let labels = found.iter().filter(|one| told(one)).flat_map(|one| {
        let labels = one.attribution.iter().flat_map(|found| &found.labels);
        labels.map(move |label| (*one, label))
    });
    let columns =
        columns(&["contender", "told apart by", "which"], &["of the mean of the others", "the rest taken out"]);
    let caption = "What is owed to machine, place and start order";
    let table = Table::new(id("attribution", ""), caption, columns, labels.flat_map(rows)).unless_empty();
    table.map_or_else(Vec::new, |table| vec![Block::Table(table), Block::Note(NOTE.to_owned())])
}

/// A row for each level; only the first one has the name of the label.
fn rows((one, label): (&Consolidation, &LabelAttribution)) -> Vec<Vec<Cell>> {
    let titles = std::iter::once(words::name(label.label)).chain(std::iter::repeat(""));
    let row = |(level, title): (&Level, &str)| {
        let effect = level.effect.as_ref();
        vec![
            contender(&one.contender, &one.coordinates),
            Cell::text(title),
            Cell::text(words::level(label.label, &level.level, one.machines)),
            Cell::estimate(level.seen.as_ref(), Style::EFFECT, "no trial has it beside others"),
            Cell::estimate(effect, Style::EFFECT, "labels changed together").tone(tone(effect)),
        ]
    };
    label.levels.iter().zip(titles).map(row).collect()
}

const NOTE: &str = "Machines change places and the order in which they are started from block to block. The first figure is what machines got there \
     over the mean of the others of their trial, whatever else was different about them. The second is what is left of that when \
     what is owed to the other labels is taken out, with intervals that hold for all of a cell together; a place is held against those \
     on the same memory node. It is missing where labels changed together in all blocks.";

/// The tone of a ratio to the other machines.
pub fn tone(ratio: Option<&Estimate>) -> Tone {
    match ratio {
        Some(ratio) if is_held_back(ratio) => Tone::Bad,
        Some(ratio) if ratio.bounds.against(1.0) == Position::Below => Tone::Marked,
        Some(_) | None => Tone::Plain,
    }
}

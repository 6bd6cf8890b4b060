//! How even: how throughput varied from second to second, and how many transactions took very long.

use super::comparison::groups;
use super::{heading, place};
use crate::document::Block;
use crate::{figures, format, measures};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    for cells in groups(analysis) {
        let Some(table) = measures::table(analysis, &cells, |one| one.id.starts_with("variability.")) else { continue };
        found.extend(place(&cells[0].coordinates));
        found.extend(figures::bands::figure(&cells).map(Block::Figure));
        found.push(Block::Table(table));
    }
    if found.is_empty() {
        return found;
    }
    found.push(Block::Note(note()));
    std::iter::once(heading("How even")).chain(found).collect()
}

fn note() -> String {
    format!(
        "Of the seconds of the measured window. “×” is a ratio of contender over baseline, a sign a difference, both paired by \
         block. Bands are read from the seconds of each trial, over its own median; shown is their mean over blocks. A cycle is one \
         that noise alone would show in at most {} trial in a hundred; it is shown if every trial has one.",
        format::decimal(analysis::cycle::LEVEL * 100.0, 0)
    )
}

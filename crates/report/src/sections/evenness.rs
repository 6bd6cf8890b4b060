//! How even: how throughput varied from second to second, and how many transactions took very long.

use super::comparison::groups;
use super::{headed, place};
use crate::document::Block;
use crate::{figures, format, measures};
use analysis::measures::Measure;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    for cells in groups(analysis) {
        let is_wanted = |one: &Measure| one.id.starts_with("variability.");
        let Some(table) = measures::table("evenness", analysis, &cells, is_wanted) else { continue };
        found.extend(place(&cells[0].coordinates));
        found.extend(figures::bands::figure(&cells).map(Block::Figure));
        found.push(Block::Table(table));
    }
    headed("How even", found, Some(note()))
}

fn note() -> String {
    format!(
        "Of the seconds of the measured window. “×” is a ratio of contender over baseline, a sign a difference, both paired by \
         block. Bands are read from the seconds of each trial, over its own median; shown is their mean over blocks. A cycle is one \
         that noise alone would show in at most {} trial in a hundred; it is shown if every trial has one.",
        format::decimal(analysis::cycle::LEVEL * 100.0, 0)
    )
}

//! How even: how throughput varied from second to second, and how many transactions took very long.

use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::{figures, format, measures};
use analysis::measures::Measure;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let found = each_group(analysis, |cells| {
        let is_wanted = |one: &Measure| one.id.starts_with("variability.");
        let Some(table) = measures::table("evenness", analysis, cells, is_wanted) else { return Vec::new() };
        figures::bands::figure(cells).map(Block::Figure).into_iter().chain([Block::Table(table)]).collect()
    });
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

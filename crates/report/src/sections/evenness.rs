//! How even throughput was: how it varied from second to second, and how many transactions took very long.

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
    headed("Throughput from second to second", found, Some(note()))
}

fn note() -> String {
    format!(
        "Figures are over the seconds of the measured window. “×” marks a ratio to the baseline, a sign marks a \
            difference; both are paired by block. Bands are percentiles of a trial's seconds over its median second. \
            A cycle is reported if every trial shows it and chance would show it in fewer than {} in 100.",
        format::decimal(analysis::cycle::LEVEL * 100.0, 0)
    )
}

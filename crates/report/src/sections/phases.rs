//! What each phase yielded, for loads that end with their work.

use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::measures;
use analysis::measures::Measure;
use analysis::measures::phases::{LENGTH, RATE, TIME};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let of = |measure: &Measure, families: &[&str]| families.iter().any(|family| measure.id.starts_with(family));
    let tables = each_group(analysis, |cells| {
        let phases = measures::table("phases", analysis, cells, |measure| of(measure, &[RATE, LENGTH]));
        let times = measures::table("phase-times", analysis, cells, |measure| of(measure, &[TIME]));
        let times = times.map(|times| Block::Fold {
            title: "Each kind of transaction in each phase".to_owned(),
            blocks: vec![Block::Table(times)],
        });
        phases.map(Block::Table).into_iter().chain(times).collect()
    });
    let note = "A stream alone counts by the geometric mean of the times of its transactions, several streams by the time that \
        all of them need. Throughput is the geometric mean of the phases.";
    headed("Phases", tables, Some(note.to_owned()))
}

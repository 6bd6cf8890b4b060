//! Where the figures stand among the sections; they are drawn in [`crate::figures`].

use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::figures;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let ratios = figures::ratio::figure(analysis).map(Block::Figure).into_iter();
    let of_groups = each_group(analysis, |cells| {
        let drawn = [figures::timeline::figure(cells), figures::latency::figure(cells)];
        drawn.into_iter().flatten().map(Block::Figure).collect()
    });
    headed("Figures", ratios.chain(of_groups).collect(), None)
}

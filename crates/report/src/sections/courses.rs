//! How throughput went over time, and how long transactions took: the two figures that are not folded.

use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::figures;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let times = each_group(analysis, |cells| figures::timeline::figure(cells).map(Block::Figure).into_iter().collect());
    let responses =
        each_group(analysis, |cells| figures::latency::figure(cells).map(Block::Figure).into_iter().collect());
    headed("Over time", times, None).into_iter().chain(headed("Response times", responses, None)).collect()
}

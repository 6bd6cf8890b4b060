//! Where the figures stand among the sections; they are drawn in [`crate::figures`].

use super::comparison::groups;
use super::{heading, place};
use crate::document::Block;
use crate::figures;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("Figures")];
    let empty = blocks.len();
    blocks.extend(figures::ratio::figure(analysis).map(Block::Figure));
    for cells in groups(analysis) {
        let drawn = [figures::timeline::figure(&cells), figures::latency::figure(&cells)];
        let drawn: Vec<Block> = drawn.into_iter().flatten().map(Block::Figure).collect();
        if !drawn.is_empty() {
            blocks.extend(place(&cells[0].coordinates));
            blocks.extend(drawn);
        }
    }
    if blocks.len() == empty { Vec::new() } else { blocks }
}

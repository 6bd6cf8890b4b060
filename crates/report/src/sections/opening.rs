//! Warnings first, then the answer.

use crate::answer;
use crate::document::Block;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !analysis.warnings.is_empty() {
        let warnings = analysis.warnings.iter().map(|warning| (warning.severity, warning.text.clone()));
        blocks.push(Block::Warnings(warnings.collect()));
    }
    blocks.extend(answer::sentences(analysis).into_iter().map(Block::Answer));
    blocks
}

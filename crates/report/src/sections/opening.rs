//! What makes the answer doubtful, the answer, and what else is worth knowing: in this order.

use crate::document::{Block, Warning};
use crate::{answer, findings};
use analysis::findings::{Finding, Severity};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let is_doubt = |finding: &&Finding| finding.severity == Severity::Serious && finding.accepted.is_none();
    let (doubts, others): (Vec<&Finding>, Vec<&Finding>) = analysis.findings.iter().partition(is_doubt);
    let told = |found: Vec<&Finding>| {
        let warnings: Vec<Warning> = findings::warnings(found);
        (!warnings.is_empty()).then_some(Block::Warnings(warnings))
    };
    let explained = (!analysis.findings.is_empty()).then(|| Block::Note(EXPLAIN.to_owned()));
    let answers = answer::sentences(analysis).into_iter().map(Block::Answer);
    told(doubts).into_iter().chain(answers).chain(told(others)).chain(explained).collect()
}

const EXPLAIN: &str = "“bakeoff explain CODE” says what a code in brackets means and what to do about it.";

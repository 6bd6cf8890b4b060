//! What makes the answer doubtful, the answer, and what else is worth knowing: in this order.

use crate::answer;
use crate::document::Block;
use analysis::summary::Analysis;
use analysis::warnings::Severity;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let answers = answer::sentences(analysis).into_iter().map(Block::Answer);
    let told = |severity| warnings(analysis, severity);
    told(Severity::Serious).into_iter().chain(answers).chain(told(Severity::Caution)).collect()
}

fn warnings(analysis: &Analysis, severity: Severity) -> Option<Block> {
    let own = analysis.warnings.iter().filter(|warning| warning.severity == severity);
    let own: Vec<(Severity, String)> = own.map(|warning| (warning.severity, warning.text.clone())).collect();
    (!own.is_empty()).then_some(Block::Warnings(own))
}

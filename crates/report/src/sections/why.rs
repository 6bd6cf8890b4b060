//! Why contenders differ, as far as what was counted tells: sentences first, then the tables of
//! [`super::profiles`] and [`super::counters`].

use super::{counters, heading, place, profiles};
use crate::document::Block;
use crate::{figures, reasons};
use analysis::explanation::Explanation;
use analysis::summary::Analysis;

const NONE: &str =
    "The record has no telemetry of two contenders in one block, so nothing is known of why they differ.";

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("Why")];
    if analysis.explanations.is_empty() {
        blocks.push(Block::Paragraph(NONE.to_owned()));
    }
    for explanation in &analysis.explanations {
        blocks.extend(place(&title(analysis, explanation)));
        blocks.extend(of_comparison(explanation));
    }
    blocks
}

/// Where it is compared and, if there are several, what.
fn title(analysis: &Analysis, explanation: &Explanation) -> String {
    let Explanation { coordinates, baseline, contender, .. } = explanation;
    let pair = format!("{contender} and {baseline}");
    match (coordinates.as_str(), analysis.explanations.len()) {
        (_, 1) => coordinates.clone(),
        ("", _) => pair,
        (place, _) => format!("{place}: {pair}"),
    }
}

fn of_comparison(explanation: &Explanation) -> Vec<Block> {
    let said: Vec<String> = explanation.reasons.iter().map(reasons::sentence).collect();
    let mut blocks = Vec::new();
    if said.is_empty() {
        blocks.push(Block::Paragraph("No rule found anything that it could say for sure.".to_owned()));
    } else {
        blocks.push(Block::List(said));
        let plural = if explanation.blocks == 1 { "" } else { "s" };
        blocks.push(Block::Note(format!(
            "By rules, each with a condition that its 95 % interval over {} block{plural} must meet. What differs together with the \
             throughput need not be the cause of it.",
            explanation.blocks
        )));
    }
    if !explanation.unknown.is_empty() {
        let lines = vec![Block::List(explanation.unknown.iter().map(reasons::unknown).collect())];
        blocks.push(Block::Fold { title: "What was not available".to_owned(), blocks: lines });
    }
    blocks.extend(profiles::blocks(explanation));
    blocks.extend(figures::course::figure(explanation).map(Block::Figure));
    blocks.extend(counters::blocks(explanation));
    blocks
}

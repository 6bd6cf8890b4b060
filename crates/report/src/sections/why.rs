//! Why contenders differ, as far as counters tell: sentences first, then the tables of [`super::counters`].

use super::{counters, headed, heading, place};
use crate::document::Block;
use crate::{figures, format, reasons};
use analysis::compare::Comparison;
use analysis::explanation::Explanation;
use analysis::explanation::rules::Reason;
use analysis::summary::Analysis;

const NONE: &str = "There is no telemetry of two contenders in one block, so nothing is known of why they differ.";

/// The most reasons per comparison that are not folded.
const MOST_REASONS: usize = 3;

/// The first reasons of each comparison.
pub fn reasons(analysis: &Analysis) -> Vec<Block> {
    let of_one = |explanation: &Explanation| {
        let of_telemetry =
            explanation.reasons.iter().filter(|reason| !matches!(reason, Reason::StolenDisagreement { .. }));
        let emulated = emulated(analysis, explanation).into_iter();
        let said: Vec<String> = emulated.chain(of_telemetry.map(reasons::sentence)).take(MOST_REASONS).collect();
        let place = place(&title(analysis, explanation)).filter(|_| !said.is_empty());
        let list = (!said.is_empty()).then_some(Block::List(said));
        place.into_iter().chain(list).collect::<Vec<_>>()
    };
    let found = analysis.explanations.iter().flat_map(of_one).collect();
    headed("Why", found, Some("These differ together with the throughput. That does not prove a cause.".to_owned()))
}

/// A reason that needs no telemetry.
fn emulated(analysis: &Analysis, explanation: &Explanation) -> Option<String> {
    let is_same = |one: &&Comparison| {
        one.coordinates == explanation.coordinates && one.contender == explanation.contender && !one.emulated.is_empty()
    };
    let who = format::listed(&analysis.comparisons.iter().find(is_same)?.emulated);
    Some(format!("The CPU of {who} was emulated in software: each instruction of the guest took many of the host."))
}

/// Everything behind these reasons.
pub fn details(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("All reasons and counters")];
    if analysis.explanations.is_empty() {
        blocks.push(Block::Paragraph(NONE.to_owned()));
    }
    for explanation in &analysis.explanations {
        blocks.extend(place(&title(analysis, explanation)));
        blocks.extend(of_comparison(explanation));
    }
    blocks
}

/// The point of the study and, if there are several comparisons, the pair.
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
        blocks.push(Block::Paragraph("Nothing can be said for sure.".to_owned()));
    } else {
        blocks.push(Block::List(said));
        blocks.push(Block::Note(format!(
            "Each is found by a rule whose condition the 95 % confidence interval over {} meets.",
            format::counted(explanation.blocks as u64, "block")
        )));
    }
    if !explanation.unknown.is_empty() {
        let lines = vec![Block::List(explanation.unknown.iter().map(reasons::unknown).collect())];
        blocks.push(Block::Fold { title: "What was not available".to_owned(), blocks: lines });
    }
    blocks.extend(figures::course::figure(explanation).map(Block::Figure));
    blocks.extend(counters::blocks(explanation));
    blocks
}

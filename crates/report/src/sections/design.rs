//! What a reader must know about the design of the run before judging its answer: contenders compared with
//! themselves, and blocks added until intervals were narrow. Most runs have neither.

use crate::document::Block;
use crate::precision;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    sentences(analysis).into_iter().map(Block::Paragraph).collect()
}

/// One paragraph each; the terminal prints the same ones.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let precision = analysis.precision.as_ref().map(precision::sentence);
    against_itself(analysis).into_iter().chain(precision).collect()
}

fn against_itself(analysis: &Analysis) -> Option<String> {
    let all = analysis.comparisons.len();
    let alarms = analysis.comparisons.iter().filter(|comparison| comparison.verdict.is_difference()).count();
    let comparisons = if all == 1 { "comparison" } else { "comparisons" };
    let seen = match alarms {
        0 => format!("None was seen in {all} {comparisons}."),
        _ => format!("Yet {alarms} of {all} {comparisons} saw one: a false alarm."),
    };
    analysis.aa.then(|| {
        format!(
            "This is an A/A study: each contender is compared with itself, so there is no difference to be seen. {seen} About \
             1 run in 20 raises a false alarm, however many comparisons it makes. If repeated A/A runs raise more, something here \
             varies in a way that the intervals do not cover, and differences of that size between real contenders mean \
             nothing."
        )
    })
}

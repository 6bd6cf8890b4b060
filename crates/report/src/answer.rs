//! The answer to the study's question, one sentence for each comparison.

use crate::format;
use analysis::compare::{Comparison, Verdict};
use analysis::summary::Analysis;

/// One sentence for each comparison; one that says why there is none if there is none.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    if analysis.comparisons.is_empty() {
        return vec!["Nothing was compared: the study has no contender beside its baseline.".to_owned()];
    }
    analysis.comparisons.iter().map(sentence).collect()
}

fn sentence(comparison: &Comparison) -> String {
    let (contender, baseline) = (&comparison.contender, &comparison.baseline);
    let place =
        if comparison.coordinates.is_empty() { String::new() } else { format!("At {}, ", comparison.coordinates) };
    let Some(ratio) = &comparison.throughput else {
        return format!("{place}{contender} could not be compared with {baseline}: no block was completed by both.");
    };
    let blocks = match ratio.blocks.len() {
        1 => "1 block".to_owned(),
        many => format!("{many} blocks"),
    };
    let figure = format::ratio(ratio.estimate.point);
    let interval = format::bounds(&ratio.estimate.bounds, format::ratio);
    let metric = &comparison.metric.name;
    match comparison.verdict {
        Verdict::Slower => format!(
            "{place}{contender} keeps {figure} of {baseline}'s throughput in {metric} (95 % interval {interval}; {blocks}): it is slower."
        ),
        Verdict::Faster => format!(
            "{place}{contender} reaches {figure} times {baseline}'s throughput in {metric} (95 % interval {interval}; {blocks}): it is faster."
        ),
        Verdict::NoDifferenceSeen => format!(
            "{place}{contender} and {baseline} cannot be told apart: the throughput ratio in {metric} is {figure} (95 % interval {interval}; {blocks})."
        ),
        Verdict::TooFewTrials | Verdict::NothingToCompare => format!(
            "{place}{contender} showed {figure} of {baseline}'s throughput in {metric} in {blocks}; that is a plain reading ({interval})."
        ),
    }
}

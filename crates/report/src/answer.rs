//! The answer to the study's question, one sentence for each comparison.

use crate::format;
use analysis::compare::{Comparison, Ratio, Verdict, WrongData};
use analysis::summary::Analysis;

/// One sentence for each comparison; one that says why there is none if there is none.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    if analysis.comparisons.is_empty() {
        return vec!["Nothing was compared: the study has no contender beside its baseline.".to_owned()];
    }
    analysis.comparisons.iter().map(|comparison| sentence(comparison) + &emulation(comparison)).collect()
}

/// Why there is no verdict, if the data is wrong on either side.
fn refusal(comparison: &Comparison) -> Option<String> {
    let wrong = |found: &WrongData| {
        let plural = if found.trials.len() == 1 { "" } else { "s" };
        let trials: Vec<String> = found.trials.iter().map(u32::to_string).collect();
        format!("{} left wrong data behind in trial{plural} {}", found.contender, format::listed(&trials))
    };
    let wrong: Vec<String> = comparison.wrong_data.iter().map(wrong).collect();
    let (contender, baseline, why) = (&comparison.contender, &comparison.baseline, wrong.join(", and "));
    (!wrong.is_empty()).then(|| format!("{contender} gets no verdict against {baseline}: {why}. How fast a database does something wrong says nothing."))
}

/// What must never be read without the ratio, and goes wherever the ratio goes.
fn emulation(comparison: &Comparison) -> String {
    if comparison.throughput.is_none() || comparison.emulated.is_empty() {
        return String::new();
    }
    let who = format::listed(&comparison.emulated);
    format!(
        " But {who} ran emulated: this is what emulation costs, not what a hypervisor with working hardware virtualization does."
    )
}

fn sentence(comparison: &Comparison) -> String {
    let (contender, baseline, metric) = (&comparison.contender, &comparison.baseline, &comparison.metric.name);
    let told = match (refusal(comparison), &comparison.throughput) {
        (None, None) => format!("{contender} could not be compared with {baseline}: no block was completed by both."),
        (None, Some(ratio)) => verdict(comparison, ratio),
        (Some(refusal), None) => refusal,
        (Some(refusal), Some(ratio)) => {
            let (blocks, figure) = (blocks(ratio), format::estimate(&ratio.estimate, format::ratio));
            format!(
                "{refusal} Over {blocks} whose data is right, {contender} showed {figure} of {baseline}'s throughput in {metric}."
            )
        }
    };
    match comparison.coordinates.as_str() {
        "" => told,
        place => format!("At {place}, {told}"),
    }
}

fn verdict(comparison: &Comparison, ratio: &Ratio) -> String {
    let (contender, baseline, metric) = (&comparison.contender, &comparison.baseline, &comparison.metric.name);
    let figure = format::ratio(ratio.estimate.point);
    let interval = format::bounds(&ratio.estimate.bounds, format::ratio);
    let blocks = blocks(ratio);
    match comparison.verdict {
        Verdict::Slower => format!(
            "{contender} keeps {figure} of {baseline}'s throughput in {metric} (95 % interval {interval}; {blocks}): it is slower."
        ),
        Verdict::Faster => format!(
            "{contender} reaches {figure} times {baseline}'s throughput in {metric} (95 % interval {interval}; {blocks}): it is faster."
        ),
        Verdict::NoDifferenceSeen => format!(
            "{contender} and {baseline} cannot be told apart: the throughput ratio in {metric} is {figure} (95 % interval {interval}; {blocks})."
        ),
        Verdict::TooFewTrials | Verdict::NothingToCompare | Verdict::WrongData => format!(
            "{contender} showed {figure} of {baseline}'s throughput in {metric} in {blocks}; that is a plain reading ({interval})."
        ),
    }
}

fn blocks(ratio: &Ratio) -> String {
    match ratio.blocks.len() {
        1 => "1 block".to_owned(),
        many => format!("{many} blocks"),
    }
}

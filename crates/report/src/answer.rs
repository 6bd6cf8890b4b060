//! The answer to the study's question: what the worst-off of several machines gets, or what one does to the others, and one sentence for each comparison.

use crate::{consolidation, format, neighbour};
use analysis::compare::{Comparison, Verdict, WrongData};
use analysis::contrast::Contrast;
use analysis::summary::Analysis;

/// First the minimum of each cell of several machines or what a neighbour does to them, then one sentence for each comparison. If there is neither, why.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    if analysis.comparisons.is_empty() && analysis.consolidation.is_empty() {
        return vec!["Nothing was compared: the study has no contender beside its baseline.".to_owned()];
    }
    let told = |comparison| sentence(analysis, comparison) + &emulation(comparison) + false_alarm(analysis, comparison);
    // Beside a machine that is set apart, what it does to the others is the answer.
    let of_cell = |one| neighbour::headline(one).unwrap_or_else(|| consolidation::headline(one));
    let minima = analysis.consolidation.iter().map(of_cell);
    minima.chain(analysis.comparisons.iter().map(told)).collect()
}

/// What a difference is called where there is none.
fn false_alarm(analysis: &Analysis, comparison: &Comparison) -> &'static str {
    if analysis.aa && is_difference(comparison.verdict) { " But both are the same: a false alarm." } else { "" }
}

pub fn is_difference(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Slower | Verdict::Faster)
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
    if comparison.throughput().is_none() || comparison.emulated.is_empty() {
        return String::new();
    }
    let who = format::listed(&comparison.emulated);
    format!(
        " But {who} ran emulated: this is what emulation costs, not what a hypervisor with working hardware virtualization does."
    )
}

fn sentence(analysis: &Analysis, comparison: &Comparison) -> String {
    let (contender, baseline, metric) = (&comparison.contender, &comparison.baseline, &comparison.metric.name);
    let told = match (refusal(comparison), comparison.throughput()) {
        (None, None) => format!("{contender} could not be compared with {baseline}: no block was completed by both."),
        (None, Some(ratio)) => verdict(analysis, comparison, ratio),
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

fn verdict(analysis: &Analysis, comparison: &Comparison, ratio: &Contrast) -> String {
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
        Verdict::Equivalent => format!(
            "{contender} and {baseline} are equivalent: their throughput in {metric} differs by less than the study's margin of {}. The \
             ratio is {figure} (95 % interval {interval}; {blocks}).",
            analysis.margin.map(format::percent).unwrap_or_default()
        ),
        Verdict::Undecided => format!(
            "No difference between {contender} and {baseline} is shown: the throughput ratio in {metric} is {figure} (95 % interval \
             {interval}; {blocks}).{}",
            among_others(comparison, ratio)
        ),
        Verdict::TooFewTrials => format!(
            "Too few trials for a verdict: {contender} showed {figure} of {baseline}'s throughput in {metric} in {blocks}; that is a \
             plain reading."
        ),
        Verdict::NothingToCompare | Verdict::WrongData => format!(
            "{contender} showed {figure} of {baseline}'s throughput in {metric} in {blocks}; that is a plain reading ({interval})."
        ),
    }
}

/// Why an interval that leaves out 1 is no difference.
fn among_others(comparison: &Comparison, ratio: &Contrast) -> &'static str {
    let apart = ratio.estimate.bounds.contain(1.0) == Some(false) && comparison.p_equal.is_some();
    let said = " Alone it would be; but among as many comparisons one such interval happens by chance (Holm's method).";
    if apart { said } else { "" }
}

fn blocks(ratio: &Contrast) -> String {
    match ratio.blocks.len() {
        1 => "1 block".to_owned(),
        many => format!("{many} blocks"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::summary::analyse;
    use record::run::Run;
    use record::synthetic;

    /// The answer to a run whose windows counted a thousand on the baseline and these on the contender.
    fn answer(contender: &[u64]) -> String {
        sentences(&analyse(&run_of(contender))).concat()
    }

    fn run_of(contender: &[u64]) -> Run {
        let mut run = synthetic::run(u32::try_from(contender.len()).unwrap());
        for trial in &mut run.trials {
            let block = trial.record.block as usize - 1;
            let driver = trial.record.driver.as_mut().unwrap();
            driver.kinds[0].rolled_back = 0;
            driver.kinds[0].committed = if trial.record.cell == 0 { 1000 } else { contender[block] };
        }
        run
    }

    #[test]
    fn a_difference_is_not_shown_or_shown_to_be_small() {
        assert_eq!(
            answer(&[990, 1010, 1000, 1005]),
            "No difference between kvm and native is shown: the throughput ratio in NOPM is 1.001 (95 % interval 0.988 to \
             1.015; 4 blocks)."
        );
        let mut run = run_of(&[990, 1010, 1000, 1005]);
        run.plan.margin = Some(0.05);
        assert_eq!(
            sentences(&analyse(&run)).concat(),
            "kvm and native are equivalent: their throughput in NOPM differs by less than the study's margin of 5 %. The ratio is \
             1.001 (95 % interval 0.988 to 1.015; 4 blocks)."
        );
    }

    #[test]
    fn the_other_verdicts_are_said_in_words() {
        assert!(answer(&[850, 860, 840]).ends_with("it is slower."));
        assert!(answer(&[1200, 1210, 1190]).ends_with("it is faster."));
        assert_eq!(
            answer(&[850, 860]),
            "Too few trials for a verdict: kvm showed 0.855 of native's throughput in NOPM in 2 blocks; that is a plain \
             reading."
        );
    }
}

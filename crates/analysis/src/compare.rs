//! Contenders against the baseline, paired by block.
//!
//! Within a block both met the same drift of the machine and the same inputs, so each block gives one ratio; the
//! answer is the geometric mean of those. A block in which either side is not sound is left out, and named.

use crate::cells::{self, Group};
use crate::estimate::{Bounds, Estimate};
use crate::{machines, precision, student, throughput};
use record::intervals::Span;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::trial::{Metric, Outcome};
use serde::{Deserialize, Serialize};

/// The percentiles whose ratios are reported.
pub const COMPARED_QUANTILES: [f64; 3] = [0.50, 0.95, 0.99];

/// One contender against the baseline, under the same scenario and swept values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub coordinates: String,
    pub baseline: String,
    pub contender: String,
    pub baseline_cell: u32,
    pub contender_cell: u32,
    pub metric: Metric,
    /// Which of the two ran emulated, by name: then the ratio is not the price of a hypervisor.
    pub emulated: Vec<String>,
    /// Which of the two left wrong data behind. As long as one did, there is no verdict.
    pub wrong_data: Vec<WrongData>,
    /// Blocks that could not be paired, each with the reason.
    pub left_out: Vec<LeftOut>,
    /// Contender over baseline; above one is faster. `None` if no block could be paired.
    pub throughput: Option<Ratio>,
    /// Contender over baseline for the counted kinds; above one is slower.
    pub latency: Vec<LatencyRatio>,
    pub verdict: Verdict,
}

/// A contender with the trials in which one of its data checks was violated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongData {
    pub contender: String,
    pub trials: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub block: u32,
    pub why: String,
}

/// A ratio over paired blocks, with every point it was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Its interval is Student's t on the logarithms, on which verdicts rest.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Standard deviation of the blocks' log ratios; `None` of a single block.
    pub spread: Option<f64>,
    /// What would have been seen; `None` where there are too few blocks for a verdict.
    pub smallest_effect: Option<SmallestEffect>,
    pub blocks: Vec<BlockRatio>,
}

/// The ratios nearest to one that a run with this spread and this many blocks tells from one four times in five.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SmallestEffect {
    pub below_one: f64,
    pub above_one: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockRatio {
    pub block: u32,
    pub ratio: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyRatio {
    pub kind: String,
    pub span: Span,
    pub quantile: f64,
    pub ratio: Ratio,
}

/// What the interval of the throughput ratio allows to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Slower,
    Faster,
    /// The interval contains one: a difference, if there is one, is smaller than this run can tell.
    NoDifferenceSeen,
    /// There is no interval.
    TooFewTrials,
    /// There is not even a ratio.
    NothingToCompare,
    /// A data check was violated on one side: how fast it was says nothing, whatever the other blocks show.
    WrongData,
}

/// Every contender of every group against the baseline of its group.
pub fn all(run: &Run) -> Vec<Comparison> {
    let groups = cells::groups(&run.plan);
    groups.iter().flat_map(|group| of_group(run, group)).collect()
}

fn of_group(run: &Run, group: &Group<'_>) -> Vec<Comparison> {
    let Some(baseline) = group.cells.iter().find(|cell| cell.baseline) else { return Vec::new() };
    let others = group.cells.iter().filter(|cell| cell.id != baseline.id);
    others.map(|cell| of_pair(run, group, baseline, cell)).collect()
}

/// The same block of both sides; neither is empty.
pub(crate) struct Pair<'a> {
    pub block: u32,
    pub baseline: Vec<&'a StoredTrial>,
    pub contender: Vec<&'a StoredTrial>,
}

fn of_pair(run: &Run, group: &Group<'_>, baseline: &Cell, contender: &Cell) -> Comparison {
    let (pairs, left_out) = pair(run, baseline, contender);
    let throughput = ratio(&pairs, throughput::figure);
    let metric = pairs.first().and_then(metric).unwrap_or_default();
    let wrong_data = wrong_data(run, [baseline, contender]);
    Comparison {
        coordinates: group.coordinates.clone(),
        baseline: baseline.contender.clone(),
        contender: contender.contender.clone(),
        emulated: emulated(run, [baseline, contender]),
        baseline_cell: baseline.id,
        contender_cell: contender.id,
        latency: latency_ratios(&pairs, &metric.counted),
        verdict: if wrong_data.is_empty() { verdict(throughput.as_ref()) } else { Verdict::WrongData },
        wrong_data,
        metric,
        left_out,
        throughput,
    }
}

/// What both figures are called; if they are not of as many machines, what is held against what.
fn metric(pair: &Pair<'_>) -> Option<Metric> {
    let (baseline, contender) = (*pair.baseline.first()?, *pair.contender.first()?);
    let machines = [contender, baseline].map(|trial| trial.measured_machines().count());
    if machines[0] == machines[1] {
        return throughput::metric(baseline);
    }
    let plain = baseline.record.driver.as_ref()?.metric.clone();
    let [contender, baseline] = machines.map(|machines| match machines {
        1 => "one machine's".to_owned(),
        many => format!("minimum of {many}"),
    });
    Some(Metric { name: format!("{}, {contender} over {baseline}", plain.name), ..plain })
}

fn wrong_data(run: &Run, cells: [&Cell; 2]) -> Vec<WrongData> {
    let of_cell = |cell: &Cell| {
        let wrong = cells::trials_of(run, cell.id).filter(|trial| cells::has_wrong_data(trial));
        WrongData { contender: cell.contender.clone(), trials: wrong.map(|trial| trial.record.id).collect() }
    };
    cells.into_iter().map(of_cell).filter(|wrong| !wrong.trials.is_empty()).collect()
}

fn emulated(run: &Run, cells: [&Cell; 2]) -> Vec<String> {
    let is_emulated = |cell: &&Cell| {
        let mut machines = cells::trials_of(run, cell.id).filter_map(|trial| trial.record.machine.as_ref());
        machines.any(machines::is_emulated)
    };
    cells.into_iter().filter(is_emulated).map(|cell| cell.contender.clone()).collect()
}

pub(crate) fn pair<'a>(run: &'a Run, baseline: &Cell, contender: &Cell) -> (Vec<Pair<'a>>, Vec<LeftOut>) {
    let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
    for block in 1..=run.plan.blocks {
        match (usable(run, baseline, block), usable(run, contender, block)) {
            (Ok(baseline), Ok(contender)) => pairs.push(Pair { block, baseline, contender }),
            (first, second) => {
                let reasons = [first.err(), second.err()];
                let why = reasons.into_iter().flatten().collect::<Vec<_>>().join("; ");
                left_out.push(LeftOut { block, why });
            }
        }
    }
    (pairs, left_out)
}

/// The sound trials of a cell in a block, or why there is none.
fn usable<'a>(run: &'a Run, cell: &Cell, block: u32) -> Result<Vec<&'a StoredTrial>, String> {
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    for trial in cells::trials_of(run, cell.id).filter(|trial| trial.record.block == block) {
        match why_unusable(&cell.contender, trial) {
            None => found.push(trial),
            Some(why) => reasons.push(why),
        }
    }
    match (found.is_empty(), reasons.is_empty()) {
        (false, _) => Ok(found),
        (true, false) => Err(reasons.join("; ")),
        (true, true) => Err(format!("{} was not reached", cell.contender)),
    }
}

fn why_unusable(name: &str, trial: &StoredTrial) -> Option<String> {
    let counted = throughput::figure(trial);
    match &trial.record.outcome {
        Outcome::Completed if cells::has_wrong_data(trial) => Some(format!("the data of {name} is wrong")),
        Outcome::Completed if !trial.disagreements.is_empty() => {
            Some(format!("the record of {name} disagrees with itself"))
        }
        Outcome::Completed if counted.is_some_and(|value| value > 0.0) => None,
        Outcome::Completed => Some(format!("{name} counted nothing")),
        other => Some(format!("{name} {}", in_one_line(other))),
    }
}

/// How a trial ended, as a phrase that follows its contender's name.
pub fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Invalid { why } => format!("is invalid: {why}"),
        Outcome::Failed { phase, why } => format!("failed in {phase}: {why}"),
        Outcome::Skipped { why } => format!("was skipped: {why}"),
        Outcome::Interrupted { phase } => format!("was interrupted in {phase}"),
    }
}

/// The same without the lines that follow the first: a reason may carry the end of a console.
pub fn in_one_line(outcome: &Outcome) -> String {
    describe(outcome).lines().next().unwrap_or_default().trim_end_matches(':').to_owned()
}

/// The ratio of what `value` reads from both sides of each pair; pairs without such a value are left out.
fn ratio(pairs: &[Pair<'_>], value: impl Fn(&StoredTrial) -> Option<f64>) -> Option<Ratio> {
    let mean_logarithm = |trials: &[&StoredTrial]| {
        let values: Vec<f64> = trials.iter().filter_map(|trial| value(trial)).collect();
        let logs: Vec<f64> =
            values.into_iter().filter(|value| value.is_finite() && *value > 0.0).map(f64::ln).collect();
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    };
    let of_pair =
        |pair: &Pair<'_>| Some((pair.block, mean_logarithm(&pair.contender)? - mean_logarithm(&pair.baseline)?));
    of_log_ratios(pairs.iter().filter_map(of_pair))
}

/// The ratio over blocks, from the logarithm of each block's ratio; `None` without any.
pub fn of_log_ratios(blocks: impl Iterator<Item = (u32, f64)>) -> Option<Ratio> {
    let (numbers, logs): (Vec<u32>, Vec<f64>) = blocks.unzip();
    let ratios: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    let spread = student::spread(&logs);
    Some(Ratio {
        estimate: student::geometric_mean(&ratios)?,
        spread,
        smallest_effect: spread.and_then(|spread| smallest_effect(spread, logs.len())),
        blocks: numbers.into_iter().zip(ratios).map(|(block, ratio)| BlockRatio { block, ratio }).collect(),
    })
}

fn smallest_effect(spread: f64, blocks: usize) -> Option<SmallestEffect> {
    let effect = precision::smallest_effect(spread, blocks)?;
    Some(SmallestEffect { below_one: (-effect).exp(), above_one: effect.exp() })
}

fn latency_ratios(pairs: &[Pair<'_>], counted: &[String]) -> Vec<LatencyRatio> {
    let mut ratios = Vec::new();
    for kind in counted {
        for quantile in COMPARED_QUANTILES {
            let span = Span::Response;
            let value = |trial: &StoredTrial| cells::quantile_of(trial, kind, span, quantile);
            let ratio = ratio(pairs, value);
            ratios.extend(ratio.map(|ratio| LatencyRatio { kind: kind.clone(), span, quantile, ratio }));
        }
    }
    ratios
}

fn verdict(throughput: Option<&Ratio>) -> Verdict {
    let Some(ratio) = throughput else { return Verdict::NothingToCompare };
    match ratio.estimate.bounds {
        Bounds::Unknown { .. } => Verdict::TooFewTrials,
        Bounds::Known { high, .. } if high < 1.0 => Verdict::Slower,
        Bounds::Known { low, .. } if low > 1.0 => Verdict::Faster,
        Bounds::Known { .. } => Verdict::NoDifferenceSeen,
    }
}

#[cfg(test)]
mod tests;

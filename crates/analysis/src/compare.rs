//! Contenders against the baseline, paired by block ([`crate::pairing`]): each block gives one ratio, and the answer is the
//! geometric mean of these ratios.

use crate::contrast::{self, Contrast, Position};
use crate::groups::{self, Group};
use crate::hosts::blocks;
use crate::measures::latency;
use crate::measures::throughput::THROUGHPUT;
use crate::observations::Observations;
use crate::pairing::{Pair, Pairing, UnpairedBlock};
use crate::validity;
use crate::{machines, throughput};
use record::intervals::Span;
use record::plan::Cell;
use record::run::Run;
use record::trial::Metric;
use serde::{Deserialize, Serialize};

/// The percentiles of response times that are shown beside throughput.
pub const COMPARED_QUANTILES: [f64; 3] = [0.50, 0.95, 0.99];

/// If more kinds than this are counted, the response times of one say little.
const FEW_KINDS: usize = 3;

/// The measures by which contenders and runs are judged: throughput, then response times of the kinds it counts if they are few.
pub fn headline(counted: &[String]) -> Vec<String> {
    let counted = if counted.len() > FEW_KINDS { &[] } else { counted };
    let of_kind =
        |kind: &String| COMPARED_QUANTILES.map(|quantile| latency::percentile(Span::Response, quantile, kind));
    std::iter::once(THROUGHPUT.to_owned()).chain(counted.iter().flat_map(of_kind)).collect()
}

/// One contender against the baseline, under the same scenario and swept values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub coordinates: String,
    pub baseline: String,
    pub contender: String,
    pub baseline_cell: u32,
    pub contender_cell: u32,
    pub metric: Metric,
    /// Which of the two ran emulated, by name. The ratio is then not the price of a hypervisor.
    pub emulated: Vec<String>,
    /// Which of the two left wrong data behind. If either did, there is no verdict.
    pub wrong_data: Vec<WrongData>,
    /// Blocks that could not be paired, each with its reason.
    pub left_out: Vec<UnpairedBlock>,
    /// Whether the two ran on different hosts, so that each block of the contrasts is a pair of hosts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_hosts: bool,
    /// Contender against baseline in every measure that both have, in the order of the measures.
    pub contrasts: Vec<Contrast>,
    /// How often chance alone would make throughputs differ this much, given how many comparisons the run makes. Below
    /// 0.05 it is called a difference. `None` where there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_equal: Option<f64>,
    /// The same for being equal within the study's margin, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_beyond_margin: Option<f64>,
    pub verdict: RatioVerdict,
}

/// A contender with the trials in which one of its data checks was violated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongData {
    pub contender: String,
    pub trials: Vec<u32>,
}

/// What the interval of the throughput ratio allows us to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatioVerdict {
    Slower,
    Faster,
    /// If there is a difference, it is smaller than the study's margin.
    Equivalent,
    /// Neither a difference nor its absence is shown.
    Undecided,
    /// There is no interval.
    TooFewTrials,
    /// There is not even a ratio.
    NothingToCompare,
    /// A data check was violated on one side, so its speed says nothing, whatever the other blocks show.
    WrongData,
}

impl RatioVerdict {
    /// Whether the two differ, in either direction.
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Slower | Self::Faster)
    }
}

impl From<Position> for RatioVerdict {
    fn from(position: Position) -> Self {
        match position {
            Position::Below => Self::Slower,
            Position::Above => Self::Faster,
            Position::Across => Self::Undecided,
            Position::Unknown => Self::TooFewTrials,
        }
    }
}

impl Comparison {
    pub fn contrast(&self, measure: &str) -> Option<&Contrast> {
        self.contrasts.iter().find(|contrast| contrast.measure == measure)
    }

    /// Contender over baseline; above one is faster. `None` if no block could be paired.
    pub fn throughput(&self) -> Option<&Contrast> {
        self.contrast(THROUGHPUT)
    }
}

/// Compares every contender of every group with the baseline of its group. All verdicts of a run are one family: the
/// more comparisons there are, the stronger the evidence that each needs.
pub fn all(run: &Run, observations: &Observations) -> Vec<Comparison> {
    let groups = groups::of_plan(&run.plan);
    let of_group = |group: &Group<'_>| {
        let pairs = group.with_baseline();
        pairs.map(|cells| of_pair(run, observations, &group.coordinates, cells)).collect::<Vec<_>>()
    };
    let mut found: Vec<Comparison> = groups.iter().flat_map(of_group).collect();
    let p_values = |of: &dyn Fn(&Contrast) -> Option<f64>| {
        contrast::holm(&found.iter().map(|one| one.throughput().and_then(of)).collect::<Vec<_>>())
    };
    let equal = p_values(&Contrast::p_equal);
    let beyond = p_values(&|contrast| contrast.p_beyond(run.plan.margin?));
    for ((comparison, p_equal), p_beyond_margin) in found.iter_mut().zip(equal).zip(beyond) {
        (comparison.p_equal, comparison.p_beyond_margin) = (p_equal, p_beyond_margin);
        comparison.verdict = verdict(comparison);
    }
    found
}

fn of_pair(run: &Run, observations: &Observations, coordinates: &str, cells: [&Cell; 2]) -> Comparison {
    let [baseline, contender] = cells;
    let pairing = Pairing::of(run, baseline, contender);
    let contrasts = observations.measures().filter_map(|one| one.paired(&pairing)).collect();
    Comparison {
        coordinates: coordinates.to_owned(),
        baseline: baseline.contender.clone(),
        contender: contender.contender.clone(),
        emulated: emulated(run, cells),
        baseline_cell: baseline.id,
        contender_cell: contender.id,
        wrong_data: wrong_data(run, cells),
        metric: pairing.pairs.first().and_then(metric).unwrap_or_default(),
        left_out: pairing.left_out,
        over_hosts: blocks::are_different(&run.plan, [baseline.id, contender.id]),
        contrasts,
        p_equal: None,
        p_beyond_margin: None,
        verdict: RatioVerdict::NothingToCompare,
    }
}

/// The name of both figures. If the numbers of machines differ, it says what is compared with what.
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
        let wrong = validity::trials_of(run, cell.id).filter(|trial| validity::has_wrong_data(trial));
        WrongData { contender: cell.contender.clone(), trials: wrong.map(|trial| trial.record.id).collect() }
    };
    cells.into_iter().map(of_cell).filter(|wrong| !wrong.trials.is_empty()).collect()
}

fn emulated(run: &Run, cells: [&Cell; 2]) -> Vec<String> {
    let is_emulated = |cell: &&Cell| {
        let mut machines = validity::trials_of(run, cell.id).filter_map(|trial| trial.record.machine.as_ref());
        machines.any(machines::is_emulated)
    };
    cells.into_iter().filter(is_emulated).map(|cell| cell.contender.clone()).collect()
}

/// Equivalence within the margin comes first: a difference too small to matter is none, however certain it is.
fn verdict(comparison: &Comparison) -> RatioVerdict {
    let Some(throughput) = comparison.throughput() else {
        return if comparison.wrong_data.is_empty() { RatioVerdict::NothingToCompare } else { RatioVerdict::WrongData };
    };
    let position = throughput.estimate.bounds.against(throughput.neutral());
    match position {
        _ if !comparison.wrong_data.is_empty() => RatioVerdict::WrongData,
        Position::Unknown => RatioVerdict::TooFewTrials,
        _ if contrast::is_significant(comparison.p_beyond_margin) => RatioVerdict::Equivalent,
        Position::Below if contrast::is_significant(comparison.p_equal) => RatioVerdict::Slower,
        Position::Above if contrast::is_significant(comparison.p_equal) => RatioVerdict::Faster,
        Position::Below | Position::Across | Position::Above => RatioVerdict::Undecided,
    }
}

#[cfg(test)]
mod tests;

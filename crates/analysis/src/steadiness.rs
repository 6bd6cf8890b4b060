//! Whether a trial, and a cell, reached a steady state: where warming up ends, whether the measured window drifts, and
//! how many checkpoints it covers. The results are only reported; no second and no trial is removed because of them.

pub mod cautions;

use crate::batches::{self, BatchSecond};
use crate::distributions::t_975;
use crate::estimate::{Bounds, Estimate, EstimateMethod};
use crate::missing::Missing;
use crate::student;
use record::run::StoredTrial;
use serde::{Deserialize, Serialize};

/// A change below this share over the measured window is no reason for doubt: it moves the window's mean by half of it.
const NEGLIGIBLE_DRIFT: f64 = 0.02;

/// A window is called steady if its drift is known to lie within this share of zero.
const STEADY_WITHIN: f64 = 0.10;

/// MSER-5 works on the means of five consecutive seconds.
const MSER_BATCH_S: usize = 5;

/// A tail of fewer batches has a small spread by chance (Hoad, Robinson and Davies 2010).
const MSER_SHORTEST_TAIL: usize = 5;

/// With fewer batches, the first half and the tail leave nothing to choose from.
const MSER_FEWEST: usize = 2 * MSER_SHORTEST_TAIL;

/// Fewer trials allow no joint statement.
const FEWEST_TRIALS: usize = 3;

/// What is known about the steadiness of one trial. All of it is about this trial alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSteadiness {
    #[serde(flatten)]
    pub verdict: Steadiness,
    /// The share by which throughput changed over the measured window, along a straight line; negative if it fell.
    pub drift: Option<Estimate>,
    /// Throughput of the window's second half as a share of the first half's; a point value.
    pub second_half: Option<f64>,
    pub settled: Settled,
    pub checkpoints: Checkpoints,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "steadiness", rename_all = "kebab-case")]
pub enum Steadiness {
    Steady,
    /// No steady state: throughput rose or fell over the measured window; see the drift.
    Drifting,
    /// No steady state: in most trials MSER-5 finds no end of warming up. Used for cells only.
    Unsettled,
    TooShortToTell {
        why: Missing,
    },
}

/// Where MSER-5 would begin to measure, over the whole series from the first second of driving. A point value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "found", rename_all = "kebab-case")]
pub enum Settled {
    At {
        start_ms: u64,
        /// True if that is within the warm-up that the study chose.
        in_warmup: bool,
        /// The share by which the window's figure would change if it began there; 0 if that is within the warm-up.
        change: f64,
    },
    NotInFirstHalf,
    TooShortToTell {
        why: Missing,
    },
}

/// Checkpoints that began between the two looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "checkpoints", rename_all = "kebab-case")]
pub enum Checkpoints {
    Counted { begun: u64 },
    NotTold { why: Missing },
}

/// The same for all valid trials of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSteadiness {
    #[serde(flatten)]
    pub verdict: Steadiness,
    /// The mean of the trials' drifts.
    pub drift: Option<Estimate>,
    /// The median of the trials' second halves; a point value, for windows too short for a drift.
    pub second_half: Option<f64>,
    /// Valid trials, and how many of them are long enough to show whether they drift and where they settle.
    pub trials: usize,
    pub drift_told: usize,
    pub settling_told: usize,
    /// How many drift, settle later than their window begins by MSER-5, or never settle.
    pub drifting: usize,
    pub settled_late: usize,
    pub unsettled: usize,
    /// Mean of the trials' changes if each began where MSER-5 says; a point value.
    pub change: Option<f64>,
    /// The fewest and the most checkpoints that began in a trial; `None` if the engine does not report them.
    pub checkpoints_begun: Option<(u64, u64)>,
}

pub fn of_trial(trial: &StoredTrial, seconds: &[BatchSecond]) -> TrialSteadiness {
    let window = batches::measured(seconds);
    let drift = drift(&window);
    let verdict = drift.as_ref().map_or_else(
        || {
            let (found, needed) = (window.len(), batches::SHORTEST_S);
            let why = match &trial.record.driver {
                Some(driver) if driver.ends_with_its_work() => Missing::EndsWithItsWork,
                _ => Missing::WindowTooShort { seconds: found, needed },
            };
            Steadiness::TooShortToTell { why }
        },
        judge,
    );
    let second_half = second_half(&window);
    TrialSteadiness { verdict, drift, second_half, settled: settled(seconds), checkpoints: checkpoints(trial) }
}

/// `None` for a window with fewer than two seconds in each half. The middle second belongs to neither half.
fn second_half(window: &[f64]) -> Option<f64> {
    let half = window.len() / 2;
    let sum = |part: &[f64]| part.iter().sum::<f64>();
    let (first, second) = (sum(&window[..half]), sum(&window[window.len() - half..]));
    (half >= 2 && first > 0.0).then_some(second / first)
}

/// The share by which the rates of a window change from its beginning to its end, along the line that fits the means of
/// batches best. Its interval is Student's t for the slope, with as many independent batches as the correlation of
/// neighbours leaves (Santer et al. 2000). `None` if the window is too short, or nothing happened in it.
pub fn drift(window: &[f64]) -> Option<Estimate> {
    let (means, _) = batches::of(window)?;
    let count = means.len() as f64;
    let mean = Some(student::mean_of(&means)).filter(|mean| *mean > 0.0)?;
    let from_middle = |index: usize| index as f64 - (count - 1.0) / 2.0;
    let across: f64 = (0..means.len()).map(|index| from_middle(index).powi(2)).sum();
    let slope = means.iter().enumerate().map(|(index, value)| from_middle(index) * value).sum::<f64>() / across;
    let line = |index: usize| mean + slope * from_middle(index);
    let residuals: Vec<f64> = means.iter().enumerate().map(|(index, value)| value - line(index)).collect();
    let alike = batches::correlation_of_neighbours(&residuals, 1);
    let freedom = (batches::independent(means.len(), alike) - 2.0).max(1.0);
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let share = count / mean;
    let half = t_975(freedom) * (squares / freedom / across).sqrt() * share;
    let point = slope * share;
    let method = EstimateMethod::SlopeOfBatches;
    Some(Estimate { point, bounds: Bounds::Known { low: point - half, high: point + half }, method })
}

fn judge(drift: &Estimate) -> Steadiness {
    match drift.bounds {
        Bounds::Known { low, high } if (low > 0.0 || high < 0.0) && drift.point.abs() >= NEGLIGIBLE_DRIFT => {
            Steadiness::Drifting
        }
        Bounds::Known { low, high } if -STEADY_WITHIN <= low && high <= STEADY_WITHIN => Steadiness::Steady,
        Bounds::Known { low, high } => Steadiness::TooShortToTell { why: Missing::DriftUndecided { low, high } },
        Bounds::Unknown { ref why } => Steadiness::TooShortToTell { why: why.clone() },
    }
}

fn settled(seconds: &[BatchSecond]) -> Settled {
    let end = seconds.iter().rposition(|second| second.measured).map_or(0, |last| last + 1);
    let rates: Vec<f64> = seconds[..end].iter().map(|second| second.rate).collect();
    let means = batches::means(&rates, MSER_BATCH_S);
    if means.len() < MSER_FEWEST {
        let needed = MSER_FEWEST * MSER_BATCH_S;
        let why = Missing::DrivenTooShort { seconds: rates.len(), needed };
        return Settled::TooShortToTell { why };
    }
    let Some(first) = mser(&means).map(|batch| batch * MSER_BATCH_S) else { return Settled::NotInFirstHalf };
    let in_warmup = !seconds[..first].iter().any(|second| second.measured);
    let mean_from = |first: usize| student::mean_of(&batches::measured(&seconds[first..end]));
    let change = if in_warmup { 0.0 } else { mean_from(first) / mean_from(0) - 1.0 };
    let change = if change.is_finite() { change } else { 0.0 };
    Settled::At { start_ms: seconds[first].start_ms, in_warmup, change }
}

/// How many batches to leave out at the beginning so that the mean of the rest has the smallest standard error (White
/// 1997). `None` if that is more than half of them: the series has not settled then.
pub fn mser(means: &[f64]) -> Option<usize> {
    let error = |left_out: usize| {
        let rest = &means[left_out..];
        let (count, mean) = (rest.len() as f64, student::mean_of(rest));
        rest.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count * count)
    };
    let candidates = 0..=means.len().checked_sub(MSER_SHORTEST_TAIL)?;
    let errors = candidates.map(|left_out| (left_out, error(left_out)));
    // Among equals this takes the first, which leaves out least.
    let (best, _) = errors.min_by(|one, other| one.1.total_cmp(&other.1))?;
    (best <= means.len() / 2).then_some(best)
}

fn checkpoints(trial: &StoredTrial) -> Checkpoints {
    let Some(looks) = &trial.looks else {
        return Checkpoints::NotTold { why: Missing::NotLookedAt { several_machines: false } };
    };
    let known = |look: &record::looks::Look| look.database.known().and_then(|counts| counts.checkpoints);
    match (known(&looks.start), known(&looks.end)) {
        (Some(start), Some(end)) => Checkpoints::Counted { begun: end.saturating_sub(start) },
        _ => Checkpoints::NotTold { why: Missing::CheckpointsNotCounted },
    }
}

/// The joint result of the valid trials of a cell.
pub fn of_cell(trials: &[&TrialSteadiness]) -> CellSteadiness {
    let count = |is: &dyn Fn(&TrialSteadiness) -> bool| trials.iter().filter(|trial| is(trial)).count();
    let change =
        |trial: &&TrialSteadiness| if let Settled::At { change, .. } = trial.settled { Some(change) } else { None };
    let changes: Vec<f64> = trials.iter().filter_map(change).collect();
    let begun = |trial: &&TrialSteadiness| {
        if let Checkpoints::Counted { begun } = trial.checkpoints { Some(begun) } else { None }
    };
    let checkpoints = || trials.iter().filter_map(begun);
    let unsettled = count(&|trial| trial.settled == Settled::NotInFirstHalf);
    let drifts = trials.iter().filter_map(|trial| Some(trial.drift.as_ref()?.point)).collect();
    let drift = student::mean(drifts).map(|mean| Estimate { method: EstimateMethod::MeanOfDrifts, ..mean });
    let mut second_halves: Vec<f64> = trials.iter().filter_map(|trial| trial.second_half).collect();
    second_halves.sort_unstable_by(f64::total_cmp);
    CellSteadiness {
        verdict: verdict_of_cell(trials, drift.as_ref(), unsettled),
        drift,
        second_half: second_halves.get(second_halves.len() / 2).copied(),
        trials: trials.len(),
        drift_told: count(&|trial| trial.drift.is_some()),
        settling_told: count(&|trial| !matches!(trial.settled, Settled::TooShortToTell { .. })),
        drifting: count(&|trial| trial.verdict == Steadiness::Drifting),
        settled_late: count(&|trial| matches!(trial.settled, Settled::At { in_warmup: false, .. })),
        unsettled,
        change: (!changes.is_empty()).then(|| student::mean_of(&changes)),
        checkpoints_begun: checkpoints().min().zip(checkpoints().max()),
    }
}

/// What all trials agree on is believed. Otherwise their mean drift decides: it is known better than that of any one
/// trial, and needs no assumptions about what happens within a second.
fn verdict_of_cell(trials: &[&TrialSteadiness], drift: Option<&Estimate>, unsettled: usize) -> Steadiness {
    let Some(first) = trials.first() else {
        return Steadiness::TooShortToTell { why: Missing::NoTrial };
    };
    let Some(drift) = drift else { return first.verdict.clone() };
    let falls = |trial: &TrialSteadiness| trial.drift.as_ref().is_some_and(|drift| drift.point < 0.0);
    let agree = trials.iter().all(|trial| match first.verdict {
        Steadiness::Steady => trial.verdict == Steadiness::Steady,
        Steadiness::Drifting => trial.verdict == Steadiness::Drifting && falls(trial) == falls(first),
        _ => false,
    });
    let together = if agree { first.verdict.clone() } else { judge(drift) };
    // One in five steady trials appears not to settle; more than two thirds of three or more hardly ever do.
    let mostly_unsettled = unsettled >= FEWEST_TRIALS && 3 * unsettled > 2 * trials.len();
    if together != Steadiness::Drifting && mostly_unsettled { Steadiness::Unsettled } else { together }
}

/// True if most trials should have begun later, and that would change the cell's figure.
pub fn warmup_is_too_short(cell: &CellSteadiness) -> bool {
    let most = cell.settled_late >= FEWEST_TRIALS && 2 * cell.settled_late > cell.trials;
    most && cell.change.is_some_and(|change| change.abs() >= NEGLIGIBLE_DRIFT)
}

#[cfg(test)]
mod tests;

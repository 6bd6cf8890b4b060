//! Each machine by itself, over the blocks: what it gets, and whether it always gets less.
//!
//! Machines are distinguished by their number, which is the slot that the study gives them in every trial. Whether this
//! slot, the place on the host or the start order explains what one gets is answered in [`super::attribution`].

use super::TrialReadings;
use crate::contrast::{self, Position};
use crate::estimate::{CONFIDENCE, Estimate, EstimateMethod};
use crate::measures::Scale;
use crate::student;
use serde::{Deserialize, Serialize};

/// A machine is held back if it gets less than the others by more than this share.
pub const HELD_BACK: f64 = 0.05;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartSlot {
    /// Counted from 1.
    pub machine: u32,
    pub throughput: Option<Estimate>,
    /// As a share of what all machines of its trial did together.
    pub share: Option<Estimate>,
    /// Over the mean of the other machines of its trial. The intervals of all machines hold together with 95 %.
    pub of_others: Option<Estimate>,
    /// Compared with the others; below means that it gets less.
    pub position: Position,
    pub held_back: bool,
    /// Over what one machine does alone in the same block.
    pub of_alone: Option<Estimate>,
    /// Over what one machine of the baseline does alone in the same block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_baseline: Option<Estimate>,
    /// The number of trials in which it did least.
    pub least_in: usize,
}

/// `over` gives a machine over what one does alone, of the same contender and of the baseline.
pub fn all(trials: &[TrialReadings], over: impl Fn(u32) -> [Option<Estimate>; 2]) -> Vec<StartSlot> {
    let Some(first) = trials.first() else { return Vec::new() };
    let numbers = first.machines.iter().map(|(number, _)| *number).enumerate();
    numbers.map(|(place, number)| of_slot(trials, place, number, over(number))).collect()
}

fn of_slot(
    trials: &[TrialReadings],
    place: usize,
    machine: u32,
    [of_alone, of_baseline]: [Option<Estimate>; 2],
) -> StartSlot {
    let each = |of: &dyn Fn(&TrialReadings, f64) -> f64| -> Vec<f64> {
        let values = trials.iter().map(|trial| (trial.block, of(trial, trial.machines[place].1)));
        student::by_block(values).into_values().collect()
    };
    let slots = trials[0].machines.len();
    let others = |trial: &TrialReadings, own: f64| own * (slots - 1) as f64 / (trial.together.sum - own);
    let of_others = (slots > 1).then(|| each(&others)).and_then(|values| simultaneous(&values, slots));
    StartSlot {
        machine,
        throughput: student::geometric_mean(&each(&|_, own| own)),
        share: student::mean(each(&|trial, own| own / trial.together.sum)).map(|share| share.within(0.0, 1.0)),
        position: position(of_others.as_ref()),
        held_back: of_others.as_ref().is_some_and(is_held_back),
        of_others,
        of_alone,
        of_baseline,
        least_in: trials.iter().filter(|trial| trial.machines[place].1 <= trial.together.minimum).count(),
    }
}

/// The geometric mean, with an interval that is one of several. By Bonferroni's inequality, all of them contain the
/// truth as often as a single interval would.
pub(super) fn simultaneous(values: &[f64], of: usize) -> Option<Estimate> {
    let blocks = (1..).zip(values).map(|(block, ratio)| (block, 1.0, *ratio));
    let ratio = contrast::paired("of_others", Scale::Ratio, blocks)?;
    let method = EstimateMethod::MachineAmongOthers { machines: of };
    Some(Estimate { bounds: ratio.bounds_but_for((1.0 - CONFIDENCE) / of as f64), method, ..ratio.estimate })
}

/// The position of a ratio relative to one.
pub(super) fn position(ratio: Option<&Estimate>) -> Position {
    ratio.map_or(Position::Unknown, |ratio| ratio.bounds.against(1.0))
}

/// True if a machine certainly gets less than the others by more than a twentieth.
pub fn is_held_back(of_others: &Estimate) -> bool {
    of_others.bounds.against(1.0 - HELD_BACK) == Position::Below
}

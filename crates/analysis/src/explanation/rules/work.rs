//! Rules on what each transaction cost ([`COSTS`]), on exits, on waits for locks, and on memory.
//!
//! [`COSTS`]: crate::measures::counted::COSTS

use super::{Reason, RuleOutcome, Unknown};
use crate::counted::CountedTrial;
use crate::estimate::Estimate;
use crate::explanation::evidence::{BOTH, Evidence, MeasurePair, Who, is_apart};
use crate::measures::Unit;
use record::telemetry::Side;

/// Something that happens in fewer than one in ten transactions is no cost per transaction.
const FEWEST_EACH: f64 = 0.1;
const LOCKS_OF_RESPONSE: f64 = 0.01;

/// Costs of a transaction that differ between the two sides.
pub fn each(evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
    let is_worth_saying = |cost: &&MeasurePair| {
        let largest = cost.pair.of_baseline.point.max(cost.pair.of_contender.point);
        (cost.measure.unit != Unit::PerTransaction || largest >= FEWEST_EACH) && is_apart(&cost.ratio)
    };
    let costs = evidence.costs.iter().filter(is_worth_saying).cloned();
    costs.map(|cost| Ok(Reason::WorkPerTransaction(cost))).collect()
}

pub fn locks(evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
    let waited = BOTH.map(|who| evidence.value(who, &|trial| trial.lock_ms));
    if waited == [None, None] {
        return vec![Err(Unknown::LocksNotAddedUp)];
    }
    let share =
        |trial: &CountedTrial| Some(trial.lock_ms? / trial.response_ms.filter(|response_ms| *response_ms > 0.0)?);
    let of = |(who, waited_ms): (Who, Option<Estimate>)| {
        let share = evidence.above(LOCKS_OF_RESPONSE, who, &share)?;
        Some(Ok(Reason::Locks { who: evidence.name(who), waited_ms: waited_ms?, share }))
    };
    BOTH.into_iter().zip(waited).filter_map(of).collect()
}

/// The share of the window in which a task waited for memory.
pub fn memory_pressure(trial: &CountedTrial) -> Option<f64> {
    trial.side(Side::Machine)?.share("pressure.memory.some")
}

/// Pages a second, in and out.
pub fn swapped(trial: &CountedTrial) -> Option<f64> {
    let machine = trial.side(Side::Machine)?;
    Some(machine.per_second("faults.swapped_in")? + machine.per_second("faults.swapped_out")?)
}

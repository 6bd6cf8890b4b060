//! Rules on what each transaction cost ([`COSTS`]), on exits, and on waits for locks.
//!
//! [`COSTS`]: crate::measures::counted::COSTS

use super::{Reason, SMALLEST_RATIO, Said, Unknown};
use crate::counted::CountedTrial;
use crate::explanation::evidence::{BOTH, Cost, Evidence, Who, nearest_end};
use crate::measures::Unit;
use record::telemetry::Side;

/// Something that happens in fewer than one in ten transactions is no cost per transaction.
const FEWEST_EACH: f64 = 0.1;
const LOCKS_OF_RESPONSE: f64 = 0.01;

/// Costs of a transaction that differ between the two sides.
pub fn each(evidence: &Evidence<'_>) -> Vec<Said> {
    let is_worth_saying = |cost: &&Cost| {
        let largest = cost.baseline.point.max(cost.contender.point);
        (cost.measure.unit != Unit::PerTransaction || largest >= FEWEST_EACH)
            && nearest_end(&cost.ratio, 1.0).is_some_and(|end| end.max(1.0 / end) > SMALLEST_RATIO)
    };
    let said = |cost: &Cost| {
        let pair = evidence.both(cost.baseline.clone(), cost.contender.clone());
        Ok(Reason::WorkPerTransaction { measure: cost.measure.clone(), pair, ratio: cost.ratio.clone() })
    };
    evidence.costs.iter().filter(is_worth_saying).map(said).collect()
}

pub fn exits(evidence: &Evidence<'_>) -> Vec<Said> {
    let of = |who: Who| {
        let exits = evidence
            .value(who, &|trial| Some(trial.side(Side::Host)?.worth("kvm.vcpu.exits")? / trial.transactions))?;
        exits.bounds.known()?;
        Some(Ok(Reason::ExitsPerTransaction { who: evidence.name(who).to_owned(), exits }))
    };
    BOTH.into_iter().filter_map(of).collect()
}

fn lock_share(trial: &CountedTrial) -> Option<f64> {
    Some(trial.database.lock_ms? / trial.response_ms.filter(|response_ms| *response_ms > 0.0)?)
}

pub fn locks(evidence: &Evidence<'_>) -> Vec<Said> {
    if BOTH.into_iter().all(|who| evidence.value(who, &|trial| trial.database.lock_ms).is_none()) {
        return vec![Err(Unknown::LocksNotAddedUp)];
    }
    let of = |who: Who| {
        let share = evidence.value(who, &lock_share)?;
        let waited = evidence.value(who, &|trial| trial.database.lock_ms)?;
        let is_so = share.bounds.known().is_some_and(|(low, _)| low > LOCKS_OF_RESPONSE);
        is_so.then(|| Ok(Reason::Locks { who: evidence.name(who).to_owned(), waited_ms: waited, share }))
    };
    BOTH.into_iter().filter_map(of).collect()
}

//! Whether a trial is no measurement only because this host, busy with other tests, gave it no CPU in time.

use record::trial::{Outcome, TrialRecord};

/// The share of the host's CPU time that others must have had for a trial to count as starved by them.
const BUSY: f64 = 0.2;

pub fn was_starved(record: &TrialRecord) -> bool {
    // Machines of a trial have no readings of their host.
    let others = record.host_state.as_ref().and_then(|state| state.others().known().copied());
    // Within a second, of which most windows of tests have one, even a first transaction may not end.
    let reasons = [
        "the load generator stood still",
        "the rate was missed",
        "no transaction was committed in the measured window",
    ];
    others.is_none_or(|share| share >= BUSY)
        && matches!(&record.outcome, Outcome::Invalid { why } if reasons.iter().any(|reason| why.contains(reason)))
}

/// Whether a trial counts, or is no measurement for that reason only.
pub fn counts_or_was_starved(record: &TrialRecord) -> bool {
    record.outcome == Outcome::Completed || was_starved(record)
}

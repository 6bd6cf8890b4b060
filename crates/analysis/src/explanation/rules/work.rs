//! Rules on what each transaction cost: interrupts, switches, operations, packets, exits, waits for locks.

use super::{Cost, Reason, SMALLEST_RATIO, Said, Unknown};
use crate::counted::{CountedTrial, SideCounts};
use crate::explanation::evidence::{BOTH, Evidence, Who, nearest_end};
use record::telemetry::Side;

/// Something that happens in fewer than one in ten transactions is no cost per transaction.
const FEWEST_EACH: f64 = 0.1;
const LOCKS_OF_RESPONSE: f64 = 0.01;

/// A cost, and how to read it from a machine's counts.
type Counted = (Cost, fn(&SideCounts) -> Option<f64>);

/// What is reported per transaction, as the machine itself counts it.
const COUNTED: [Counted; 6] = [
    (Cost::Interrupts, |machine| machine.worth("interrupts.total")),
    (Cost::ContextSwitches, |machine| machine.worth("switches.context")),
    (Cost::PageFaults, |machine| machine.worth("faults.all")),
    (Cost::DiskOperations, |machine| Some(machine.disk()?.operations())),
    (Cost::DiskBytes, |machine| Some(machine.disk()?.bytes())),
    (Cost::Packets, |machine| machine.network().map(|network| network.received_packets + network.sent_packets)),
];

pub fn each(evidence: &Evidence<'_>) -> Vec<Said> {
    COUNTED.into_iter().filter_map(|(what, of)| each_of(evidence, what, of)).collect()
}

fn each_of(evidence: &Evidence<'_>, what: Cost, of: fn(&SideCounts) -> Option<f64>) -> Option<Said> {
    let pair = evidence.pair(&|trial| Some(of(trial.side(Side::Machine)?)? / trial.transactions))?;
    let ratio = pair.ratio?;
    let end = nearest_end(&ratio, 1.0)?;
    let is_worth_telling = pair.baseline.point.max(pair.contender.point) >= FEWEST_EACH;
    (is_worth_telling && end.max(1.0 / end) > SMALLEST_RATIO)
        .then(|| Ok(Reason::WorkPerTransaction { what, pair: evidence.both(pair.baseline, pair.contender), ratio }))
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

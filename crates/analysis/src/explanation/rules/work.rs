//! Rules on what each transaction cost: interrupts, switches, operations, packets, exits, waits for locks.

use super::{SMALLEST_RATIO, Said};
use crate::counted::{CountedTrial, SideCounts};
use crate::explanation::evidence::{BOTH, Evidence, Who, nearest_end};
use crate::explanation::words::{number, percent, with_interval, with_unit};
use record::telemetry::Side;

/// What happens in fewer transactions than one in ten is no cost of each.
const FEWEST_EACH: f64 = 0.1;
const LOCKS_OF_RESPONSE: f64 = 0.01;

/// What it is called, and where a machine has it.
type Cost = (&'static str, fn(&SideCounts) -> Option<f64>);

/// What is told of each transaction, as the machine itself counts it.
const COUNTED: [Cost; 6] = [
    ("interrupts", |machine| machine.worth("interrupts.total")),
    ("context switches", |machine| machine.worth("switches.context")),
    ("page faults", |machine| machine.worth("faults.all")),
    ("disk operations", |machine| Some(machine.disk()?.operations())),
    ("bytes read and written", |machine| Some(machine.disk()?.bytes())),
    ("packets", |machine| machine.network().map(|network| network.received_packets + network.sent_packets)),
];

pub fn each(evidence: &Evidence<'_>) -> Vec<Said> {
    COUNTED.into_iter().filter_map(|(what, of)| each_of(evidence, what, of)).collect()
}

fn each_of(evidence: &Evidence<'_>, what: &str, of: fn(&SideCounts) -> Option<f64>) -> Option<Said> {
    let pair = evidence.pair(&|trial| Some(of(trial.side(Side::Machine)?)? / trial.transactions))?;
    let ratio = pair.ratio?;
    let end = nearest_end(&ratio, 1.0)?;
    let is_worth_telling = pair.baseline.point.max(pair.contender.point) >= FEWEST_EACH;
    (is_worth_telling && end.max(1.0 / end) > SMALLEST_RATIO).then(|| {
        Said::Sentence(format!(
            "Each transaction cost {} {} the {what} of {}: {} against {}.",
            evidence.contender,
            with_unit(&ratio, number, "times"),
            evidence.baseline,
            with_interval(&pair.contender, number),
            with_interval(&pair.baseline, number)
        ))
    })
}

pub fn exits(evidence: &Evidence<'_>) -> Vec<Said> {
    let of = |who: Who| {
        let exits = evidence
            .value(who, &|trial| Some(trial.side(Side::Host)?.worth("kvm.vcpu.exits")? / trial.transactions))?;
        exits.bounds.known()?;
        let (name, exits) = (evidence.name(who), with_unit(&exits, number, "times"));
        Some(Said::Sentence(format!("Each transaction made the hypervisor take over from {name}'s guest {exits}.")))
    };
    BOTH.into_iter().filter_map(of).collect()
}

fn lock_share(trial: &CountedTrial) -> Option<f64> {
    Some(trial.database.lock_ms? / trial.response_ms.filter(|response_ms| *response_ms > 0.0)?)
}

pub fn locks(evidence: &Evidence<'_>) -> Vec<Said> {
    if BOTH.into_iter().all(|who| evidence.value(who, &|trial| trial.database.lock_ms).is_none()) {
        let what = "how long transactions waited for locks of rows: their databases do not add that up";
        return vec![Said::NotKnown(what.to_owned())];
    }
    let of = |who: Who| {
        let share = evidence.value(who, &lock_share)?;
        let waited = evidence.value(who, &|trial| trial.database.lock_ms)?;
        let is_so = share.bounds.known().is_some_and(|(low, _)| low > LOCKS_OF_RESPONSE);
        is_so.then(|| {
            Said::Sentence(format!(
                "Each transaction of {} waited {} for locks of rows, {} of its response.",
                evidence.name(who),
                with_unit(&waited, number, "ms"),
                with_unit(&share, percent, "%")
            ))
        })
    };
    BOTH.into_iter().filter_map(of).collect()
}

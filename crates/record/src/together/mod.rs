//! A trial of several machines, put together from the records of its machines.
//!
//! The folder of each machine holds what the folder of a trial of one machine holds. Here they become one trial, so that
//! whoever asks for totals, latencies or findings need not know how many machines there were: what was counted is added up,
//! and what the load engine says of itself is the worst of all. Throughput is not among it: how several machines make one
//! figure is for whoever reads the record, and so the machines' own records stay beside the trial.

mod driver;
mod seconds;

use crate::check::{Finding, Verdict};
use crate::intervals::Measured;
use crate::run::StoredTrial;
use crate::trial::{DriverFacts, Outcome, TrialRecord};

/// The trial whose own record this is, with its machines in their order. If one that should have been driven was not, or is
/// missing, there are no totals: a sum without it would be taken for the sum.
pub fn compose(mut record: TrialRecord, machines: Vec<StoredTrial>, planned: u32) -> StoredTrial {
    let all_there = machines.len() == planned as usize;
    let driven: Vec<&StoredTrial> = machines.iter().filter(|machine| !is_idle(machine)).collect();
    let drivers: Option<Vec<&DriverFacts>> = driven.iter().map(|machine| machine.record.driver.as_ref()).collect();
    let series: Option<Vec<&Measured>> = driven.iter().map(|machine| machine.measured.as_ref()).collect();
    if let Some(first) = machines.first() {
        record.machine = record.machine.or_else(|| first.record.machine.clone());
        record.server = record.server.or_else(|| first.record.server.clone());
    }
    record.driver = record.driver.or_else(|| drivers.filter(|_| all_there).and_then(|parts| driver::added_up(&parts)));
    let measured = series.filter(|series| all_there && !series.is_empty()).map(|series| seconds::merged(&series));
    let findings = (1..).zip(&machines).flat_map(|(number, machine)| findings(number, machine)).collect();
    StoredTrial { record, measured, findings, looks: None, telemetry: Vec::new(), machines }
}

/// Whether a machine stood by without any load, as its study wanted it.
pub fn is_idle(machine: &StoredTrial) -> bool {
    machine.record.outcome == Outcome::Completed && machine.record.driver.is_none()
}

fn findings(number: u32, machine: &StoredTrial) -> impl Iterator<Item = Finding> {
    machine
        .findings
        .iter()
        .map(move |finding| Finding { verdict: told_of(number, &finding.verdict), ..finding.clone() })
}

/// What is wrong or open is said of its machine; what holds, holds.
fn told_of(number: u32, verdict: &Verdict) -> Verdict {
    let told = |text: &String| format!("machine {number}: {text}");
    match verdict {
        Verdict::Holds { seen } => Verdict::Holds { seen: seen.clone() },
        Verdict::Violated { seen } => Verdict::Violated { seen: told(seen) },
        Verdict::Undecided { why } => Verdict::Undecided { why: told(why) },
    }
}

#[cfg(test)]
mod tests;

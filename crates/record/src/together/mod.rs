//! A trial of several machines, put together from the records of its machines.
//!
//! The folder of each machine holds what the folder of a trial of one machine holds. Here they become one trial, so that
//! whoever asks for totals, latencies or findings need not know how many machines there were: what was counted is added up,
//! and what the load engine says of itself is the worst of all. Throughput is not among it: how several machines make one
//! figure is for whoever reads the record, and so the machines' own records stay beside the trial.

pub mod driver;
mod looks;
mod seconds;

use crate::check::{Finding, Verdict};
use crate::intervals::Measured;
use crate::plan::Cell;
use crate::run::StoredTrial;
use crate::trial::{DriverFacts, TrialRecord};

/// The trial of a cell whose own record this is, with its machines in their order. If one that was to be measured has nothing, or
/// is missing, there are no totals: a sum without it would be taken for the sum. One that is only a bystander is in no total.
pub fn compose(mut record: TrialRecord, machines: Vec<StoredTrial>, cell: &Cell) -> StoredTrial {
    let all_there = machines.len() == cell.machines() as usize;
    let findings = (1..).zip(&machines).flat_map(|(number, machine)| findings(number, machine)).collect();
    if let Some(first) = machines.first() {
        record.machine = record.machine.or_else(|| first.record.machine.clone());
        record.server = record.server.or_else(|| first.record.server.clone());
    }
    let mut trial = StoredTrial {
        record,
        measured: None,
        findings,
        looks: None,
        telemetry: Vec::new(),
        machines,
        bystander: cell.bystander(),
        disagreements: Vec::new(),
    };
    if all_there {
        let parts = || trial.measured_machines().map(|(_, machine)| machine);
        let drivers: Option<Vec<&DriverFacts>> = parts().map(|machine| machine.record.driver.as_ref()).collect();
        let series: Option<Vec<&Measured>> = parts().map(|machine| machine.measured.as_ref()).collect();
        let looks = looks::added_up(&trial.measured_machines().collect::<Vec<_>>());
        let driver = drivers.and_then(|drivers| driver::added_up(&drivers));
        trial.measured = series.filter(|series| !series.is_empty()).map(|series| seconds::merged(&series));
        trial.record.driver = trial.record.driver.or(driver);
        trial.looks = looks;
    }
    trial
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

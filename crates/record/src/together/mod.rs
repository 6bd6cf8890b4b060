//! A trial of several machines, or a machine of several databases, combined from the records of the parts.
//!
//! The folder of each part holds what the folder of a trial with one machine and one database holds. Here they become
//! one, so that code that needs totals, latencies or findings need not know how many there were. Counts are added up;
//! of the load engine's figures about itself, the worst is kept. Throughput is not combined: readers of the record
//! decide how several machines make one figure, so the records of the parts stay beside the trial.

pub mod driver;
mod looks;
mod seconds;

use crate::check::{CheckResult, Verdict};
use crate::intervals::Measured;
use crate::looks::Looks;
use crate::plan::Cell;
use crate::run::StoredTrial;
use crate::trial::{DriverFacts, TrialRecord};

/// The sort of parts that are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    Machines,
    /// They share CPUs and devices.
    DatabasesOfOne,
    /// They share their server, too. What it counts for all databases is with the first.
    DatabasesOfOneServer,
}

impl Parts {
    /// What a part is called, before its number.
    fn name(self) -> &'static str {
        match self {
            Self::Machines => "machine",
            Self::DatabasesOfOne | Self::DatabasesOfOneServer => "instance",
        }
    }

    fn findings(self, parts: &[StoredTrial]) -> Vec<CheckResult> {
        let of_part = |(number, part): (u32, &StoredTrial)| {
            let told = move |finding: &CheckResult| CheckResult {
                verdict: self.told_of(number, &finding.verdict),
                ..finding.clone()
            };
            part.findings.iter().map(told).collect::<Vec<_>>()
        };
        (1..).zip(parts).flat_map(of_part).collect()
    }

    /// A violation or an open question names its part; what holds stays as it is.
    fn told_of(self, number: u32, verdict: &Verdict) -> Verdict {
        let told = |text: &String| format!("{} {number}: {text}", self.name());
        match verdict {
            Verdict::Holds { seen } => Verdict::Holds { seen: seen.clone() },
            Verdict::Violated { seen } => Verdict::Violated { seen: told(seen) },
            Verdict::Undecided { why } => Verdict::Undecided { why: told(why) },
        }
    }
}

/// Combines a cell's trial from its own record and its machines, in order. If one to be measured is missing or has
/// nothing, there are no totals: a sum without it would pass for the whole. A bystander is in no total.
pub fn compose(mut record: TrialRecord, machines: Vec<StoredTrial>, cell: &Cell) -> StoredTrial {
    let all_there = machines.len() == cell.machines() as usize;
    let findings = Parts::Machines.findings(&machines);
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
        instances: Vec::new(),
        bystander: cell.bystander(),
        damage: Vec::new(),
        disagreements: Vec::new(),
    };
    if all_there {
        let totals = Totals::of(Parts::Machines, &trial.measured_machines().collect::<Vec<_>>());
        totals.become_those_of(&mut trial);
    }
    trial
}

/// Combines a machine from its own record and files and its databases, in order; the rule about totals is the same.
pub fn of_databases(mut machine: StoredTrial, instances: Vec<StoredTrial>, cell: &Cell) -> StoredTrial {
    let what = if cell.shares_server() { Parts::DatabasesOfOneServer } else { Parts::DatabasesOfOne };
    machine.findings = what.findings(&instances);
    if let Some(first) = instances.first() {
        machine.record.server = machine.record.server.or_else(|| first.record.server.clone());
    }
    if instances.len() == usize::from(cell.instances()) {
        let numbered: Vec<_> = (1..).zip(&instances).collect();
        let totals = Totals::of(what, &numbered);
        totals.become_those_of(&mut machine);
        // All databases were driven in one climb.
        let ladder = instances.iter().find_map(|own| own.record.driver.as_ref()?.ladder.clone());
        if let Some(driver) = &mut machine.record.driver {
            driver.ladder = ladder;
        }
    }
    machine.instances = instances;
    machine
}

struct Totals {
    measured: Option<Measured>,
    driver: Option<DriverFacts>,
    looks: Option<Looks>,
}

impl Totals {
    fn of(what: Parts, parts: &[(u32, &StoredTrial)]) -> Self {
        let each = || parts.iter().map(|(_, part)| part);
        let drivers: Option<Vec<&DriverFacts>> = each().map(|part| part.record.driver.as_ref()).collect();
        let series: Option<Vec<&Measured>> = each().map(|part| part.measured.as_ref()).collect();
        Self {
            measured: series.filter(|series| !series.is_empty()).map(|series| seconds::merged(&series)),
            driver: drivers.and_then(|drivers| driver::added_up(&drivers)),
            looks: looks::added_up(what, parts),
        }
    }

    fn become_those_of(self, whole: &mut StoredTrial) {
        whole.measured = self.measured;
        whole.record.driver = whole.record.driver.take().or(self.driver);
        whole.looks = self.looks;
    }
}

#[cfg(test)]
mod tests;

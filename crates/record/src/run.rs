//! A whole run in memory, the input of analysis and report.

mod reading;

use crate::check::CheckResult;
use crate::durability::Durability;
use crate::facts::Facts;
use crate::intervals::{KindInterval, Measured};
use crate::load_hosts::LoadHostFacts;
use crate::looks::Looks;
use crate::plan::Plan;
use crate::telemetry::Series;
use crate::trial::TrialRecord;
use std::path::PathBuf;

/// All content of a run's folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub plan: Plan,
    /// The facts that the host gives about itself.
    pub host: Facts,
    /// Trials that have a record, in the order of their ids. Planned trials without one were not reached.
    pub trials: Vec<StoredTrial>,
    /// Audits of durability, in the order of the plan's cells.
    pub durability: Vec<Durability>,
    pub dir: PathBuf,
}

/// One trial as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrial {
    pub record: TrialRecord,
    /// Absent if the trial ended before anything was measured.
    pub measured: Option<Measured>,
    pub findings: Vec<CheckResult>,
    /// The looks within the measured window; absent from old records and if the window was too short.
    pub looks: Option<Looks>,
    /// What host and machine counted over time; empty for old records.
    pub telemetry: Vec<Series>,
    /// Each of several machines that ran side by side, in order; the other fields are then about all of them together
    /// ([`crate::together::compose`]). Empty if there was one machine. Those in the list have empty lists themselves.
    pub machines: Vec<StoredTrial>,
    /// Each of several databases of one machine, in order; the other fields are then about all of them together
    /// ([`crate::together::of_databases`]). Empty if the machine has one database.
    pub instances: Vec<StoredTrial>,
    /// The number of the machine that is not measured, if there is one ([`crate::plan::Cell::bystander`]).
    pub bystander: Option<u32>,
    /// The files that are not as they were when the trial was complete, one sentence each.
    pub damage: Vec<String>,
    /// How a completed trial's files disagree with each other, and what they lack, one sentence each ([`crate::agreement::settle`]).
    pub disagreements: Vec<String>,
}

impl StoredTrial {
    /// The parts with facts about single machines: each of several machines, or the trial itself.
    pub fn each_machine(&self) -> &[Self] {
        if self.machines.is_empty() { std::slice::from_ref(self) } else { &self.machines }
    }

    /// The hosts that the load came from; each is listed for each machine that it drove.
    pub fn load_hosts(&self) -> impl Iterator<Item = &LoadHostFacts> {
        self.each_machine().iter().flat_map(|machine| &machine.record.load_hosts)
    }

    /// The parts with facts about single databases of this machine: each of several databases, or the machine itself.
    pub fn each_database(&self) -> &[Self] {
        if self.instances.is_empty() { std::slice::from_ref(self) } else { &self.instances }
    }

    /// The transactions in the measured window, without their steps.
    pub fn transactions(&self) -> impl Iterator<Item = &KindInterval> {
        let kinds = self.measured.as_ref().map_or(&[][..], |measured| &measured.kinds);
        let totals = || self.record.driver.iter().flat_map(|driver| &driver.kinds);
        let is_step: Vec<bool> =
            kinds.iter().map(|name| totals().any(|kind| kind.step && kind.kind == *name)).collect();
        let intervals = self.measured.iter().flat_map(|measured| &measured.intervals);
        let parts = intervals.filter(|interval| interval.measured).flat_map(|interval| &interval.kinds);
        parts.filter(move |part| !is_step.get(usize::from(part.kind)).copied().unwrap_or(false))
    }

    /// Each machine that was measured, with its number, counted from 1.
    pub fn measured_machines(&self) -> impl Iterator<Item = (u32, &Self)> {
        (1..).zip(self.each_machine()).filter(|(number, _)| self.bystander != Some(*number))
    }
}

impl Run {
    /// True if no throughput was to be measured.
    pub fn has_only_audits(&self) -> bool {
        self.plan.trials.is_empty() && !self.durability.is_empty()
    }
}

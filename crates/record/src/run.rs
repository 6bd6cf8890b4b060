//! A whole run in memory, the input of analysis and report.

use crate::check::CheckResult;
use crate::durability::Durability;
use crate::facts::Facts;
use crate::folder::{RecordError, RunFolder, TrialFolder, content, failing, read_json_in_range};
use crate::intervals::{KindInterval, Measured};
use crate::load_hosts::LoadHostFacts;
use crate::looks::{Looks, StoredCounters};
use crate::plan::{Cell, Plan, PlannedTrial};
use crate::telemetry::Series;
use crate::telemetry_files;
use crate::together;
use crate::trial::TrialRecord;
use crate::{agreement, bounds, coherence};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

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
    /// ([`together::compose`]). Empty if there was one machine. Those in the list have empty lists themselves.
    pub machines: Vec<StoredTrial>,
    /// Each of several databases of one machine, in order; the other fields are then about all of them together
    /// ([`together::of_databases`]). Empty if the machine has one database.
    pub instances: Vec<StoredTrial>,
    /// The number of the machine that is not measured, if there is one ([`Cell::bystander`]).
    pub bystander: Option<u32>,
    /// How a completed trial's files disagree with each other, and what they lack, one sentence each ([`agreement::settle`]).
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
    /// Reads a run's folder. It leaves out trials without `trial.json`, which were not reached or not finished.
    pub fn open(dir: &Path) -> Result<Self, RecordError> {
        let folder = RunFolder::open(dir)?;
        let (plan, host) = (folder.plan()?, folder.host()?);
        let mut run = Self { plan, host, trials: Vec::new(), durability: Vec::new(), dir: dir.to_owned() };
        run.catch_up()?;
        Ok(run)
    }

    /// True if no throughput was to be measured.
    pub fn has_only_audits(&self) -> bool {
        self.plan.trials.is_empty() && !self.durability.is_empty()
    }

    /// Reads the trials that were completed meanwhile, and the plan, which may have grown. Trials that are here are not
    /// read again.
    pub fn catch_up(&mut self) -> Result<(), RecordError> {
        let folder = RunFolder::open(&self.dir)?;
        self.plan = folder.plan()?;
        let here: BTreeSet<u32> = self.trials.iter().map(|trial| trial.record.id).collect();
        let cells: BTreeMap<u32, &Cell> = self.plan.cells.iter().map(|cell| (cell.id, cell)).collect();
        let missing = self.plan.trials.iter().filter(|trial| !here.contains(&trial.id));
        let planned = missing.filter_map(|trial| Some((trial, *cells.get(&trial.cell)?)));
        let complete: Vec<_> = planned.filter(|(trial, _)| folder.trial(trial.id).is_complete()).collect();
        self.trials.extend(read_trials(&folder, &complete)?);
        self.trials.sort_by_key(|trial| trial.record.id);
        agreement::settle(self);
        let audits = self.plan.cells.iter().map(|cell| folder.durability(cell.id));
        self.durability = audits.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        Ok(())
    }
}

type Planned<'a> = (&'a PlannedTrial, &'a Cell);

/// Reads trials with a thread for each CPU, since the series of a long run are far larger than its other files.
fn read_trials<'a>(folder: &RunFolder, complete: &'a [Planned<'a>]) -> Result<Vec<StoredTrial>, RecordError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = complete.len().div_ceil(threads).max(1);
    let parts = thread::scope(|scope| {
        let read = |(trial, cell): &Planned<'_>| read_trial(&folder.trial(trial.id), trial, cell);
        let begin = |part: &'a [Planned<'a>]| scope.spawn(move || part.iter().map(read).collect::<Result<Vec<_>, _>>());
        let threads: Vec<_> = complete.chunks(share).map(begin).collect();
        let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
    });
    Ok(parts?.into_iter().flatten().collect())
}

fn read_trial(folder: &TrialFolder, planned: &PlannedTrial, cell: &Cell) -> Result<StoredTrial, RecordError> {
    if cell.machines() == 1 {
        return read_machine(folder, planned, cell);
    }
    let parts = folder.machines(cell.machines());
    let parts = parts.iter().map(|part| read_machine(part, planned, cell)).collect::<Result<Vec<_>, _>>()?;
    Ok(together::compose(read_record(folder, planned, cell)?, parts, cell))
}

fn read_record(folder: &TrialFolder, planned: &PlannedTrial, cell: &Cell) -> Result<TrialRecord, RecordError> {
    let record = folder.record()?;
    match coherence::of_trial(&record, planned, cell) {
        Some(why) => Err(content(&folder.path().join("trial.json"), why)),
        None => Ok(record),
    }
}

/// Reads the folder of a trial with one machine, or of one of several machines.
fn read_machine(trial: &TrialFolder, planned: &PlannedTrial, cell: &Cell) -> Result<StoredTrial, RecordError> {
    let machine = read_files(trial, planned, cell)?;
    if cell.instances() == 1 {
        return Ok(machine);
    }
    let parts = trial.instances(cell.instances());
    let parts = parts.iter().map(|part| read_files(part, planned, cell)).collect::<Result<Vec<_>, _>>()?;
    Ok(together::of_databases(machine, parts, cell))
}

/// Reads the files of one folder, of a machine or of one of its databases.
fn read_files(trial: &TrialFolder, planned: &PlannedTrial, cell: &Cell) -> Result<StoredTrial, RecordError> {
    let (record, path) = (read_record(trial, planned, cell)?, trial.path());
    let log = path.join("intervals.hlog");
    let measured = if log.exists() {
        let text = bounds::open(&log, bounds::SERIES_BYTES).map_err(failing("reading", &log))?;
        Some(crate::hlog::read(text).map_err(|error| content(&log, error.to_string()))?)
    } else {
        None
    };
    let findings = trial.findings()?;
    let counters = path.join("counters.json");
    let looks = if counters.exists() { read_json_in_range::<StoredCounters>(&counters)?.window } else { None };
    if let Some(why) = looks.as_ref().and_then(Looks::out_of_bounds) {
        return Err(content(&counters, why));
    }
    let telemetry = telemetry_files::read(path)?;
    let (machines, instances, disagreements) = (Vec::new(), Vec::new(), Vec::new());
    Ok(StoredTrial {
        record,
        measured,
        findings,
        looks,
        telemetry,
        machines,
        instances,
        bystander: None,
        disagreements,
    })
}

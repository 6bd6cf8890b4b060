//! A whole run in memory: what analysis and report are functions of.

use crate::check::Finding;
use crate::facts::Facts;
use crate::folder::{RecordError, RunFolder, TrialFolder, failing, read_json};
use crate::intervals::Measured;
use crate::looks::{Looks, StoredCounters};
use crate::plan::{Cell, Plan, PlannedTrial};
use crate::telemetry::Series;
use crate::telemetry_files;
use crate::together;
use crate::trial::TrialRecord;
use std::fs;
use std::path::{Path, PathBuf};

/// Everything a run's folder says.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub plan: Plan,
    /// The host's view of itself.
    pub host: Facts,
    /// Trials that have a record, in the order of their ids. Planned trials without one were not reached.
    pub trials: Vec<StoredTrial>,
    pub dir: PathBuf,
}

/// One trial as it was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrial {
    pub record: TrialRecord,
    /// Absent if the trial ended before anything was measured.
    pub measured: Option<Measured>,
    pub findings: Vec<Finding>,
    /// What was counted within the measured window; absent from old records and from windows too short for it.
    pub looks: Option<Looks>,
    /// What host and machine counted over time; none from old records.
    pub telemetry: Vec<Series>,
    /// Where several machines ran side by side, each by itself, in their order; then the rest of this is of all together
    /// ([`together::compose`]). Empty of one machine, and its parts have none.
    pub machines: Vec<StoredTrial>,
    /// The number of the machine that is not measured, if there is one ([`Cell::bystander`]).
    pub bystander: Option<u32>,
}

impl StoredTrial {
    /// What is said of single machines: each of several, or the trial itself.
    pub fn each_machine(&self) -> &[Self] {
        if self.machines.is_empty() { std::slice::from_ref(self) } else { &self.machines }
    }

    /// Each machine that was measured, with its number, counted from 1.
    pub fn measured_machines(&self) -> impl Iterator<Item = (u32, &Self)> {
        (1..).zip(self.each_machine()).filter(|(number, _)| self.bystander != Some(*number))
    }
}

impl Run {
    /// Reads a run's folder. Trials without `trial.json` were not reached or not finished, and are left out.
    pub fn open(dir: &Path) -> Result<Self, RecordError> {
        let folder = RunFolder::open(dir)?;
        let plan = folder.plan()?;
        let planned = plan.trials.iter().map(|trial| (folder.trial(trial.id), cell(&plan, trial)));
        let complete = planned.filter(|(trial, _)| trial.is_complete());
        let mut trials = complete.map(|(trial, cell)| read_trial(&trial, cell)).collect::<Result<Vec<_>, _>>()?;
        trials.sort_by_key(|trial| trial.record.id);
        Ok(Self { plan, host: folder.host()?, trials, dir: dir.to_owned() })
    }
}

fn cell<'a>(plan: &'a Plan, trial: &PlannedTrial) -> Option<&'a Cell> {
    plan.cells.iter().find(|cell| cell.id == trial.cell)
}

fn read_trial(trial: &TrialFolder, cell: Option<&Cell>) -> Result<StoredTrial, RecordError> {
    let Some(cell) = cell.filter(|cell| cell.machines() > 1) else { return read_machine(trial) };
    let parts = trial.machines(cell.machines()).iter().map(read_machine).collect::<Result<Vec<_>, _>>()?;
    Ok(together::compose(trial.record()?, parts, cell))
}

/// What the folder of a trial of one machine holds, or that of one machine of several.
fn read_machine(trial: &TrialFolder) -> Result<StoredTrial, RecordError> {
    let (record, path) = (trial.record()?, trial.path());
    let log = path.join("intervals.hlog");
    let measured = if log.exists() {
        let bytes = fs::read(&log).map_err(failing("reading", &log))?;
        Some(crate::hlog::read(&bytes).map_err(|error| RecordError::Log { path: log, why: error.to_string() })?)
    } else {
        None
    };
    let findings = path.join("findings.json");
    let findings = if findings.exists() { read_json(&findings)? } else { Vec::new() };
    let counters = path.join("counters.json");
    let looks = if counters.exists() { read_json::<StoredCounters>(&counters)?.window } else { None };
    let telemetry = telemetry_files::read(path)?;
    Ok(StoredTrial { record, measured, findings, looks, telemetry, machines: Vec::new(), bystander: None })
}

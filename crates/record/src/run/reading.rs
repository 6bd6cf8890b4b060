//! A run is read from its folder.

use super::{Run, StoredTrial};
use crate::error::{RecordError, content, failing};
use crate::folder::{RunFolder, TrialFolder, read_json_in_range};
use crate::looks::{Looks, StoredCounters};
use crate::plan::{Cell, PlannedTrial};
use crate::telemetry_files;
use crate::together;
use crate::trial::TrialRecord;
use crate::{agreement, bounds, coherence, seals};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, ScopedJoinHandle};

impl Run {
    /// Reads a run's folder. It leaves out trials without `trial.json`, which were not reached or not finished.
    pub fn open(dir: &Path) -> Result<Self, RecordError> {
        let folder = RunFolder::open(dir)?;
        let (plan, host) = (folder.plan()?, folder.host()?);
        let mut run = Self { plan, host, trials: Vec::new(), durability: Vec::new(), dir: dir.to_owned() };
        run.catch_up()?;
        Ok(run)
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
        let mut read = read_trials(&folder, &complete)?;
        let changed = seals::changed_in_run(&self.dir, &read.iter().map(|trial| &trial.record.files));
        for trial in &mut read {
            trial.record.files.clear();
            trial.damage.extend_from_slice(&changed);
        }
        self.trials.extend(read);
        self.trials.sort_by_key(|trial| trial.record.id);
        agreement::settle(self);
        let audits = self.plan.cells.iter().map(|cell| folder.durability(cell.id));
        self.durability = audits.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        Ok(())
    }
}

type PlannedTrials<'a> = (&'a PlannedTrial, &'a Cell);

/// Reads trials with a thread for each CPU, since the series of a long run are far larger than its other files.
fn read_trials<'a>(folder: &RunFolder, complete: &'a [PlannedTrials<'a>]) -> Result<Vec<StoredTrial>, RecordError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = complete.len().div_ceil(threads).max(1);
    let parts = thread::scope(|scope| {
        let read = |(trial, cell): &PlannedTrials<'_>| read_trial(&folder.trial(trial.id), trial, cell);
        let begin =
            |part: &'a [PlannedTrials<'a>]| scope.spawn(move || part.iter().map(read).collect::<Result<Vec<_>, _>>());
        let threads: Vec<_> = complete.chunks(share).map(begin).collect();
        let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
    });
    Ok(parts?.into_iter().flatten().collect())
}

fn read_trial(folder: &TrialFolder, planned: &PlannedTrial, cell: &Cell) -> Result<StoredTrial, RecordError> {
    let mut trial = if cell.machines() == 1 {
        read_machine(folder, planned, cell)?
    } else {
        let parts = folder.machines(cell.machines());
        let parts = parts.iter().map(|part| read_machine(part, planned, cell)).collect::<Result<Vec<_>, _>>()?;
        together::compose(read_record(folder, planned, cell)?, parts, cell)
    };
    trial.damage = seals::broken(folder.path(), &trial.record.files);
    Ok(trial)
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
        damage: Vec::new(),
        disagreements,
    })
}

//! The folder of a run: paths, writing that is never half done, and the append-only event log.
//!
//! A trial is complete when its `trial.json` is there. That file is written last, once everything else of the trial
//! is on the disk, synced and renamed into place. So a kill or a power cut at any moment leaves either a complete
//! trial or one that `--resume` runs again.

use crate::bounds;
use crate::check::CheckResult;
use crate::coherence;
use crate::durability::Durability;
use crate::durable;
use crate::error::{RecordError, content, failing};
use crate::event_log::EventLog;
use crate::facts::Facts;
use crate::interval_file::IntervalFile;
use crate::lock;
use crate::plan::Plan;
use crate::seals;
use crate::trial::TrialRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder for the records of trials that were run again.
const EARLIER: &str = "earlier";
/// The folder for audits of durability, one file for each cell.
const DURABILITY: &str = "durability";

fn to_json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, RecordError> {
    let mut text =
        serde_json::to_vec_pretty(value).map_err(|source| RecordError::Format { path: path.to_owned(), source })?;
    text.push(b'\n');
    Ok(text)
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    parsed(path, &json_bytes(path)?)
}

/// Does the same for a file whose numbers are used in calculations, so each must be in its range.
pub(crate) fn read_json_in_range<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    let bytes = json_bytes(path)?;
    let value = parsed(path, &bytes)?;
    match bounds::out_of_range(&parsed(path, &bytes)?) {
        Some(why) => Err(content(path, why)),
        None => Ok(value),
    }
}

fn json_bytes(path: &Path) -> Result<Vec<u8>, RecordError> {
    bounds::read(path, bounds::JSON_BYTES).map_err(failing("reading", path))
}

fn parsed<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, RecordError> {
    serde_json::from_slice(bytes).map_err(|source| RecordError::Format { path: path.to_owned(), source })
}

/// The folder of one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    /// Held by the process that works in the folder, as long as there is a handle.
    lock: Option<Arc<File>>,
}

impl RunFolder {
    /// Makes a new folder with the study and the plan in it, and locks it. It gets its name when it is complete, or is removed.
    pub fn create(path: &Path, study_text: &str, plan: &Plan) -> Result<Self, RecordError> {
        let runs = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(runs).map_err(failing("making the parent of", path))?;
        let (beside, lock) = lock::begin_beside(runs)?;
        let begun = Self { path: beside.clone(), lock: Some(Arc::new(lock)) };
        let made = begun.begin(study_text, plan).and_then(|()| begun.renamed(path));
        made.inspect_err(|_| {
            // It is useless now; the error is what to report.
            let _ = fs::remove_dir_all(&beside);
        })
    }

    fn begin(&self, study_text: &str, plan: &Plan) -> Result<(), RecordError> {
        let trials = self.path.join("trials");
        fs::create_dir(&trials).map_err(failing("making", &trials))?;
        durable::write(&self.path.join("study.toml"), study_text.as_bytes())?;
        self.write_json("plan.json", plan).map(drop)
    }

    /// Gives the folder its name, which must not exist yet.
    fn renamed(&self, path: &Path) -> Result<Self, RecordError> {
        let moved = if path.exists() { Err(io::ErrorKind::AlreadyExists.into()) } else { fs::rename(&self.path, path) };
        let runs = path.parent().filter(|runs| !runs.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let moved = moved.and_then(|()| File::open(runs)?.sync_all());
        moved.map_err(failing("making", path))?;
        Ok(Self { path: path.to_owned(), lock: self.lock.clone() })
    }

    /// Whether the path is the folder of a run that was begun.
    pub fn is_at(path: &Path) -> bool {
        path.join("plan.json").is_file()
    }

    /// Whether a process is working in the folder, so that its run goes on.
    pub fn is_in_use(path: &Path) -> bool {
        lock::is_taken(path)
    }

    /// Opens a folder that has a plan, to read it.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let plan = path.join("plan.json");
        fs::metadata(&plan).map_err(failing("opening the run's", &plan))?;
        Ok(Self { path: path.to_owned(), lock: None })
    }

    /// Opens a folder that has a plan, to go on with its run. The lock keeps other processes from doing the same.
    pub fn go_on(path: &Path) -> Result<Self, RecordError> {
        let folder = Self::open(path)?;
        lock::sweep(path.parent().unwrap_or(Path::new(".")));
        Ok(Self { lock: Some(Arc::new(lock::take(path)?)), ..folder })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn plan(&self) -> Result<Plan, RecordError> {
        let path = self.path.join("plan.json");
        let plan: Plan = read_json_in_range(&path)?;
        if plan.format > crate::FORMAT {
            return Err(RecordError::Newer { path, found: plan.format, newest: crate::FORMAT });
        }
        match coherence::of_plan(&plan) {
            Some(why) => Err(content(&path, why)),
            None => Ok(plan),
        }
    }

    /// Replaces what has grown of the plan. Trials have seen the rest as it is, which another version may write otherwise.
    pub fn replace_plan(&self, plan: &Plan) -> Result<(), RecordError> {
        let path = self.path.join("plan.json");
        let mut kept: Map<String, Value> = read_json(&path)?;
        let grown: Map<String, Value> = parsed(&path, &to_json(&path, plan)?)?;
        kept.extend(grown.into_iter().filter(|(key, _)| seals::GROWING.contains(&key.as_str())));
        self.write_json("plan.json", &kept).map(drop)
    }

    pub fn write_host(&self, host: &Facts) -> Result<(), RecordError> {
        self.write_json("host.json", host).map(drop)
    }

    /// Facts about the host; empty if the run was killed before they were written.
    pub fn host(&self) -> Result<Facts, RecordError> {
        let path = self.path.join("host.json");
        if path.exists() { read_json(&path) } else { Ok(Facts::new()) }
    }

    /// Writes any other file of the run (`analysis.json`, `report.html`, …).
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
        let path = self.path.join(name);
        durable::write(&path, bytes)?;
        Ok(path)
    }

    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<PathBuf, RecordError> {
        self.write(name, &to_json(&self.path.join(name), value)?)
    }

    fn durability_file(&self, cell: u32) -> PathBuf {
        self.path.join(DURABILITY).join(format!("{cell:04}.json"))
    }

    /// The audit of a cell's durability; `None` if it was not made.
    pub fn durability(&self, cell: u32) -> Result<Option<Durability>, RecordError> {
        let path = self.durability_file(cell);
        if !path.exists() {
            return Ok(None);
        }
        let found: Durability = read_json_in_range(&path)?;
        if found.format > crate::FORMAT {
            return Err(RecordError::Newer { path, found: found.format, newest: crate::FORMAT });
        }
        match found.contradiction(cell) {
            Some(why) => Err(content(&path, why)),
            None => Ok(Some(found)),
        }
    }

    /// Writes the audit of a cell. An audit of it that was made before is set aside, so that it is kept.
    pub fn write_durability(&self, found: &Durability) -> Result<(), RecordError> {
        let folder = self.path.join(DURABILITY);
        fs::create_dir_all(&folder).map_err(failing("making", &folder))?;
        let path = self.durability_file(found.cell);
        if path.exists() {
            self.set_path_aside(&path, |attempt| format!("{DURABILITY}-{:04}-{attempt}.json", found.cell))?;
        }
        durable::write(&path, &to_json(&path, found)?)
    }

    pub fn trial(&self, id: u32) -> TrialFolder {
        TrialFolder::alone(self.path.join("trials").join(format!("{id:04}")))
    }

    /// Moves a complete trial that is to be run again aside, so that its record is kept.
    pub fn set_aside(&self, id: u32) -> Result<(), RecordError> {
        self.set_path_aside(&self.trial(id).path, |attempt| format!("{id:04}-{attempt}"))
    }

    /// Moves it to the first of these names that is free.
    fn set_path_aside(&self, from: &Path, name: impl Fn(u32) -> String) -> Result<(), RecordError> {
        let folder = self.path.join(EARLIER);
        fs::create_dir_all(&folder).map_err(failing("making", &folder))?;
        let mut names = (1..).map(|attempt| folder.join(name(attempt)));
        let to = names.find(|path| !path.exists()).unwrap_or(folder);
        fs::rename(from, &to).map_err(failing("setting aside", from))
    }

    /// The records of a trial from before it was run again, oldest first.
    pub fn earlier(&self, id: u32) -> Result<Vec<TrialRecord>, RecordError> {
        let attempts = (1..).map(|attempt| self.earlier_attempt(id, attempt));
        attempts.take_while(TrialFolder::is_complete).map(|attempt| attempt.record()).collect()
    }

    fn earlier_attempt(&self, id: u32, attempt: u32) -> TrialFolder {
        TrialFolder::alone(self.path.join(EARLIER).join(format!("{id:04}-{attempt}")))
    }

    /// The event log, opened for appending.
    pub fn events(&self) -> Result<EventLog, RecordError> {
        EventLog::open(&self.path.join("events.jsonl"))
    }
}

/// The folder of one trial, or of one of its machines or databases. Its content counts, and is on the disk, once the
/// trial is complete.
#[derive(Debug, Clone)]
pub struct TrialFolder {
    path: PathBuf,
    /// It is complete when the folder of the whole trial is.
    is_part: bool,
}

impl TrialFolder {
    /// The folder of a trial that does not belong to a run.
    pub fn alone(path: PathBuf) -> Self {
        Self { path, is_part: false }
    }

    fn part(&self, of: &str, number: u32) -> Self {
        Self { path: self.path.join(of).join(number.to_string()), is_part: true }
    }

    /// Makes it empty: whatever an earlier, unfinished attempt left is removed.
    pub fn begin(&self) -> Result<(), RecordError> {
        match fs::remove_dir_all(&self.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(failing("emptying", &self.path)(source)),
        }
        fs::create_dir_all(&self.path).map_err(failing("making", &self.path))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of one of several machines that run side by side, counted from 1; it holds the same files.
    #[must_use]
    pub fn machine(&self, number: u32) -> Self {
        self.part("machines", number)
    }

    /// The folder of one of several databases in a machine, counted from 1; it holds those files that are about a database.
    #[must_use]
    pub fn instance(&self, number: u16) -> Self {
        self.part("instances", number.into())
    }

    /// The folders of a machine's databases that have a record, if there are several. The list ends before a missing one.
    #[must_use]
    pub fn instances(&self, count: u16) -> Vec<Self> {
        match count {
            0 | 1 => Vec::new(),
            _ => (1..=count).map(|number| self.instance(number)).take_while(Self::is_complete).collect(),
        }
    }

    /// The folders of the machines of a complete trial: its own if it has one machine, else those of the machines that
    /// have a record. A machine's place in the list is its number less one, so the list ends before a missing one.
    #[must_use]
    pub fn machines(&self, count: u32) -> Vec<Self> {
        match count {
            0 | 1 => vec![self.clone()],
            _ => (1..=count).map(|number| self.machine(number)).take_while(Self::is_complete).collect(),
        }
    }

    pub fn is_complete(&self) -> bool {
        self.path.join("trial.json").exists()
    }

    /// Makes the folder that a log's name begins with, if it is not there yet.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let path = self.path.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failing("making", folder))?;
        }
        durable::write_unsynced(&path, bytes)
    }

    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), RecordError> {
        let path = self.path.join(name);
        durable::write_unsynced(&path, &to_json(&path, value)?)
    }

    /// The file of the measured series, to be written second by second.
    pub fn intervals(&self, kinds: Vec<String>) -> Result<IntervalFile, RecordError> {
        IntervalFile::begin(&self.path.join("intervals.hlog"), kinds)
    }

    /// The record of a complete trial.
    pub fn record(&self) -> Result<TrialRecord, RecordError> {
        let path = self.path.join("trial.json");
        let record: TrialRecord = read_json_in_range(&path)?;
        if record.format > crate::FORMAT {
            return Err(RecordError::Newer { path, found: record.format, newest: crate::FORMAT });
        }
        Ok(record)
    }

    /// Outcomes of the data checks; empty if they were not written.
    pub fn findings(&self) -> Result<Vec<CheckResult>, RecordError> {
        let path = self.path.join("findings.json");
        let findings: Vec<CheckResult> = if path.exists() { read_json(&path)? } else { Vec::new() };
        if findings.len() > bounds::FINDINGS {
            return Err(content(&path, bounds::too_many("the list", findings.len(), bounds::FINDINGS)));
        }
        Ok(findings)
    }

    /// Writes `trial.json`, which makes the trial complete; everything else is on the disk before.
    pub fn complete(&self, record: &TrialRecord) -> Result<(), RecordError> {
        if self.is_part {
            return self.write_json("trial.json", record);
        }
        durable::sync_all_in(&self.path)?;
        let path = self.path.join("trial.json");
        let text = seals::sealed(&self.path, record, |record| to_json(&path, record))?;
        durable::write(&path, &text)
    }

    /// Keeps what an interrupted trial has recorded, without making it complete.
    pub fn keep_partial(&self, record: &TrialRecord) -> Result<(), RecordError> {
        self.write_json("interrupted.json", record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Outcome;

    fn plan() -> Plan {
        serde_json::from_value(serde_json::json!({
            "format": crate::FORMAT, "question": "?", "study": "s", "seed": 1, "blocks": 1, "cells": [], "trials": []
        }))
        .unwrap()
    }

    #[test]
    fn a_trial_is_complete_only_with_its_last_file_and_beginning_again_empties_it() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunFolder::create(&parent.path().join("run"), "", &plan()).unwrap();
        let trial = run.trial(7);
        trial.begin().unwrap();
        trial.write("counters.json", b"{}").unwrap();
        assert!(!trial.is_complete());
        trial.begin().unwrap();
        assert!(!trial.path().join("counters.json").exists());
        let record: TrialRecord = serde_json::from_value(serde_json::json!({
            "format": crate::FORMAT, "id": 7, "block": 1, "cell": 0, "contender": "native", "seed": 1,
            "outcome": Outcome::Completed, "started": "2026-01-01T00:00:00Z", "phases": []
        }))
        .unwrap();
        trial.keep_partial(&record).unwrap();
        assert!(!trial.is_complete());
        trial.complete(&record).unwrap();
        assert!(trial.is_complete());
        assert_eq!(TrialRecord { files: record.files.clone(), ..trial.record().unwrap() }, record);
        trial.complete(&TrialRecord { format: crate::FORMAT + 1, ..record }).unwrap();
        assert!(matches!(trial.record(), Err(RecordError::Newer { .. })));
    }

    #[test]
    fn what_became_of_a_trial_before_it_was_run_again_is_kept_in_order() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunFolder::create(&parent.path().join("run"), "", &plan()).unwrap();
        assert_eq!(run.earlier(7).unwrap(), []);
        let attempts: Vec<TrialRecord> = ["it fell", "it stumbled"].map(failed).into();
        for record in &attempts {
            run.trial(7).begin().unwrap();
            run.trial(7).complete(record).unwrap();
            run.set_aside(7).unwrap();
            assert!(!run.trial(7).path().exists());
        }
        let earlier =
            run.earlier(7).unwrap().into_iter().map(|record| TrialRecord { files: seals::Seals::new(), ..record });
        assert_eq!(earlier.collect::<Vec<_>>(), attempts);
        assert_eq!(run.earlier(8).unwrap(), []);
    }

    #[test]
    fn an_audit_that_is_made_again_leaves_the_one_before_aside() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunFolder::create(&parent.path().join("run"), "", &plan()).unwrap();
        for why in ["first", "second", "third"] {
            let audit = serde_json::json!({
                "format": crate::FORMAT, "cell": 0, "contender": "native", "started": "2026-01-01T00:00:00Z",
                "not_audited": why, "declared": [], "acknowledged": 0, "holds": [], "cuts": [], "planted": []
            });
            run.write_durability(&serde_json::from_value(audit).unwrap()).unwrap();
        }
        assert_eq!(run.durability(0).unwrap().unwrap().not_audited.as_deref(), Some("third"));
        let earlier =
            |number| fs::read_to_string(run.path.join(format!("{EARLIER}/durability-0000-{number}.json"))).unwrap();
        assert!(earlier(1).contains("first") && earlier(2).contains("second"));
    }

    fn failed(why: &str) -> TrialRecord {
        serde_json::from_value(serde_json::json!({
            "format": crate::FORMAT, "id": 7, "block": 1, "cell": 0, "contender": "native", "seed": 1,
            "outcome": Outcome::Failed { phase: "measure".to_owned(), why: why.to_owned() },
            "started": "2026-01-01T00:00:00Z", "phases": []
        }))
        .unwrap()
    }

    #[test]
    fn one_process_at_a_time_works_in_a_run_and_all_may_read_it() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let run = RunFolder::create(&path, "", &plan()).unwrap();
        let Err(RecordError::InUse { process, lock, .. }) = RunFolder::go_on(&path) else { panic!("not refused") };
        assert_eq!(process, Some(std::process::id()));
        assert_eq!(lock, path.join("lock"));
        assert_eq!(RunFolder::open(&path).unwrap().plan().unwrap(), plan());
        drop(run);
        let again = RunFolder::go_on(&path).unwrap();
        assert!(matches!(RunFolder::go_on(&path), Err(RecordError::InUse { .. })));
        drop(again);
        RunFolder::go_on(&path).unwrap();
    }

    #[test]
    fn a_run_that_cannot_be_begun_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("taken"), "").unwrap();
        assert!(RunFolder::create(&parent.path().join("taken"), "", &plan()).is_err());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_run_folder_is_never_overwritten_and_a_newer_format_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let run = RunFolder::create(&path, "", &plan()).unwrap();
        assert!(RunFolder::create(&path, "", &plan()).is_err());
        let newer = Plan { format: crate::FORMAT + 1, ..plan() };
        run.write_json("plan.json", &newer).unwrap();
        assert!(matches!(run.plan(), Err(RecordError::Newer { .. })));
    }
}

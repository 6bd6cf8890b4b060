//! A made-up run as the files of a folder.

use crate::error::{RecordError, content};
use crate::folder::{RunFolder, TrialFolder};
use crate::hlog;
use crate::looks::StoredCounters;
use crate::run::{Run, StoredTrial};
use crate::telemetry_files;
use crate::trial::TrialRecord;
use std::path::Path;

/// Writes the run to a path that does not exist yet, without hashes of its files, so that tests can change them.
pub fn write(run: &Run, path: &Path) -> Result<(), RecordError> {
    let folder = RunFolder::create(path, "", &run.plan)?;
    folder.write_host(&run.host)?;
    for trial in &run.trials {
        let own = folder.trial(trial.record.id);
        own.begin()?;
        if trial.machines.is_empty() {
            write_machine(trial, &own)?;
            continue;
        }
        for (number, machine) in (1..).zip(&trial.machines) {
            own.machine(number).begin()?;
            write_machine(machine, &own.machine(number))?;
        }
        own.write_json(
            "trial.json",
            &TrialRecord { machine: None, server: None, driver: None, ..trial.record.clone() },
        )?;
    }
    Ok(())
}

fn write_machine(trial: &StoredTrial, folder: &TrialFolder) -> Result<(), RecordError> {
    if let Some(measured) = &trial.measured {
        let log = hlog::write(measured).map_err(|error| content(folder.path(), error.to_string()))?;
        folder.write("intervals.hlog", &log)?;
    }
    folder.write_json("findings.json", &trial.findings)?;
    folder.write_json("counters.json", &StoredCounters { window: trial.looks.clone(), ..StoredCounters::default() })?;
    if !trial.telemetry.is_empty() {
        telemetry_files::write(folder, &trial.telemetry)?;
    }
    folder.write_json("trial.json", &trial.record)
}

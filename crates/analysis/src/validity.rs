//! Which trials of a run are valid. Only their numbers are averaged or compared.

use record::check::CheckResult;
use record::run::{Run, StoredTrial};
use record::trial::Outcome;

/// Every trial of a cell that has a record, valid or not.
pub fn trials_of(run: &Run, cell: u32) -> impl Iterator<Item = &StoredTrial> {
    run.trials.iter().filter(move |trial| trial.record.cell == cell)
}

pub fn valid_trials(run: &Run, cell: u32) -> impl Iterator<Item = &StoredTrial> {
    trials_of(run, cell).filter(|trial| is_valid(trial))
}

/// True if a trial completed, left the data as the workload's rules demand, and has a complete record that agrees with
/// itself. How fast a database does something wrong or unchecked says nothing about how fast it is.
pub fn is_valid(trial: &StoredTrial) -> bool {
    trial.record.outcome == Outcome::Completed && !has_wrong_data(trial) && trial.disagreements.is_empty()
}

pub fn has_wrong_data(trial: &StoredTrial) -> bool {
    trial.findings.iter().any(CheckResult::is_violated)
}

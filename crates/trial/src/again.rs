//! Running trials again that are complete but came to no result: which ones, and what their new record says about it.
//!
//! A trial that other load disturbed beyond its study's limit is run again at once, as often as the study allows. Other
//! trials are run again only on request. A failure is also an answer about a contender, and a contender that always
//! fails must not look unlucky. So earlier outcomes are kept and reported with the new record.

use crate::order::RunOrder;
use record::check::CheckResult;
use record::error::RecordError;
use record::folder::RunFolder;
use record::other_load::{Disturbance, Disturbed};
use record::plan::{Cell, Plan, PlannedTrial};
use record::trial::{Outcome, TrialRecord};

/// Earlier attempts at a trial.
#[derive(Debug, Default)]
pub struct Earlier {
    /// What the new record says about them.
    pub warnings: Vec<String>,
    /// Attempts that were void because of other load. Each led to the next one, and the last one to this.
    pub disturbed: Vec<Disturbed>,
}

/// Trials of a plan that have no record, or a void one that must be replaced. With `retries`, also those whose outcome
/// is not `Completed`, for whatever reason.
pub fn still_to_run(
    folder: &RunFolder,
    plan: &Plan,
    trials: &[PlannedTrial],
    retries: bool,
) -> Result<Vec<PlannedTrial>, RecordError> {
    let mut left = Vec::new();
    for planned in trials {
        if !folder.trial(planned.id).is_complete() || is_to_be_replaced(folder, plan, planned, retries)? {
            left.push(planned.clone());
        }
    }
    Ok(left)
}

fn is_to_be_replaced(
    folder: &RunFolder,
    plan: &Plan,
    planned: &PlannedTrial,
    retries: bool,
) -> Result<bool, RecordError> {
    let record = folder.trial(planned.id).record()?;
    if retries && !came_to_a_result(&record) {
        return Ok(true);
    }
    let Some(cell) = plan.cells.iter().find(|cell| cell.id == planned.cell) else { return Ok(false) };
    Ok(why_void(folder, cell, &record)?.is_some())
}

/// Why a trial that has ended is run again automatically. Wrong data are kept, since no other load excuses them.
pub(crate) fn why_void(
    folder: &RunFolder,
    cell: &Cell,
    record: &TrialRecord,
) -> Result<Option<Disturbance>, RecordError> {
    let Some(by) = record.to_be_repeated() else { return Ok(None) };
    let trial = folder.trial(record.id);
    for machine in trial.machines(cell.machines()) {
        let databases = if cell.instances() == 1 { vec![machine] } else { machine.instances(cell.instances()) };
        for own in databases {
            if own.findings()?.iter().any(CheckResult::is_violated) {
                return Ok(None);
            }
        }
    }
    Ok(Some(by))
}

/// Sets aside the old record of a trial. Returns what the new record must say about it and about those before it.
pub(crate) fn make_way(order: &RunOrder<'_>, id: u32) -> Result<Earlier, RecordError> {
    if order.folder.trial(id).is_complete() {
        order.folder.set_aside(id)?;
    }
    let mut records = order.folder.earlier(id)?;
    let disturbed = records.last().map(TrialRecord::disturbed_with_this).unwrap_or_default();
    // `disturbed` lists these separately.
    records.truncate(records.len().saturating_sub(disturbed.len()));
    Ok(Earlier { warnings: records.iter().map(warning).collect(), disturbed })
}

fn came_to_a_result(record: &TrialRecord) -> bool {
    record.outcome == Outcome::Completed
}

fn warning(earlier: &TrialRecord) -> String {
    let became = match &earlier.outcome {
        Outcome::Completed => "was completed".to_owned(),
        Outcome::Invalid { why } => format!("was invalid: {}", first_line(why)),
        Outcome::Failed { phase, why } => format!("failed in phase {phase}: {}", first_line(why)),
        Outcome::Skipped { why } => format!("was skipped: {}", first_line(why)),
        Outcome::Interrupted { phase } => format!("was stopped in phase {phase}"),
    };
    format!("it was run again; begun at {}, it {became}", earlier.started)
}

/// The old record has the rest.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_record_tells_in_a_line_what_the_old_one_came_to() {
        let outcome = Outcome::Failed { phase: "measure".to_owned(), why: "machine 2: ended\nits log".to_owned() };
        let record: TrialRecord = serde_json::from_value(serde_json::json!({
            "format": record::FORMAT, "id": 7, "block": 1, "cell": 0, "contender": "vm", "seed": 1, "outcome": outcome,
            "started": "2026-01-01T00:00:00Z", "phases": []
        }))
        .unwrap();
        assert!(!came_to_a_result(&record));
        let expected = "it was run again; begun at 2026-01-01T00:00:00Z, it failed in phase measure: machine 2: ended";
        assert_eq!(warning(&record), expected);
        assert!(came_to_a_result(&TrialRecord { outcome: Outcome::Completed, ..record }));
    }

    #[test]
    fn a_disturbed_trial_is_void_unless_its_data_are_wrong() {
        let parent = tempfile::tempdir().unwrap();
        let plan = serde_json::json!({
            "format": record::FORMAT, "question": "?", "study": "s", "seed": 1, "blocks": 1,
            "cells": [{
                "id": 0, "contender": "vm", "baseline": true,
                "settings": { "machine": { "count": 2 }, "engine": { "instances": 2 } },
            }],
            "trials": [{ "id": 7, "block": 1, "cell": 0, "seed": 1 }],
        });
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let run = RunFolder::create(&parent.path().join("run"), "", &plan).unwrap();
        let record: TrialRecord = serde_json::from_value(serde_json::json!({
            "format": record::FORMAT, "id": 7, "block": 1, "cell": 0, "contender": "vm", "seed": 1,
            "outcome": Outcome::Invalid { why: "others used 9 %".to_owned() }, "started": "2026-01-01T00:00:00Z",
            "phases": [], "other_load": { "limit": 0.05, "max_repeats": 1, "other_cpu": { "known": 0.09 } },
        }))
        .unwrap();
        let found = |verdict: serde_json::Value| {
            let finding = serde_json::json!([{ "name": "sums", "rule": "they agree", "moment": "after-trial", "verdict": verdict }]);
            let second = run.trial(7).machine(2);
            let database = second.instance(2);
            for own in [run.trial(7), run.trial(7).machine(1), second.clone(), second.instance(1), database.clone()] {
                std::fs::create_dir_all(own.path()).unwrap();
                own.complete(&record).unwrap();
            }
            database.write_json("findings.json", &finding).unwrap();
            let left = still_to_run(&run, &plan, &plan.trials, false).unwrap();
            (left.len(), why_void(&run, &plan.cells[0], &record).unwrap().is_some())
        };
        assert_eq!(found(serde_json::json!({ "verdict": "holds" })), (1, true));
        assert_eq!(found(serde_json::json!({ "verdict": "violated", "seen": "one is short" })), (0, false));
        run.trial(7).complete(&TrialRecord { other_load: None, ..record.clone() }).unwrap();
        assert_eq!(still_to_run(&run, &plan, &plan.trials, false).unwrap(), [], "a study without a limit");
    }
}

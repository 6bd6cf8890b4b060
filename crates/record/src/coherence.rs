//! Whether a plan is possible, and whether a trial's record belongs to the trial that the plan has under its number.
//!
//! These rules hold for every record that bakeoff has ever written. If one is broken, no statement about the run
//! would describe what really ran, so such a record is not read.

use crate::bounds;
use crate::plan::{Cell, MOST_TRIALS, Plan, PlannedTrial};
use crate::trial::TrialRecord;
use std::collections::BTreeSet;

/// What is impossible in this plan, with the key's name.
pub fn of_plan(plan: &Plan) -> Option<String> {
    let (cells, trials) = (plan.cells.len() as u64, plan.trials.len() as u64);
    let all = cells.max(1) * u64::from(plan.blocks);
    if all.max(trials) > MOST_TRIALS {
        let blocks = plan.blocks;
        return Some(format!(
            "blocks is {blocks} and there are {cells} cells and {trials} trials; a plan has at most {MOST_TRIALS} trials"
        ));
    }
    let (mut ids, mut names, mut baselines) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (place, cell) in plan.cells.iter().enumerate() {
        if !ids.insert(cell.id) {
            return Some(format!("cells[{place}].id is {}, and so is that of another cell", cell.id));
        }
        let place_in_study = (&cell.scenario, format!("{:?}", cell.sweep));
        if !names.insert((place_in_study.clone(), &cell.contender)) {
            return Some(format!("cells[{place}] is the same contender, scenario and sweep as another cell"));
        }
        if cell.baseline && !baselines.insert(place_in_study) {
            return Some(format!("cells[{place}].baseline is true, and so is that of a cell beside it"));
        }
    }
    let mut trials = BTreeSet::new();
    plan.trials.iter().enumerate().find_map(|(place, trial)| {
        if trial.id == 0 || !trials.insert(trial.id) {
            return Some(format!("trials[{place}].id is {}; it must be above 0 and no other trial's", trial.id));
        }
        if !ids.contains(&trial.cell) {
            return Some(format!("trials[{place}].cell is {}, and there is no such cell", trial.cell));
        }
        let is_in_plan = (1..=plan.blocks).contains(&trial.block);
        (!is_in_plan).then(|| format!("trials[{place}].block is {}; it must be 1 to {}", trial.block, plan.blocks))
    })
}

/// Where the record of a trial, or of one of its machines, contradicts the plan, with the key's name.
pub fn of_trial(record: &TrialRecord, planned: &PlannedTrial, cell: &Cell) -> Option<String> {
    let numbers = [
        ("id", record.id.into(), planned.id.into()),
        ("cell", record.cell.into(), planned.cell.into()),
        ("block", record.block.into(), planned.block.into()),
        ("seed", record.seed, planned.seed),
    ];
    let id = planned.id;
    let differs = numbers.into_iter().find(|(_, found, expected)| found != expected);
    if let Some((key, found, expected)) = differs {
        return Some(format!("{key} is {found}, but plan.json says {expected} of trial {id}"));
    }
    if record.contender != cell.contender {
        let (found, expected) = (&record.contender, &cell.contender);
        return Some(format!("contender is \"{found}\", but plan.json says \"{expected}\" of trial {id}"));
    }
    let kinds = record.driver.as_ref().map_or(0, |driver| driver.kinds.len().max(driver.whole_run.len()));
    (kinds > bounds::KINDS).then(|| bounds::too_many("driver.kinds", kinds, bounds::KINDS))
}

//! The audits that a run has still to make.

use super::Doing;
use crate::arguments::RunOptions;
use anyhow::{Context, Result};
use record::folder::RunFolder;
use record::plan::Plan;
use study::TypedPlan;

/// The chosen cells whose durability is to be audited; with `--retry-failed` those whose audit failed, too.
pub fn left(options: &RunOptions, chosen: &Plan, doing: Doing, begun: Option<&RunFolder>) -> Result<Vec<u32>> {
    if chosen.durability.is_none() || options.rehearse {
        return Ok(Vec::new());
    }
    let is_chosen = |id| doing == Doing::Audits || chosen.trials.iter().any(|trial| trial.cell == id);
    let mut left = Vec::new();
    for cell in chosen.cells.iter().filter(|cell| is_chosen(cell.id)) {
        let found = begun.map(|folder| folder.durability(cell.id)).transpose().context("reading what was audited")?;
        if found.flatten().is_none_or(|audit| options.retry_failed && audit.failed) {
            left.push(cell.id);
        }
    }
    Ok(left)
}

/// The trials that are left, and one of each cell of the plan that is audited.
pub fn beside(left: &TypedPlan, plan: &TypedPlan, audited: &[u32]) -> TypedPlan {
    let one_block = plan.grown(1);
    let audited = one_block.trials.iter().filter(|trial| audited.contains(&trial.cell));
    left.with_trials(left.trials.iter().chain(audited).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    fn options(more: &[&str]) -> RunOptions {
        let words = ["bakeoff", "run", "study.toml", "--resume"].into_iter().chain(more.iter().copied());
        match Arguments::parse_from(words).command {
            Some(Command::Run(options)) => options,
            _ => unreachable!("it is a run"),
        }
    }

    #[test]
    fn an_audit_that_failed_is_made_again_if_it_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let run = record::synthetic::run(2);
        record::synthetic::stored::write(&run, &path).unwrap();
        let begun = RunFolder::open(&path).unwrap();
        let plan = Plan { durability: Some(study::default_audit(1)), ..run.plan.clone() };
        let left_of = |more: &[&str]| left(&options(more), &plan, Doing::Audits, Some(&begun)).unwrap();
        let cells: Vec<u32> = plan.cells.iter().map(|cell| cell.id).collect();
        assert_eq!(left_of(&[]), cells);
        for cell in &cells {
            let failed = serde_json::json!({
                "format": record::FORMAT, "cell": cell, "contender": "native", "started": "2026-01-01T00:00:00Z",
                "not_audited": "the agent closed the connection", "failed": true,
                "declared": [], "acknowledged": 0, "holds": [], "cuts": [], "planted": []
            });
            begun.write_durability(&serde_json::from_value(failed).unwrap()).unwrap();
        }
        assert_eq!((left_of(&[]), left_of(&["--retry-failed"])), (vec![], cells));
    }
}

//! `bakeoff audit durability`: whether what each contender of a study acknowledges is there after a power cut. It is a run without
//! trials.

use crate::arguments::AuditCommand;
use crate::commands::run::{Doing, carry_out};
use crate::commands::study_file::{chosen, planned};
use crate::exit::Exit;
use anyhow::Result;
use record::plan::Plan;

pub fn audit(command: &AuditCommand) -> Result<Exit> {
    let AuditCommand::Durability(options) = command;
    let mut study = planned(&options.study, false, &options.set)?;
    let chosen = chosen(&study.plan, &options.only)?;
    study.plan = chosen.with(only_audits(chosen.plan().clone()));
    carry_out(&options.as_run(), &study, Doing::Audits)
}

/// The plan that audits the contenders of these trials, and runs none.
fn only_audits(chosen: Plan) -> Plan {
    let is_chosen = |id| chosen.trials.iter().any(|trial| trial.cell == id);
    Plan {
        cells: chosen.cells.iter().filter(|cell| is_chosen(cell.id)).cloned().collect(),
        durability: chosen.durability.clone().or_else(|| Some(study::default_audit(chosen.seed))),
        trials: Vec::new(),
        precision: None,
        ..chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_has_the_chosen_contenders_and_no_trials() {
        let plan = record::synthetic::run(3).plan;
        let first = plan.cells[1].id;
        let some = Plan { trials: plan.trials.iter().filter(|trial| trial.cell == first).cloned().collect(), ..plan };
        let audits = only_audits(some);
        assert_eq!(audits.cells.iter().map(|cell| cell.id).collect::<Vec<_>>(), [first]);
        assert_eq!((audits.trials.len(), audits.durability), (0, Some(study::default_audit(audits.seed))));
    }
}

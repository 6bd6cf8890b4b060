//! Checks the data of a database against what was done to them.

use crate::asking::BootedMachine;
use crate::conversation::mismatch;
use crate::database_history::DatabaseHistory;
use crate::error::StepResult;
use crate::log::TrialLog;
use crate::validity;
use agent::protocol::{Reply, Request};
use record::check::{CheckResult, Moment, Verdict};

/// A rehearsal executes nothing, so nothing is checked. A database that hung is not asked, since its check may take hours.
pub(crate) fn check(
    booted: &mut BootedMachine<'_>,
    log: &mut TrialLog<'_>,
    instance: u16,
    done: &DatabaseHistory,
) -> StepResult {
    let begun = log.database(instance).findings.len();
    let findings = if !booted.context.executes() {
        vec![not_checked("rehearsal", "nothing was executed".to_owned())]
    } else if let Some(why) = done.why_it_hung() {
        vec![not_checked("hung", why)]
    } else {
        checked(booted, instance, done)?
    };
    log.database(instance).findings.extend(findings);
    log.hear_checked(instance, begun);
    Ok(())
}

fn checked(booted: &mut BootedMachine<'_>, instance: u16, done: &DatabaseHistory) -> StepResult<Vec<CheckResult>> {
    let mut findings = Vec::new();
    let data = booted.context.data();
    if let Some(driven) = &done.driven {
        let after = booted.state(instance)?;
        let (dataset, before) = (data.workload.made.dataset(), done.state.as_ref().unwrap_or(&data.state));
        let audit = dataset.audit(&driven.facts.kinds, &driven.facts.tally, driven.facts.waiting_max());
        findings.extend(validity::as_far_as_done(audit, &driven.facts.kinds));
        let reconciled = dataset.reconcile(before, &after, &done.all.whole_run);
        findings.extend(validity::as_far_as_known(reconciled, done.all.unknown_ends));
    }
    let moment = if done.is_fresh { Moment::AfterLoad } else { Moment::AfterTrial };
    let request = Request::Check { workload: data.workload.chosen.clone(), moment };
    match booted.ask(instance, &request, booted.context.limits().check)? {
        Reply::Findings(of_data) => findings.extend(of_data),
        other => return Err(mismatch("check", &other).into()),
    }
    Ok(findings)
}

/// The result recorded in place of data checks.
fn not_checked(name: &str, why: String) -> CheckResult {
    CheckResult {
        name: name.to_owned(),
        rule: "the data are what the transactions made of them".to_owned(),
        moment: Moment::AfterTrial,
        verdict: Verdict::Undecided { why },
    }
}

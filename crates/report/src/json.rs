//! `report.json`: everything the report says, for programs.

use crate::answer;
use analysis::summary::Analysis;
use record::check::Finding;
use record::facts::Facts;
use record::plan::Plan;
use record::run::Run;
use record::trial::TrialRecord;
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    made_by: String,
    answers: Vec<String>,
    analysis: &'a Analysis,
    plan: &'a Plan,
    host: &'a Facts,
    trials: Vec<Trial<'a>>,
}

#[derive(Serialize)]
struct Trial<'a> {
    record: &'a TrialRecord,
    findings: &'a [Finding],
}

pub fn write(run: &Run, analysis: &Analysis) -> serde_json::Result<String> {
    let trials = run.trials.iter().map(|trial| Trial { record: &trial.record, findings: &trial.findings });
    let report = Report {
        format: record::FORMAT,
        made_by: format!("bakeoff {}", env!("CARGO_PKG_VERSION")),
        answers: answer::sentences(analysis),
        analysis,
        plan: &run.plan,
        host: &run.host,
        trials: trials.collect(),
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

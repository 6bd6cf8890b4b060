//! `report.json`: everything in the report, for programs.

use crate::document::Warning;
use crate::figures::Figure;
use crate::sentence::{Answer, Stamped};
use crate::table::Table;
use crate::{answer, findings, sections};
use analysis::answers::Question;
use analysis::summary::Analysis;
use record::check::CheckResult;
use record::facts::Facts;
use record::plan::Plan;
use record::run::{Run, StoredTrial};
use record::text::visible_json;
use record::trial::TrialRecord;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    made_by: String,
    answers: Vec<Said>,
    /// What was measured, in a few lines.
    measured: Vec<Value>,
    warnings: Vec<Warning>,
    /// What was checked and is fine.
    passed: Vec<String>,
    tables: Vec<&'a Table>,
    figures: Vec<&'a Figure>,
    analysis: &'a Analysis,
    plan: &'a Plan,
    host: &'a Facts,
    trials: Vec<Trial<'a>>,
}

/// An answer in words, and whether it may be used.
#[derive(Serialize)]
struct Said {
    #[serde(flatten)]
    question: Option<Question>,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    usable: Option<Stamped>,
}

#[derive(Serialize)]
struct Trial<'a> {
    record: &'a TrialRecord,
    findings: &'a [CheckResult],
    /// Where several machines ran side by side, each of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    machines: Vec<Self>,
    /// Where a machine had several databases, each of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instances: Vec<Self>,
}

impl<'a> Trial<'a> {
    fn of(stored: &'a StoredTrial) -> Self {
        let all = |parts: &'a [StoredTrial]| parts.iter().map(Self::of).collect();
        let (machines, instances) = (all(&stored.machines), all(&stored.instances));
        Self { record: &stored.record, findings: &stored.findings, machines, instances }
    }
}

pub fn write(run: &Run, analysis: &Analysis) -> serde_json::Result<String> {
    let document = sections::all(run, analysis);
    let said = |one: Answer| Said { question: one.question, says: one.sentence(), usable: one.stamped };
    let measured = sections::measured::facts(run, analysis).into_iter();
    let report = Report {
        format: record::FORMAT,
        made_by: format!("bakeoff {}", env!("CARGO_PKG_VERSION")),
        answers: answer::all(analysis).into_iter().map(said).collect(),
        measured: measured.map(|(name, value)| json!({ "name": name, "value": value })).collect(),
        warnings: analysis.findings.iter().map(findings::warning).collect(),
        passed: sections::trust::passed(analysis),
        tables: document.tables(),
        figures: document.figures(),
        analysis,
        plan: &run.plan,
        host: &run.host,
        trials: run.trials.iter().map(Trial::of).collect(),
    };
    Ok(visible_json(&serde_json::to_string_pretty(&report)?).into_owned() + "\n")
}

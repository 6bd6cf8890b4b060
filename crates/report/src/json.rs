//! `report.json`: everything in the report, for programs.

use crate::sentence::{AnswerParts, Stamped};
use crate::{answer, findings, sections};
use analysis::answers::Question;
use analysis::summary::Analysis;
use record::run::{Run, StoredTrial};
use record::text::visible_json;
use serde::Serialize;
use serde_json::{Value, json};

/// An answer in words, and whether it may be used.
#[derive(Serialize)]
struct AnswerWords {
    #[serde(flatten)]
    question: Option<Question>,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    usable: Option<Stamped>,
}

/// Where several machines ran side by side, or a machine had several databases, each of them is in it.
fn of_trial(stored: &StoredTrial) -> Value {
    let mut trial = json!({ "record": stored.record, "findings": stored.findings });
    for (name, parts) in [("machines", &stored.machines), ("instances", &stored.instances)] {
        if !parts.is_empty() {
            trial[name] = parts.iter().map(of_trial).collect();
        }
    }
    trial
}

pub fn write(run: &Run, analysis: &Analysis) -> serde_json::Result<String> {
    let document = sections::all(run, analysis);
    let said = |one: AnswerParts| AnswerWords { question: one.question, says: one.sentence(), usable: one.stamped };
    let measured = sections::measured::facts(run, analysis).into_iter();
    let report = json!({
        "format": record::FORMAT,
        "made_by": format!("bakeoff {}", env!("CARGO_PKG_VERSION")),
        "answers": answer::all(analysis).into_iter().map(said).collect::<Vec<_>>(),
        "measured": measured.map(|(name, value)| json!({ "name": name, "value": value })).collect::<Vec<_>>(),
        "warnings": analysis.findings.iter().map(findings::warning).collect::<Vec<_>>(),
        "passed": sections::trust::passed(analysis),
        "tables": document.tables(),
        "figures": document.figures(),
        "analysis": analysis,
        "plan": run.plan,
        "host": run.host,
        "trials": run.trials.iter().map(of_trial).collect::<Vec<_>>(),
    });
    Ok(visible_json(&serde_json::to_string_pretty(&report)?).into_owned() + "\n")
}

//! `bakeoff report`: from a record to its analysis, then html, markdown and json, or one table or figure. It can be repeated.

use crate::arguments::{ReportOptions, SummaryForm};
use crate::commands::{explain, picture};
use crate::display::{print, result, say};
use crate::exit::{EndedWith, Exit};
use crate::run_name;
use analysis::answers;
use analysis::beside::PublishedFigures;
use analysis::findings::Stamp;
use analysis::summary::Analysis;
use anyhow::{Context, Result};
use record::check::CheckResult;
use record::folder::RunFolder;
use record::run::Run;
use record::text::{visible, visible_json};
use record::trial::Outcome;
use report::figures::Figure;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const STANDARD_OUTPUT: &str = "-";
const ANALYSIS: &str = "analysis.json";

pub fn report(options: &ReportOptions) -> Result<Exit> {
    let named = run_name::resolve(&options.run)?;
    let asked_for = ReportParts { published: options.beside.as_deref(), accepted: accepted(&options.accept)? };
    if options.table.is_some() || options.figure.is_some() {
        let (_, run, analysis) = read(&named, &asked_for)?;
        let document = report::sections::all(&run, &analysis);
        if let Some(id) = &options.table {
            let table = asked("table", id, &document.tables(), |table| &table.id)?;
            print(&String::from_utf8_lossy(&report::csv::of_table(table)?));
        }
        if let Some(id) = &options.figure {
            draw(asked("figure", id, &document.figures(), |figure| &figure.id)?, options.svg.as_deref())?;
        }
        return Ok(verdict(&run, &analysis));
    }
    if let Some(form) = options.summary {
        let (folder, run, analysis) = read(&named, &asked_for)?;
        match form {
            SummaryForm::Md => print(&report::markdown_summary(&run, &analysis)),
            SummaryForm::Html => print(&report::html_summary(&run, &analysis)),
            SummaryForm::Png => {
                let file = picture::draw(&report::html_summary(&run, &analysis), &folder)?;
                print(&format!("{}\n", file.display()));
            }
        }
        return Ok(verdict(&run, &analysis));
    }
    let written = publish_as_asked(&named, &asked_for)?;
    written.tell(options.json)?;
    written.print_place();
    Ok(verdict(&written.run, &written.analysis))
}

/// The table or figure with this id.
fn asked<'a, T>(what: &str, id: &str, found: &[&'a T], id_of: fn(&T) -> &String) -> Result<&'a T> {
    if let Some(one) = found.iter().find(|one| id_of(one) == id) {
        return Ok(one);
    }
    let known: Vec<&str> = found.iter().map(|one| id_of(one).as_str()).collect();
    Err(EndedWith::bad_input(format!("the report has no {what} {id:?}; it has: {}", known.join(", "))).into())
}

fn draw(figure: &Figure, svg: Option<&Path>) -> Result<()> {
    let Some(file) = svg else {
        print(&String::from_utf8_lossy(&report::csv::of_figure(figure)?));
        return Ok(());
    };
    let drawn = report::figures::alone::svg(figure);
    if file == Path::new(STANDARD_OUTPUT) {
        print(&drawn);
        return Ok(());
    }
    let name = || EndedWith::bad_input(format!("--svg: {} cannot be written; name another file", file.display()));
    fs::write(file, drawn).with_context(name)
}

/// The result of analysing and reporting a record.
pub struct WrittenReport {
    pub run: Run,
    pub analysis: Analysis,
    /// The short table for the terminal.
    pub table: String,
    /// `None` if the reports that are there were kept.
    pub html: Option<PathBuf>,
}

impl WrittenReport {
    /// Prints where the page is.
    pub fn print_place(&self) {
        if let Some(html) = &self.html {
            say(&format!("report: {}", html.display()));
        }
    }

    /// Prints the result of the run.
    pub fn tell(&self, as_json: bool) -> Result<()> {
        if as_json {
            print(&format!("{}\n", visible_json(&serde_json::to_string_pretty(&self.analysis)?)));
        } else {
            result(&format!("{}\n", self.table));
        }
        Ok(())
    }
}

/// Analyses a run folder and writes every form of its report into it.
pub fn publish(path: &Path) -> Result<WrittenReport> {
    publish_as_asked(path, &ReportParts::default())
}

/// Parts of a report that are not in its record.
#[derive(Default)]
struct ReportParts<'a> {
    /// Figures from this file.
    published: Option<&'a Path>,
    /// Codes of findings, each with the reason.
    accepted: BTreeMap<String, String>,
}

/// `CODE=REASON`, each.
fn accepted(written: &[String]) -> Result<BTreeMap<String, String>> {
    let accepted = written.iter().map(|one| {
        let (name, why) = one.split_once('=').unwrap_or((one, ""));
        let name = name.trim().trim_matches(['[', ']']);
        let code = explain::known(name)?;
        let why = why.trim().trim_matches('"');
        if !code.acceptable {
            return Err(
                EndedWith::bad_input(format!("--accept {name}: it makes figures wrong whatever the reason")).into()
            );
        }
        if why.is_empty() {
            return Err(EndedWith::bad_input(format!("--accept {name}: write the reason, as in {name}=\"why\"")).into());
        }
        Ok((name.to_owned(), why.to_owned()))
    });
    accepted.collect()
}

fn publish_as_asked(path: &Path, asked_for: &ReportParts<'_>) -> Result<WrittenReport> {
    let (folder, run, analysis) = read(path, asked_for)?;
    let table = report::terminal(&run, &analysis);
    if let Some(why) = why_kept(&folder, &run, &analysis) {
        say(&format!("! the reports in {} were kept: {why}", path.display()));
        return Ok(WrittenReport { table, run, analysis, html: None });
    }
    folder.write_json(ANALYSIS, &analysis).context("writing the analysis")?;
    folder.write("report.md", report::markdown(&run, &analysis).as_bytes()).context("writing the report")?;
    folder.write("report.json", report::json(&run, &analysis)?.as_bytes()).context("writing the report")?;
    folder.write("observations.csv", &report::observations(&run, &analysis)?).context("writing the observations")?;
    let html = folder.write("report.html", report::html(&run, &analysis).as_bytes()).context("writing the report")?;
    Ok(WrittenReport { table, run, analysis, html: Some(html) })
}

/// The reason if the stored analysis counts all trials that count now, and more, which nobody can count any more.
fn why_kept(folder: &RunFolder, run: &Run, analysis: &Analysis) -> Option<String> {
    let stored = stored_trials(&folder.path().join(ANALYSIS));
    let now = analysis.cells.iter().flat_map(|cell| &cell.trials).filter(|trial| trial.valid);
    if !now.into_iter().all(|trial| stored.contains(&trial.trial)) {
        return None;
    }
    let lost = |id: &u32| match run.trials.iter().find(|trial| trial.record.id == *id) {
        None => Some(format!("trial {id} (its folder is gone)")),
        Some(trial) => Some(format!("trial {id} ({})", trial.disagreements.first()?)),
    };
    let lost: Vec<String> = stored.iter().filter_map(lost).collect();
    let more = if lost.len() > 1 { format!(", and {} more", lost.len() - 1) } else { String::new() };
    Some(format!("they count {}{more}. Restore the folder from a copy", lost.first()?))
}

/// The trials that a stored analysis counts; none if there is none that can be read.
fn stored_trials(analysis: &Path) -> BTreeSet<u32> {
    let text = record::read_at_most(analysis, record::MOST_BYTES).unwrap_or_default();
    let stored: Value = serde_json::from_slice(&text).unwrap_or_default();
    let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let trials = list(&stored, "cells").into_iter().flat_map(|cell| list(&cell, "trials"));
    let valid = trials.filter(|trial| trial["valid"] == true);
    valid.filter_map(|trial| u32::try_from(trial["trial"].as_u64()?).ok()).collect()
}

fn read(path: &Path, asked_for: &ReportParts<'_>) -> Result<(RunFolder, Run, Analysis)> {
    let folder = RunFolder::open(path).map_err(|error| EndedWith::bad_input(format!("{error}; name a run folder")))?;
    let mut run = Run::open(path).context("reading the run")?;
    run.plan.accept.extend(asked_for.accepted.clone());
    let mut analysis = analysis::summary::analyse(&run);
    if let Some(file) = asked_for.published {
        analysis.beside = Some(beside(&run, &analysis, file)?);
    }
    Ok((folder, run, analysis))
}

/// Published figures from this file, beside those of the run.
fn beside(run: &Run, analysis: &Analysis, file: &Path) -> Result<PublishedFigures> {
    let wrong = |why: String| EndedWith::bad_input(format!("{}: {}", file.display(), visible(why.trim_end())));
    let length = fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
    if length > LONGEST_FILE {
        return Err(wrong(format!("it has {length} bytes; expected at most {LONGEST_FILE}")).into());
    }
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let published: PublishedFigures = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(analysis::beside::compare(run, &analysis.observations, &published).map_err(wrong)?)
}

/// A file of published figures is written by hand.
const LONGEST_FILE: u64 = 1 << 20;

/// The exit code for a record. A rehearsal measures nothing, so its answers are not usable by intent.
pub fn verdict(run: &Run, analysis: &Analysis) -> Exit {
    let outcome = |wanted: fn(&Outcome) -> bool| run.trials.iter().any(|trial| wanted(&trial.record.outcome));
    if run.trials.iter().any(|trial| trial.findings.iter().any(CheckResult::is_violated)) {
        Exit::DataWrong
    } else if analysis::durability::all(run).iter().any(|audited| audited.verdict.is_a_lie()) {
        Exit::Lies
    } else if outcome(|outcome| matches!(outcome, Outcome::Failed { .. } | Outcome::Invalid { .. }))
        || run.trials.iter().any(|trial| !trial.disagreements.is_empty())
        || run.durability.iter().any(|audited| audited.failed)
    {
        Exit::TrialsFailed
    } else if outcome(|outcome| matches!(outcome, Outcome::Skipped { .. }))
        || run.durability.iter().any(|audited| audited.not_audited.is_some())
    {
        Exit::Skipped
    } else if !run.plan.rehearsed && answers::worst(&answers::all(analysis)) == Stamp::NotUsable {
        Exit::NotUsable
    } else {
        Exit::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As a record in which somebody published only what is small.
    #[test]
    fn reports_that_cannot_be_made_again_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        record::synthetic::stored::write(&record::synthetic::run(2), &path).unwrap();
        let stored = || ["analysis.json", "report.html"].map(|name| fs::read(path.join(name)).unwrap());
        publish(&path).unwrap();
        let whole = stored();
        fs::remove_file(path.join("trials/0001/intervals.hlog")).unwrap();
        let published = publish(&path).unwrap();
        assert!(stored() == whole && published.table.contains("intervals.hlog"), "{}", published.table);
        fs::remove_file(path.join("analysis.json")).unwrap();
        publish(&path).unwrap();
        assert_ne!(stored(), whole, "nothing is there to be kept");
    }

    #[test]
    fn a_finding_can_be_accepted_after_the_run() {
        let of = |written: &str| accepted(&[written.to_owned()]);
        for (wrong, expected) in [
            ("not-honord=x", "did you mean not-honoured?"),
            ("check-violated=x", "it makes figures wrong"),
            ("not-honoured", "write the reason"),
        ] {
            let told = of(wrong).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        record::synthetic::stored::write(&record::synthetic::run(3), &path).unwrap();
        let asked_for = ReportParts { published: None, accepted: of("not-honoured=\"no limit is needed\"").unwrap() };
        let published = publish_as_asked(&path, &asked_for).unwrap();
        assert!(published.table.contains("Accepted: no limit is needed"), "{}", published.table);
        assert!(!publish(&path).unwrap().table.contains("Accepted"), "the record does not change");
    }

    #[test]
    fn an_answer_that_is_not_usable_is_not_done() {
        let ended = |run: &Run| verdict(run, &analysis::summary::analyse(run));
        let mut few = record::synthetic::run(2);
        assert_eq!([ended(&record::synthetic::run(3)), ended(&few)], [Exit::Done, Exit::NotUsable]);
        few.plan.rehearsed = true;
        assert_eq!(ended(&few), Exit::Done);
    }

    #[test]
    fn an_audit_that_found_out_nothing_is_not_done() {
        let ended = |more: serde_json::Value| {
            let mut audit = json!({
                "format": record::FORMAT, "cell": 1, "contender": "native", "started": "2026-01-01T00:00:00Z",
                "declared": [], "acknowledged": 0, "holds": [], "cuts": [], "planted": []
            });
            audit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let durability = vec![serde_json::from_value(audit).unwrap()];
            let run = Run { durability, ..record::synthetic::run(3) };
            verdict(&run, &analysis::summary::analyse(&run))
        };
        assert_eq!(ended(json!({})), Exit::NotUsable, "it acknowledged too little for a verdict");
        assert_eq!(ended(json!({ "not_audited": "its data are on a device" })), Exit::Skipped);
        assert_eq!(ended(json!({ "not_audited": "the audit failed: killed", "failed": true })), Exit::TrialsFailed);
    }
}

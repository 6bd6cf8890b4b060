//! `bakeoff report`: record → analysis → html, markdown, json; again at any time.

use crate::arguments::ReportOptions;
use crate::display::{print, say};
use crate::exit::{Ended, Exit};
use analysis::summary::Analysis;
use anyhow::{Context, Result};
use record::check::CheckResult;
use record::folder::RunFolder;
use record::run::Run;
use record::text::visible_json;
use record::trial::Outcome;
use std::path::{Path, PathBuf};

pub fn report(options: &ReportOptions) -> Result<Exit> {
    let published = publish(&options.run)?;
    if options.json {
        print(&format!("{}\n", visible_json(&serde_json::to_string_pretty(&published.analysis)?)));
    } else {
        say(&published.table);
    }
    say(&format!("report: {}", published.html.display()));
    Ok(verdict(&published.run))
}

/// What was made of a record.
pub struct Published {
    pub run: Run,
    pub analysis: Analysis,
    /// The short table for the terminal.
    pub table: String,
    pub html: PathBuf,
}

/// Analyses a run folder and writes every form of its report into it.
pub fn publish(path: &Path) -> Result<Published> {
    let folder = RunFolder::open(path).map_err(|error| Ended::bad_input(format!("{error}; name a run folder")))?;
    let run = Run::open(path).context("reading the run")?;
    let analysis = analysis::summary::analyse(&run);
    folder.write_json("analysis.json", &analysis).context("writing the analysis")?;
    folder.write("report.md", report::markdown(&run, &analysis).as_bytes()).context("writing the report")?;
    folder.write("report.json", report::json(&run, &analysis)?.as_bytes()).context("writing the report")?;
    folder.write("observations.csv", &report::observations(&run, &analysis)?).context("writing the observations")?;
    let html = folder.write("report.html", report::html(&run, &analysis).as_bytes()).context("writing the report")?;
    Ok(Published { table: report::terminal(&run, &analysis), run, analysis, html })
}

/// The exit code that a record deserves.
pub fn verdict(run: &Run) -> Exit {
    let outcome = |wanted: fn(&Outcome) -> bool| run.trials.iter().any(|trial| wanted(&trial.record.outcome));
    if run.trials.iter().any(|trial| trial.findings.iter().any(CheckResult::is_violated)) {
        Exit::DataWrong
    } else if outcome(|outcome| matches!(outcome, Outcome::Failed { .. } | Outcome::Invalid { .. }))
        || run.trials.iter().any(|trial| !trial.disagreements.is_empty())
    {
        Exit::TrialsFailed
    } else if outcome(|outcome| matches!(outcome, Outcome::Skipped { .. })) {
        Exit::Skipped
    } else {
        Exit::Done
    }
}

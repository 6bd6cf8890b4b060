//! `bakeoff compare`: two runs of the same study, cell by cell, with an exit code for regressions.

use crate::arguments::CompareOptions;
use crate::display::{print, say};
use crate::exit::{EndedWith, Exit};
use crate::run_name;
use analysis::two_runs::{self, Gate, RunComparison, TwoRuns};
use anyhow::{Context, Result};
use record::folder::RunFolder;
use record::run::Run;
use record::text::visible_json;
use report::findings::of_runs::difference;
use std::fs;
use std::path::Path;

pub fn compare(options: &CompareOptions) -> Result<Exit> {
    let paths = [run_name::resolve(&options.old)?, run_name::resolve(&options.new)?];
    let [old, new] = [open(&paths[0])?, open(&paths[1])?];
    if paths[0].canonicalize().ok() == paths[1].canonicalize().ok() {
        say(&format!("! both are the same run, {}", paths[0].display()));
    }
    let question = RunComparison { threshold: options.threshold, absolute: options.absolute };
    let two = two_runs::compare(&old, &new, question).map_err(|refusals| {
        let reasons: Vec<String> = refusals.iter().map(|one| format!("\n  {}", difference(one))).collect();
        let (old, new) = (options.old.display(), options.new.display());
        EndedWith::bad_input(format!(
            "{old} and {new} ask for different things and are not compared:{}",
            reasons.concat()
        ))
    })?;
    let document = report::two_runs::document(&two);
    for (file, text) in
        [(&options.html, report::html::write(&document)), (&options.md, report::markdown::write(&document))]
    {
        if let Some(file) = file {
            fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
        }
    }
    if options.json {
        print(&format!("{}\n", visible_json(&serde_json::to_string_pretty(&two)?)));
    } else {
        print(&report::two_runs::text(&two));
    }
    Ok(exit(&two, options.allow_undecided))
}

/// Why a rehearsed run's figures cannot be used.
pub const MADE_UP: &str = "the run was rehearsed, so its figures are made up; name a run that was measured";

fn open(path: &Path) -> Result<Run> {
    RunFolder::open(path).map_err(|error| EndedWith::bad_input(format!("{error}; name a run folder")))?;
    let run = Run::open(path).with_context(|| format!("reading {}", path.display()))?;
    if run.plan.rehearsed {
        return Err(EndedWith::bad_input(format!("{}: {MADE_UP}", path.display())).into());
    }
    Ok(run)
}

fn exit(two: &TwoRuns, allow_undecided: bool) -> Exit {
    match two.gate() {
        Gate::Open => Exit::Done,
        Gate::NotRuledOut if allow_undecided => Exit::Done,
        Gate::NotRuledOut => Exit::NotRuledOut,
        Gate::Regressed => Exit::Regressed,
        Gate::Untold => Exit::Untold,
        Gate::WrongData => Exit::DataWrong,
    }
}

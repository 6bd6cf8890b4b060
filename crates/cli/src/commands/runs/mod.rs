//! `bakeoff runs`: the runs in a folder, the brief of one, and how a measure went over them.
//!
//! A run's brief is made from its folder alone. The index beside the runs saves making it again ([`index`]); the answer
//! is the same without it.

mod fingerprint;
mod index;

use crate::arguments::{RunsCommand, RunsFolder, RunsListOptions, RunsOptions, RunsShowOptions, RunsTrendOptions};
use crate::display::{print, say};
use crate::exit::{EndedWith, Exit};
use crate::run_name;
use analysis::many_runs::trend::{self, TrendQuery, UnknownError};
use analysis::many_runs::{Brief, brief};
use anyhow::{Context, Result};
use index::{Index, KeptBriefs};
use record::folder::RunFolder;
use record::run::Run;
use record::text::visible_json;
use report::many_runs::{FolderRead, listed};
use serde::Serialize;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// At most this many names that may have been meant are shown.
const MOST_NAMED: usize = 12;

pub fn runs(options: &RunsOptions) -> Result<Exit> {
    match &options.command {
        None => list(&options.list),
        Some(RunsCommand::List(options)) => list(options),
        Some(RunsCommand::Show(options)) => show(options),
        Some(RunsCommand::Trend(options)) => trend(options),
    }
}

fn list(options: &RunsListOptions) -> Result<Exit> {
    let entries = entries(&options.folder)?;
    if options.json {
        print_json(&entries.iter().map(listed).collect::<Vec<_>>())?;
    } else if entries.is_empty() {
        say(&format!("there is no run in {}", options.folder.dir.display()));
    } else {
        print(&report::many_runs::list(&entries));
    }
    Ok(Exit::Done)
}

fn show(options: &RunsShowOptions) -> Result<Exit> {
    let named = options.run.display();
    let path = run_name::resolve(&options.run)?;
    let path = path.canonicalize().with_context(|| format!("finding {named}"))?;
    let above = path.parent().unwrap_or(Path::new("/"));
    let brief = match read(above, vec![path.clone()], false).remove(0) {
        FolderRead::Read(brief) => brief,
        FolderRead::Damaged { why, .. } => {
            return Err(EndedWith::bad_input(format!("{named} is damaged: {why}")).into());
        }
    };
    let known = || brief.cells.iter().flat_map(|cell| &cell.levels).map(|level| level.measure.id.as_str());
    if let Some(measure) = &options.measure
        && !known().any(|id| id == measure)
    {
        return Err(
            EndedWith::bad_input(format!("{named} has no measure {measure:?}{}", meant(measure, known()))).into()
        );
    }
    let wanted = |id: &str| options.measure.as_ref().is_none_or(|measure| id == measure);
    if options.json {
        let mut brief = brief;
        for cell in &mut brief.cells {
            cell.levels.retain(|level| wanted(&level.measure.id));
            cell.contrasts.retain(|contrast| wanted(&contrast.measure));
        }
        print_json(&brief)?;
    } else {
        print(&report::many_runs::show(&brief, wanted));
    }
    Ok(Exit::Done)
}

fn trend(options: &RunsTrendOptions) -> Result<Exit> {
    let mut briefs: Vec<Brief> = Vec::new();
    for entry in entries(&options.folder)? {
        match entry {
            FolderRead::Read(brief) => briefs.push(brief),
            FolderRead::Damaged { run, why } => say(&format!("left out: {run}, because it is damaged: {why}")),
        }
    }
    let wanted = TrendQuery {
        measure: &options.measure,
        study: options.study.as_deref(),
        contender: options.contender.as_deref(),
        cell: options.cell,
    };
    let trend = trend::trend(&briefs, wanted).map_err(|error| {
        let hint = match &error {
            UnknownError::Runs => String::new(),
            UnknownError::Cell { known } => format!("; there are: {}", known.join(", ")),
            UnknownError::Study { name, known } | UnknownError::Measure { name, known } => {
                meant(name, known.iter().map(String::as_str))
            }
        };
        EndedWith::bad_input(format!("{}: {error}{hint}", options.folder.dir.display()))
    })?;
    let document = report::trend::document(&trend);
    let html = report::html::write(&document);
    // There may be no page with the figures.
    let markdown = report::markdown::write(&document.without_figures());
    for (file, text) in [(&options.html, html), (&options.md, markdown)] {
        if let Some(file) = file {
            fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
        }
    }
    if let Some(file) = &options.csv {
        fs::write(file, report::trend::csv(&trend)?).with_context(|| format!("writing {}", file.display()))?;
    }
    if options.json {
        print_json(&trend)?;
    } else {
        print(&report::trend::text(&trend));
    }
    Ok(Exit::Done)
}

fn print_json(value: &impl Serialize) -> Result<()> {
    print(&format!("{}\n", visible_json(&serde_json::to_string_pretty(value)?)));
    Ok(())
}

/// The nearest known word, and those that contain the same first part.
fn meant<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let family = word.split(['/', '.']).next().unwrap_or_default();
    let nearest = settings::nearest(word, known.iter().copied());
    let alike = known.iter().copied().filter(|id| Some(*id) != nearest && !family.is_empty() && id.contains(family));
    let named: Vec<&str> = nearest.into_iter().chain(alike).take(MOST_NAMED).collect();
    if named.is_empty() {
        known.dedup_by_key(|id| id.split('/').next().unwrap_or_default().to_owned());
        return format!("; there are: {}", known.join(", "));
    }
    format!("; did you mean {}?", named.join(", "))
}

/// Every run in a folder, sorted by name.
fn entries(folder: &RunsFolder) -> Result<Vec<FolderRead>> {
    let dir = &folder.dir;
    let unreadable = |error: std::io::Error| {
        let dir = dir.display();
        EndedWith::bad_input(if error.kind() == ErrorKind::NotFound {
            format!(
                "there is no folder {dir}; name a folder that holds runs (`bakeoff run STUDY` makes the folder runs)"
            )
        } else {
            format!("reading {dir}: {error}; name a folder that holds runs")
        })
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        // A run that is just being begun still has a name with a dot.
        let is_begun = path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'));
        if is_begun && RunFolder::is_at(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(read(dir, paths, true))
}

/// The briefs of these runs: from the index if the folder has not changed, otherwise made now and added to it. If these
/// are all runs of the folder, other runs are removed from the index.
fn read(dir: &Path, paths: Vec<PathBuf>, are_all: bool) -> Vec<FolderRead> {
    if paths.is_empty() {
        // Never creates an index in a folder without runs.
        return Vec::new();
    }
    let tell = |error: index::IndexError| say(&format!("{error}"));
    let opened = Index::open(dir).and_then(|mut index| Ok((index.load()?, index)));
    let (kept, mut index) =
        opened.map_err(tell).map_or_else(|()| Default::default(), |(kept, index)| (kept, Some(index)));
    let found: Vec<FoundRun> = paths.into_iter().map(|path| find(&path, &kept)).collect();
    let read = || found.iter().filter_map(|one| Some((one, one.entry.brief()?)));
    let made: Vec<(&FoundRun, &Brief)> = read().filter(|(one, _)| !one.is_kept).collect();
    if !made.is_empty() {
        say(&format!("runs that are new or have changed, and were analysed: {}", made.len()));
    }
    let made: Vec<(&str, &Brief)> =
        made.into_iter().filter_map(|(one, brief)| Some((one.fingerprint.as_deref()?, brief))).collect();
    let staying: Option<Vec<&str>> = are_all.then(|| read().map(|(_, brief)| brief.run.as_str()).collect());
    if let Some(index) = &mut index {
        // The answer is complete without the index.
        let _ = index.store(&made, staying.as_deref()).map_err(tell);
    }
    found.into_iter().map(|one| one.entry).collect()
}

struct FoundRun {
    entry: FolderRead,
    fingerprint: Option<String>,
    /// True if the index had it.
    is_kept: bool,
}

fn find(path: &Path, kept: &KeptBriefs) -> FoundRun {
    // Taken before the folder is read, so that a change meanwhile is seen the next time.
    let fingerprint = fingerprint::of_run(path);
    let brief = fingerprint.as_ref().and_then(|fingerprint| kept.get(fingerprint));
    FoundRun {
        is_kept: brief.is_some(),
        entry: brief.cloned().map_or_else(|| analysed(path), FolderRead::Read),
        fingerprint,
    }
}

fn analysed(path: &Path) -> FolderRead {
    match Run::open(path) {
        Ok(run) => FolderRead::Read(brief(&run, &analysis::summary::analyse(&run))),
        Err(error) => {
            let run = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            FolderRead::Damaged { run, why: error.to_string() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn the_nearest_names_come_first() {
        let known =
            || ["response.p50/new-order", "response.p99/new-order", "throughput", "work.rows_changed"].into_iter();
        assert_eq!(
            meant("thruput", known()),
            "; there are: response.p50/new-order, response.p99/new-order, throughput, work.rows_changed"
        );
        assert_eq!(meant("troughput", known()), "; did you mean throughput?");
        let both = "; did you mean response.p99/new-order, response.p50/new-order?";
        assert_eq!(meant("response.p99/new_order", known()), both);
    }
}

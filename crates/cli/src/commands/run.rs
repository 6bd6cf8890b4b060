//! `bakeoff run`: measure, then analyse and report.

use crate::arguments::RunOptions;
use crate::commands::report::{publish, verdict};
use crate::commands::study_file::{Planned, planned};
use crate::display::{Live, say};
use crate::exit::{Ended, Exit};
use crate::host;
use anyhow::{Context, Result};
use record::folder::RunFolder;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use trial::conductor::{ConductorError, RunOrder};
use trial::interrupts::Interrupts;

pub fn run(options: &RunOptions) -> Result<Exit> {
    let study = planned(&options.study, &options.only)?;
    let site = host::site()?;
    let folder = match &options.resume {
        Some(run) => reopen(options, &study, run)?,
        None => begin(options, &study)?,
    };
    if options.resume.is_none() {
        folder.write_host(&telemetry::describe(&site.cache)).context("recording the host")?;
    }
    let interrupts = Arc::new(Interrupts::default());
    listen_for_signals(Arc::clone(&interrupts))?;
    let estimate = study::estimate(&study.chosen);
    let mut live =
        Live::new(study.chosen.trials.len(), Duration::from_millis(estimate.total_ms), &counted_unit(&study));
    let order = RunOrder {
        folder: &folder,
        plan: &study.plan,
        trials: &study.chosen.trials,
        site: &site,
        interrupts: &interrupts,
        resumed: options.resume.is_some(),
    };
    let tallied = trial::conductor::run(&order, &mut |event| live.show(event));
    live.finish();
    let tallied = tallied.map_err(host_lacks)?;
    let published = publish(folder.path())?;
    say(&published.table);
    say(&format!("report: {}", published.html.display()));
    if tallied.interrupted {
        say(&format!("stopped; `bakeoff run {} --resume` goes on", options.study.display()));
        return Ok(Exit::Interrupted);
    }
    Ok(verdict(&published.run))
}

/// What the study counts, per minute ("NOPM"); the workload's own words.
fn counted_unit(study: &Planned) -> String {
    let kinds = study.plan.cells.iter().filter_map(|cell| cell.settings.get("workload")?.get("kind")?.as_str());
    let mut units = kinds.filter_map(workloads::catalog::entry).map(|entry| entry.metric.name.to_owned());
    units.next().unwrap_or_default()
}

/// A new run folder, named by the time and the study.
fn begin(options: &RunOptions, study: &Planned) -> Result<RunFolder> {
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let time: String = time.chars().filter(char::is_ascii_alphanumeric).collect();
    let base = options.runs.join(format!("{time}-{}", study.plan.study));
    // Two runs begun in the same second differ by a number.
    let mut path = base.clone();
    for number in 2..100 {
        if !path.exists() {
            break;
        }
        path = base.with_file_name(format!("{}-{number}", base.file_name().unwrap_or_default().to_string_lossy()));
    }
    RunFolder::create(&path, &study.text, &study.plan).with_context(|| format!("beginning a run in {}", path.display()))
}

/// The folder of a run to go on with; the study must still be the one it was begun with.
fn reopen(options: &RunOptions, study: &Planned, run: &str) -> Result<RunFolder> {
    let path = if run == "newest" { newest(&options.runs, &study.plan.study)? } else { PathBuf::from(run) };
    let folder = RunFolder::open(&path)
        .map_err(|error| Ended::bad_input(format!("--resume: {error}; name a run folder, as in --resume=runs/…")))?;
    let plan = folder.plan().context("reading the plan of the run")?;
    if plan != study.plan {
        let (study, run) = (options.study.display(), path.display());
        return Err(Ended::bad_input(format!(
            "--resume: {study} now gives another plan than the one in {run}/plan.json; a run goes on only with the plan \
             it was begun with. Resume with {run}/study.toml, or begin a new run"
        ))
        .into());
    }
    Ok(folder)
}

fn newest(runs: &Path, study: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(runs)
        .map_err(|error| Ended::bad_input(format!("--resume: reading {}: {error}", runs.display())))?;
    let of_study = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.split_once('-').is_some_and(|(_, rest)| rest == study || rest.strip_prefix(study).is_some_and(numbered))
    };
    let found = entries.flatten().map(|entry| entry.path()).filter(of_study).max();
    found.ok_or_else(|| {
        Ended::bad_input(format!("--resume: {} holds no run of the study {study}", runs.display())).into()
    })
}

/// Whether a folder's name ends in the number of a run begun in the same second.
fn numbered(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|number| number.chars().all(|digit| digit.is_ascii_digit()))
}

fn listen_for_signals(interrupts: Arc<Interrupts>) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("listening for signals")?;
    std::thread::spawn(move || {
        for signal in &mut signals {
            // A polite request to end leaves no time for a whole trial.
            if signal == SIGTERM {
                interrupts.raise();
            }
            interrupts.raise();
            let text = if interrupts.now() {
                "stopping now; what was measured of this trial is kept, but not used"
            } else {
                "finishing this trial, then reporting; once more to stop now"
            };
            say(text);
        }
    });
    Ok(())
}

/// Errors that end a run are the host's: a tool, an image or the disk. They keep their causes.
fn host_lacks(error: ConductorError) -> anyhow::Error {
    let message = format!("{:#}", anyhow::Error::from(error));
    Ended::host(message).into()
}

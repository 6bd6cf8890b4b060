//! `bakeoff run`: measures, then analyses and reports.

mod audits;

use crate::arguments::RunOptions;
use crate::audience::Audience;
use crate::commands::report::{publish, verdict};
use crate::commands::study_file::{CheckedStudy, chosen, planned};
use crate::display::{say, shell_word, span};
use crate::exit::{EndedWith, Exit};
use crate::live::{Amount, Expected, Live};
use crate::metrics::Intent;
use crate::{ahead, fleet, growth, host, preview, readiness, run_name, site};
use anyhow::{Context, Result};
use machines::interrupts::Interrupts;
use machines::scratch::Scratch;
use record::error::RecordError;
use record::facts::{Fact, Facts};
use record::folder::RunFolder;
use record::plan::Plan;
use record::precision::Precision;
use signal_hook::consts::SIGINT;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use study::TypedPlan;
use telemetry::Latest;
use trial::again;
use trial::order::{ConductorError, Images, RunOrder, Tallied};
use trial::queue::Turn;
use trial::rehearsal::RehearsedPlatform;
use trial::site::Site;
use workloads::entry::ThroughputMetric;

/// What a run is for, which decides how it is begun, and gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    Trials,
    Audits,
}

pub fn run(options: &RunOptions) -> Result<Exit> {
    let mut study = planned(&options.study, options.aa, &options.set)?;
    if options.rehearse {
        let rehearsed = study.plan.with(Plan { rehearsed: true, ..study.plan.plan().clone() });
        study.plan = rehearsed.played_by(|settings| Arc::new(RehearsedPlatform(Arc::clone(settings))));
    }
    carry_out(options, &study, Doing::Trials)
}

/// Carries out the study's trials, and its audits.
pub fn carry_out(options: &RunOptions, study: &CheckedStudy, doing: Doing) -> Result<Exit> {
    let (begun, plan) = match &options.resume {
        Some(run) => reopen(options, &study.plan, run).map(|(folder, plan)| (Some(folder), plan))?,
        None => (None, study.plan.clone()),
    };
    let chosen = if doing == Doing::Trials { chosen(&plan, &options.only)? } else { plan.clone() };
    let left = left(&chosen, begun.as_ref(), options.retry_failed)?;
    let audits = audits::left(options, &chosen, doing, begun.as_ref())?;
    // Audits need what trials need.
    let work = audits::beside(&left, &plan, &audits);
    if work.trials.is_empty() && plan.precision.is_none_or(|wish| wish.ended.is_some()) {
        return nothing_left(options, begun.as_ref());
    }
    let (site, _kept) = site(options)?;
    require_same_host(begun.as_ref(), &site)?;
    let missing = if options.skip_missing { missing(&work, &site) } else { BTreeMap::new() };
    let work = without(&work, &missing);
    require_ready(&work, &site, options)?;
    let (expected, preparing) = preview::expected(&without(&left, &missing), &site)?;
    let text = match doing {
        Doing::Trials => preview::text(&left, (!options.rehearse).then_some(expected)),
        Doing::Audits => preview::of_audits(&work),
    };
    tell(options, text.trim_end());
    let (turn, mut notes) =
        if options.rehearse { (None, Vec::new()) } else { turn().map(|(turn, notes)| (Some(turn), notes))? };
    notes.extend(begun.as_ref().and_then(|folder| of_another_build(folder, &plan, &site.made_by)));
    let metric = metric(&plan);
    let counts = metric.map(|metric| metric.name.to_owned()).unwrap_or_default();
    let intent = Intent { study: plan.study.clone(), counts, trials: left.trials.len() as u64, expected };
    // Where the conductor puts the host's last sample, if metrics are served.
    let latest = options.metrics.map(|_| Arc::new(Latest::default()));
    let live = Live::new(&left, Expected::of(&left, preparing), metric, amount(options));
    let mut audience = Audience::gather(live, intent, options.metrics.zip(latest.clone()))?;
    let images = trial::conductor::images(&work, &site, &mut |event| audience.hear(event));
    let images = images.map_err(|error| EndedWith::host(error.to_string()))?;
    if !options.rehearse {
        notes.extend(foreseen(&work, &images, &site, options.require_kvm)?);
    }
    let resumed = begun.is_some();
    let folder = match begun {
        Some(folder) => folder,
        None => begin(options, study, &site)?,
    };
    tell(options, &format!("record: {}", folder.path().display()));
    audience.keep_in(folder.path());
    let interrupts = Interrupts::default();
    listen_for_signals(interrupts.clone(), doing)?;
    let order = RunOrder {
        folder: &folder,
        plan: &plan,
        trials: &chosen.trials,
        audits: &audits,
        missing: &missing,
        site: &site,
        images: &images,
        interrupts: &interrupts,
        resumed,
        notes: &notes,
        retries: options.retry_failed,
        latest: latest.as_ref(),
    };
    // A part of the blocks says nothing about the run's precision.
    let is_whole = options.only.is_empty();
    let what_follows = &mut |folder: &RunFolder| if is_whole { growth::what_follows(folder, &plan) } else { Ok(None) };
    let tallied = trial::conductor::run(&order, what_follows, &mut |event| audience.hear(event));
    drop(turn);
    audience.finish();
    report(options, &folder, doing, tallied)
}

/// Where the work is done; a rehearsal's folder is removed with the second value.
fn site(options: &RunOptions) -> Result<(Site, Option<Scratch>)> {
    if options.rehearse {
        return site::rehearsal_site().map(|(site, kept)| (site, Some(kept)));
    }
    let lines = options.fleet.as_deref().map(fleet::lines).transpose()?;
    Ok((Site { lines, ..site::site()? }, None))
}

/// Analyses and reports the run, and says how to continue it.
fn report(
    options: &RunOptions,
    folder: &RunFolder,
    doing: Doing,
    tallied: Result<Tallied, ConductorError>,
) -> Result<Exit> {
    // Errors that end a run are the host's fault: a tool, the cache or the disk.
    let tallied = tallied.map_err(|error| {
        let again = resume_command(options, folder, doing);
        EndedWith::host(format!(
            "{error}\nonce that is mended, `{again}` goes on; trials that are complete stay as they are"
        ))
    })?;
    let published = publish(folder.path()).with_context(|| {
        let path = folder.path().display();
        format!("the run is whole in {path}, but not its report; `bakeoff report {path}` makes it")
    })?;
    published.tell(options.json)?;
    if let Some(html) = &published.html {
        tell(options, &format!("report: {}", html.display()));
    }
    if tallied.interrupted {
        say(&if options.rehearse {
            "stopped".to_owned()
        } else {
            format!("stopped; `{}` goes on", resume_command(options, folder, doing))
        });
        return Ok(Exit::Interrupted);
    }
    if tallied.failed > 0 && !options.rehearse {
        say(&format!("`{} --retry-failed` runs again what failed", resume_command(options, folder, doing)));
    }
    Ok(verdict(&published.run, &published.analysis))
}

/// The chosen trials that have no result yet.
fn left(chosen: &TypedPlan, begun: Option<&RunFolder>, retries: bool) -> Result<TypedPlan> {
    let trials = match begun {
        Some(run) => again::still_to_run(run, chosen, &chosen.trials, retries).context("reading what was run")?,
        None => chosen.trials.clone(),
    };
    Ok(chosen.with_trials(trials))
}

/// A run whose trials are all complete is only reported again.
fn nothing_left(options: &RunOptions, begun: Option<&RunFolder>) -> Result<Exit> {
    let folder = begun.context("a plan without trials")?;
    // The process that ran the last trial may have been killed before it cleaned up.
    let site = site::site()?;
    for text in [machines::scratch::sweep(&site.scratch, &trial::audit::undo)?, trial::preparation::sweep(&site)?]
        .into_iter()
        .flatten()
    {
        say(&format!("! {text}"));
    }
    say(&format!("nothing is left to run in {}; this is its result", folder.path().display()));
    let published = publish(folder.path())?;
    published.tell(options.json)?;
    Ok(verdict(&published.run, &published.analysis))
}

fn tell(options: &RunOptions, text: &str) {
    if !options.quiet {
        say(text);
    }
}

fn amount(options: &RunOptions) -> Amount {
    match (options.quiet, options.verbose) {
        (true, _) => Amount::Quiet,
        (_, true) => Amount::Steps,
        _ => Amount::Results,
    }
}

/// What will impair the result, as far as is known before the first trial.
fn foreseen(left: &TypedPlan, images: &Images, site: &Site, needs_kvm: bool) -> Result<Vec<String>> {
    site::require_running_program(&site.agent)?;
    // A missing tool or a full disk is reported by the trials.
    let _ = readiness::try_kvm(left, images, site);
    if needs_kvm {
        readiness::require_kvm(left, &site.cache)?;
    }
    let foreseen = ahead::of(left, site);
    let unequal = ahead::unequal(&ahead::equal(left, &foreseen));
    Ok(ahead::without(left, &foreseen).into_iter().chain(unequal).chain(readiness::busy(site)).collect())
}

/// Fails if the host cannot carry out the rest of a plan, as far as is known.
fn require_ready(left: &TypedPlan, site: &Site, options: &RunOptions) -> Result<()> {
    if options.rehearse {
        return Ok(());
    }
    let mut lacking = readiness::lacking(left, site)?;
    if !lacking.is_empty() {
        let missing = missing(left, site);
        let without = left.cells.iter().filter(|cell| missing.contains_key(&cell.id)).map(|cell| &cell.contender);
        let without: Vec<&str> = preview::distinct(without).into_iter().map(String::as_str).collect();
        if !without.is_empty() {
            lacking.push(format!("--skip-missing runs the study without {}", without.join(", ")));
        }
        return Err(EndedWith::host(lacking.join("\n")).into());
    }
    if options.require_kvm { readiness::require_kvm(left, &site.cache) } else { Ok(()) }
}

/// Why this host cannot run some of the cells, by cell; none if it can run no cell at all, which is an error.
fn missing(work: &TypedPlan, site: &Site) -> BTreeMap<u32, String> {
    let missing = readiness::missing(work, site);
    if without(work, &missing).trials.is_empty() { BTreeMap::new() } else { missing }
}

fn without(plan: &TypedPlan, missing: &BTreeMap<u32, String>) -> TypedPlan {
    plan.with_trials(plan.trials.iter().filter(|trial| !missing.contains_key(&trial.cell)).cloned().collect())
}

/// Waits until no other bakeoff measures on this host. Nothing has begun yet, so Ctrl-C ends the process as usual.
fn turn() -> Result<(Turn, Vec<String>)> {
    let waited = host::queue()?.turn(&mut |holder| {
        say(&format!("waiting for {holder}, which measures on this host; Ctrl-C ends the wait"));
    });
    let (turn, waited) = waited.map_err(|error| EndedWith::host(error.to_string()))?;
    let own = host::queue_name().map(|name| {
        format!("the run is in the queue \"{name}\" (BAKEOFF_QUEUE): runs outside of it may measure at the same time")
    });
    let waited = waited.map(|(holder, time)| format!("waited {} for {holder} to end", span(time)));
    Ok((turn, own.into_iter().chain(waited).collect()))
}

fn resume_command(options: &RunOptions, folder: &RunFolder, doing: Doing) -> String {
    let aa = if options.aa { " --aa" } else { "" };
    let skip = if options.skip_missing { " --skip-missing" } else { "" };
    let fleet = options.fleet.iter().map(|file| format!(" --fleet {}", shell_word(&file.to_string_lossy())));
    let fleet: String = fleet.collect();
    let set: Vec<String> = options.set.iter().map(|setting| format!(" --set {}", shell_word(setting))).collect();
    let [study, run] = [&options.study, folder.path()].map(|path| shell_word(&path.to_string_lossy()));
    let command = if doing == Doing::Trials { "run" } else { "audit durability" };
    format!("bakeoff {command} {study}{aa}{skip}{}{fleet} --resume={run}", set.concat())
}

/// The metric of the study's workload.
fn metric(plan: &Plan) -> Option<&'static ThroughputMetric> {
    let mut kinds = plan.cells.iter().filter_map(|cell| cell.settings.workload());
    kinds.find_map(workloads::catalog::entry).map(|entry| &entry.metric)
}

/// Makes a new run folder, named after the time and the study.
fn begin(options: &RunOptions, study: &CheckedStudy, site: &Site) -> Result<RunFolder> {
    host::require_own_runs(&options.runs)?;
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let time: String = time.chars().filter(char::is_ascii_alphanumeric).collect();
    let ending = if options.rehearse { "-rehearsed" } else { "" };
    let base = options.runs.join(format!("{time}-{}{ending}", study.plan.study));
    // Runs begun in the same second get different numbers.
    let mut path = base.clone();
    for number in 2..100 {
        if !path.exists() {
            break;
        }
        path = base.with_file_name(format!("{}-{number}", base.file_name().unwrap_or_default().to_string_lossy()));
    }
    let folder = RunFolder::create(&path, &study.text, &study.plan).context("beginning a run")?;
    folder.write_host(&telemetry::describe(&site.cache)).context("recording the host")?;
    Ok(folder)
}

/// The folder of the run to resume, and its plan with any blocks that were added. The study must still be the one with
/// which the run was begun.
fn reopen(options: &RunOptions, planned: &TypedPlan, run: &str) -> Result<(RunFolder, TypedPlan)> {
    let path = if run == "newest" {
        newest(&options.runs, &planned.study)?
    } else {
        run_name::resolve_begun(Path::new(run)).map_err(|error| EndedWith::bad_input(format!("--resume: {error}")))?
    };
    host::require_own_runs(&path)?;
    RunFolder::open(&path).map_err(|error| {
        EndedWith::bad_input(format!("--resume: {error}; name a run folder, as in --resume=runs/…"))
    })?;
    let folder = locked(&path)?;
    // If it has other cells than the study, it is refused below.
    let plan = planned.with(folder.plan().context("reading the plan of the run")?);
    if plan.aa != planned.aa {
        let (run, was) = (path.display(), if plan.aa { "with --aa" } else { "without --aa" });
        return Err(EndedWith::bad_input(format!("--resume: {run} was begun {was}, and goes on only so")).into());
    }
    // The run's own copy of its study has another name.
    if as_begun(&plan) != (Plan { study: plan.study.clone(), ..planned.plan().clone() }) {
        let (study, run) = (options.study.display(), path.display());
        return Err(EndedWith::bad_input(format!(
            "--resume: {study} now gives another plan than the one in {run}/plan.json; a run goes on only with the plan \
             it was begun with. Give the same --set, use `bakeoff run {run}/study.toml --resume={run}`, or begin a new run"
        ))
        .into());
    }
    Ok((folder, plan))
}

/// Facts that are the same as long as a host is the same, with the same kernel.
const OF_ONE_HOST: [&str; 6] =
    ["system.host_id", "cpu.model", "cpu.threads", "kernel.release", "system.product", "virtualization.vendor"];

fn require_same_host(begun: Option<&RunFolder>, site: &Site) -> Result<()> {
    let Some(folder) = begun else { return Ok(()) };
    let host = folder.host().context("reading the host on which the run was begun")?;
    moved(&host, &telemetry::describe(&site.cache)).map_or(Ok(()), |why| Err(EndedWith::bad_input(why).into()))
}

/// Why a run cannot go on here, if it was begun on another host or kernel: one record would call both the same.
fn moved(begun: &Facts, here: &Facts) -> Option<String> {
    // A fact that cannot be read says nothing about the host.
    OF_ONE_HOST.iter().find_map(|name| match (begun.get(*name), here.get(*name)) {
        (Some(Fact::Known(was)), Some(Fact::Known(is))) if was != is => Some(format!(
            "--resume: the run was begun on another host or kernel: {name} was {was} and is {is}. Begin a new run"
        )),
        _ => None,
    })
}

/// A note if trials of the run were carried out by another build, which may be faster or slower.
fn of_another_build(begun: &RunFolder, plan: &Plan, made_by: &str) -> Option<String> {
    let records = plan.trials.iter().filter_map(|trial| begun.trial(trial.id).record().ok());
    let other = records.filter_map(|record| record.made_by).find(|builder| builder != made_by)?;
    Some(format!(
        "{other} carried out trials of this run, and this is {made_by}: builds may differ in speed. Begin a new run"
    ))
}

/// A killed run's child holds the lock until it executes another program, so the lock is tried at most this many times.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

fn locked(path: &Path) -> Result<RunFolder> {
    let mut looks = 1;
    loop {
        match RunFolder::go_on(path) {
            Err(RecordError::InUse { .. }) if looks < LOOKS => looks += 1,
            locked => return locked.map_err(not_resumed),
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

fn not_resumed(error: RecordError) -> anyhow::Error {
    let RecordError::InUse { path, process, lock } = error else {
        return anyhow::Error::new(error).context("--resume: locking the run");
    };
    let since = std::fs::metadata(lock).and_then(|metadata| metadata.modified()).ok();
    let run = path.display();
    let process = process.map_or_else(|| "another bakeoff".to_owned(), |process| format!("process {process}"));
    let since = since.map(|since| format!(" since {}", humantime::format_rfc3339_seconds(since))).unwrap_or_default();
    EndedWith::bad_input(format!(
        "--resume: {process} has been working in {run}{since}. Wait until it has ended, or see what there is so far with \
         `bakeoff report {run}`"
    ))
    .into()
}

/// The plan before blocks were added.
fn as_begun(plan: &TypedPlan) -> Plan {
    let Some(wish) = plan.precision else { return plan.plan().clone() };
    let begun = plan.grown(wish.least_blocks).plan().clone();
    // If blocks are not what would be added now, they belong to another plan.
    let is_grown = plan.grown(plan.blocks).plan() == plan.plan();
    if is_grown { Plan { precision: Some(Precision { ended: None, ..wish }), ..begun } } else { plan.plan().clone() }
}

fn newest(runs: &Path, study: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(runs)
        .map_err(|error| EndedWith::bad_input(format!("--resume: reading {}: {error}", runs.display())))?;
    let of_study = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.split_once('-').is_some_and(|(_, rest)| rest == study || rest.strip_prefix(study).is_some_and(numbered))
    };
    let begun = entries.flatten().map(|entry| entry.path()).filter(|path| RunFolder::is_at(path));
    let found = begun.filter(of_study).max();
    found.ok_or_else(|| {
        EndedWith::bad_input(format!("--resume: {} holds no run of the study {study}", runs.display())).into()
    })
}

/// True if the rest of a folder's name is the number of a run begun in the same second.
fn numbered(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|number| number.chars().all(|digit| digit.is_ascii_digit()))
}

fn listen_for_signals(interrupts: Interrupts, doing: Doing) -> Result<()> {
    let mut signals = host::ending_signals().context("listening for signals")?;
    std::thread::spawn(move || {
        for signal in &mut signals {
            // SIGTERM and SIGHUP leave no time for a whole trial.
            if signal != SIGINT {
                interrupts.raise();
            }
            interrupts.raise();
            let text = match (interrupts.now(), doing) {
                (true, Doing::Trials) => "stopping now; what was measured of this trial is kept, but not used",
                (true, Doing::Audits) => "stopping now; this audit is not kept",
                (false, Doing::Trials) => "finishing this trial, then reporting; once more to stop now",
                (false, Doing::Audits) => "finishing this audit, then reporting; once more to stop now",
            };
            say(text);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_only_on_its_host_and_kernel() {
        let host = |kernel: &str, uptime: &str| {
            let facts = [("kernel.release", kernel), ("cpu.model", "a"), ("system.uptime_s", uptime)];
            facts.map(|(name, value)| (name.to_owned(), Fact::Known(value.to_owned()))).into_iter().collect::<Facts>()
        };
        assert_eq!(moved(&host("6.1", "5"), &host("6.1", "9")), None);
        assert_eq!(moved(&Facts::new(), &host("6.1", "9")), None, "it was killed before it was written");
        let unread = [("kernel.release".to_owned(), Fact::Unavailable("no right".to_owned()))].into();
        assert_eq!(moved(&host("6.1", "5"), &unread), None);
        let why = moved(&host("6.1", "5"), &host("6.12", "5")).unwrap();
        assert!(why.contains("kernel.release was 6.1 and is 6.12. Begin a new run"), "{why}");
    }

    #[test]
    fn a_run_that_another_build_began_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let mut run = record::synthetic::run(2);
        for trial in &mut run.trials {
            trial.record.made_by = Some("bakeoff 0.1.0, build a".to_owned());
        }
        record::synthetic::stored::write(&run, &path).unwrap();
        let begun = RunFolder::open(&path).unwrap();
        let told = |by| of_another_build(&begun, &run.plan, by);
        assert_eq!(told("bakeoff 0.1.0, build a"), None);
        let note = told("bakeoff 0.1.0, build b").unwrap();
        assert!(
            note.starts_with(
                "bakeoff 0.1.0, build a carried out trials of this run, and this is bakeoff 0.1.0, build b:"
            )
        );
    }
}

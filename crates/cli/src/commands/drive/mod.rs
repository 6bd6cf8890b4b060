//! `bakeoff drive`: the load engine alone, against a server that already exists.

mod address;
mod live;
mod plan;
mod summary;

use crate::arguments::{DriveOptions, Step};
use crate::commands::workload;
use crate::display::{self, print, say};
use crate::exit::{Ended, Exit};
use crate::host;
use agent::{loading, tables};
use anyhow::{Context, Result};
use driver::plan::{Control, DriveError, DrivePlan, Driven, Seen};
use engines::admin::Admin;
use engines::server::Endpoint;
use live::{Interval, Line};
use record::check::{Finding, Moment};
use record::folder::RecordError;
use record::interval_file::IntervalFile;
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use workloads::catalog::AnyWorkload;
use workloads::dataset::{Dataset, Table};

pub fn drive(options: &DriveOptions) -> Result<Exit> {
    let workload = workload::made(&options.workload, &options.set)?;
    let plan = plan::decided(options, &workload)?;
    let interval_s = plan::interval_s(options)?;
    if options.writers == 0 {
        return Err(Ended::bad_input("--writers: found 0; expected at least 1").into());
    }
    if let Some(folder) = options.record.as_ref().filter(|folder| folder.exists()) {
        let why = format!("--record: {} exists already; name a folder that is to be made", folder.display());
        return Err(Ended::bad_input(why).into());
    }
    let endpoint = address::found(&options.url)?;
    file_is_there(&endpoint, &options.steps)?;
    // The server may be anywhere, so nothing is waited for; runs on this host wait for us.
    let (_turn, beside) = match host::queue()?.try_turn()? {
        Ok(turn) => (Some(turn), None),
        Err(holder) => (None, Some(format!("{holder} measures on this host, too: they disturb each other"))),
    };
    let interrupt = Interrupt::listen()?;
    let mut drive = Drive {
        options,
        workload,
        plan,
        interval_s,
        endpoint,
        interrupt,
        before: None,
        driven: None,
        loaded: false,
        findings: Vec::new(),
        beside,
        invalid: None,
        exit: Exit::Done,
    };
    drive.tell(
        &format!("{} at {}", options.workload, drive.endpoint),
        &json!({
            "event": "begin", "workload": options.workload, "set": options.set, "server": drive.endpoint.to_string(),
            "plan": drive.plan,
        }),
    );
    if let Some(beside) = &drive.beside {
        say(&format!("warning: {beside}"));
    }
    for step in &options.steps {
        match drive.step(*step) {
            Ok(()) => {}
            // What was driven is kept and told, whatever became of the steps after it.
            Err(error) if drive.driven.is_some() => return drive.conclude(Some(&error)),
            Err(error) => return Err(error),
        }
        if drive.exit == Exit::Interrupted {
            break;
        }
    }
    drive.conclude(None)
}

/// Opening a file that is not there would make one.
fn file_is_there(endpoint: &Endpoint, steps: &[Step]) -> Result<(), Ended> {
    match endpoint {
        Endpoint::Sqlite(database) if !database.file.exists() && !steps.contains(&Step::Load) => {
            let why = format!("{endpoint}: there is no such file; `--steps load` makes and fills it");
            Err(Ended::bad_input(why))
        }
        _ => Ok(()),
    }
}

/// What to do about Ctrl-C: while driving, end and report; at any other time, what programs usually do. The second time
/// always the latter.
struct Interrupt {
    stop: Control,
    driving: AtomicBool,
}

impl Interrupt {
    fn listen() -> Result<Arc<Self>> {
        let interrupt = Arc::new(Self { stop: Control::default(), driving: AtomicBool::new(false) });
        let mut signals = Signals::new([SIGINT, SIGTERM]).context("listening for signals")?;
        let heard = Arc::clone(&interrupt);
        std::thread::spawn(move || {
            for signal in &mut signals {
                if heard.driving.swap(false, Ordering::Relaxed) {
                    heard.stop.stop();
                    say("stopping after what is under way, then reporting; once more to stop now");
                } else {
                    // It fails only for signals whose usual effect is unknown.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        });
        Ok(interrupt)
    }
}

struct Drive<'a> {
    options: &'a DriveOptions,
    workload: AnyWorkload,
    plan: DrivePlan,
    interval_s: u64,
    endpoint: Endpoint,
    interrupt: Arc<Interrupt>,
    /// Sums over the data before the run, for a check after it.
    before: Option<BTreeMap<String, i64>>,
    driven: Option<Driven>,
    /// Nothing was driven since the tables were filled.
    loaded: bool,
    findings: Vec<Finding>,
    /// Who else measures on this host.
    beside: Option<String>,
    /// Why what was driven is no measurement.
    invalid: Option<String>,
    exit: Exit,
}

type Series = Result<IntervalFile, RecordError>;

impl Drive<'_> {
    /// To people on standard error, to programs on standard output.
    fn tell(&self, text: &str, event: &Value) {
        say(text);
        if self.options.json {
            print(&format!("{event}\n"));
        }
    }

    fn step(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Clean => self.clean(),
            Step::Load => self.load(),
            Step::Run => self.run(),
            Step::Check => self.check(),
        }
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Ended> {
        engines::catalog::admin(&self.endpoint).map_err(|error| address::refused(&self.endpoint, &error))
    }

    fn dataset(&self) -> &dyn Dataset {
        self.workload.dataset()
    }

    fn clean(&self) -> Result<()> {
        let mut admin = self.admin()?;
        let present = tables::find(self.dataset(), admin.as_mut()).context("looking for tables")?.present;
        tables::drop(&present, admin.as_mut(), self.endpoint.dialect()).context("dropping tables")?;
        let dropped = names(&present);
        let text = if present.is_empty() { "nothing to clean".to_owned() } else { format!("dropped {dropped}") };
        let event =
            json!({ "event": "cleaned", "tables": present.iter().map(|table| &table.name).collect::<Vec<_>>() });
        self.tell(&text, &event);
        Ok(())
    }

    fn load(&mut self) -> Result<()> {
        let mut admin = self.admin()?;
        let present = tables::find(self.dataset(), admin.as_mut()).context("looking for tables")?.present;
        if !present.is_empty() {
            let why = format!(
                "{}: {} exist already and were not touched; `--steps clean,load` drops them first",
                self.endpoint,
                names(&present)
            );
            return Err(Ended::bad_input(why).into());
        }
        if let Endpoint::Sqlite { .. } = self.endpoint {
            // As where bakeoff makes the file itself; the mode stays with the file.
            admin.script("PRAGMA journal_mode = wal").context("choosing the journal")?;
        }
        drop(admin);
        let begun = Instant::now();
        let mut shown = 0;
        let mut progress = |what: &str, done: u64, of: u64| {
            // A line for every tenth.
            let tenth = (done * 10).checked_div(of).unwrap_or(0);
            if of > 1 && tenth > shown {
                shown = tenth;
                say(&format!("loading: {} % of the rows, {what}", tenth * 10));
            } else if of <= 1 && done == 0 {
                say(&format!("loading: {what}"));
            }
        };
        let rows = loading::load(self.dataset(), &self.endpoint, self.options.writers, &mut progress)?;
        let (total, seconds) = (rows.values().sum::<u64>(), begun.elapsed().as_secs_f64());
        let text = format!("loaded {} rows into {} tables in {seconds:.1} s", report::format::count(total), rows.len());
        self.tell(&text, &json!({ "event": "loaded", "rows": rows, "seconds": seconds }));
        self.loaded = true;
        Ok(())
    }

    /// The tables must be there and of the size that the settings say: otherwise something else would be measured.
    fn tables_fit(&self, admin: &mut dyn Admin) -> Result<()> {
        let missing = tables::find(self.dataset(), admin).context("looking for tables")?.missing;
        if !missing.is_empty() {
            let (endpoint, missing) = (&self.endpoint, names(&missing));
            let why = format!("{endpoint}: {missing} are missing; `--steps load,run` makes and fills the tables first");
            return Err(Ended::bad_input(why).into());
        }
        let others = tables::of_other_size(self.dataset(), admin).context("looking at the size of tables")?;
        if !others.is_empty() {
            let others: Vec<_> = others.iter().map(ToString::to_string).collect();
            let (endpoint, others) = (&self.endpoint, others.join(", "));
            let why = format!("{endpoint}: {others}; give the settings it was loaded with, or load it with these");
            return Err(Ended::bad_input(why).into());
        }
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        // Kept open while driving: SQLite clears its log away whenever the last connection closes.
        let mut admin = self.admin()?;
        self.tables_fit(admin.as_mut())?;
        if self.options.steps.contains(&Step::Check) {
            self.before = Some(self.dataset().state(admin.as_mut()).context("reading the data before the run")?);
        }
        let series = self.begin_series()?;
        let (driven, series) = self.drive_and_show(series);
        let series = series.filter(|_| driven.is_ok());
        if let (Err(_), Some(folder)) = (&driven, &self.options.record) {
            // Nothing is kept in it, and the next call is to make it. One that holds something stays.
            let _ = std::fs::remove_dir(folder);
        }
        let mut driven = match driven {
            Ok(driven) => driven,
            Err(_) if self.interrupt.stop.is_stopped() => {
                say("stopped before anything was measured");
                self.exit = Exit::Interrupted;
                return Ok(());
            }
            Err(error) => return Err(self.not_driven(error)),
        };
        let placement = if self.in_process() { "inside" } else { "outside" };
        placement.clone_into(&mut driven.facts.placement);
        self.judge(&driven);
        say(&summary::text(&driven));
        let unended: Vec<_> = driven.unended().cloned().collect();
        self.loaded = false;
        self.driven = Some(driven);
        if let Some(series) = series {
            series?.finish(&unended)?;
        }
        // Whoever stops a later step by force has the run all the same.
        self.keep_run(&self.result())
    }

    /// The file of the measured series, if a record is kept.
    fn begin_series(&self) -> Result<Option<Series>> {
        let Some(folder) = &self.options.record else { return Ok(None) };
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let kinds = self.workload.kinds().iter().map(|kind| kind.name.to_owned()).collect();
        Ok(Some(Ok(IntervalFile::begin(&folder.join("intervals.hlog"), kinds)?)))
    }

    /// Drives, tells a line for each interval, and writes each second down.
    fn drive_and_show(&self, mut series: Option<Series>) -> (Result<Driven, DriveError>, Option<Series>) {
        let kinds = self.workload.kinds();
        say(&Line::heading(kinds));
        let mut interval = Interval::new(kinds, self.interval_s);
        let show = |line: &Line| self.tell(&line.text(kinds), &line.json());
        self.interrupt.driving.store(true, Ordering::Relaxed);
        let driven =
            driver::drive_endpoint(&self.workload, &self.endpoint, &self.plan, &self.interrupt.stop, &mut |seen| {
                let Seen::Second(second) = seen else { return };
                if let Some(Ok(file)) = &mut series
                    && let Err(error) = file.second(&second.interval)
                {
                    series = Some(Err(error));
                }
                if let Some(line) = interval.take(second) {
                    show(&line);
                }
            });
        self.interrupt.driving.store(false, Ordering::Relaxed);
        if let Some(line) = interval.line() {
            show(&line);
        }
        (driven, series)
    }

    /// Says what is wrong with the run before any of its numbers.
    fn judge(&mut self, driven: &Driven) {
        for warning in trial::validity::warnings(&driven.facts, &driven.seconds) {
            say(&format!("warning: {warning}"));
        }
        if let Some(why) = &driven.broke_off {
            say(&format!("broken off: {why}; what follows is of the time until then"));
            self.exit = Exit::TrialsFailed;
        } else if driven.stopped {
            self.exit = Exit::Interrupted;
        } else if let Some(invalid) = trial::validity::invalid(&driven.facts) {
            say(&format!("invalid: {}", invalid.why));
            self.exit = if invalid.by_failures { Exit::Refusing } else { Exit::TrialsFailed };
            self.invalid = Some(invalid.why);
        }
    }

    fn in_process(&self) -> bool {
        matches!(self.endpoint, Endpoint::Sqlite { .. })
    }

    fn not_driven(&self, error: DriveError) -> anyhow::Error {
        match error {
            DriveError::Connect { index, of, source } => {
                let Ended { message, .. } = address::refused(&self.endpoint, &source);
                Ended::bad_input(format!("session {index} of {of} could not be opened: {message}")).into()
            }
            DriveError::AllFail { .. } => {
                Ended { exit: Exit::Refusing, message: format!("{}: {error}", self.endpoint) }.into()
            }
            other => anyhow::Error::new(other).context(self.endpoint.to_string()),
        }
    }

    fn check(&mut self) -> Result<()> {
        let mut admin = self.admin()?;
        self.tables_are_there(admin.as_mut())?;
        let moment = if self.loaded { Moment::AfterLoad } else { Moment::AfterTrial };
        let dialect = self.endpoint.dialect();
        let mut findings = self.dataset().check(admin.as_mut(), dialect, moment).context("checking the data")?;
        if let Some(driven) = &self.driven {
            if let Some(before) = &self.before {
                let after = self.dataset().state(admin.as_mut()).context("reading the data after the run")?;
                let reconciled = self.dataset().reconcile(before, &after, &driven.facts.whole_run);
                findings
                    .extend(trial::validity::as_far_as_known(reconciled, trial::validity::unknown_ends(&driven.facts)));
            }
            findings.extend(self.dataset().audit(&driven.facts.kinds, &driven.facts.tally, driven.facts.waiting_max()));
        }
        self.tell(&summary::findings(&findings), &json!({ "event": "checked", "findings": findings }));
        if findings.iter().any(Finding::is_violated) {
            self.exit = Exit::DataWrong;
        }
        self.findings.extend(findings);
        Ok(())
    }

    fn tables_are_there(&self, admin: &mut dyn Admin) -> Result<()> {
        let missing = tables::find(self.dataset(), admin).context("looking for tables")?.missing;
        if missing.is_empty() {
            return Ok(());
        }
        Err(Ended::bad_input(format!("{}: {} are missing; `--steps load` makes them", self.endpoint, names(&missing)))
            .into())
    }

    /// Tells and keeps the result; `failed` is what became of a step after the run.
    fn conclude(mut self, failed: Option<&anyhow::Error>) -> Result<Exit> {
        if let Some(error) = failed {
            display::error(error);
            if self.exit == Exit::Done {
                // It was no bad input: a run was begun, and ended.
                self.exit = if Exit::after(error) == Exit::Host { Exit::Host } else { Exit::Failed };
            }
        }
        let mut result = self.result();
        if let Some(error) = failed {
            result["failed"] = json!(format!("{error:#}"));
        }
        let kept = self.keep_run(&result).and_then(|()| self.keep_findings());
        if let Err(error) = &kept {
            result["exit"] = json!(Exit::after(error).code());
        }
        if self.options.json {
            print(&format!("{result}\n"));
        }
        kept.map(|()| self.exit)
    }

    fn result(&self) -> Value {
        let mut result = json!({ "event": "result", "exit": self.exit.code() });
        if let Some(beside) = &self.beside {
            result["beside"] = json!(beside);
        }
        if let Some(why) = &self.invalid {
            result["invalid"] = json!(why);
        }
        if let (Some(result), Some(driven)) = (result.as_object_mut(), &self.driven) {
            result.extend(summary::of(driven));
        }
        result
    }

    /// The files of a trial, as far as there are any without a study.
    fn keep_run(&self, result: &Value) -> Result<()> {
        let Some(folder) = &self.options.record else { return Ok(()) };
        let keep = || -> Result<()> {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join("result.json"), serde_json::to_vec_pretty(result)?)?;
            Ok(())
        };
        keep().with_context(|| format!("keeping the record in {}", folder.display()))
    }

    fn keep_findings(&self) -> Result<()> {
        let Some(folder) = &self.options.record else { return Ok(()) };
        let file = folder.join("findings.json");
        std::fs::write(&file, serde_json::to_vec_pretty(&self.findings)?)
            .with_context(|| format!("keeping {}", file.display()))
    }
}

fn names(tables: &[&Table]) -> String {
    tables.iter().map(|table| &*table.name).collect::<Vec<_>>().join(", ")
}

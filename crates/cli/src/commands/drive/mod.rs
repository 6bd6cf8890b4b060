//! `bakeoff drive`: one trial on a server that already exists.

mod live;
mod plan;
mod repeats;
mod scripts;
mod steps;
mod summary;

use crate::arguments::{DriveOptions, Step};
use crate::commands::report::publish;
use crate::display::{self, print, say};
use crate::exit::{EndedWith, Exit};
use crate::{address, host, origin};
use analysis::phases;
use anyhow::{Context, Result};
use driver::error::DriveError;
use driver::plan::{DrivePlan, Driven};
use engines::server::Endpoint;
use engines::statement::Dialect;
use live::{LiveLine, ShownInterval};
use machines::interrupts::Interrupts;
use plan::in_unit;
use record::check::CheckResult;
use record::event::Event;
use record::folder::RunFolder;
use record::intervals::{self, Measured as Series};
use record::phase::Phase;
use record::plan::Plan;
use repeats::Repeats;
use report::format::counted;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use summary::DriveResult;
use trial::conversation::AskError;
use trial::error::AttemptError;
use trial::events::Heard;
use trial::existing::ExistingOrder;
use trial::task::Task;
use trial::unfit::Unfit;
use trial::validity::Invalid;
use workloads::catalog::AnyWorkload;
use workloads::workload::TransactionKind;

pub fn drive(options: &DriveOptions) -> Result<Exit> {
    let workload = scripts::workload(options)?;
    let load = plan::decided(options)?;
    let interval_s = plan::interval_s(options)?;
    let limit_us = plan::latency_limit_us(options)?;
    if options.writers == 0 {
        return Err(EndedWith::bad_input("--writers: found 0; expected at least 1").into());
    }
    let tasks = steps::of_each(options)?;
    let endpoint = address::found(&options.url)?;
    file_is_there(&endpoint, &options.steps)?;
    let fits = workload.made.dataset().check_dialect(endpoint.dialect());
    fits.map_err(|problems| super::workload::refused("--set ", problems))?;
    // The server may be anywhere, so this waits for nothing; runs on this host wait for us.
    let (_turn, beside) = match host::queue()?.try_turn()? {
        Ok(turn) => (Some(turn), None),
        Err(holder) => (None, Some(format!("{holder} measures on this host, too: they disturb each other"))),
    };
    let interrupt = Interrupt::listen()?;
    let mut order = ExistingOrder::new(endpoint, workload, load)?;
    let run = order.plan(options.repeat, options.seed);
    let drives = options.steps.contains(&Step::Run);
    let plan = drives.then(|| order.drive_plan(run.trials[0].seed)).flatten();
    if let Some(plan) = &plan {
        driver::script::check(plan, order.workload().actors())
            .map_err(|error| EndedWith::bad_input(error.to_string()))?;
    }
    order.writers = options.writers;
    order.made_by = origin::made_by();
    let kinds = order.workload().kinds();
    let interval = ShownInterval::new(kinds, interval_s);
    let mut drive = Drive {
        options,
        endpoint: &order.endpoint,
        kinds,
        interval,
        series: plan::has_own_phases(options).then(Vec::new),
        limit_us,
        interrupt: &interrupt,
        shown: 0,
        version: String::new(),
        repeats: Repeats::default(),
        is_data_wrong: false,
        folder: None,
        beside,
        is_stopped: false,
        exit: Exit::Done,
    };
    let server = order.endpoint.to_string();
    drive.tell(
        &format!("{} at {server}", options.workload),
        &json!({
            "event": "begin", "workload": options.workload, "set": options.set, "server": server, "plan": plan,
        }),
    );
    address::reach(&order.endpoint)?;
    drive.announce(order.workload(), plan.as_ref());
    drive.begin_record(&run)?;
    let mut ended = Ok(());
    for (trial, tasks) in run.trials.iter().zip(&tasks) {
        let folder = drive.folder.as_ref().map(|folder| folder.trial(trial.id));
        drive.is_data_wrong = false;
        ended = order.carry_out(trial, tasks, folder, &interrupt.interrupts, &mut |heard| drive.hear(heard));
        drive.repeats.settle(ended.is_ok() && !drive.is_data_wrong);
        if ended.is_err() || drive.is_stopped {
            break;
        }
    }
    drive.conclude(ended)
}

/// Opening a file that does not exist would create it.
fn file_is_there(endpoint: &Endpoint, steps: &[Step]) -> Result<(), EndedWith> {
    match endpoint {
        Endpoint::Sqlite(database) if !database.file.exists() && !steps.contains(&Step::Load) => {
            let why = format!("{endpoint}: there is no such file; `--steps load` makes and fills it");
            Err(EndedWith::bad_input(why))
        }
        _ => Ok(()),
    }
}

/// Ctrl-C, or a closed terminal. While driving, it ends the driving and reports; while loading or cleaning, it ends the server's work
/// on that. At any other time it ends the program, as the second Ctrl-C always does.
struct Interrupt {
    interrupts: Interrupts,
    /// The text for a user who asks the work under way to end; `None` for work that cannot be asked.
    asked: Mutex<Option<&'static str>>,
}

const DRIVING_ENDS: &str = "stopping after what is under way, then reporting; once more to stop now";
const LOADING_ENDS: &str = "stopping the server's work on the tables; once more to stop now";

impl Interrupt {
    fn listen() -> Result<Arc<Self>> {
        let interrupt = Arc::new(Self { interrupts: Interrupts::default(), asked: Mutex::new(None) });
        let mut signals = host::ending_signals().context("listening for signals")?;
        let heard = Arc::clone(&interrupt);
        std::thread::spawn(move || {
            for signal in &mut signals {
                let ends = heard.may_be_asked(None);
                if let Some(ends) = ends {
                    // Stop now, not after the trial.
                    heard.interrupts.raise();
                    heard.interrupts.raise();
                    say(ends);
                } else {
                    // It fails only for signals whose default action is unknown.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        });
        Ok(interrupt)
    }

    /// Notes whether the work under way can be asked to end. Returns what held before.
    fn may_be_asked(&self, text: Option<&'static str>) -> Option<&'static str> {
        std::mem::replace(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner), text)
    }
}

struct Drive<'a> {
    options: &'a DriveOptions,
    endpoint: &'a Endpoint,
    kinds: &'a [TransactionKind],
    interval: ShownInterval,
    /// All seconds, if the workload has phases of its own, whose figures need them.
    series: Option<Vec<intervals::Interval>>,
    /// Transactions that took longer than this are counted.
    limit_us: Option<u64>,
    interrupt: &'a Interrupt,
    /// The last reported tenth of the loaded rows.
    shown: u64,
    /// The server's version.
    version: String,
    repeats: Repeats,
    /// True if this trial violates a check.
    is_data_wrong: bool,
    /// Where the run is kept, if it is.
    folder: Option<RunFolder>,
    /// Another bakeoff that measures on this host.
    beside: Option<String>,
    /// The user has stopped a trial.
    is_stopped: bool,
    exit: Exit,
}

impl Drive<'_> {
    /// Text goes to standard error for people, the event to standard output for programs.
    fn tell(&self, text: &str, event: &Value) {
        say(text);
        if self.options.json {
            print(&format!("{event}\n"));
        }
    }

    /// Prints whether another bakeoff measures on this host, how large the load is, and how many sessions are opened.
    fn announce(&self, workload: &AnyWorkload, plan: Option<&DrivePlan>) {
        if let Some(beside) = &self.beside {
            say(&format!("warning: {beside}"));
        }
        let loads = self.options.steps.contains(&Step::Load);
        let dialect = self.endpoint.dialect();
        if let Some(load) = summary::of_load(workload.dataset(), dialect).filter(|_| loads) {
            say(&load);
        }
        // SQLite has no server whose sessions would be taken from others.
        if let Some(plan) = plan.filter(|_| dialect != Dialect::Sqlite) {
            say(&format!(
                "about to open {}",
                counted(driver::sessions_opened(workload.actors(), plan).into(), "session")
            ));
        }
    }

    fn hear(&mut self, heard: Heard<'_>) {
        match heard {
            Heard::Event(Event::PhaseStarted { phase, .. }) if phase == Phase::WarmUp.name() => {
                say(&LiveLine::heading(self.kinds));
                self.interrupt.may_be_asked(Some(DRIVING_ENDS));
            }
            Heard::Event(Event::PhaseStarted { phase, .. }) if phase == Phase::Load.name() => {
                self.interrupt.may_be_asked(Some(LOADING_ENDS));
            }
            Heard::Event(Event::Progress { what, done, of }) => self.loading(&what, done, of),
            Heard::Event(Event::Warning { text }) => say(&format!("warning: {text}")),
            Heard::Event(_) => {}
            Heard::Cleaned(tables) => {
                if !self.options.steps.contains(&Step::Load) {
                    self.interrupt.may_be_asked(None);
                }
                let dropped = tables.join(", ");
                let text = if tables.is_empty() { "nothing to clean".to_owned() } else { format!("dropped {dropped}") };
                self.tell(&text, &json!({ "event": "cleaned", "tables": tables }));
            }
            Heard::Loaded(rows, took) => {
                self.interrupt.may_be_asked(None);
                let (total, seconds) = (report::format::count(rows.values().sum()), took.as_secs_f64());
                let text = match rows.len() {
                    0 => format!("setup statements done in {seconds:.1} s"),
                    tables => format!("loaded {total} rows into {} in {seconds:.1} s", counted(tables as u64, "table")),
                };
                self.tell(&text, &json!({ "event": "loaded", "rows": rows, "seconds": seconds }));
                self.shown = 0;
            }
            Heard::Second(second) => {
                if let Some(series) = &mut self.series {
                    series.push(second.interval.clone());
                }
                let line = self.interval.take(second);
                self.show(line);
            }
            Heard::Server(report) => self.version.clone_from(&report.version),
            Heard::Driven { driven, looks, warnings, invalid } => {
                let kinds = driven.facts.kinds.iter().map(|kind| kind.kind.clone()).collect();
                let series = self.series.as_mut().map(|series| Series { kinds, intervals: std::mem::take(series) });
                let phases = phases::of(&driven.facts, series.as_ref());
                self.driven(&DriveResult { driven, looks, phases }, warnings, invalid);
            }
            Heard::Checked(findings) => {
                self.tell(&summary::findings(findings), &json!({ "event": "checked", "findings": findings }));
                let is_violated = findings.iter().any(CheckResult::is_violated);
                self.is_data_wrong |= is_violated;
                if is_violated {
                    self.ends(Exit::DataWrong);
                }
            }
        }
    }

    fn ends(&mut self, exit: Exit) {
        self.exit = self.exit.or_graver(exit);
    }

    /// One line for each tenth.
    fn loading(&mut self, what: &str, done: u64, of: u64) {
        let tenth = (done * 10).checked_div(of).unwrap_or(0);
        if of > 1 && tenth > self.shown {
            self.shown = tenth;
            say(&format!("loading: {} % of the rows, {what}", tenth * 10));
        } else if of <= 1 && done == 0 {
            say(&format!("loading: {what}"));
        }
    }

    fn show(&self, line: Option<LiveLine>) {
        if let Some(line) = line {
            self.tell(&line.text(self.kinds), &line.json());
        }
    }

    fn end_driving(&mut self) {
        self.interrupt.may_be_asked(None);
        let rest = self.interval.line();
        self.show(rest);
    }

    /// What was driven, where, and how.
    fn heading(&self, driven: &Driven) -> String {
        let (options, facts) = (self.options, &driven.facts);
        let server = summary::product(self.endpoint.dialect(), &self.version);
        let mut parts = vec![format!("{} at {} ({server})", self.options.workload, self.endpoint)];
        parts.extend(options.set.iter().cloned());
        parts.extend(summary::scale(&options.workload, &options.set));
        let background = facts.sessions.saturating_sub(facts.clients);
        let more = if background > 0 {
            format!(" (and {} for background work)", counted(background.into(), "session"))
        } else {
            String::new()
        };
        if self.series.is_some() {
            parts.push(counted(facts.sessions.into(), "session"));
            return format!("\n{}", parts.join(" · "));
        }
        parts.push(match (options.terminals, &options.arrivals) {
            (Some(terminals), _) => format!("{terminals} terminals on {} sessions", facts.sessions),
            (_, Some(rate)) => format!("arrivals at {} on {} sessions", in_unit(rate, "/s"), facts.sessions),
            _ => format!("{}{more}", counted(facts.clients.into(), "client")),
        });
        parts.push(format!(
            "{} s measured after {} of warm-up",
            facts.measured_ms as f64 / 1000.0,
            in_unit(&options.warmup, "s")
        ));
        format!("\n{}", parts.join(" · "))
    }

    /// Prints what is wrong with the run before any of its numbers.
    fn driven(&mut self, measured: &DriveResult<'_>, warnings: &[String], invalid: Option<&Invalid>) {
        let driven = measured.driven;
        self.end_driving();
        for warning in warnings {
            say(&format!("warning: {warning}"));
        }
        let (mut doubt, mut result) = (None, summary::of(measured, &self.options.set, self.limit_us));
        if let Some(why) = &driven.broke_off {
            doubt = Some(format!("✗ broken off: {why}; what follows is of the time until then"));
            self.ends(Exit::TrialsFailed);
        } else if driven.stopped {
            self.is_stopped = true;
            self.ends(Exit::Interrupted);
        } else if let Some(Invalid { why, by_failures }) = invalid {
            doubt = Some(format!("✗ invalid: {why}"));
            self.ends(if *by_failures { Exit::Refusing } else { Exit::TrialsFailed });
            result.insert("invalid".to_owned(), json!(why));
        }
        let is_valid = doubt.is_none() && !driven.stopped;
        let doubt = doubt.map(|doubt| format!("\n{doubt}")).unwrap_or_default();
        let summary = format!("{doubt}{}{}", self.heading(driven), summary::text(measured, self.limit_us));
        // If standard output is for programs, people read standard error.
        if self.options.json {
            say(&summary);
        } else {
            display::result(&summary);
        }
        if self.options.json && self.options.repeat > 1 {
            let mut event = Map::from_iter([("event".to_owned(), json!("measured"))]);
            event.extend(result.clone());
            print(&format!("{}\n", Value::Object(event)));
        }
        self.repeats.add(measured, result, is_valid);
        // If the user kills a later step, the run is kept all the same. A failure to keep it is reported at the end.
        let _ = self.keep(&self.result());
    }

    /// Prints and keeps the result, even if a step after the run failed.
    fn conclude(mut self, ended: Result<(), AttemptError>) -> Result<Exit> {
        self.end_driving();
        let mut failed = None;
        match ended {
            Ok(()) => {}
            Err(AttemptError::Ask(AskError::Interrupted)) => {
                if self.repeats.is_empty() {
                    say("stopped before anything was measured");
                }
                self.ends(Exit::Interrupted);
            }
            Err(error) => {
                let error = self.explained(error);
                if self.repeats.is_empty() {
                    if let Some(folder) = &self.folder {
                        // The folder was made for this run, and the next call has to make it.
                        let _ = std::fs::remove_dir_all(folder.path());
                    }
                    return Err(error);
                }
                display::error(&error);
                if self.exit == Exit::Done {
                    // This is no bad input: a run was begun, and it ended.
                    self.exit = if Exit::after(&error) == Exit::Host { Exit::Host } else { Exit::Failed };
                }
                failed = Some(format!("{error:#}"));
            }
        }
        if let Some(text) = self.repeats.text() {
            if self.options.json {
                say(&text);
            } else {
                display::result(&format!("\n{text}\n"));
            }
        }
        let mut result = self.result();
        if let Some(failed) = failed {
            result["failed"] = json!(failed);
        }
        let kept = self.keep(&result).and_then(|()| self.publish());
        if let Err(error) = &kept {
            result["exit"] = json!(Exit::after(error).code());
        }
        if self.options.json {
            print(&format!("{result}\n"));
        }
        kept.map(|()| self.exit)
    }

    /// Makes the folder of the run, if the run is kept.
    fn begin_record(&mut self, run: &Plan) -> Result<()> {
        let Some(path) = &self.options.record else { return Ok(()) };
        let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        host::require_own_runs(beside.unwrap_or(Path::new(".")))?;
        let note = format!(
            "# No study: `bakeoff drive {} {}`. plan.json says all of it.\n",
            self.options.workload, self.endpoint
        );
        let folder = RunFolder::create(path, &note, run).context("beginning a record")?;
        folder.write_host(&telemetry::describe(path)).context("recording the host")?;
        self.folder = Some(folder);
        Ok(())
    }

    /// The error in words for a command line, with the exit code it means.
    fn explained(&self, error: AttemptError) -> anyhow::Error {
        let endpoint = self.endpoint;
        let ended = match error {
            AttemptError::Drive(DriveError::Connect { index, of, source }) => {
                let EndedWith { message, .. } = address::refused(endpoint, &source);
                EndedWith::bad_input(format!("session {index} of {of} could not be opened: {message}"))
            }
            AttemptError::Drive(error @ DriveError::AllFail { .. }) => {
                EndedWith { exit: Exit::Refusing, message: format!("{endpoint}: {error}") }
            }
            AttemptError::Unfit(unfit) => EndedWith::bad_input(format!("{endpoint}: {unfit}; {}", advice(&unfit))),
            other @ (AttemptError::Drive(_) | AttemptError::Ask(_)) => {
                return anyhow::Error::new(other).context(endpoint.to_string());
            }
            other => return other.into(),
        };
        ended.into()
    }

    fn result(&self) -> Value {
        let mut result = Map::from_iter([("event".to_owned(), json!("result"))]);
        result.insert("exit".to_owned(), json!(self.exit.code()));
        result.insert("workload".to_owned(), json!(self.options.workload));
        result.insert("server".to_owned(), json!(summary::product(self.endpoint.dialect(), &self.version)));
        if let Some(beside) = &self.beside {
            result.insert("beside".to_owned(), json!(beside));
        }
        result.extend(self.repeats.json());
        result.into()
    }

    /// Writes the report beside the record.
    fn publish(&self) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let published = publish(folder.path()).context("reporting what was recorded")?;
        published.print_place();
        Ok(())
    }

    /// Keeps the result in the run's folder; the report itself is made from the trials.
    fn keep(&self, result: &Value) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        folder.write_json("result.json", result).context("keeping the result")?;
        Ok(())
    }
}

fn advice(unfit: &Unfit) -> &'static str {
    match unfit {
        Unfit::Exist(_) => "`--steps clean,load` drops them first",
        Unfit::Missing { task: Task::Drive, .. } => "`--steps load,run` makes and fills the tables first",
        Unfit::Missing { .. } => "`--steps load` makes them",
        Unfit::Foreign(_) => "name another database in the URL",
        Unfit::Lacking { foreign, .. } if foreign.is_empty() => "`--steps clean,load` makes them with the tables",
        Unfit::Reshaped(_) => "`--steps clean,load` makes them anew",
        Unfit::Lacking { .. } => "load the workload into another database",
        Unfit::OfOtherSize(_) | Unfit::OfOtherSettings(_) => {
            "give the settings it was loaded with, or load it with these"
        }
    }
}

//! What a person sees during a run. On a terminal it is a line for each block with a live line below; otherwise it is a
//! line for each trial.

mod blocks;
mod clock;

pub use blocks::BUSY;

use crate::display::{say, span, wrapped};
use blocks::Blocks;
pub use clock::Expected;
use clock::LiveClock;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::event::Event;
use record::plan::Plan;
use record::text::visible;
use record::trial::Outcome;
use report::format;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use workloads::entry::ThroughputMetric;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Amount {
    /// Only errors.
    Quiet,
    Results,
    /// Each step of each trial, too.
    Steps,
}

/// Time between two updates.
const TICK: Duration = Duration::from_millis(250);

/// Shows the events of a run.
pub struct Live {
    bar: Option<ProgressBar>,
    amount: Amount,
    state: Arc<Mutex<LiveState>>,
}

impl Live {
    /// For the trials of a plan.
    pub fn new(plan: &Plan, expected: Expected, metric: Option<&'static ThroughputMetric>, amount: Amount) -> Self {
        let state = Arc::new(Mutex::new(LiveState::new(plan, expected, metric)));
        let is_live = std::io::stderr().is_terminal() && amount > Amount::Quiet;
        let bar = is_live.then(|| moving(&state));
        Self { bar, amount, state }
    }

    /// Called once the run has a folder.
    pub fn keep_in(&self, folder: &Path) {
        held(&self.state).blocks.keep_in(folder.to_owned());
    }

    pub fn show(&mut self, event: &Event) {
        let told = held(&self.state).take(event, Instant::now(), self.bar.is_some());
        match told {
            Some(KeptLine::Step(_)) if self.amount < Amount::Steps => {}
            Some(KeptLine::Step(line) | KeptLine::Line(line)) if self.amount > Amount::Quiet => match &self.bar {
                Some(bar) => bar.suspend(|| say(&line)),
                None => say(&line),
            },
            _ => {}
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn held(state: &Mutex<LiveState>) -> MutexGuard<'_, LiveState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A bar that advances with time, whether or not anything happens, until it is finished or its state is gone.
fn moving(state: &Arc<Mutex<LiveState>>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{bar:10} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("▓▓░"));
    let (shown, state) = (bar.clone(), Arc::downgrade(state));
    std::thread::spawn(move || {
        while let Some(state) = state.upgrade().filter(|_| !shown.is_finished()) {
            let now = Instant::now();
            let (permille, message) = {
                let mut state = held(&state);
                (state.clock.permille(now), state.message(now))
            };
            shown.set_position(permille);
            shown.set_message(visible(&message).into_owned());
            drop(state);
            std::thread::sleep(TICK);
        }
    });
    bar
}

/// A line that stays on the screen.
#[derive(Debug, PartialEq, Eq)]
enum KeptLine {
    Line(String),
    /// Shown only if every step is shown.
    Step(String),
}

/// The state behind the live line; it needs no terminal.
#[derive(Debug)]
struct LiveState {
    /// The metric of throughput; `None` for a plan without a workload.
    metric: Option<&'static ThroughputMetric>,
    blocks: Blocks,
    clock: LiveClock,
    /// Of the trial that was heard of last.
    heading: String,
    /// The headings of all trials that go on.
    running: BTreeMap<u32, String>,
    phase: String,
    phase_begun: Instant,
    phase_expected: Duration,
    /// Throughput in the last second.
    throughput: Option<String>,
}

impl LiveState {
    fn new(plan: &Plan, expected: Expected, metric: Option<&'static ThroughputMetric>) -> Self {
        let now = Instant::now();
        Self {
            metric,
            blocks: Blocks::new(plan.clone(), metric),
            clock: LiveClock::new(plan, expected, now),
            heading: String::new(),
            running: BTreeMap::new(),
            phase: "starting".to_owned(),
            phase_begun: now,
            phase_expected: Duration::ZERO,
            throughput: None,
        }
    }

    /// Updates the state with an event.
    fn take(&mut self, event: &Event, now: Instant, is_live: bool) -> Option<KeptLine> {
        match event {
            Event::RunStarted { .. } | Event::RunEnded { .. } => None,
            Event::Preparing { what, expected_ms } => {
                self.heading = String::new();
                self.enter(format!("preparing {what}"), *expected_ms, now);
                Some(KeptLine::Step(format!("preparing {what}")))
            }
            Event::TrialStarted { trial, of, block, contender, coordinates, host } => {
                self.clock.trial_begins(*trial, now);
                let place = if coordinates.is_empty() { String::new() } else { format!(" ({coordinates})") };
                let host = host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
                self.heading = format!("trial {trial}/{of}, block {block}, {contender}{place}{host}");
                self.running.insert(*trial, self.heading.clone());
                None
            }
            Event::BlockAdded { block, why, .. } => {
                let added = self.blocks.grow(*block);
                self.clock.add(self.blocks.plan(), &added);
                Some(KeptLine::Line(format!("block {block} is added: {why}")))
            }
            Event::PrecisionEnded { why, .. } => Some(KeptLine::Line(why.clone())),
            Event::PhaseStarted { trial, phase, expected_ms } => {
                self.heading = self.heading_of(*trial);
                self.enter(phase.clone(), *expected_ms, now);
                Some(KeptLine::Step(format!("{}: {phase}", self.heading)))
            }
            Event::Throughput { trial, counted, elapsed_ms, measured, .. } => {
                let throughput = self.metric.map(|metric| rate(metric, *counted));
                let heading = self.heading_of(*trial);
                if heading == self.heading {
                    self.throughput.clone_from(&throughput);
                }
                let due = *measured && elapsed_ms / 1000 % 10 == 0;
                let shown = throughput.filter(|_| due && !is_live);
                shown.map(|throughput| KeptLine::Step(format!("{heading}: {throughput}")))
            }
            Event::Progress { what, done, of } => {
                self.phase = if *of == 0 { what.clone() } else { format!("{what} {} %", done * 100 / of) };
                None
            }
            Event::Warning { text } => {
                let line = format!("! {text}");
                Some(KeptLine::Line(if is_live { wrapped(&line, "  ") } else { line }))
            }
            Event::Audited { contender, coordinates, elapsed_ms, .. } => {
                let place = if coordinates.is_empty() { String::new() } else { format!(" ({coordinates})") };
                let took = span(Duration::from_millis(*elapsed_ms));
                Some(KeptLine::Line(format!("durability of {contender}{place}: audited, after {took}")))
            }
            Event::TrialEnded { trial, outcome, elapsed_ms } => {
                self.clock.trial_ends(*trial, now);
                self.heading = self.heading_of(*trial);
                self.running.remove(trial);
                self.enter("between trials".to_owned(), 0, now);
                self.trial_ended(*trial, outcome, Duration::from_millis(*elapsed_ms), is_live)
            }
        }
    }

    /// On a terminal: a row once a block is complete, and trials without a result. Otherwise: every trial.
    fn trial_ended(&mut self, id: u32, outcome: &Outcome, took: Duration, is_live: bool) -> Option<KeptLine> {
        let row = self.blocks.ended(id);
        let came_to_nothing = matches!(outcome, Outcome::Failed { .. } | Outcome::Skipped { .. });
        let line = (!is_live || came_to_nothing).then(|| {
            let figure = self.blocks.figure(id).filter(|_| *outcome == Outcome::Completed);
            let mark = if came_to_nothing { "✗ " } else { "" };
            let ended = figure.unwrap_or_else(|| ended(outcome));
            format!("{mark}{}: {ended}, after {}", self.heading, span(took))
        });
        let block = match (row, is_live) {
            (Some(row), true) => Some(self.blocks.table(&row).trim_end_matches('\n').to_owned()),
            (Some(row), false) => row.sentence(),
            (None, _) => None,
        };
        let told: Vec<String> = line.into_iter().chain(block).collect();
        (!told.is_empty()).then(|| KeptLine::Line(told.join(if is_live { "\n" } else { "; " })))
    }

    /// Of a trial that goes on; several may.
    fn heading_of(&self, trial: u32) -> String {
        self.running.get(&trial).cloned().unwrap_or_default()
    }

    fn enter(&mut self, phase: String, expected_ms: u64, now: Instant) {
        self.phase = phase;
        self.phase_begun = now;
        self.phase_expected = Duration::from_millis(expected_ms);
        // The last phase's throughput is over.
        self.throughput = None;
    }

    /// The most important part comes first, since a narrow terminal cuts off the end.
    fn message(&mut self, now: Instant) -> String {
        let mut text = format!("{} left · ", span(self.clock.left(now)));
        if self.running.len() > 1 {
            let _ = write!(text, "{} trials at once; ", self.running.len());
        }
        if !self.heading.is_empty() {
            let _ = write!(text, "{}: ", self.heading);
        }
        text.push_str(&self.phase);
        if self.phase_expected > Duration::ZERO {
            let in_phase = (now - self.phase_begun).as_secs();
            let _ = write!(text, " {in_phase}/{}", span(self.phase_expected));
        }
        if let Some(throughput) = &self.throughput {
            let _ = write!(text, ", {throughput}");
        }
        text
    }
}

/// The count of one second in the metric's unit: "3,000 NOPM".
fn rate(metric: &ThroughputMetric, counted: u64) -> String {
    format!("{} {}", format::count(counted * metric.per_ms / 1000), metric.name)
}

/// How a trial ended; reasons may have several lines.
fn ended(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Invalid { why } => format!("invalid: {why}"),
        Outcome::Failed { phase, why } => format!("failed in phase {phase}: {why}"),
        Outcome::Skipped { why } => format!("skipped: {why}"),
        Outcome::Interrupted { phase } => format!("stopped in phase {phase}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    fn metric(workload: &str) -> Option<&'static ThroughputMetric> {
        workloads::catalog::entry(workload).map(|entry| &entry.metric)
    }

    #[test]
    fn the_live_line_names_phase_times_and_throughput_and_forgets_them_with_the_phase() {
        let plan = synthetic::run(2).plan;
        let mut state = LiveState::new(&plan, Expected::default(), metric("order-entry"));
        let start = state.phase_begun;
        let (contender, coordinates) = ("native".to_owned(), String::new());
        let begun =
            Event::TrialStarted { trial: plan.trials[0].id, of: 4, block: 1, contender, coordinates, host: None };
        state.take(&begun, start, true);
        let entered = |phase: &str| Event::PhaseStarted { trial: 1, phase: phase.to_owned(), expected_ms: 10_000 };
        state.take(&entered("measure"), start, true);
        let second =
            Event::Throughput { trial: 1, measured: true, elapsed_ms: 1000, counted: 50, committed: 99, errors: 0 };
        state.take(&second, start, true);
        let told = |state: &mut LiveState| {
            let message = state.message(start + Duration::from_secs(4));
            message.split_once(" left · ").map(|(_, rest)| rest.to_owned())
        };
        let expected = "trial 1/4, block 1, native: measure 4/10 s, 3,000 NOPM";
        assert_eq!(told(&mut state).as_deref(), Some(expected));
        state.metric = metric("sysbench-oltp");
        state.take(&second, start, true);
        let expected = "trial 1/4, block 1, native: measure 4/10 s, 50 TPS";
        assert_eq!(
            told(&mut state).as_deref(),
            Some(expected),
            "a count of a second is the figure of a metric a second"
        );
        state.take(&entered("check"), start, true);
        assert_eq!(told(&mut state).as_deref(), Some("trial 1/4, block 1, native: check 4/10 s"));
    }

    #[test]
    fn trials_on_several_hosts_keep_their_names_apart() {
        let plan = synthetic::run(2).plan;
        let mut state = LiveState::new(&plan, Expected::default(), metric("order-entry"));
        let start = state.phase_begun;
        for (trial, host) in [(1, "a"), (2, "b")] {
            let (contender, coordinates, host) = ("native".to_owned(), String::new(), Some(host.to_owned()));
            let begun = Event::TrialStarted { trial, of: 4, block: 1, contender, coordinates, host };
            state.take(&begun, start, false);
        }
        let entered = |trial: u32| Event::PhaseStarted { trial, phase: "boot".to_owned(), expected_ms: 0 };
        state.take(&entered(1), start, false);
        let message = state.message(start);
        assert!(message.ends_with(" left · 2 trials at once; trial 1/4, block 1, native on a: boot"), "{message}");
        let outcome = Outcome::Invalid { why: "so".to_owned() };
        let told = state.take(&Event::TrialEnded { trial: 2, outcome, elapsed_ms: 1000 }, start, false);
        assert_eq!(told, Some(KeptLine::Line("trial 2/4, block 1, native on b: invalid: so, after 1 s".to_owned())));
    }
}

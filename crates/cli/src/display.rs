//! What a person sees while a run goes on: one live line on a terminal, a line for each step elsewhere.
//!
//! Everything that is printed goes through [`say`], [`print`] or the live line, and much of it was written by others: servers,
//! studies, records. So what a terminal would act on is written out there, whoever wrote it; nothing of ours needs it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::event::Event;
use record::text::{visible, visible_lines};
use record::trial::Outcome;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};
use workloads::catalog::Metric;

/// Says why a command failed, with its causes, on standard error.
pub fn error(error: &anyhow::Error) {
    say(&format!("error: {}", with_causes(error)));
}

/// An error and its causes, each told once: many name their cause themselves.
fn with_causes(error: &anyhow::Error) -> String {
    let mut told = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// One line on standard error. A closed standard error is nothing we could tell anybody about.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible_lines(text));
}

/// Prints text or JSON on standard output. A reader that went away (`| head`) ends the output, not the program.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(written_out(text).as_bytes());
}

/// As JSON writes characters: then JSON stays the same value, and a person can read it, too.
fn written_out(text: &str) -> Cow<'_, str> {
    if let Cow::Borrowed(same) = visible_lines(text) {
        return Cow::Borrowed(same);
    }
    let letters = text.chars().map(|letter| {
        let letter_text = letter.to_string();
        let acts = matches!(visible_lines(&letter_text), Cow::Owned(_));
        if acts { format!("\\u{:04x}", u32::from(letter)) } else { letter_text }
    });
    Cow::Owned(letters.collect())
}

/// Shows the events of a run.
pub struct Live {
    bar: Option<ProgressBar>,
    state: State,
}

impl Live {
    /// `expected` is the plan's estimate for `trials` trials.
    pub fn new(trials: usize, expected: Duration, metric: Option<&'static Metric>) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(5));
            let style =
                ProgressStyle::with_template("{bar:10} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style);
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Self { bar, state: State::new(trials, expected, metric) }
    }

    pub fn show(&mut self, event: &Event) {
        let line = self.state.take(event, Instant::now());
        let Some(bar) = &self.bar else {
            if let Some(line) = line {
                say(&line);
            }
            return;
        };
        if let Some(line) = line
            && !matches!(event, Event::PhaseStarted { .. })
        {
            bar.suspend(|| say(&line));
        }
        let now = Instant::now();
        bar.set_position(self.state.permille(now));
        bar.set_message(visible(&self.state.message(now)).into_owned());
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// What the live line says, without a terminal.
#[derive(Debug)]
struct State {
    /// What throughput counts; none of a plan without a workload.
    metric: Option<&'static Metric>,
    trials: usize,
    expected: Duration,
    begun: Instant,
    /// When trials began, after what they share was prepared.
    trials_begun: Option<Instant>,
    ended: usize,
    heading: String,
    phase: String,
    phase_begun: Instant,
    phase_expected: Duration,
    /// Of the last second.
    throughput: Option<String>,
}

impl State {
    fn new(trials: usize, expected: Duration, metric: Option<&'static Metric>) -> Self {
        let now = Instant::now();
        Self {
            metric,
            trials,
            expected,
            begun: now,
            trials_begun: None,
            ended: 0,
            heading: String::new(),
            phase: "starting".to_owned(),
            phase_begun: now,
            phase_expected: Duration::ZERO,
            throughput: None,
        }
    }

    /// Takes an event in; returns a line worth keeping on the screen, if it is one.
    fn take(&mut self, event: &Event, now: Instant) -> Option<String> {
        match event {
            Event::RunStarted { study, trials, resumed, .. } => {
                let verb = if *resumed { "going on with" } else { "running" };
                Some(format!("{verb} {study}: {trials} trials, about {}", span(self.expected)))
            }
            Event::Preparing { what, expected_ms } => {
                self.enter(format!("preparing {what}"), *expected_ms, now);
                Some(format!("preparing {what}"))
            }
            Event::TrialStarted { trial, of, block, contender, coordinates } => {
                self.trials_begun.get_or_insert(now);
                let place = if coordinates.is_empty() { String::new() } else { format!(" ({coordinates})") };
                self.heading = format!("trial {trial}/{of}, block {block}, {contender}{place}");
                None
            }
            Event::BlockAdded { block, trials, expected_ms, why } => {
                self.trials += usize::try_from(*trials).unwrap_or(0);
                self.expected += Duration::from_millis(*expected_ms);
                Some(format!("block {block} is added: {why}"))
            }
            Event::PrecisionEnded { why, .. } => Some(why.clone()),
            Event::PhaseStarted { phase, expected_ms, .. } => {
                self.enter(phase.clone(), *expected_ms, now);
                Some(format!("{}: {phase}", self.heading))
            }
            Event::Throughput { counted, elapsed_ms, measured, .. } => {
                self.throughput = self.metric.map(|metric| rate(metric, *counted));
                // Elsewhere than on a terminal a sign of life every ten seconds is enough.
                let due = *measured && elapsed_ms / 1000 % 10 == 0;
                self.throughput.as_ref().filter(|_| due).map(|throughput| format!("{}: {throughput}", self.heading))
            }
            Event::Progress { what, done, of } => {
                self.phase = if *of == 0 { what.clone() } else { format!("{what} {} %", done * 100 / of) };
                None
            }
            Event::Warning { text } => Some(format!("warning: {text}")),
            Event::TrialEnded { outcome, elapsed_ms, .. } => {
                self.ended += 1;
                self.throughput = None;
                let length = span(Duration::from_millis(*elapsed_ms));
                Some(format!("{}: {}", self.heading, ended(outcome, &length)))
            }
            Event::RunEnded { .. } => None,
        }
    }

    fn enter(&mut self, phase: String, expected_ms: u64, now: Instant) {
        self.phase = phase;
        self.phase_begun = now;
        self.phase_expected = Duration::from_millis(expected_ms);
    }

    /// What is left, from the trials that have ended, or from the plan while none has.
    fn remaining(&self, now: Instant) -> Duration {
        let Some(begun) = self.trials_begun else { return self.expected };
        let elapsed = now - begun;
        match u32::try_from(self.ended) {
            Ok(ended) if ended > 0 => {
                let each = elapsed.min(self.expected * ended) / ended;
                let each = if self.trials > self.ended { each.max(elapsed / (ended + 1)) } else { each };
                (each * u32::try_from(self.trials).unwrap_or(u32::MAX)).saturating_sub(elapsed)
            }
            _ => self.expected.saturating_sub(elapsed),
        }
    }

    fn permille(&self, now: Instant) -> u64 {
        let elapsed = (now - self.begun).as_secs_f64();
        let whole = elapsed + self.remaining(now).as_secs_f64();
        let share = if whole > 0.0 { elapsed / whole * 1000.0 } else { 0.0 };
        // A share of 0 to 1 fits.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let permille = share as u64;
        permille.min(1000)
    }

    /// What matters most comes first: a narrow terminal cuts off the end.
    fn message(&self, now: Instant) -> String {
        let mut text = format!("{} left; ", span(self.remaining(now)));
        if !self.heading.is_empty() {
            let _ = write!(text, "{}: ", self.heading);
        }
        text.push_str(&self.phase);
        let in_phase = now - self.phase_begun;
        if self.phase_expected > Duration::ZERO {
            let _ = write!(text, " {}/{}", span(in_phase), span(self.phase_expected));
        }
        if let Some(throughput) = &self.throughput {
            let _ = write!(text, ", {throughput}");
        }
        text
    }
}

/// What was counted in one second as the metric's figure: "3000 NOPM".
fn rate(metric: &Metric, counted: u64) -> String {
    format!("{} {}", counted * metric.per_ms / 1000, metric.name)
}

/// How a trial ended; reasons come last, since they may have several lines.
fn ended(outcome: &Outcome, after: &str) -> String {
    match outcome {
        Outcome::Completed => format!("completed in {after}"),
        Outcome::Invalid { why } => format!("invalid after {after}: {why}"),
        Outcome::Failed { phase, why } => format!("failed in phase {phase} after {after}: {why}"),
        Outcome::Skipped { why } => format!("skipped: {why}"),
        Outcome::Interrupted { phase } => format!("stopped in phase {phase} after {after}"),
    }
}

/// "48 s", "2 min 05 s", "1 h 12 min".
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(workload: &str) -> Option<&'static Metric> {
        workloads::catalog::entry(workload).map(|entry| &entry.metric)
    }

    fn started(trial: u32) -> Event {
        let (contender, coordinates) = ("native".to_owned(), String::new());
        Event::TrialStarted { trial, of: 4, block: 1, contender, coordinates }
    }

    #[test]
    fn what_is_left_follows_the_trials_that_ended() {
        let mut state = State::new(4, Duration::from_secs(400), metric("order-entry"));
        let start = Instant::now();
        state.take(&started(1), start);
        assert_eq!(state.remaining(start + Duration::from_secs(10)), Duration::from_secs(390));
        let end = Event::TrialEnded { trial: 1, outcome: Outcome::Completed, elapsed_ms: 50_000 };
        state.take(&end, start + Duration::from_secs(50));
        assert_eq!(state.remaining(start + Duration::from_secs(50)), Duration::from_secs(150));
    }

    #[test]
    fn every_cause_is_told_once() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let error =
            anyhow::Error::from(full).context("writing runs/a/plan.json: no storage space").context("beginning");
        assert_eq!(with_causes(&error), "beginning: writing runs/a/plan.json: no storage space");
        let error = error.context("in short");
        assert!(with_causes(&error).starts_with("in short: beginning: writing"));
    }

    #[test]
    fn json_with_what_a_terminal_acts_on_stays_the_same_value() {
        let value = serde_json::json!({ "why": "\u{1b}]0;title\u{7}\u{7f}\u{9b}31m\u{202e}\r\n\t é" });
        let printed = written_out(&format!("{value}\n")).into_owned();
        assert!(matches!(visible_lines(&printed), Cow::Borrowed(_)), "{printed:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
        assert_eq!(written_out("a\tb\nc\r\x1b[2J"), "a\tb\nc\\u000d\\u001b[2J");
    }

    #[test]
    fn a_long_reason_is_the_end_of_its_line() {
        let failed = Outcome::Failed { phase: "boot".to_owned(), why: "it ended\nits console".to_owned() };
        assert_eq!(ended(&failed, "3 s"), "failed in phase boot after 3 s: it ended\nits console");
    }

    #[test]
    fn the_live_line_names_phase_times_and_throughput() {
        let mut state = State::new(4, Duration::from_secs(400), metric("order-entry"));
        let start = state.begun;
        state.take(&started(1), start);
        state.take(&Event::PhaseStarted { trial: 1, phase: "measure".to_owned(), expected_ms: 10_000 }, start);
        let second =
            Event::Throughput { trial: 1, measured: true, elapsed_ms: 1000, counted: 50, committed: 99, errors: 0 };
        state.take(&second, start);
        let line = state.message(start + Duration::from_secs(4));
        assert_eq!(line, "6 min 36 s left; trial 1/4, block 1, native: measure 4 s/10 s, 3000 NOPM");
        state.metric = metric("sysbench-oltp");
        state.take(&second, start);
        assert!(state.message(start).ends_with(", 50 TPS"), "a second's count is the figure of a metric a second");
    }
}

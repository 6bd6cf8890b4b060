//! The state of a run, collected from its events and turned into metrics for whoever asks.
//!
//! Nothing is derived beyond what the events say, except how long ago something happened. Rates are left to the reader,
//! who has the counters.

use super::exposition::{Family, Labels, MetricKind, MetricValue};
use record::event::Event;
use record::phase::Phase;
use record::trial::Outcome;
use std::time::{Duration, Instant};

/// The phases of a trial, in their order.
const PHASES: [Phase; 9] = [
    Phase::Clone,
    Phase::Boot,
    Phase::Start,
    Phase::Climb,
    Phase::WarmUp,
    Phase::Measure,
    Phase::Check,
    Phase::ShutDown,
    Phase::Stop,
];
/// The phase that makes what trials share.
const PREPARE: &str = "prepare";

const OUTCOMES: [&str; 5] = ["completed", "invalid", "failed", "skipped", "interrupted"];

/// What is known about a run before it begins.
#[derive(Debug, Clone)]
pub struct Intent {
    pub study: String,
    /// The name of the throughput figure: "NOPM".
    pub counts: String,
    pub trials: u64,
    pub expected: Duration,
}

#[derive(Debug)]
pub struct TrialCourse {
    intent: Intent,
    folder: Option<String>,
    begun: Instant,
    /// In the order of [`OUTCOMES`].
    ended: [u64; OUTCOMES.len()],
    phase: Option<PhaseNow>,
    step: Option<PhaseStep>,
    trial: Option<TrialNow>,
}

#[derive(Debug)]
struct PhaseNow {
    name: String,
    begun: Instant,
    /// Zero if unknown.
    expected: Duration,
}

/// A step inside a long phase.
#[derive(Debug)]
struct PhaseStep {
    what: String,
    done: u64,
    of: u64,
}

#[derive(Debug, Default)]
struct TrialNow {
    /// Its number in the plan, which names its folder; known from its first phase on.
    id: Option<u32>,
    block: u32,
    contender: String,
    coordinates: String,
    /// Sums over everything driven so far.
    counted: u64,
    committed: u64,
    errors: u64,
    /// Counted in the last driven second; `None` outside of driving.
    last_second: Option<u64>,
}

impl TrialCourse {
    pub fn new(intent: Intent, now: Instant) -> Self {
        Self { intent, folder: None, begun: now, ended: [0; 5], phase: None, step: None, trial: None }
    }

    /// Called once the run has a folder.
    pub fn keep_in(&mut self, folder: String) {
        self.folder = Some(folder);
    }

    pub fn take(&mut self, event: &Event, now: Instant) {
        match event {
            Event::RunStarted { trials, .. } => self.intent.trials = (*trials).into(),
            Event::BlockAdded { trials, expected_ms, .. } => {
                self.intent.trials += u64::from(*trials);
                self.intent.expected += Duration::from_millis(*expected_ms);
            }
            Event::Preparing { expected_ms, .. } => self.enter(PREPARE, *expected_ms, now),
            Event::TrialStarted { block, contender, coordinates, .. } => {
                self.leave();
                let (contender, coordinates) = (contender.clone(), coordinates.clone());
                self.trial = Some(TrialNow { block: *block, contender, coordinates, ..TrialNow::default() });
            }
            Event::PhaseStarted { trial, phase, expected_ms } => {
                self.enter(phase, *expected_ms, now);
                if let Some(now) = &mut self.trial {
                    now.id = Some(*trial);
                    now.last_second = None;
                }
            }
            Event::Throughput { counted, committed, errors, .. } => {
                if let Some(now) = &mut self.trial {
                    now.counted += counted;
                    now.committed += committed;
                    now.errors += errors;
                    now.last_second = Some(*counted);
                }
            }
            Event::Progress { what, done, of } => {
                self.step = Some(PhaseStep { what: what.clone(), done: *done, of: *of });
            }
            Event::TrialEnded { outcome, .. } => {
                self.leave();
                self.trial = None;
                self.ended[place_of(outcome)] += 1;
            }
            Event::RunEnded { .. } => self.leave(),
            Event::PrecisionEnded { .. } | Event::Audited { .. } | Event::Warning { .. } => {}
        }
    }

    fn enter(&mut self, phase: &str, expected_ms: u64, now: Instant) {
        let expected = Duration::from_millis(expected_ms);
        self.phase = Some(PhaseNow { name: phase.to_owned(), begun: now, expected });
        self.step = None;
    }

    fn leave(&mut self) {
        self.phase = None;
        self.step = None;
    }

    /// All metrics as of now.
    pub fn families(&self, now: Instant) -> Vec<Family> {
        [self.of_run(now), self.of_phase(now), self.of_trial()].concat()
    }

    fn of_run(&self, now: Instant) -> Vec<Family> {
        let Intent { study, counts, trials, expected } = &self.intent;
        let mut labels = vec![("study", study.clone()), ("counts", counts.clone())];
        labels.extend(self.folder.clone().map(|folder| ("folder", folder)));
        labels.push(("version", env!("CARGO_PKG_VERSION").to_owned()));
        let mut ended =
            Family::new(MetricKind::Counter, "bakeoff_trials_ended", "", "Trials of this call that ended, by outcome.");
        for (outcome, count) in OUTCOMES.iter().zip(self.ended) {
            ended = ended.with(vec![("outcome", (*outcome).to_owned())], MetricValue::Whole(count));
        }
        vec![
            Family::new(MetricKind::Info, "bakeoff_run", "", "The run; counts names its throughput figure.")
                .with(labels, MetricValue::Whole(1)),
            gauge("bakeoff_run_elapsed_seconds", "seconds", "Time since this call began.")
                .with(Vec::new(), seconds(now - self.begun)),
            gauge("bakeoff_run_expected_seconds", "seconds", "How long the plan expects all its trials to take.")
                .with(Vec::new(), seconds(*expected)),
            gauge("bakeoff_trials_planned", "", "Trials that this call is to run, those that ended among them.")
                .with(Vec::new(), MetricValue::Whole(*trials)),
            ended,
        ]
    }

    fn of_phase(&self, now: Instant) -> Vec<Family> {
        let phase = self.phase.as_ref();
        let mut states =
            gauge("bakeoff_phase", "", "1 for what is being done, 0 for all else; none is 1 between trials.");
        for state in std::iter::once(PREPARE).chain(PHASES.map(Phase::name)) {
            let is_on = phase.is_some_and(|phase| phase.name == state);
            states = states.with(vec![("bakeoff_phase", state.to_owned())], MetricValue::Whole(is_on.into()));
        }
        let expected = phase.map(|phase| phase.expected).filter(|expected| *expected > Duration::ZERO);
        let step = self.step.as_ref().filter(|step| step.of > 0);
        let step_labels: Labels = step.map(|step| ("what", step.what.clone())).into_iter().collect();
        vec![
            states,
            gauge("bakeoff_phase_elapsed_seconds", "seconds", "Time since the phase began.")
                .maybe_with(Vec::new(), phase.map(|phase| seconds(now - phase.begun))),
            gauge("bakeoff_phase_expected_seconds", "seconds", "How long the phase should take, where that is known.")
                .maybe_with(Vec::new(), expected.map(seconds)),
            gauge("bakeoff_step_done", "", "How much of a step within the phase is done.")
                .maybe_with(step_labels.clone(), step.map(|step| MetricValue::Whole(step.done))),
            gauge("bakeoff_step_planned", "", "How much there is to do in that step.")
                .maybe_with(step_labels, step.map(|step| MetricValue::Whole(step.of))),
        ]
    }

    fn of_trial(&self) -> Vec<Family> {
        let Some((id, trial)) = self.trial.as_ref().and_then(|trial| Some((trial.id?, trial))) else {
            return Vec::new();
        };
        let TrialNow { block, contender, coordinates, counted, committed, errors, last_second, .. } = trial;
        let labels: Labels = vec![
            ("trial", id.to_string()),
            ("block", block.to_string()),
            ("contender", contender.clone()),
            ("coordinates", coordinates.clone()),
        ];
        let counter = |name, help, count: u64| {
            Family::new(MetricKind::Counter, name, "", help).with(labels.clone(), MetricValue::Whole(count))
        };
        let family =
            Family::new(MetricKind::Info, "bakeoff_trial", "", "The trial that runs, by its number in the plan.");
        vec![
            family.with(labels.clone(), MetricValue::Whole(1)),
            counter(
                "bakeoff_trial_counted",
                "Transactions of this trial that throughput counts, warm-up and climb included.",
                *counted,
            ),
            counter("bakeoff_trial_committed", "Transactions of all kinds that committed, likewise.", *committed),
            counter("bakeoff_trial_errors", "Errors that transactions met, likewise.", *errors),
            gauge("bakeoff_trial_throughput", "", "What throughput counts, in the last second that was driven.")
                .maybe_with(labels, last_second.map(MetricValue::Whole)),
        ]
    }
}

fn gauge(name: &'static str, unit: &'static str, help: &'static str) -> Family {
    Family::new(MetricKind::Gauge, name, unit, help)
}

/// To the millisecond; no reader needs more.
fn seconds(length: Duration) -> MetricValue {
    MetricValue::Real(length.as_millis() as f64 / 1e3)
}

fn place_of(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Completed => 0,
        Outcome::Invalid { .. } => 1,
        Outcome::Failed { .. } => 2,
        Outcome::Skipped { .. } => 3,
        Outcome::Interrupted { .. } => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::super::exposition::text;
    use super::*;

    fn course(begun: Instant) -> TrialCourse {
        let intent =
            Intent { study: "s".to_owned(), counts: "NOPM".to_owned(), trials: 4, expected: Duration::from_secs(400) };
        TrialCourse::new(intent, begun)
    }

    fn second(counted: u64, committed: u64, errors: u64) -> Event {
        Event::Throughput { trial: 3, measured: true, elapsed_ms: 1000, counted, committed, errors }
    }

    fn started(trial: u32) -> Event {
        let (contender, coordinates) = ("a \"b\"".to_owned(), "1x2".to_owned());
        Event::TrialStarted { trial, of: 2, block: 2, contender, coordinates, host: None }
    }

    fn phase(phase: &str) -> Event {
        Event::PhaseStarted { trial: 3, phase: phase.to_owned(), expected_ms: 30_000 }
    }

    #[test]
    fn everything_that_is_said_of_a_trial_that_measures() {
        let begun = Instant::now();
        let mut course = course(begun);
        course.keep_in("runs/x".to_owned());
        let resumed = Event::RunStarted { study: "s".to_owned(), trials: 2, expected_ms: 0, resumed: true };
        let ended = Event::TrialEnded { trial: 1, outcome: Outcome::Completed, elapsed_ms: 50_000 };
        for event in [resumed, started(1), ended, started(2), phase("warm up"), second(50, 99, 0), phase("measure")] {
            course.take(&event, begun + Duration::from_mins(1));
        }
        course.take(&second(40, 80, 1), begun);
        insta::assert_snapshot!(text(course.families(begun + Duration::from_millis(61_500))), @r#"
        # HELP bakeoff_run The run; counts names its throughput figure.
        # TYPE bakeoff_run info
        bakeoff_run_info{study="s",counts="NOPM",folder="runs/x",version="0.1.0"} 1
        # HELP bakeoff_run_elapsed_seconds Time since this call began.
        # TYPE bakeoff_run_elapsed_seconds gauge
        # UNIT bakeoff_run_elapsed_seconds seconds
        bakeoff_run_elapsed_seconds 61.5
        # HELP bakeoff_run_expected_seconds How long the plan expects all its trials to take.
        # TYPE bakeoff_run_expected_seconds gauge
        # UNIT bakeoff_run_expected_seconds seconds
        bakeoff_run_expected_seconds 400.0
        # HELP bakeoff_trials_planned Trials that this call is to run, those that ended among them.
        # TYPE bakeoff_trials_planned gauge
        bakeoff_trials_planned 2
        # HELP bakeoff_trials_ended Trials of this call that ended, by outcome.
        # TYPE bakeoff_trials_ended counter
        bakeoff_trials_ended_total{outcome="completed"} 1
        bakeoff_trials_ended_total{outcome="invalid"} 0
        bakeoff_trials_ended_total{outcome="failed"} 0
        bakeoff_trials_ended_total{outcome="skipped"} 0
        bakeoff_trials_ended_total{outcome="interrupted"} 0
        # HELP bakeoff_phase 1 for what is being done, 0 for all else; none is 1 between trials.
        # TYPE bakeoff_phase gauge
        bakeoff_phase{bakeoff_phase="prepare"} 0
        bakeoff_phase{bakeoff_phase="clone"} 0
        bakeoff_phase{bakeoff_phase="boot"} 0
        bakeoff_phase{bakeoff_phase="start"} 0
        bakeoff_phase{bakeoff_phase="climb"} 0
        bakeoff_phase{bakeoff_phase="warm up"} 0
        bakeoff_phase{bakeoff_phase="measure"} 1
        bakeoff_phase{bakeoff_phase="check"} 0
        bakeoff_phase{bakeoff_phase="shut down"} 0
        bakeoff_phase{bakeoff_phase="stop"} 0
        # HELP bakeoff_phase_elapsed_seconds Time since the phase began.
        # TYPE bakeoff_phase_elapsed_seconds gauge
        # UNIT bakeoff_phase_elapsed_seconds seconds
        bakeoff_phase_elapsed_seconds 1.5
        # HELP bakeoff_phase_expected_seconds How long the phase should take, where that is known.
        # TYPE bakeoff_phase_expected_seconds gauge
        # UNIT bakeoff_phase_expected_seconds seconds
        bakeoff_phase_expected_seconds 30.0
        # HELP bakeoff_trial The trial that runs, by its number in the plan.
        # TYPE bakeoff_trial info
        bakeoff_trial_info{trial="3",block="2",contender="a \"b\"",coordinates="1x2"} 1
        # HELP bakeoff_trial_counted Transactions of this trial that throughput counts, warm-up and climb included.
        # TYPE bakeoff_trial_counted counter
        bakeoff_trial_counted_total{trial="3",block="2",contender="a \"b\"",coordinates="1x2"} 90
        # HELP bakeoff_trial_committed Transactions of all kinds that committed, likewise.
        # TYPE bakeoff_trial_committed counter
        bakeoff_trial_committed_total{trial="3",block="2",contender="a \"b\"",coordinates="1x2"} 179
        # HELP bakeoff_trial_errors Errors that transactions met, likewise.
        # TYPE bakeoff_trial_errors counter
        bakeoff_trial_errors_total{trial="3",block="2",contender="a \"b\"",coordinates="1x2"} 1
        # HELP bakeoff_trial_throughput What throughput counts, in the last second that was driven.
        # TYPE bakeoff_trial_throughput gauge
        bakeoff_trial_throughput{trial="3",block="2",contender="a \"b\"",coordinates="1x2"} 40
        # EOF
        "#);
    }

    #[test]
    fn what_is_over_is_not_told_any_more() {
        let begun = Instant::now();
        let mut course = course(begun);
        let told = |course: &TrialCourse| text(course.families(begun));
        let progress = Event::Progress { what: "order_line".to_owned(), done: 3, of: 10 };
        let preparing = Event::Preparing { what: "data".to_owned(), expected_ms: 0 };
        course.take(&preparing, begun);
        course.take(&progress, begun);
        let text = told(&course);
        assert!(text.contains("bakeoff_phase{bakeoff_phase=\"prepare\"} 1\n"), "{text}");
        assert!(text.contains("bakeoff_step_done{what=\"order_line\"} 3\n"), "{text}");
        assert!(!text.contains("bakeoff_phase_expected_seconds"), "nothing was expected: {text}");
        for event in [started(1), phase("measure"), second(1, 1, 0)] {
            course.take(&event, begun);
        }
        let text = told(&course);
        assert!(text.contains("bakeoff_trial_throughput{") && !text.contains("bakeoff_step"), "{text}");
        course.take(&phase("check"), begun);
        let text = told(&course);
        assert!(text.contains("bakeoff_trial_counted_total{") && !text.contains("throughput{"), "{text}");
        let skipped = Outcome::Skipped { why: "no".to_owned() };
        course.take(&Event::TrialEnded { trial: 1, outcome: skipped, elapsed_ms: 1 }, begun);
        let text = told(&course);
        assert!(text.contains("bakeoff_trials_ended_total{outcome=\"skipped\"} 1\n"), "{text}");
        assert!(!text.contains("bakeoff_trial_") && !text.contains("bakeoff_phase_elapsed"), "{text}");
        assert_eq!(text.matches("\"} 1\n").count(), 2, "of the run and the outcome, no state: {text}");
    }

    #[test]
    fn added_blocks_are_planned_too() {
        let begun = Instant::now();
        let mut course = course(begun);
        course.take(&Event::BlockAdded { block: 3, trials: 2, expected_ms: 60_000, why: String::new() }, begun);
        let text = text(course.families(begun));
        assert!(text.contains("bakeoff_trials_planned 6\n") && text.contains("expected_seconds 460.0\n"), "{text}");
    }
}

//! Trials disturbed by more other load than the study allows: they are run again in their place, but not for ever.

use crate::ground::{Ground, Ran, phases};
use record::event::Event;
use record::host_state::{HostReading, ProcessTimes};
use record::ladder::CpuTime;
use record::looks::Reading;
use record::trial::{Outcome, TrialRecord};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use trial::order::Tallied;

/// A host that is read twice in each attempt. Of a thousand ticks between two readings, others used as many as the list
/// gives for that attempt. The last number of the list also holds for all later attempts.
fn host(readings: &AtomicUsize, others: &[u64]) -> HostReading {
    let reading = readings.fetch_add(1, Ordering::Relaxed);
    let of_attempt = |attempt: usize| others[attempt.min(others.len() - 1)];
    let others_ticks = (0..reading.div_ceil(2)).map(of_attempt).sum();
    HostReading {
        cpu: Reading::Known(CpuTime { idle_ticks: reading as u64 * 1_000, ..CpuTime::default() }),
        processes: Reading::Known(ProcessTimes { others_ticks, ..ProcessTimes::default() }),
        ..unread()
    }
}

fn unread() -> HostReading {
    telemetry::host_state(Path::new("/nonexistent"), 1, &[], 0)
}

/// What others used in the earlier attempts.
fn used(trial: &TrialRecord) -> Vec<String> {
    trial.disturbed().iter().map(|attempt| attempt.by.used()).collect()
}

fn why_invalid(trial: &TrialRecord) -> &str {
    let Outcome::Invalid { why } = &trial.outcome else { panic!("{:?}", trial.outcome) };
    why
}

/// The trials that were booted, in order.
fn booted(ran: &Ran) -> Vec<u32> {
    let of = |event: &Event| match event {
        Event::PhaseStarted { trial, phase, .. } if phase == "boot" => Some(*trial),
        _ => None,
    };
    ran.events.iter().filter_map(of).collect()
}

#[test]
fn a_disturbed_trial_is_run_again_before_the_next_until_nobody_disturbs_it() {
    static READINGS: AtomicUsize = AtomicUsize::new(0);
    let ran = Ground::limited(2, 1, 3, || host(&READINGS, &[310, 120, 10])).run();
    let [first, second] = &ran.trials[..] else { panic!("two trials") };
    assert_eq!((&first.outcome, &second.outcome), (&Outcome::Completed, &Outcome::Completed));
    assert_eq!((used(first), used(second)), (vec!["31 %".to_owned(), "12 %".to_owned()], Vec::new()));
    assert_eq!(first.other_load.as_ref().unwrap().other_cpu, Reading::Known(0.01));
    assert_eq!((first.seed, first.block, first.cell), (7, 1, 0));
    assert!(first.disturbed().iter().all(|attempt| attempt.took_ms > 0) && first.warnings.is_empty(), "{first:?}");
    assert_eq!((booted(&ran), ran.tallied.completed, ran.tallied.invalid), (vec![1, 1, 1, 2], 2, 0));
    let told: Vec<&str> = ran
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Warning { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let by = "of the host's CPU time in the measured window, more than the 5 % of load.max_other_cpu";
    let again =
        |time: u32, used: &str| format!("trial 1 is run again, {time} of at most 3 times: others used {used} {by}");
    assert_eq!(told, [again(1, "31 %"), again(2, "12 %")]);
    let ended = ran.events.iter().filter(|event| matches!(event, Event::TrialEnded { .. })).count();
    assert_eq!((ended, ran.left.len()), (2, 0));
    assert!(ran.folder().join("run/earlier/0001-2/trial.json").exists());
}

#[test]
fn a_trial_that_stays_disturbed_is_invalid_and_the_next_has_repeats_of_its_own() {
    static READINGS: AtomicUsize = AtomicUsize::new(0);
    let ran = Ground::limited(2, 1, 1, || host(&READINGS, &[310])).run();
    assert_eq!((booted(&ran), ran.tallied.invalid), (vec![1, 1, 2, 2], 2));
    for trial in &ran.trials {
        assert!(why_invalid(trial).starts_with("others used 31 % "), "{trial:?}");
        assert_eq!(used(trial), ["31 %"]);
    }
}

#[test]
fn several_machines_are_run_again_together() {
    static READINGS: AtomicUsize = AtomicUsize::new(0);
    let ran = Ground::limited(1, 2, 1, || host(&READINGS, &[310])).run();
    let trial = &ran.trials[0];
    assert!(why_invalid(trial).starts_with("others used 31 % "), "{trial:?}");
    assert_eq!((used(trial).len(), phases(&ran)["boot"]), (1, 2));
}

#[test]
fn a_host_that_cannot_be_read_disturbs_nothing() {
    let ran = Ground::limited(1, 1, 3, unread).run();
    let trial = &ran.trials[0];
    assert_eq!((&trial.outcome, booted(&ran).len()), (&Outcome::Completed, 1));
    assert!(trial.warnings[0].starts_with("load.max_other_cpu could not be asked of it: "), "{:?}", trial.warnings);
    assert!(trial.other_load.as_ref().unwrap().other_cpu.why_not().is_some());
}

#[test]
fn who_goes_on_with_a_run_goes_on_with_its_repeats() {
    static READINGS: AtomicUsize = AtomicUsize::new(0);
    let ground = Ground::limited(1, 1, 3, || host(&READINGS, &[310, 120, 200, 10]));
    let trial = ground.run.trial(1);
    // Asked to end while it is disturbed: it stays invalid for now.
    let tallied = ground.go_on(false, &mut |event, interrupts| {
        if matches!(event, Event::TrialStarted { .. }) {
            interrupts.raise();
        }
    });
    assert!(tallied.interrupted && why_invalid(&trial.record().unwrap()).contains("31 %"), "{tallied:?}");
    // Disturbed again, and cut short in the attempt after that.
    let mut boots = 0;
    let tallied = ground.go_on(false, &mut |event, interrupts| {
        boots += usize::from(matches!(event, Event::PhaseStarted { phase, .. } if phase == "boot"));
        if boots == 2 {
            interrupts.raise();
        }
    });
    assert!(tallied.interrupted && boots == 2 && !trial.is_complete(), "{tallied:?}");
    let tallied = ground.go_on(false, &mut |_, _| ());
    let record = trial.record().unwrap();
    assert_eq!(
        (used(&record), &record.outcome),
        (["31 %", "12 %", "20 %"].map(str::to_owned).into(), &Outcome::Completed)
    );
    assert_eq!((tallied.completed, record.warnings.len()), (1, 0));
    assert_eq!(ground.go_on(true, &mut |_, _| ()), Tallied::default(), "nothing is left");
}

#[test]
fn who_asks_for_a_disturbed_trial_again_gets_all_its_repeats() {
    static READINGS: AtomicUsize = AtomicUsize::new(0);
    let ground = Ground::limited(1, 1, 1, || host(&READINGS, &[310, 120, 200, 10]));
    assert_eq!(ground.go_on(false, &mut |_, _| ()).invalid, 1);
    assert_eq!(ground.go_on(false, &mut |_, _| ()).invalid, 0, "its repeats are used up");
    assert_eq!(ground.go_on(true, &mut |_, _| ()).completed, 1);
    let record = ground.run.trial(1).record().unwrap();
    assert_eq!((used(&record), record.warnings.len()), (vec!["20 %".to_owned()], 2), "{:?}", record.warnings);
    assert!(record.warnings[1].contains("it was invalid: others used 12 %"), "{:?}", record.warnings);
}

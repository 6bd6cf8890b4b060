//! Something dies or hangs in a machine. A machine that hangs is detected by its silence, whatever it was asked to do.

use super::{NATIVE, TCG, Victim, all_have_results, failed_for, side_by_side, strike};
use crate::faults::named;
use crate::leftovers::Leftovers;
use crate::running::{Running, command_line, send};
use crate::runs::small;
use crate::setting::{Place, has_qemu, missing, text};
use crate::starved::counts_or_was_starved;
use record::trial::Outcome;
use rustix::process::Signal;

/// The phase that the first machine has to report before, the machines, the victim in each, and the signal.
type Blow = (&'static str, &'static [u32], Victim, Signal);

/// A kernel runs on this CPU, but the first program that makes a system call dies, and the guest with it.
const NO_SYSTEM_CALLS: &str = "[[contender]]\nname = \"broken\"\nplatform = { kind = \"qemu\", accelerator = \"tcg\", \
                               cpu = \"max,-syscall\" }\n";

/// Each trial gets one such blow, and nothing of it is left when the next one begins.
fn struck<'p>(place: &'p Place, blows: &[Blow]) -> Leftovers<'p> {
    let mut running = Running::begin(place, &["run", "study.toml"]);
    let mut leftovers = Leftovers::of(place);
    for (trial, (phase, machines, victim, signal)) in (1..).zip(blows) {
        let said = |phase: &str| format!("trial {trial}/{}, block {trial}, native: {phase}", blows.len());
        running.until(&said("clone"));
        let before = format!("trial-{:04}", trial - 1);
        let left = running.descendants().into_iter().map(command_line).filter(|line| line.contains(&before));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new(), "of the trial before");
        running.until(&said(phase));
        leftovers.watch(&running);
        for machine in *machines {
            strike(&running, (trial, *machine), *victim, *signal);
        }
    }
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    leftovers.none();
    leftovers
}

/// Machines that were not hit are not abandoned: each ends in order, with a record of its own.
fn others_ended_in_order(place: &Place, blows: &[Blow]) {
    for (trial, (_, struck, ..)) in place.record().trials.iter().zip(blows) {
        for (number, machine) in (1..).zip(&trial.machines) {
            let is_in_order = match &machine.record.outcome {
                Outcome::Completed | Outcome::Invalid { .. } => true,
                Outcome::Failed { why, .. } => struck.contains(&number) || why.starts_with("given up, because another"),
                _ => false,
            };
            assert!(is_in_order, "trial {}, machine {number}: {:?}", trial.record.id, machine.record.outcome);
        }
    }
}

/// A failed trial is an answer and stays. `--retry-failed` runs it again, and the new record tells of the old one.
fn finished_by_retrying(place: &Place, leftovers: &Leftovers<'_>, trials: usize, machines: usize) {
    let before = place.record();
    let resumed = place.bakeoff(&["run", "study.toml", "--resume"]);
    assert_eq!(resumed.status.code(), Some(4), "{}", text(&resumed.stderr));
    assert_eq!(place.record(), before, "a failed trial was run again without being asked for");
    let retried = place.bakeoff(&["run", "study.toml", "--resume", "--retry-failed"]);
    all_have_results(place, &retried, trials, machines);
    for (new, old) in place.record().trials.iter().zip(&before.trials) {
        let told = new.record.warnings.first().expect("that it was run again");
        assert!(told.contains("it was run again") && told.contains(&old.record.started), "{told}");
    }
    leftovers.none();
}

#[test]
fn whatever_dies_in_a_native_machine_fails_its_trial_and_takes_the_others_along() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let blows: [Blow; 3] = [
        ("warm up", &[2], Victim::Backend, Signal::KILL),
        ("measure", &[1], Victim::Server, Signal::KILL),
        // A check of so little data is over before a busy host lets this test find the process.
        ("measure", &[2], Victim::Agent, Signal::KILL),
    ];
    let place = Place::apart(&side_by_side(2, "postgres", NATIVE, 3), "postgres");
    let leftovers = struck(&place, &blows);
    others_ended_in_order(&place, &blows);
    let run = place.record();
    let why = |trial: usize| failed_for(&run.trials[trial - 1], blows[trial - 1].1);
    // When one of its processes has died, the server ends all of them and starts again, also while sessions are opened.
    assert!(why(1).contains("lost, and") || why(1).contains("could not be opened: connection lost"), "{}", why(1));
    assert!(why(2).contains("PostgreSQL") && why(2).contains("SIGKILL"), "{}", why(2));
    let log = place.run_folder().join("trials/0002/machines/1/logs/server.txt");
    assert!(std::fs::read_to_string(log).expect("its log").contains("database system is ready"));
    assert!(why(3).contains("native machine trial-0003-2 ended"), "{}", why(3));
    finished_by_retrying(&place, &leftovers, 3, 2);
}

#[test]
fn a_guest_that_dies_fails_its_trial_and_leaves_its_console() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&small("sqlite", "384MiB", "").replace(NATIVE, TCG));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until("native: warm up");
    let mut leftovers = Leftovers::of(&place);
    leftovers.watch(&running);
    let guests = named(running.id(), Victim::Guest.words());
    assert_eq!(guests.len(), 1, "{}", running.told);
    send(guests[0], Signal::KILL);
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let Outcome::Failed { why, .. } = &place.record().trials[0].record.outcome else { panic!("{told}") };
    assert!(why.contains("SIGKILL"), "{why}");
    assert!(place.run_folder().join("trials/0001/logs/console.txt").exists());
    leftovers.none();
}

/// Checking may take an hour, and a machine that is alive gets that time: only silence ends it.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_guest_that_dies_or_hangs_in_any_phase_fails_its_trial_and_takes_the_other_along() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let blows: [Blow; 4] = [
        ("boot", &[2], Victim::Guest, Signal::KILL),
        ("warm up", &[1, 2], Victim::Guest, Signal::KILL),
        ("check", &[1], Victim::Guest, Signal::KILL),
        ("check", &[2], Victim::Guest, Signal::STOP),
    ];
    let place = Place::apart(&side_by_side(2, "sqlite", TCG, 4), "micro");
    let leftovers = struck(&place, &blows);
    others_ended_in_order(&place, &blows);
    let run = place.record();
    for (number, (trial, (_, machines, _, signal))) in (1..).zip(run.trials.iter().zip(&blows)) {
        let why = failed_for(trial, machines);
        // The machine that hangs may not have begun to check, or may already have been shutting down.
        let hangs = ["hangs", "did not answer within", "asked to power off"];
        let expected: &[&str] = if *signal == Signal::STOP { &hangs } else { &["SIGKILL"] };
        assert!(expected.iter().any(|words| why.contains(words)), "trial {number}: {why}");
        for machine in *machines {
            let console = place.run_folder().join(format!("trials/{number:04}/machines/{machine}/logs/console.txt"));
            assert!(console.exists(), "{} is missing", console.display());
        }
    }
    finished_by_retrying(&place, &leftovers, 4, 2);
}

#[test]
fn a_guest_that_never_boots_fails_its_trial_with_its_last_words_and_the_run_goes_on() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&small("sqlite", "512MiB", NO_SYSTEM_CALLS));
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("its console says: Kernel panic"), "{told}");
    let run = place.record();
    let of = |name: &str| run.trials.iter().map(|trial| &trial.record).find(|record| record.contender == name).unwrap();
    assert!(counts_or_was_starved(of("native")), "{told}");
    let Outcome::Failed { phase, why } = &of("broken").outcome else { panic!("{:?}", of("broken").outcome) };
    assert_eq!(phase, "boot");
    assert!(why.contains("Attempted to kill init"), "{why}");
    let console = place.run_folder().join(format!("trials/{:04}/logs/console.txt", of("broken").id));
    assert!(std::fs::read_to_string(console).unwrap().contains("Kernel panic"));
    Leftovers::of(&place).none();
}

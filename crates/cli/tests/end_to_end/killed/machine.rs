//! Something dies in a machine, in each phase that a machine has.

use super::{NATIVE, TCG, Victim, all_completed, failed_for, side_by_side, strike};
use crate::leftovers::Leftovers;
use crate::running::{Running, command_line};
use crate::setting::{Place, has_qemu, missing, text};
use record::trial::Outcome;
use rustix::process::Signal;

/// The trial, the phase that the first machine has to report before, the machines, and the victim in each.
type Blow = (u32, &'static str, &'static [u32], Victim);

/// Each trial gets one such kill, and nothing of it is left when the next one begins.
fn struck<'p>(place: &'p Place, blows: &[Blow]) -> (String, Leftovers<'p>) {
    let mut running = Running::begin(place, &["run", "study.toml"]);
    let mut leftovers = Leftovers::of(place);
    for (trial, phase, machines, victim) in blows {
        let said = |phase: &str| format!("trial {trial}/{}, block {trial}, native: {phase}", blows.len());
        running.until(&said("clone"));
        let before = format!("trial-{:04}", trial - 1);
        let left = running.descendants().into_iter().map(command_line).filter(|line| line.contains(&before));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new(), "of the trial before");
        running.until(&said(phase));
        leftovers.watch(&running);
        for machine in *machines {
            strike(&running, (*trial, *machine), *victim, Signal::KILL);
        }
    }
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    leftovers.none();
    (told, leftovers)
}

/// Machines that were not hit are not abandoned: each ends in order, with a record of its own.
fn others_ended_in_order(place: &Place, blows: &[Blow]) {
    for (trial, (_, _, struck, _)) in place.record().trials.iter().zip(blows) {
        for (number, machine) in (1..).zip(&trial.machines) {
            let is_in_order = match &machine.record.outcome {
                Outcome::Completed => true,
                Outcome::Failed { why, .. } => struck.contains(&number) || why.starts_with("given up, because another"),
                Outcome::Invalid { .. } => struck.contains(&number),
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
    assert_eq!(retried.status.code(), Some(0), "{}", text(&retried.stderr));
    all_completed(place, trials, machines);
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
    let blows: [Blow; 4] = [
        (1, "start", &[3], Victim::Agent),
        (2, "warm up", &[2], Victim::Backend),
        (3, "measure", &[1, 3], Victim::Agent),
        (4, "check", &[2], Victim::Server),
    ];
    let place = Place::apart(&side_by_side(3, "postgres", NATIVE, 4), "postgres");
    let (_, leftovers) = struck(&place, &blows);
    others_ended_in_order(&place, &blows);
    let run = place.record();
    let why = |trial: usize| failed_for(&run.trials[trial - 1], blows[trial - 1].2);
    assert!(why(1).contains("native machine trial-0001-3 ended"), "{}", why(1));
    // When one of its processes has died, the server ends all of them and starts again.
    assert!(!why(2).is_empty());
    assert!(why(3).contains("ended"), "{}", why(3));
    assert!(why(4).contains("PostgreSQL") && why(4).contains("SIGKILL"), "{}", why(4));
    let log = place.run_folder().join("trials/0004/machines/2/logs/server.txt");
    assert!(std::fs::read_to_string(log).expect("its log").contains("database system is ready"));
    finished_by_retrying(&place, &leftovers, 4, 3);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_guest_that_dies_in_any_phase_fails_its_trial_and_takes_the_other_along() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let blows: [Blow; 3] =
        [(1, "boot", &[2], Victim::Guest), (2, "warm up", &[1, 2], Victim::Guest), (3, "check", &[1], Victim::Guest)];
    let place = Place::apart(&side_by_side(2, "sqlite", TCG, 3), "micro");
    let (_, leftovers) = struck(&place, &blows);
    others_ended_in_order(&place, &blows);
    let run = place.record();
    for (trial, (number, _, machines, _)) in run.trials.iter().zip(&blows) {
        let why = failed_for(trial, machines);
        assert!(why.contains("SIGKILL"), "trial {number}: {why}");
        for machine in *machines {
            let console = place.run_folder().join(format!("trials/{number:04}/machines/{machine}/logs/console.txt"));
            assert!(console.exists(), "{} is missing", console.display());
        }
    }
    finished_by_retrying(&place, &leftovers, 3, 2);
}

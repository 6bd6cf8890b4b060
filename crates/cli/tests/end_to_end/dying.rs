//! Something dies in the middle, or never starts: a guest, a server, bakeoff itself. The trial says why, the next trial
//! runs, and nothing is left behind.

use crate::leftovers::Leftovers;
use crate::running::{Running, command_line};
use crate::runs::study;
use crate::setting::{Place, has_qemu, missing, text};
use record::trial::{Outcome, TrialRecord};
use rustix::process::{Pid, Signal, kill_process};

/// A kernel runs on this CPU, but the first program that makes a system call dies, and the guest with it.
const NO_SYSTEM_CALLS: &str = "[[contender]]\nname = \"broken\"\nplatform = { kind = \"qemu\", accelerator = \"tcg\", \
                               cpu = \"max,-syscall\" }\n";

fn outcome_of<'a>(place: &'a record::run::Run, contender: &str) -> Vec<&'a TrialRecord> {
    place.trials.iter().map(|trial| &trial.record).filter(|record| record.contender == contender).collect()
}

fn server(running: &Running) -> Pid {
    let is_server = |process: &&u32| command_line(**process).contains("bin/postgres\0-D");
    let descendants = running.descendants();
    let found = descendants.iter().find(is_server).expect("a server runs while it is measured");
    Pid::from_raw(i32::try_from(*found).unwrap()).unwrap()
}

#[test]
fn a_guest_that_never_boots_fails_its_trial_with_its_last_words_and_the_run_goes_on() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&study("sqlite", "512MiB", NO_SYSTEM_CALLS).replace("blocks = 2", "blocks = 1"));
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("its console says: Kernel panic"), "{told}");
    let run = place.record();
    assert_eq!(outcome_of(&run, "native")[0].outcome, Outcome::Completed);
    let broken = outcome_of(&run, "broken")[0];
    let Outcome::Failed { phase, why } = &broken.outcome else { panic!("{:?}", broken.outcome) };
    assert_eq!(phase, "boot");
    assert!(why.contains("Attempted to kill init"), "{why}");
    let console = place.run_folder().join(format!("trials/{:04}/logs/console.txt", broken.id));
    assert!(std::fs::read_to_string(console).unwrap().contains("Kernel panic"));
    Leftovers::of(&place).none();
}

#[test]
fn a_server_that_dies_fails_its_trial_with_its_log_and_the_run_goes_on() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&study("postgres", "1GiB", ""));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until("trial 1/2, block 1, native: measure");
    kill_process(server(&running), Signal::KILL).unwrap();
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let run = place.record();
    let [first, second] = outcome_of(&run, "native")[..] else { panic!("{told}") };
    let Outcome::Failed { phase, why } = &first.outcome else { panic!("{:?}", first.outcome) };
    assert_eq!(phase, "measure");
    assert!(why.contains("PostgreSQL") && why.contains("SIGKILL"), "{why}");
    let log = std::fs::read_to_string(place.run_folder().join("trials/0001/logs/server.txt")).unwrap();
    assert!(log.contains("database system is ready"), "{log}");
    assert_eq!(second.outcome, Outcome::Completed);
}

#[test]
fn a_killed_run_leaves_no_server_and_the_next_start_removes_the_rest() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::apart(&study("postgres", "1GiB", "").replace("blocks = 2", "blocks = 1"), "postgres");
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    let mut leftovers = Leftovers::of(&place);
    running.until("native: measure");
    leftovers.watch(&running);
    assert!(!leftovers.alive().is_empty(), "a run in the middle of a trial has started something");
    assert!(!leftovers.kept().is_empty(), "a run in the middle of a trial has made something");
    running.strike(Signal::KILL);
    running.end();
    leftovers.none_alive();
    let output = place.bakeoff(&["run", "study.toml", "--resume"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("left over from a run that was killed"), "{told}");
    leftovers.none();
    assert_eq!(place.record().trials[0].record.outcome, Outcome::Completed);
}

//! Trials with several machines, and machines with several databases, of which one fails.

use crate::ground::{Ran, failures, run, run_instances, run_within, short};
use crate::starved::counts_or_was_starved;
use record::run::{Run, StoredTrial};
use record::trial::Outcome;

#[test]
fn machines_are_driven_together() {
    let ran = run(&[""], 3);
    assert_eq!(ran.trials[0].outcome, Outcome::Completed, "{:?}", ran.trials[0].warnings);
}

#[test]
fn a_machine_that_dies_takes_the_others_along_wherever_that_is() {
    let requests = ["describe", "ready", "state", "check", "shutdown"];
    let scripts: Vec<String> = requests.iter().map(|request| format!("{request}:dies@2")).collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).chain([""]).collect();
    let ran = run(&scripts, 3);
    for (request, failure) in requests.iter().zip(failures(&ran)) {
        let (_, why) = failure.unwrap_or_else(|| panic!("dying at {request} is no failure"));
        assert!(why.starts_with("machine 2: ") && why.contains("exit status: 7"), "{request}: {why}");
    }
    let last = ran.trials.last().unwrap();
    assert!(counts_or_was_starved(last), "{:?}", last.outcome);
    assert!(ran.left.is_empty());
}

#[test]
fn a_machine_that_hangs_is_named() {
    let ran = run_within(&["ready:hangs@3"], 3, short());
    let (_, why) = failures(&ran)[0].clone().unwrap();
    assert!(why.starts_with("machine 3: "), "{why}");
    assert!(ran.left.is_empty());
}

/// The trials as an analysis reads them; this also checks that the record agrees with itself.
fn stored(ran: &Ran) -> Vec<StoredTrial> {
    let trials = Run::open(&ran.folder().join("run")).unwrap().trials;
    for trial in &trials {
        assert_eq!(trial.disagreements, [""; 0]);
    }
    trials
}

fn committed(trial: &StoredTrial) -> u64 {
    trial.record.driver.as_ref().unwrap().whole_run.iter().map(|kind| kind.committed).sum()
}

fn assert_whole(machine: &StoredTrial, clients: u32) {
    assert_eq!(machine.instances.len(), 2);
    for (own, number) in machine.instances.iter().zip(1..) {
        let driver = own.record.driver.as_ref().unwrap();
        assert_eq!((driver.clients, own.record.outcome.clone()), (clients / 2, Outcome::Completed));
        assert!(committed(own) > 0 && own.record.server.is_some() && own.looks.is_none(), "instance {number}");
        assert!(own.findings.iter().any(|finding| finding.name == "sysbench-oltp/constant-rows"), "instance {number}");
        assert!(own.findings.iter().all(|finding| !finding.is_violated()), "{:?}", own.findings);
    }
    let sum: u64 = machine.instances.iter().map(committed).sum();
    assert_eq!((committed(machine), machine.record.driver.as_ref().unwrap().clients), (sum, clients));
}

#[test]
fn databases_of_one_machine_are_driven_together_and_each_is_checked() {
    let ran = run_instances(&[""], 1, 2, "4");
    assert_eq!(ran.trials[0].outcome, Outcome::Completed, "{:?}", ran.trials[0].warnings);
    let trials = stored(&ran);
    assert_whole(&trials[0], 4);
    assert!(trials[0].record.machine.is_some() && trials[0].instances[0].record.machine.is_none());
    assert!(ran.left.is_empty());
}

#[test]
fn several_machines_of_several_databases_are_driven_together() {
    let ran = run_instances(&[""], 2, 2, "2");
    assert_eq!(ran.trials[0].outcome, Outcome::Completed, "{:?}", ran.trials[0].warnings);
    let trials = stored(&ran);
    trials[0].machines.iter().for_each(|machine| assert_whole(machine, 2));
    assert_eq!(committed(&trials[0]), trials[0].machines.iter().map(committed).sum::<u64>());
}

#[test]
fn a_peak_is_looked_for_with_as_many_clients_for_each_database() {
    let ran = run_instances(&[""], 1, 2, "peak");
    assert_eq!(ran.trials[0].outcome, Outcome::Completed, "{:?}", ran.trials[0].warnings);
    let trial = stored(&ran).remove(0);
    let ladder = trial.record.driver.as_ref().unwrap().ladder.clone().unwrap();
    assert!(ladder.rungs.iter().all(|rung| rung.clients % 2 == 0 && rung.clients <= 4), "{ladder:?}");
    assert_whole(&trial, ladder.chosen);
}

#[test]
fn a_database_that_fails_takes_its_trial_along_and_is_named() {
    let scripts = ["start-server:refuses#2", "check:refuses#2", "state:dies#2", "stop-server:lies#2", ""];
    let ran = run_instances(&scripts, 1, 2, "2");
    let failures = failures(&ran);
    let why = |trial: usize| failures[trial].clone().unwrap_or_else(|| panic!("{} is no failure", scripts[trial]));
    assert_eq!(why(0), ("start".to_owned(), "instance 2: no".to_owned()));
    assert_eq!(why(1), ("check".to_owned(), "instance 2: no".to_owned()));
    assert!(why(2).1.contains("exit status: 7"), "{:?}", why(2));
    assert!(why(3).1.contains("something else"), "{:?}", why(3));
    let last = ran.trials.last().unwrap();
    assert!(counts_or_was_starved(last), "{:?}", last.outcome);
    assert!(ran.left.is_empty());
    let log = ran.folder().join("run/trials/0001/instances/2/logs/server.txt");
    assert_eq!(std::fs::read_to_string(log).unwrap(), "why not");
}

//! Several machines in one trial, of which one fails.

use crate::ground::{failures, run, run_within, short};
use record::trial::Outcome;

#[test]
fn machines_are_driven_together() {
    let ran = run(&[""], 3);
    assert_eq!(ran.trials[0].outcome, Outcome::Completed, "{:?}", ran.trials[0].warnings);
}

#[test]
fn a_machine_that_dies_takes_the_others_along_wherever_that_is() {
    let requests = ["describe", "start-server", "ready", "tick", "state", "check", "shutdown"];
    let scripts: Vec<String> = requests.iter().map(|request| format!("{request}:dies@2")).collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).chain([""]).collect();
    let ran = run(&scripts, 3);
    for (request, failure) in requests.iter().zip(failures(&ran)) {
        let (_, why) = failure.unwrap_or_else(|| panic!("dying at {request} is no failure"));
        assert!(why.starts_with("machine 2: ") && why.contains("exit status: 7"), "{request}: {why}");
    }
    assert_eq!(ran.tallied.completed, 1, "the last trial is as it should be");
    assert!(ran.left.is_empty());
}

#[test]
fn a_machine_that_hangs_is_named() {
    let ran = run_within(&["ready:hangs@3"], 3, short());
    let (_, why) = failures(&ran)[0].clone().unwrap();
    assert!(why.starts_with("machine 3: "), "{why}");
    assert!(ran.left.is_empty());
}

//! One machine whose agent fails, hangs or lies at some message: its trial fails in that phase, and no other trial fails.

use crate::ground::{Ground, Ran, failures, phases, run, run_over_tcp, run_within, short};
use crate::starved::counts_or_was_starved;
use record::trial::Outcome;
use trial::limits::Limits;

fn assert_nothing_is_left(ran: &Ran) {
    assert_eq!(ran.left, Vec::<std::path::PathBuf>::new());
    let dead = std::fs::read_dir(ran.folder().join("run/trials")).unwrap().flatten();
    assert!(dead.count() >= ran.trials.len());
}

#[test]
fn a_trial_on_a_bare_process_is_a_whole_trial() {
    let ran = run(&[""], 1);
    let trial = &ran.trials[0];
    assert_eq!(trial.outcome, Outcome::Completed, "{:?}", trial.warnings);
    assert_eq!(ran.tallied.completed, 1);
    assert!(trial.driver.as_ref().unwrap().work.statements > 0);
    assert_eq!(phases(&ran).len(), 8, "{:?}", phases(&ran));
    let findings = std::fs::read_to_string(ran.folder().join("run/trials/0001/findings.json")).unwrap();
    assert!(findings.contains("holds") && !findings.contains("violated"), "{findings}");
    assert_nothing_is_left(&ran);
}

#[test]
fn a_trial_over_tcp_is_a_whole_trial_and_one_whose_agent_dies_fails() {
    let ran = run_over_tcp("", 2);
    let trial = &ran.trials[0];
    assert_eq!(trial.outcome, Outcome::Completed, "{:?}", trial.warnings);
    assert_eq!(phases(&ran).len(), 8, "{:?}", phases(&ran));
    assert_nothing_is_left(&ran);
    let ran = run_over_tcp("drive:dies", 1);
    let (at, why) = failures(&ran).remove(0).unwrap();
    assert!(at == "warm up" && why.contains("exit status: 7"), "{at}: {why}");
    assert_nothing_is_left(&ran);
}

/// Each request of a trial, and the phase in which it is made.
const REQUESTS: &[(&str, &str)] = &[
    ("clock", "boot"),
    ("describe", "boot"),
    ("start-server", "start"),
    ("counters", "start"),
    ("drive", "warm up"),
    ("state", "check"),
    ("check", "check"),
    ("stop-server", "shut down"),
    ("shutdown", "shut down"),
];

/// Fails at every request in turn, and finally at none.
fn fail_at_each(deed: &str, words: &str) {
    fail_at(REQUESTS, deed, words, Limits::default());
}

fn fail_at(requests: &[(&str, &str)], deed: &str, words: &str, limits: Limits) {
    let scripts: Vec<String> = requests.iter().map(|(request, _)| format!("{request}:{deed}")).collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).chain([""]).collect();
    let ran = run_within(&scripts, 1, limits);
    let failures = failures(&ran);
    for ((request, phase), failure) in requests.iter().zip(&failures) {
        let (at, why) = failure.as_ref().unwrap_or_else(|| panic!("{deed} at {request} is no failure"));
        assert_eq!(at, phase, "{deed} at {request}: {why}");
        assert!(why.contains(words), "{deed} at {request}: {why}");
    }
    assert_eq!(ran.trials.last().unwrap().outcome, Outcome::Completed, "the last one is as it should be");
    assert_nothing_is_left(&ran);
}

#[test]
fn an_agent_that_dies_fails_its_trial_alone() {
    fail_at_each("dies", "exit status: 7");
}

#[test]
fn an_agent_that_refuses_fails_its_trial_alone() {
    fail_at_each("refuses", "no");
}

/// The server's log is kept only if the server is running when a step fails, or was stopped in order.
#[test]
fn what_is_left_of_a_machine_is_kept_whichever_step_fails() {
    let requests = [
        ("clock", false),
        ("describe", false),
        ("start-server", false),
        ("counters", true),
        ("drive", true),
        ("state", true),
        ("check", true),
        ("stop-server", false),
        ("shutdown", true),
    ];
    let scripts: Vec<String> = requests.iter().map(|(request, _)| format!("{request}:lies")).collect();
    let ran = run(&scripts.iter().map(String::as_str).collect::<Vec<_>>(), 1);
    for ((request, with_log), trial) in requests.iter().zip(&ran.trials) {
        assert!(matches!(trial.outcome, Outcome::Failed { .. }), "{request}: {:?}", trial.outcome);
        let logs = ran.folder().join(format!("run/trials/{:04}/logs", trial.id));
        assert!(logs.join("console.txt").exists(), "{request}");
        assert_eq!(logs.join("server.txt").exists(), *with_log, "{request}");
    }
    assert_nothing_is_left(&ran);
}

#[test]
fn a_machine_that_does_not_start_fails_its_trial_alone() {
    let ran = run(&["greeting:dies", ""], 1);
    let (phase, why) = failures(&ran)[0].clone().unwrap();
    assert!(phase == "boot" && why.contains("exit status: 7"), "{phase}: {why}");
    assert!(counts_or_was_starved(&ran.trials[1]), "{:?}", ran.trials[1].outcome);
    assert_nothing_is_left(&ran);
}

#[test]
fn an_agent_that_hangs_is_given_up_within_its_limit() {
    let requests = [("clock", "boot"), ("start-server", "start"), ("check", "check")];
    fail_at(&requests, "hangs", "3s", short());
}

#[test]
fn an_agent_that_answers_something_else_is_not_believed() {
    fail_at_each("lies", "with something else");
}

#[test]
fn an_answer_to_what_was_never_asked_is_not_believed() {
    fail_at_each("miscounts", "a message about request");
}

#[test]
fn an_agent_that_speaks_no_language_fails_its_trial_alone() {
    fail_at_each("babbles", "out of step");
}

#[test]
fn an_agent_that_dies_while_load_is_driven_fails_its_trial_alone() {
    let ran = run(&["tick:dies", ""], 1);
    let (phase, why) = failures(&ran)[0].clone().unwrap();
    assert!(phase == "warm up" && why.contains("exit status: 7"), "{phase}: {why}");
    assert!(counts_or_was_starved(&ran.trials[1]), "{:?}", ran.trials[1].outcome);
    assert_nothing_is_left(&ran);
}

#[test]
fn a_machine_whose_clock_runs_wrong_is_started_again_and_then_given_up() {
    let ran = run(&["clock:runs-fast"], 1);
    let (phase, why) = failures(&ran)[0].clone().unwrap();
    assert!(phase == "start" && why.contains("clock"), "{phase}: {why}");
    let again = ran.trials[0].warnings.iter().filter(|warning| warning.starts_with("booted again")).count();
    assert_eq!((again, phases(&ran)["boot"]), (3, 4));
    assert_nothing_is_left(&ran);
}

#[test]
fn data_that_cannot_be_loaded_fail_the_trials_of_their_cell() {
    let ran = run(&["load:dies@loading"], 1);
    let (phase, why) = failures(&ran)[0].clone().unwrap();
    assert!(phase == "load" && why.contains("loading"), "{phase}: {why}");
    assert_nothing_is_left(&ran);
}

/// The data of these machines are on no disk, so an audit only says so.
#[test]
fn an_audit_that_is_asked_for_again_is_made_again() {
    let ground = Ground::sound(1, 1, Limits::default());
    let why = |ground: &Ground| ground.run.durability(0).unwrap().unwrap().not_audited.unwrap();
    ground.audit();
    assert!(why(&ground).contains("are on no disk of this host"), "{}", why(&ground));
    ground.audit();
    let earlier = std::fs::read_dir(ground.run.path().join("earlier")).unwrap();
    assert_eq!(earlier.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>(), ["durability-0000-1.json"]);
}

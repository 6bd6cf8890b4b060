//! The load generator, or its machine, stands still: what it measures then is its own pause. And a server of several is killed.

use super::{Stopped, for_a_while, named};
use crate::drive::bakeoff;
use crate::leftovers::Leftovers;
use crate::running::{Running, below, send};
use crate::runs::{at_an_easy_pace, small};
use crate::setting::{Place, has_qemu, missing};
use record::trial::Outcome;
use rustix::process::Signal;
use std::time::Duration;

/// A stop that covers half of the window.
const STOP: Duration = Duration::from_secs(2);

/// One trial of one contender with a window of four seconds.
fn one_trial(platform: &str) -> Place {
    let study = small("sqlite", "384MiB", "").replace("measure = \"1s\"", "measure = \"4s\"");
    Place::new(&at_an_easy_pace(&study).replace("{ kind = \"native\" }", platform))
}

/// Stops the process with this name in the middle of the window; returns what became of the trial.
fn stopped_in_the_window(platform: &str, words: &str) -> String {
    let place = one_trial(platform);
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until(": measure");
    let victims = named(running.id(), words);
    assert!(!victims.is_empty(), "no {words}:\n{}", running.told);
    for_a_while(Duration::from_millis(500));
    let stopped = Stopped::all(victims);
    for_a_while(STOP);
    drop(stopped);
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let Outcome::Invalid { why } = &place.record().trials[0].record.outcome else {
        panic!("{:?}", place.record().trials[0].record.outcome);
    };
    why.clone()
}

#[test]
fn an_agent_that_stands_still_is_no_result() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let why = stopped_in_the_window("{ kind = \"native\" }", "/run/bakeoff/agent\0agent\0");
    assert!(why.starts_with("the load generator stood still for"), "{why}");
}

#[test]
fn a_guest_that_stands_still_is_no_result() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let why = stopped_in_the_window("{ kind = \"qemu\", accelerator = \"tcg\" }", "qemu-system");
    assert!(why.starts_with("the load generator stood still for"), "{why}");
}

#[test]
fn a_driver_that_stands_still_is_no_result() {
    let told = driven_while(|driver| {
        let stopped = Stopped::all(vec![driver]);
        for_a_while(Duration::from_secs(1));
        drop(stopped);
    });
    assert!(told.contains("invalid: the load generator stood still for"), "{told}");
}

/// As a limit of 50 ms in each 250 ms does. No single piece is long.
#[test]
fn a_driver_that_stands_still_in_pieces_is_no_result() {
    let told = driven_while(|driver| {
        for _ in 0..4 {
            let stopped = Stopped::all(vec![driver]);
            for_a_while(Duration::from_millis(200));
            drop(stopped);
            for_a_while(Duration::from_millis(50));
        }
    });
    assert!(told.contains("that were measured, in pieces of less than half a second"), "{told}");
}

/// What a drive of three seconds tells, to whose process something is done after the first.
fn driven_while(what_is_done: impl Fn(u32)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let drive = |more: &[&str]| {
        let small = ["--set", "tables=1", "--set", "table_size=500", "--warmup", "0s", "--time", "3s"];
        bakeoff(folder.path(), &[&["drive", "sysbench-oltp", "sqlite:shop.db"], &small[..], more].concat())
    };
    assert!(drive(&["--steps", "load"]).output().unwrap().status.success());
    let mut running = Running::of(drive(&["--json"]));
    running.until(" 1 s ");
    what_is_done(running.id());
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    told
}

/// The trial of a machine with two databases fails by the name of the one whose server is gone.
#[test]
fn a_server_of_two_that_is_killed_fails_the_trial_by_name() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let why = why_without_its_last_server("instances = 2", 2);
    assert!(why.starts_with("instance 2: "), "{why}");
    let why = why_without_its_last_server("instances = 2\nshared_server = true", 1);
    assert!(why.starts_with("PostgreSQL failed: "), "both were on it: {why}");
}

/// The reason of the failure if the last of a machine's servers is killed.
fn why_without_its_last_server(databases: &str, servers: usize) -> String {
    let study = small("postgres", "1GiB", "").replace("measure = \"1s\"", "measure = \"8s\"");
    let place = Place::new(&study.replace("kind = \"postgres\"", &format!("kind = \"postgres\"\n{databases}")));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until(": measure");
    let mut left = Leftovers::of(&place);
    left.watch(&running);
    let all = postmasters(running.id());
    assert_eq!(all.len(), servers, "{}", running.told);
    send(all[servers - 1], Signal::KILL);
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let trial = &place.record().trials[0].record;
    let Outcome::Failed { why, .. } = &trial.outcome else { panic!("{:?}", trial.outcome) };
    left.none();
    why.clone()
}

/// The servers below this process. A child of a server has the server's command line until it sets its own.
fn postmasters(parent: u32) -> Vec<u32> {
    let all = named(parent, "/usr/lib/postgresql/15/bin/postgres\0");
    let children: Vec<u32> = all.iter().flat_map(|server| below(*server)).collect();
    all.into_iter().filter(|process| !children.contains(process)).collect()
}

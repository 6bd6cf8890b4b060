//! Runs that are stopped in the middle: nothing is lost, repeated or left behind.

use crate::leftovers::Leftovers;
use crate::running::Running;
use crate::runs::study;
use crate::setting::{Place, has_qemu, missing, text};
use record::trial::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

/// How often the run is killed.
const KILLS: u64 = 20;

/// Complete trials by id, with the bytes of their records: a repeated trial would have another start time.
fn complete(place: &Place) -> BTreeMap<u32, Vec<u8>> {
    let trials = place.run_folder().join("trials");
    let Ok(entries) = std::fs::read_dir(trials) else { return BTreeMap::new() };
    let of = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter_map(|path| Some((of(&path)?, std::fs::read(path.join("trial.json")).ok()?))).collect()
}

fn begin(place: &Place, resume: bool) -> Child {
    let mut arguments = vec!["run", "study.toml"];
    if resume {
        arguments.push("--resume");
    }
    place.command(&arguments).stderr(Stdio::piped()).spawn().expect("starting bakeoff")
}

/// Waits until the run has printed `lines` lines, then kills it. It waits for progress, not for time.
fn kill_after(mut child: Child, lines: u64, signal: Signal) -> (Option<i32>, String) {
    let said = BufReader::new(child.stderr.take().expect("its standard error"));
    let mut told = String::new();
    let mut sent = false;
    for (number, line) in (1_u64..).zip(said.lines().map_while(Result::ok)) {
        told.push_str(&line);
        told.push('\n');
        if number >= lines && !sent {
            sent = true;
            kill_process(Pid::from_child(&child), signal).expect("sending the signal");
        }
    }
    (child.wait().expect("its end").code(), told)
}

/// A fixed sequence that looks random, so that a failure can be reproduced.
fn scattered(number: u64, below: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) % below
}

#[test]
fn killing_a_run_twenty_times_loses_and_repeats_nothing() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let short = study("sqlite", "512MiB", "").replace("measure = \"3s\"", "measure = \"1s\"");
    let short = short.replace("blocks = 2", "blocks = 8");
    let place = Place::new(&short);
    // The data is loaded beforehand, so that the kills hit trials.
    let prepared = Place::new(&short.replace("blocks = 8", "blocks = 1"));
    assert_eq!(prepared.bakeoff(&["run", "study.toml"]).status.code(), Some(0));
    let mut seen = BTreeMap::new();
    for number in 0..KILLS {
        let resume = place.folder.path().join("runs").exists();
        // The first lines describe what will be measured; the run begins after them.
        kill_after(begin(&place, resume), 5 + scattered(number, 18), Signal::KILL);
        let now = complete(&place);
        for (id, record) in &seen {
            assert_eq!(now.get(id), Some(record), "trial {id} was lost or repeated by kill {number}");
        }
        seen = now;
    }
    let output = place.bakeoff(&["run", "study.toml", "--resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let run = place.record();
    assert_eq!(run.trials.iter().map(|trial| trial.record.id).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
    assert!(run.trials.iter().all(|trial| trial.record.outcome == Outcome::Completed));
    let now = complete(&place);
    for (id, record) in &seen {
        assert_eq!(now.get(id), Some(record), "trial {id} was repeated");
    }
    Leftovers::of(&place).none();
}

#[test]
fn a_guest_dies_with_the_run_that_started_it() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let vm = "[[contender]]\nname = \"vm\"\nplatform = { kind = \"qemu\", accelerator = \"tcg\" }\n";
    let place = Place::new(&study("sqlite", "512MiB", vm));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until("vm: warm up");
    let mut leftovers = Leftovers::of(&place);
    leftovers.watch(&running);
    assert!(!leftovers.alive().is_empty(), "a running guest is seen");
    running.strike(Signal::KILL);
    running.end();
    leftovers.none_alive();
}

#[test]
fn the_first_interrupt_finishes_the_trial_and_the_second_stops_it() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&study("sqlite", "512MiB", ""));
    let measuring = 10;
    let (code, told) = kill_after(begin(&place, false), measuring, Signal::INT);
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("finishing this trial"), "{told}");
    assert!(told.contains("report.html"), "{told}");
    let before = complete(&place);
    assert_eq!(before.len(), 1, "{told}");
    let (code, told) = kill_after(begin(&place, true), 5, Signal::TERM);
    assert_eq!(code, Some(130), "{told}");
    assert_eq!(complete(&place), before, "a stopped trial must not count as complete");
    let output = place.bakeoff(&["run", "study.toml", "--resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(complete(&place).len(), 2);
    assert_eq!(complete(&place)[&1], before[&1]);
}

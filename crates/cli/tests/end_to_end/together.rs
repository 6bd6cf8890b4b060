//! Trials of several machines side by side.

use crate::leftovers::Leftovers;
use crate::runs::study;
use crate::setting::{Place, has_qemu, missing, text};
use record::facts::Fact;
use record::rotation::Rotation;
use record::run::StoredTrial;
use record::trial::Outcome;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// `count` machines with one vCPU each, possibly more than this host has CPUs.
fn side_by_side(count: u32, platform: &str) -> String {
    let machine = format!("count = {count}\noversubscribe = true\nvcpus = 1");
    let own = study("sqlite", "384MiB", "").replace("vcpus = 1", &machine).replace("blocks = 2", "blocks = 1");
    own.replace("platform = { kind = \"native\" }", platform)
}

fn runs(study: &str) -> Place {
    let place = Place::new(study);
    let output = place.bakeoff(&["run", "study.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    place
}

/// Each machine has a complete record and did its own work.
fn each_is_whole(trial: &StoredTrial, count: usize) {
    assert_eq!(trial.record.outcome, Outcome::Completed);
    assert_eq!(trial.machines.len(), count);
    let mut done = BTreeSet::new();
    for machine in &trial.machines {
        assert_eq!(machine.record.outcome, Outcome::Completed);
        assert!(machine.findings.len() >= 12, "only {} data checks", machine.findings.len());
        assert!(machine.findings.iter().all(|finding| !finding.is_violated()), "{:?}", machine.findings);
        assert_eq!(machine.telemetry.len(), 2);
        let driver = machine.record.driver.as_ref().expect("it was driven");
        assert!(driver.kinds.iter().any(|kind| kind.committed > 0), "{driver:?}");
        let files = machine.record.machine.as_ref().expect("facts").command_line.join(" ");
        done.insert((format!("{:?} {:?}", driver.kinds, driver.tally), files));
    }
    assert_eq!(done.len(), count, "machines did the same, or are the same: {done:?}");
    let sum: u64 =
        trial.machines.iter().flat_map(|machine| &machine.record.driver).map(|driver| driver.work.transactions).sum();
    assert_eq!(trial.record.driver.as_ref().expect("composed").work.transactions, sum);
}

/// Each machine's place and start order in the record are what the block plans.
fn changes_places_and_starts_as_planned(trial: &StoredTrial, count: u32) {
    let rotation = Rotation::of_block(trial.record.block, count);
    for (number, machine) in (1..).zip(&trial.machines) {
        let decided = &machine.record.machine.as_ref().expect("facts").decided;
        let is = |name: &str, expected: u32| assert_eq!(decided.get(name), Some(&Fact::known(expected.to_string())));
        is("place", rotation.place(number, count));
        is("start order", rotation.start(number, count));
    }
}

#[test]
fn three_native_machines_are_driven_together() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let study = side_by_side(3, "platform = { kind = \"native\" }");
    let place = runs(&study.replace("blocks = 1", "blocks = 3").replace("measure = \"3s\"", "measure = \"1s\""));
    let run = place.record();
    assert_eq!(run.trials.len(), 3);
    for trial in &run.trials {
        each_is_whole(trial, 3);
        changes_places_and_starts_as_planned(trial, 3);
    }
    let markdown = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    assert!(markdown.contains("minimum of 3"), "{markdown}");
}

#[test]
fn two_guests_are_driven_together() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = runs(&side_by_side(2, "platform = { kind = \"qemu\", accelerator = \"tcg\" }"));
    each_is_whole(&place.record().trials[0], 2);
}

/// The second guest of a trial is killed during the measurement.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_guest_that_dies_fails_its_trial_and_takes_the_others_along() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let long = side_by_side(3, "platform = { kind = \"qemu\", accelerator = \"tcg\" }");
    let place = Place::new(&long.replace("measure = \"3s\"", "measure = \"10m\""));
    let mut run = place.command(&["run", "study.toml"]).stderr(Stdio::piped()).spawn().expect("running bakeoff");
    let mut told = String::new();
    for line in BufReader::new(run.stderr.take().expect("its progress")).lines().map_while(Result::ok) {
        if line.ends_with(": measure") {
            kill_guest("trial-0001-2", run.id());
        }
        told.push_str(&line);
        told.push('\n');
    }
    assert_eq!(run.wait().expect("its end").code(), Some(4), "{told}");
    let trial = &place.record().trials[0];
    let Outcome::Failed { why, .. } = &trial.record.outcome else { panic!("{:?}", trial.record.outcome) };
    assert!(why.starts_with("machine 2: "), "{why}");
    Leftovers::of(&place).none();
}

/// Kills the QEMU with this name below a process.
fn kill_guest(name: &str, owner: u32) {
    let listed = Command::new("ps").args(["-e", "-o", "pid=,args="]).output().expect("ps");
    let listed = text(&listed.stdout);
    let named = format!("bakeoff-{name},");
    let pid = listed.lines().filter(|line| line.contains(&named)).find_map(|line| {
        let pid: u32 = line.split_whitespace().next()?.parse().ok()?;
        is_below(pid, owner).then_some(pid)
    });
    let pid = pid.unwrap_or_else(|| panic!("no {named} below {owner}:\n{listed}"));
    let killed = Command::new("kill").args(["-KILL", &pid.to_string()]).status().expect("kill");
    assert!(killed.success());
}

fn is_below(mut process: u32, owner: u32) -> bool {
    while process > 1 {
        if process == owner {
            return true;
        }
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
        process = parent.unwrap_or(0);
    }
    false
}

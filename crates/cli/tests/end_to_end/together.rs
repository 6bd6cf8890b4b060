//! Trials of several machines side by side.

use crate::runs::{at_an_easy_pace, small};
use crate::setting::{NOT_USABLE, Place, has_qemu, missing, text};
use crate::starved::counts_or_was_starved;
use record::facts::Fact;
use record::rotation::Rotation;
use record::run::StoredTrial;
use std::collections::BTreeSet;

/// `count` machines with one vCPU each, possibly more than this host has CPUs.
fn side_by_side(count: u32, platform: &str) -> String {
    let machine = format!("count = {count}\noversubscribe = true\nvcpus = 1");
    let own = small("sqlite", "384MiB", "").replace("vcpus = 1", &machine);
    own.replace("platform = { kind = \"native\" }", platform)
}

fn runs(study: &str) -> Place {
    let place = Place::new(study);
    let output = place.bakeoff(&["run", "study.toml"]);
    assert!(matches!(output.status.code(), Some(0 | 4) | NOT_USABLE), "{}", text(&output.stderr));
    place
}

/// Each machine has a complete record and did its own work.
fn each_is_whole(trial: &StoredTrial, count: usize) {
    assert!(counts_or_was_starved(&trial.record), "{:?}", trial.record.outcome);
    assert_eq!(trial.machines.len(), count);
    let mut done = BTreeSet::new();
    for machine in &trial.machines {
        assert!(counts_or_was_starved(&machine.record), "{:?}", machine.record.outcome);
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
    let place = runs(&at_an_easy_pace(&study).replace("blocks = 1", "blocks = 3"));
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
#[ignore = "slow: cargo xtask ci --full"]
fn two_guests_are_driven_together() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let study = side_by_side(2, "platform = { kind = \"qemu\", accelerator = \"tcg\" }");
    let place = runs(&study.replace("measure = \"1s\"", "measure = \"8s\""));
    each_is_whole(&place.record().trials[0], 2);
}

//! The conductor is killed, once while load is driven, or again and again at scattered points, and the run is still finished.

use super::{NATIVE, TCG, all_have_results, side_by_side};
use crate::leftovers::Leftovers;
use crate::running::Running;
use crate::runs::{small, with_time};
use crate::setting::{NOT_USABLE, Place, has_qemu, missing, text};
use record::trial::Outcome;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::path::Path;

/// The most inspections of what the run has started between its output and the kill.
const LOOKS: u64 = 400;

/// Numbers that look random but are the same every time, so that a failure can be reproduced.
fn scattered(number: u64, below: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) % below
}

/// Records of complete trials by id. A repeated trial would have a different record.
pub fn complete(place: &Place) -> BTreeMap<u32, Vec<u8>> {
    let Some(run) = place.begun_run() else { return BTreeMap::new() };
    let of = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let entries = std::fs::read_dir(run.join("trials")).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter_map(|path| Some((of(&path)?, std::fs::read(path.join("trial.json")).ok()?))).collect()
}

/// Begins a run, or resumes the existing one.
fn arguments(place: &Place) -> &'static [&'static str] {
    if place.begun_run().is_some() { &["run", "study.toml", "--resume"] } else { &["run", "study.toml"] }
}

/// Kills runs of one place. Nothing that only the kernel can undo may be left, and nothing complete may be lost. The
/// last run is not killed and finishes all.
fn killed_over_and_over(place: &Place, kills: std::ops::Range<u64>, lines: u64, machines: usize) {
    let mut seen = BTreeMap::new();
    let mut leftovers = Leftovers::of(place);
    for number in kills {
        let mut running = Running::begin(place, arguments(place));
        running.until_lines(usize::try_from(1 + scattered(number, lines)).expect("few"));
        for _ in 0..scattered(number + 1_000, LOOKS) {
            leftovers.watch(&running);
        }
        running.strike(Signal::KILL);
        running.end();
        leftovers.none_alive();
        let now = complete(place);
        for (id, record) in &seen {
            assert_eq!(now.get(id), Some(record), "trial {id} was lost or repeated by kill {number}");
        }
        seen = now;
    }
    let output = place.bakeoff(arguments(place));
    all_have_results(place, &output, 2, machines);
    for (id, record) in &seen {
        assert_eq!(complete(place).get(id), Some(record), "trial {id} was repeated");
    }
    leftovers.none();
}

/// Data are loaded, cloned three times, and driven by servers in processes of their own.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_conductor_that_is_killed_twenty_times_leaves_no_native_machine_and_the_run_is_finished() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::apart(&side_by_side(3, "postgres", NATIVE, 2), "postgres");
    killed_over_and_over(&place, 0..20, 12, 3);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_conductor_that_is_killed_leaves_no_guest_and_the_run_is_finished() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::apart(&side_by_side(2, "sqlite", TCG, 2), "micro");
    killed_over_and_over(&place, 100..105, 12, 2);
}

/// Kills a run when it prints these words.
fn killed_at(place: &Place, words: &str) {
    let mut running = Running::begin(place, arguments(place));
    let mut leftovers = Leftovers::of(place);
    running.until(words);
    leftovers.watch(&running);
    assert!(!leftovers.alive().is_empty(), "a run in the middle of a trial has started something");
    assert!(!leftovers.kept().is_empty(), "a run in the middle of a trial has made something");
    running.strike(Signal::KILL);
    running.end();
    leftovers.none_alive();
}

#[test]
fn a_killed_run_leaves_no_server_and_the_next_start_removes_the_rest() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place =
        Place::apart(&with_time(&small("postgres", "512MiB", "")).replace("blocks = 1", "blocks = 2"), "postgres");
    killed_at(&place, "trial 2/2, block 2, native: measure");
    let before = complete(&place);
    let output = place.bakeoff(&["run", "study.toml", "--resume"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), NOT_USABLE, "{told}");
    assert!(told.contains("left over from a run that was killed"), "{told}");
    Leftovers::of(&place).none();
    assert!(place.record().trials.iter().all(|trial| trial.record.outcome == Outcome::Completed), "{told}");
    assert_eq!((before.len(), &complete(&place)[&1]), (1, &before[&1]), "a trial was lost or repeated");
}

#[test]
fn a_guest_dies_with_the_run_that_started_it() {
    if missing("qemu", has_qemu()) {
        return;
    }
    killed_at(&Place::new(&small("sqlite", "384MiB", "").replace(NATIVE, TCG)), "native: warm up");
}

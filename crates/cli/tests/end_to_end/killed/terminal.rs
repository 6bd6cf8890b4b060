//! Runs that are stopped by SIGTERM, or at a terminal, where Ctrl-C goes to the whole foreground group.

use super::{NATIVE, TCG, all_completed, side_by_side};
use crate::leftovers::Leftovers;
use crate::running::Running;
use crate::setting::{Place, has_qemu, missing, text};
use record::trial::Outcome;
use rustix::process::Signal;

const STOPPED: Option<i32> = Some(130);

fn resumed(place: &Place, leftovers: &Leftovers<'_>, machines: usize) {
    let output = place.bakeoff(&["run", "study.toml", "--resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    all_completed(place, 2, machines);
    leftovers.none();
}

/// Neither guests nor servers may receive what is typed for the conductor.
fn typed_once_the_trial_is_finished(place: &Place, machines: usize) {
    let mut running = Running::begin(place, &["run", "study.toml"]);
    let mut leftovers = Leftovers::of(place);
    running.until(": measure");
    leftovers.watch(&running);
    running.strike_group(Signal::INT);
    let (code, told) = running.end();
    assert_eq!(code, STOPPED, "{told}");
    leftovers.none();
    let run = place.record();
    assert_eq!(run.trials.len(), 1, "{told}");
    assert_eq!(run.trials[0].record.outcome, Outcome::Completed, "{told}");
    resumed(place, &leftovers, machines);
}

/// The trial is given up immediately and is not complete.
fn stopped_now(place: &Place, phase: &str, blow: impl FnOnce(&mut Running)) {
    let mut running = Running::begin(place, &["run", "study.toml"]);
    let mut leftovers = Leftovers::of(place);
    running.until(&format!(": {phase}"));
    leftovers.watch(&running);
    blow(&mut running);
    let (code, told) = running.end();
    assert_eq!(code, STOPPED, "{told}");
    assert!(told.contains("stopped in phase"), "{told}");
    leftovers.none();
    assert_eq!(place.record().trials.len(), 0, "{told}");
    let partial = place.run_folder().join("trials/0001/interrupted.json");
    assert!(partial.exists(), "{told}");
}

#[test]
fn an_interrupt_typed_at_a_terminal_lets_native_machines_finish_their_trial() {
    if missing("qemu", has_qemu()) {
        return;
    }
    typed_once_the_trial_is_finished(&Place::apart(&side_by_side(3, "postgres", NATIVE, 2), "postgres"), 3);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn an_interrupt_typed_at_a_terminal_lets_guests_finish_their_trial() {
    if missing("qemu", has_qemu()) {
        return;
    }
    typed_once_the_trial_is_finished(&Place::apart(&side_by_side(2, "sqlite", TCG, 2), "micro"), 2);
}

#[test]
fn a_second_interrupt_or_a_polite_request_stops_all_machines_now() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let long = |study: String| study.replace("measure = \"", "measure = \"10m\" # ");
    let native = Place::apart(&long(side_by_side(3, "postgres", NATIVE, 2)), "postgres");
    stopped_now(&native, "measure", |running| {
        running.strike_group(Signal::INT);
        running.until("once more to stop now");
        running.strike_group(Signal::INT);
    });
    let guests = Place::apart(&long(side_by_side(2, "sqlite", TCG, 2)), "micro");
    stopped_now(&guests, "boot", |running| running.strike(Signal::TERM));
}

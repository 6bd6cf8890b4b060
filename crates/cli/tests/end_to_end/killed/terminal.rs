//! Runs that are stopped at a terminal, where Ctrl-C and the terminal's end go to the whole foreground group.

use super::conductor::complete;
use super::{NATIVE, TCG, all_have_results, side_by_side};
use crate::leftovers::Leftovers;
use crate::running::Running;
use crate::setting::{Place, has_qemu, missing};
use rustix::process::Signal;

const STOPPED: Option<i32> = Some(130);

/// A signal, and how a run replies to it.
type Typed = (Signal, &'static str);

const ONCE: Typed = (Signal::INT, "once more to stop now");
const TWICE: &[Typed] = &[ONCE, (Signal::INT, "stopped in phase")];
/// Nobody is left who could type it twice.
const CLOSED: &[Typed] = &[(Signal::HUP, "stopped in phase")];

/// Begins or resumes a run, and sends each signal in its measured window, until the run has replied.
fn typed<'p>(place: &'p Place, arguments: &[&str], signals: &[Typed]) -> (Leftovers<'p>, String) {
    let mut running = Running::begin(place, arguments);
    let mut leftovers = Leftovers::of(place);
    running.until(": measure");
    leftovers.watch(&running);
    for (signal, reply) in signals {
        running.strike_group(*signal);
        running.until(reply);
    }
    let (code, told) = running.end();
    assert_eq!(code, STOPPED, "{told}");
    leftovers.none();
    (leftovers, told)
}

/// Neither guests nor servers may receive what is typed for the conductor: the trial is finished. Stopped at once, it is given
/// up and is not complete.
fn interrupted(place: &Place, machines: usize, at_once: &[Typed]) {
    let (_, told) = typed(place, &["run", "study.toml"], &[ONCE]);
    assert!(told.contains("finishing this trial") && told.contains("report.html"), "{told}");
    let before = complete(place);
    assert_eq!(before.len(), 1, "{told}");
    let resume = ["run", "study.toml", "--resume"];
    let (leftovers, told) = typed(place, &resume, at_once);
    assert_eq!(complete(place), before, "a stopped trial must not count as complete: {told}");
    assert!(place.run_folder().join("trials/0002/interrupted.json").exists(), "{told}");
    let output = place.bakeoff(&resume);
    all_have_results(place, &output, 2, machines);
    assert_eq!(complete(place)[&1], before[&1]);
    leftovers.none();
}

#[test]
fn an_interrupt_typed_at_a_terminal_lets_native_machines_finish_their_trial_and_its_end_stops_them() {
    if missing("qemu", has_qemu()) {
        return;
    }
    interrupted(&Place::apart(&side_by_side(2, "postgres", NATIVE, 2), "postgres"), 2, CLOSED);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn an_interrupt_typed_at_a_terminal_lets_guests_finish_their_trial_and_a_second_stops_them() {
    if missing("qemu", has_qemu()) {
        return;
    }
    interrupted(&Place::apart(&side_by_side(2, "sqlite", TCG, 2), "micro"), 2, TWICE);
}

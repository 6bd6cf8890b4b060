//! A machine that hangs instead of dying is detected by its silence, whatever it was asked to do.

use super::{TCG, Victim, failed_for, side_by_side, strike};
use crate::leftovers::Leftovers;
use crate::running::Running;
use crate::setting::{Place, has_qemu, missing};
use rustix::process::Signal;

/// Checking may take an hour, and a machine that is alive gets that time.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_guest_that_hangs_while_data_are_checked_fails_its_trial() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::apart(&side_by_side(2, "sqlite", TCG, 1), "micro");
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    let mut leftovers = Leftovers::of(&place);
    running.until(": check");
    leftovers.watch(&running);
    strike(&running, (1, 2), Victim::Guest, Signal::STOP);
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let why = failed_for(&place.record().trials[0], &[2]);
    // The second machine may not have begun to check, or may already have been shutting down.
    let expected = ["hangs", "did not answer within", "asked to power off"];
    assert!(expected.iter().any(|words| why.contains(words)), "{why}");
    leftovers.none();
}

//! What the user asked for in the middle of a run.

use std::sync::atomic::{AtomicU8, Ordering};

/// Raised by the signal handler of the command line, read by the conductor while it waits.
#[derive(Debug, Default)]
pub struct Interrupts(AtomicU8);

impl Interrupts {
    /// First time: finish the trial and report. Second time: stop now.
    pub fn raise(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// No further trial is to be started.
    pub fn after_this_trial(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// The trial that runs is to be given up.
    pub fn now(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}

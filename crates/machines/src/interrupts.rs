//! Requests of the user to stop in the middle of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Raised by the command line's signal handler, read by whatever waits. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Interrupts(Arc<AtomicU8>);

impl Interrupts {
    /// The first call means: finish the trial and report. The second means: stop now.
    pub fn raise(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// True if no further trial may start.
    pub fn after_this_trial(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// True if the current trial must be given up.
    pub fn now(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}

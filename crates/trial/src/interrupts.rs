//! Requests to stop: by the user in the middle of a run, or by another machine of the trial.

use crate::conversation::AskError;
use crate::rendezvous::Rendezvous;
use std::sync::atomic::{AtomicU8, Ordering};

/// Raised by the command line's signal handler, read by the conductor while it waits.
#[derive(Debug, Default)]
pub struct Interrupts(AtomicU8);

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

/// Who may ask for the current work to be given up: the user, or a failed machine of the same trial.
#[derive(Debug, Clone, Copy)]
pub struct Halt<'a> {
    pub interrupts: &'a Interrupts,
    /// `None` if the machine is the only one.
    pub others: Option<&'a Rendezvous>,
}

impl<'a> Halt<'a> {
    pub fn by_user(interrupts: &'a Interrupts) -> Self {
        Self { interrupts, others: None }
    }

    pub fn now(&self) -> bool {
        self.interrupts.now() || self.is_for_others()
    }

    /// The reason, as an error.
    pub fn reason(&self) -> AskError {
        if self.is_for_others() { AskError::OthersFailed } else { AskError::Interrupted }
    }

    /// True if another machine failed and the user did not ask to stop.
    pub fn is_for_others(&self) -> bool {
        !self.interrupts.now() && self.others.is_some_and(Rendezvous::is_given_up)
    }
}

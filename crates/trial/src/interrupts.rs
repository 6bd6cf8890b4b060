//! What the user asked for in the middle of a run, and who else may want a trial to be given up.

use crate::conversation::AskError;
use crate::rendezvous::Rendezvous;
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

/// Who may want what is going on to be given up: the user, or another machine of the same trial that cannot go on.
#[derive(Debug, Clone, Copy)]
pub struct Halt<'a> {
    pub interrupts: &'a Interrupts,
    /// None where a machine is alone.
    pub others: Option<&'a Rendezvous>,
}

impl<'a> Halt<'a> {
    pub fn by_user(interrupts: &'a Interrupts) -> Self {
        Self { interrupts, others: None }
    }

    pub fn now(&self) -> bool {
        self.interrupts.now() || self.is_for_others()
    }

    /// In the words of an error.
    pub fn reason(&self) -> AskError {
        if self.is_for_others() { AskError::OthersFailed } else { AskError::Interrupted }
    }

    /// The user does not want it, but another machine failed.
    pub fn is_for_others(&self) -> bool {
        !self.interrupts.now() && self.others.is_some_and(Rendezvous::is_given_up)
    }
}

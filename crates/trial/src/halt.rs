//! Requests to give up the current work.

use crate::rendezvous::Rendezvous;
use machines::interrupts::Interrupts;

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

    /// True if another machine failed and the user did not ask to stop.
    pub fn is_for_others(&self) -> bool {
        !self.interrupts.now() && self.others.is_some_and(Rendezvous::is_given_up)
    }
}

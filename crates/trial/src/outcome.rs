//! The outcome of a trial, and of two outcomes the graver.

use crate::conversation::AskError;
use crate::error::AttemptError;
use agent::protocol::Failure;
use machines::machine::MachineError;
use record::phase::Phase;
use record::trial::Outcome;

/// The outcome of a trial that ended with this error, on a machine with so many databases.
pub(crate) fn of_error(error: &AttemptError, phase: Phase, databases: usize) -> Outcome {
    let phase = phase.to_string();
    match error {
        AttemptError::Machine(MachineError::Unavailable { why }) => Outcome::Skipped { why: why.clone() },
        AttemptError::Ask(AskError::Interrupted) => Outcome::Interrupted { phase },
        AttemptError::Ask(AskError::Refused(Failure { why, instance: Some(instance), .. })) if databases > 1 => {
            Outcome::Failed { phase, why: format!("instance {}: {why}", u32::from(*instance) + 1) }
        }
        AttemptError::LoadHost { host, error } => match &**error {
            AttemptError::Machine(MachineError::Unavailable { why }) => {
                Outcome::Skipped { why: format!("the load host {host}: {why}") }
            }
            // Without one of them, less was asked of the database than the study says.
            AttemptError::Ask(AskError::Link(_)) | AttemptError::Machine(_) => {
                Outcome::Invalid { why: format!("the load host {host} was lost: {error}") }
            }
            _ => Outcome::Failed { phase, why: format!("load host {host}: {error}") },
        },
        error => Outcome::Failed { phase, why: error.to_string() },
    }
}

/// Ranks outcomes: the highest counts for all machines. A failure because of another machine ranks below its cause.
pub(crate) fn severity(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Completed => 0,
        Outcome::Invalid { .. } => 1,
        Outcome::Failed { why, .. } if *why == AskError::OthersFailed.to_string() => 2,
        Outcome::Skipped { .. } => 3,
        Outcome::Failed { .. } => 4,
        Outcome::Interrupted { .. } => 5,
    }
}

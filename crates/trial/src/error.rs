//! What can go wrong with a trial.

use crate::conversation::AskError;
use crate::unfit::Unfit;
use driver::error::DriveError;
use machines::limits;
use machines::link::LinkError;
use machines::machine::{MachineError, last_words};
use platforms::capabilities::{Capabilities, DataHome, ImageUse};
use record::error::RecordError;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum AttemptError {
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("cloning the data disk: {0}")]
    Data(#[from] images::data::DataError),
    /// Whatever failed, a host without room says nothing about a contender.
    #[error("{why}; {full}")]
    HostFull { why: String, full: images::data::DataError },
    /// A host limit that was met says nothing about a contender either.
    #[error("{why}; {limit}")]
    HostLimit { why: String, limit: String },
    /// The machine did not say goodbye; its output may say why.
    #[error("{error}; {}", last_words(.console))]
    BrokenOff { error: LinkError, console: String },
    #[error("{0}")]
    WrongClock(String),
    #[error("{0}")]
    Drive(#[from] DriveError),
    #[error("{0}")]
    Away(String),
    #[error("making a folder in the run's scratch folder: {0}")]
    Scratch(#[source] std::io::Error),
    #[error("finding a free port for the server: {0}")]
    Port(#[source] std::io::Error),
    #[error("the platform offers no way from the host to a server in its machine; use placement = \"inside\"")]
    NoWayIn,
    #[error("no number of clients is within the limits of load.peak: with a single one {0}")]
    NoPeak(&'static str),
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("load host {host}: {error}")]
    LoadHost { host: String, error: Box<AttemptError> },
}

/// The result of a step of a trial.
pub(crate) type StepResult<T = ()> = Result<T, AttemptError>;

impl AttemptError {
    /// `Ok` for an error of this trial alone. `Err` if it ends the run: no record, no room, a host limit met or a missing tool.
    pub fn unless_of_the_run(self, folder: &Path, can: Capabilities) -> Result<Self, Self> {
        match self {
            Self::Record(_) | Self::Machine(MachineError::MissingTool { .. }) => Err(self),
            Self::Data(error) if error.is_full_host() => Err(error.into()),
            // These two say nothing about the host.
            Self::Machine(MachineError::Unavailable { .. }) | Self::Ask(AskError::Interrupted) => Ok(self),
            error => error.unless_of_the_host(folder, can),
        }
    }

    /// Becomes an error of the host if this folder has no room or one of the host's limits was met. An agent's report
    /// of a limit concerns the host only if that agent runs on the host's kernel.
    fn unless_of_the_host(self, folder: &Path, can: Capabilities) -> Result<Self, Self> {
        let why = self.to_string();
        if let Err(full) = images::data::require_room_in(folder) {
            return Err(Self::HostFull { why, full });
        }
        let is_of_a_guest = matches!(self, Self::Ask(AskError::Refused(_))) && can.image != ImageUse::Tree;
        let limit = match &self {
            Self::LoadHost { error, .. } => limits::met_here(&**error),
            error if can.data == DataHome::Elsewhere => limits::met_here(error),
            _ => limits::met(&why).filter(|_| !is_of_a_guest),
        };
        match limit {
            Some(limit) => Err(Self::HostLimit { why, limit }),
            None => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::protocol::Failure;

    #[test]
    fn a_limit_met_on_another_host_does_not_end_the_run() {
        let refused = || {
            let why = "opening session 7: Too many open files (os error 24)".to_owned();
            AttemptError::from(AskError::Refused(Failure { why, instance: None, log: String::new() }))
        };
        let ends = |error: AttemptError, data| {
            let can = Capabilities { image: ImageUse::Tree, data, ..Capabilities::default() };
            error.unless_of_the_run(Path::new("/"), can).is_err()
        };
        assert!(ends(refused(), DataHome::Disk));
        assert!(!ends(refused(), DataHome::Elsewhere));
        let of_load_host = AttemptError::LoadHost { host: "b".to_owned(), error: Box::new(refused()) };
        assert!(!ends(of_load_host, DataHome::Disk));
    }
}

//! What can go wrong with a trial.

use crate::conversation::AskError;
use crate::existing::Unfit;
use driver::plan::DriveError;
use machines::limits;
use machines::link::LinkError;
use machines::machine::{MachineError, last_words};
use record::folder::RecordError;
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
    /// Nor does a limit that it was started with.
    #[error("{why}; {limit}")]
    HostLimit { why: String, limit: String },
    /// The machine did not say goodbye; what it printed may tell why.
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
}

impl AttemptError {
    /// This error as one of the trial alone, unless it ends the run: a disk that is full or gone, or a missing tool.
    pub fn unless_of_the_run(self, folder: &Path, platform: &str) -> Result<Self, Self> {
        match self {
            Self::Record(_) | Self::Machine(MachineError::MissingTool { .. }) => Err(self),
            Self::Data(error) if error.is_full_host() => Err(error.into()),
            // Neither says anything about the host.
            Self::Machine(MachineError::Unavailable { .. }) | Self::Ask(AskError::Interrupted) => Ok(self),
            error => error.unless_of_the_host(folder, platform),
        }
    }

    /// This error, or one of the host, if it has no room in this folder or one of its limits was met. What an agent says of a limit
    /// is of the host on the platform that runs on it.
    fn unless_of_the_host(self, folder: &Path, platform: &str) -> Result<Self, Self> {
        let why = self.to_string();
        if let Err(full) = images::data::require_room_in(folder) {
            return Err(Self::HostFull { why, full });
        }
        let is_of_a_guest = matches!(self, Self::Ask(AskError::Refused(_))) && platform != "native";
        match limits::met(&why).filter(|_| !is_of_a_guest) {
            Some(limit) => Err(Self::HostLimit { why, limit }),
            None => Ok(self),
        }
    }
}

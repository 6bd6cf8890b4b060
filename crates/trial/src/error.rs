//! What can go wrong with a trial.

use crate::conversation::AskError;
use driver::plan::DriveError;
use machines::link::LinkError;
use machines::machine::{MachineError, last_words};
use record::folder::RecordError;

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
    /// The machine did not say goodbye; what it printed may tell why.
    #[error("{error}; {}", last_words(.console))]
    BrokenOff { error: LinkError, console: String },
    #[error("{0}")]
    WrongClock(String),
    #[error("{0}")]
    Drive(#[from] DriveError),
    #[error("removing the data disk of a guest that is booted again: {0}")]
    Leftover(#[source] std::io::Error),
    #[error("making a folder in the run's scratch folder: {0}")]
    Scratch(#[source] std::io::Error),
    #[error("finding a free port for the server: {0}")]
    Port(#[source] std::io::Error),
    #[error("the platform offers no way from the host to a server in its machine; use placement = \"inside\"")]
    NoWayIn,
    #[error("no number of clients is within the limits of load.peak: with a single one {0}")]
    NoPeak(&'static str),
    #[error("writing down the measured series: {0}")]
    Series(#[from] record::hlog::LogError),
    #[error(transparent)]
    Record(#[from] RecordError),
}

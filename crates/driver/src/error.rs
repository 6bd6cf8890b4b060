//! Why driving ended without results.

use crate::script::ScriptError;

#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("session {index} of {of} could not be opened: {source}")]
    Connect { index: u32, of: u32, source: engines::session::SessionError },
    /// Sessions were lost and could not be opened again: the server is gone.
    #[error("the database went away: {source}")]
    Gone { source: engines::session::SessionError },
    #[error("every transaction fails: {message}")]
    AllFail { message: String },
    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: std::io::Error },
    #[error("driving did not start")]
    NotStarted,
    /// An error of one of several databases, counted from 1.
    #[error("instance {number}: {source}")]
    OfInstance { number: usize, source: Box<DriveError> },
    #[error("a driver thread panicked: {0}")]
    Panicked(String),
}

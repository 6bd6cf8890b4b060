//! Errors of machines that cannot be started.

use machines::machine::MachineError;

pub(crate) fn unavailable(why: String) -> MachineError {
    MachineError::Unavailable { why }
}

pub(crate) fn failing(doing: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> MachineError {
    MachineError::Io { doing: doing.to_owned(), source: std::io::Error::other(error) }
}

//! Why a machine of this host could not be had.

use machines::machine::MachineError;
use std::io;

pub(crate) fn unavailable(why: String) -> MachineError {
    MachineError::Unavailable { why }
}

pub(crate) fn io_error(doing: &str) -> impl FnOnce(io::Error) -> MachineError + use<> {
    let doing = doing.to_owned();
    move |source| MachineError::Io { doing, source }
}

//! The tasks of a trial on a database.

use platforms::capabilities::ServerUse;

/// A piece of work on a database, in the order in which it is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    Clean,
    Load,
    Drive,
    Check,
}

impl Task {
    /// Those of a trial. Where bakeoff starts the server, data are loaded before it.
    pub(crate) fn of_a_trial(server: ServerUse) -> &'static [Self] {
        match server {
            ServerUse::Started => &[Self::Drive, Self::Check],
            ServerUse::Running | ServerUse::Anywhere => &[Self::Load, Self::Drive, Self::Check],
        }
    }
}

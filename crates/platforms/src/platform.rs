//! A platform as one run uses it, with the settings of one contender.

use crate::credentials::Credentials;
use crate::host::lines::HostScripts;
use crate::lease::{Lease, LeaseOrder};
use crate::order::{Launched, MachineOrder};
use images::Image;
use images::data::DataError;
use machines::interrupts::Interrupts;
use machines::machine::{Machine, MachineError};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Makes machines, and copies data for them. What its machines share exists as long as it does. Dropping it removes that, on
/// this host and on others.
pub trait Platform: Send + Sync {
    /// What the user should know of its opening, such as what an earlier run had left.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The identity of the machine that its machines are on, as long as that runs; `None` if it is this one.
    fn machine(&self) -> Option<String> {
        None
    }

    /// Copies loaded data for one machine.
    fn lease(&self, order: &LeaseOrder<'_>) -> Result<Lease, DataError>;

    /// Starts a machine and waits until its agent has greeted; the last argument is called before that.
    /// [`MachineError::Unavailable`] means that this host cannot run the contender, and says why.
    fn start(&self, order: &MachineOrder, launched: Launched<'_>) -> Result<Box<dyn Machine>, MachineError>;

    /// Fails unless there is that much room for data at this path, and some to spare.
    fn require_space(&self, data: &Path, bytes: u64) -> Result<(), DataError> {
        images::data::require_space(data, bytes)
    }

    /// Fails if too little room is left to go on with loading into this folder.
    fn require_room_in(&self, data: &Path) -> Result<(), DataError> {
        images::data::require_room_in(data)
    }

    /// Copies the loaded data of the first database into a folder of its own for each further one.
    fn copy_within(&self, data: &Path, folders: &[String]) -> Result<(), DataError> {
        copy_within(data, folders)
    }
}

impl fmt::Debug for dyn Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Platform")
    }
}

/// What a platform is opened with.
#[derive(Debug, Clone, Copy)]
pub struct OpenOrder<'a> {
    /// Our own static binary, the agent of every machine.
    pub agent: &'a Path,
    /// The image of its machines; `None` if they need none.
    pub image: Option<&'a Image>,
    /// A folder for short-lived files and the ledger, for as long as the platform is open.
    pub scratch: &'a Path,
    /// Unique for each run, on any host.
    pub name: &'a str,
    /// For servers that want a login.
    pub credentials: &'a Credentials,
    /// What reaches other hosts; `None` for ssh.
    pub lines: Option<&'a Arc<dyn HostScripts>>,
    pub interrupts: &'a Interrupts,
}

type MakeLease = fn(&LeaseOrder<'_>) -> Result<Lease, DataError>;

/// A platform of this host whose machines share nothing.
struct Plain<F> {
    lease: MakeLease,
    start: F,
}

pub fn plain<F>(lease: MakeLease, start: F) -> Box<dyn Platform>
where
    F: Fn(&MachineOrder, Launched<'_>) -> Result<Box<dyn Machine>, MachineError> + Send + Sync + 'static,
{
    Box::new(Plain { lease, start })
}

impl<F> Platform for Plain<F>
where
    F: Fn(&MachineOrder, Launched<'_>) -> Result<Box<dyn Machine>, MachineError> + Send + Sync,
{
    fn lease(&self, order: &LeaseOrder<'_>) -> Result<Lease, DataError> {
        (self.lease)(order)
    }

    fn start(&self, order: &MachineOrder, launched: Launched<'_>) -> Result<Box<dyn Machine>, MachineError> {
        (self.start)(order, launched)
    }
}

/// See [`Platform::copy_within`].
pub(crate) fn copy_within(data: &Path, folders: &[String]) -> Result<(), DataError> {
    for folder in folders {
        images::data::clone_folder(data, &data.with_file_name(folder))?;
    }
    // Moved only now, so that no copy contains other copies.
    for folder in folders {
        let copy = data.with_file_name(folder);
        let moved = fs::rename(&copy, data.join(folder));
        moved.map_err(|cause: io::Error| DataError::Io { what: "move", path: copy, cause })?;
    }
    Ok(())
}

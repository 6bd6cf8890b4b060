//! The keeper on the other host, from this side, and the platform that it is.

use super::command;
use super::connection::{Connection, HostWay, PROMPT_LIMIT, failing};
use super::machine;
use super::settings::{HostSettings, ServerSource};
use super::there::{Ask, HostReady, KeeperMessage, LEASES, TREE, ThereOrder};
use crate::lease::{Lease, LeaseOrder};
use crate::order::{Launched, MachineOrder};
use crate::platform::{OpenOrder, Platform};
use images::data::{DataDisk, DataError};
use machines::frame::{Greeting, PROTOCOL};
use machines::link::LinkError;
use machines::machine::{Machine, MachineError};
use machines::process::{Launch, Process};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bringing the binary and the tree over a slow line.
const BRING_LIMIT: Duration = Duration::from_hours(1);
/// Copying a database of hundreds of gigabytes.
const COPY_LIMIT: Duration = Duration::from_hours(4);
/// Removing everything of a run.
const CLOSE_LIMIT: Duration = Duration::from_mins(5);

/// A host as a platform.
pub struct HostPlatform {
    way: HostWay,
    host: HostReady,
    keeper: Mutex<Connection>,
}

/// Shared with the leases, which are removed through it.
struct SharedHost(Arc<HostPlatform>);

pub fn open(settings: &HostSettings, order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
    let platform = HostPlatform::open(settings.clone(), order)?;
    if let Some(image) = order.image {
        platform.bring_tree(&image.tree)?;
    }
    Ok(Box::new(SharedHost(Arc::new(platform))))
}

/// A host that drives load. Nothing on it is measured.
pub struct KeptLoadHost(HostPlatform);

impl KeptLoadHost {
    pub fn open(settings: HostSettings, order: &OpenOrder<'_>) -> Result<Self, MachineError> {
        Ok(Self(HostPlatform::open(settings, order)?))
    }

    /// What the user should know of its opening.
    pub fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    /// The address of this host at which ssh comes to it.
    pub fn our_address(&self) -> Option<IpAddr> {
        self.0.host.from
    }

    /// An identity that only its machine has.
    pub fn machine(&self) -> &str {
        &self.0.host.machine
    }

    /// Starts an agent there. `scratch` is its folder on this host.
    pub fn start(&self, name: &str, scratch: &Path) -> Result<Box<dyn Machine>, MachineError> {
        machine::start(&self.0.way, &self.0.host, &ThereOrder::of_load(name), scratch, &|| ())
    }
}

impl HostPlatform {
    /// Brings our binary there, unless it is there, and starts the keeper.
    fn open(settings: HostSettings, order: &OpenOrder<'_>) -> Result<Self, MachineError> {
        let (lines, interrupts) = (order.lines.cloned(), order.interrupts.clone());
        let way = HostWay { settings, scratch: order.scratch.to_owned(), lines, interrupts };
        let binary = File::open(order.agent).map_err(failing("opening this program's own file"))?;
        let size = binary.metadata().map_err(failing("looking at this program's own file"))?.len();
        let folder = &way.settings.folder;
        let mut keeper = match way.lines {
            Some(_) => way.connect(&command::copy(folder, order.name), None, &|| (), PROMPT_LIMIT)?,
            None => way.connect(&command::bring(folder, size, order.name), Some(&binary), &|| (), BRING_LIMIT)?,
        };
        let host = begin(&mut keeper).map_err(|error| match error {
            BeginError::Io(error) => keeper.explained(&way.settings, &error, PROMPT_LIMIT),
            BeginError::Other(error) => error,
        })?;
        Ok(Self { way, host, keeper: Mutex::new(keeper) })
    }

    fn notes(&self) -> Vec<String> {
        let host = self.way.settings.name();
        self.host.notes.iter().map(|note| format!("on the host {host}: {note}")).collect()
    }
}

enum BeginError {
    Io(io::Error),
    Other(MachineError),
}

impl From<io::Error> for BeginError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn begin(keeper: &mut Connection) -> Result<HostReady, BeginError> {
    let theirs: Greeting = keeper.read(PROMPT_LIMIT)?;
    if theirs.protocol != PROTOCOL {
        let other = LinkError::OtherVersion { ours: Greeting::ours(), theirs };
        return Err(BeginError::Other(other.into()));
    }
    match keeper.read(CLOSE_LIMIT)? {
        KeeperMessage::Ready(ready) => Ok(ready),
        other => Err(io::Error::new(ErrorKind::InvalidData, format!("{other:?}")).into()),
    }
}

impl HostPlatform {
    fn bring_tree(&self, tree: &Path) -> Result<(), MachineError> {
        let doing = "copying the image's files to the other host";
        let mut packing = Launch::new(&["tar", "--create", "--file=-", "--numeric-owner", "--directory"]).args([tree]);
        packing = packing.args(["."]).stdout(Stdio::piped());
        let mut packing = Process::start(packing).map_err(|error| failing(doing)(io::Error::other(error)))?;
        let script = command::take_tree(&self.host.folder.join(TREE));
        let mut taking = self.way.connect(&script, None, &|| (), PROMPT_LIMIT)?;
        let copied = match (packing.take_stdout(), &mut taking.stdin) {
            (Some(mut packed), Some(stdin)) => io::copy(&mut packed, stdin),
            _ => Err(ErrorKind::NotConnected.into()),
        };
        // A host that does not take it all has nothing to do.
        let limit = if copied.is_ok() { BRING_LIMIT } else { PROMPT_LIMIT };
        let status = taking.hang_up(limit).map_err(failing(doing))?;
        let packed = packing.wait(PROMPT_LIMIT).map_err(|error| failing(doing)(io::Error::other(error)))?;
        if status.is_some_and(|status| status.success()) && packed.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let printed = taking.stderr.to_the_end();
        let last = printed.lines().last().map(str::to_owned);
        let why =
            last.or_else(|| copied.err().map(|error| error.to_string())).unwrap_or_else(|| "tar failed".to_owned());
        Err(failing(doing)(io::Error::other(why)))
    }

    fn keeper(&self) -> MutexGuard<'_, Connection> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, ask: &Ask, limit: Duration) -> io::Result<KeeperMessage> {
        let mut keeper = self.keeper();
        let told = keeper.write(ask).and_then(|()| keeper.read(limit));
        told.map_err(|error| {
            let why = format!("the connection to the host {} broke: {error}", self.way.settings.name());
            io::Error::new(error.kind(), why)
        })
    }

    /// Asks for work on a folder there.
    fn ask_for(&self, ask: &Ask, what: &'static str, path: &Path, limit: Duration) -> Result<(), DataError> {
        let failed = |cause| DataError::Io { what, path: path.to_owned(), cause };
        match self.ask(ask, limit).map_err(failed)? {
            KeeperMessage::Done => Ok(()),
            KeeperMessage::Failed { why } => Err(failed(io::Error::other(why))),
            KeeperMessage::NoSpace { needed_bytes, free_bytes } => {
                let (needed, free) = (needed_bytes >> 20, free_bytes >> 20);
                let host = self.way.settings.name();
                let why = format!(
                    "the host {host} has {free} MiB free in {}, and {needed} MiB are needed",
                    self.way.settings.folder
                );
                Err(failed(io::Error::new(ErrorKind::StorageFull, why)))
            }
            KeeperMessage::Ready(_) => Err(failed(ErrorKind::InvalidData.into())),
        }
    }
}

impl Drop for HostPlatform {
    fn drop(&mut self) {
        // The keeper removes everything when its input ends, and then ends itself. If the host is gone, the next run there does it.
        let _ = self.keeper.get_mut().unwrap_or_else(PoisonError::into_inner).hang_up(CLOSE_LIMIT);
    }
}

impl Platform for SharedHost {
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    fn machine(&self) -> Option<String> {
        Some(self.0.host.machine.clone())
    }

    fn lease(&self, order: &LeaseOrder<'_>) -> Result<Lease, DataError> {
        let name = order.scratch.file_name().unwrap_or_default();
        let lease = Path::new(LEASES).join(name);
        if self.0.way.settings.server == ServerSource::Running {
            // Nothing was loaded. The machine makes this folder, which stays empty.
            return Ok(DataDisk::Folder(lease).into());
        }
        let ask = Ask::Copy { from: order.loaded.to_owned(), to: lease.clone() };
        self.0.ask_for(&ask, "copy the data on the other host to", &lease, COPY_LIMIT)?;
        let (keeper, folder) = (Arc::clone(&self.0), lease.clone());
        Ok(Lease::elsewhere(lease, move || {
            // What is left is removed with everything else at the end.
            let _ = keeper.ask(&Ask::Remove { folder }, COPY_LIMIT);
        }))
    }

    fn start(&self, order: &MachineOrder, launched: Launched<'_>) -> Result<Box<dyn Machine>, MachineError> {
        let DataDisk::Folder(data) = &order.data else {
            return Err(MachineError::Unavailable { why: "its data are no folder on the other host".to_owned() });
        };
        let is_whole_host = self.0.way.settings.server == ServerSource::Running;
        let run = ThereOrder::of(order, data, is_whole_host);
        machine::start(&self.0.way, &self.0.host, &run, &order.scratch, launched)
    }

    fn require_space(&self, data: &Path, bytes: u64) -> Result<(), DataError> {
        self.0.ask_for(&Ask::Room { bytes: Some(bytes) }, "find room on the other host for", data, PROMPT_LIMIT)
    }

    fn require_room_in(&self, data: &Path) -> Result<(), DataError> {
        self.0.ask_for(&Ask::Room { bytes: None }, "find room on the other host for", data, PROMPT_LIMIT)
    }

    fn copy_within(&self, data: &Path, folders: &[String]) -> Result<(), DataError> {
        let ask = Ask::CopyWithin { data: data.to_owned(), folders: folders.to_vec() };
        self.0.ask_for(&ask, "copy the data on the other host in", data, COPY_LIMIT)
    }
}

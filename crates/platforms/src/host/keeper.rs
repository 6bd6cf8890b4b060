//! The keeper on the other host, from this side: its connection, and the platform that it is.

use super::command::{self, CUT_SHORT_STATUS, MARKER, NO_FOLDER_STATUS, OTHER_SYSTEM_STATUS, SSH_STATUS};
use super::lines::{self, Far, Line, Lines};
use super::machine;
use super::settings::{self, HostSettings, ServerSource};
use super::there::{Ask, LEASES, Ready, RunOrder, TREE, Told};
use crate::lease::{Lease, LeaseOrder};
use crate::order::{Launched, MachineOrder};
use crate::platform::{OpenOrder, Platform};
use images::data::{DataDisk, DataError};
use machines::frame::{Greeting, PROTOCOL, read_frame, write_frame};
use machines::link::LinkError;
use machines::machine::{Machine, MachineError};
use machines::printed::Printed;
use machines::process::{Launch, Process};
use machines::ready::Until;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bringing the binary and the tree over a slow line.
const BRING_LIMIT: Duration = Duration::from_hours(1);
/// Copying a database of hundreds of gigabytes.
const COPY_LIMIT: Duration = Duration::from_hours(4);
/// An answer that needs no work.
const PROMPT_LIMIT: Duration = Duration::from_mins(1);
/// Removing everything of a run.
const CLOSE_LIMIT: Duration = Duration::from_mins(5);
/// More than any profile prints.
const LONGEST_PROFILE: usize = 64 << 10;

/// A connection whose other end has said that it begins.
pub(super) struct Connection {
    pub far: Box<dyn Far>,
    /// `None` once we have hung up.
    pub stdin: Option<PipeWriter>,
    pub stdout: PipeReader,
    pub stderr: Printed,
    pub command_line: Vec<String>,
}

/// A program of ours on the other host, and how it is reached.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub settings: HostSettings,
    /// Where processes of this host are written down.
    pub scratch: PathBuf,
    /// `None` for ssh.
    pub lines: Option<Arc<dyn Lines>>,
}

impl Way {
    /// Runs a script there, which takes this file on its standard input. `launched` is called when ssh runs.
    pub fn connect(
        &self,
        script: &str,
        input: Option<&File>,
        launched: Launched<'_>,
        limit: Duration,
    ) -> Result<Connection, MachineError> {
        let deadline = Instant::now() + limit;
        let (stderr, printing) = Printed::pipe().map_err(failing("making a pipe"))?;
        let line = match &self.lines {
            Some(lines) => lines.run(self.settings.name(), script, printing).map_err(|error| {
                let why = format!("the host {} is not reached: {error}", self.settings.name());
                MachineError::Unavailable { why }
            })?,
            None => {
                lines::over_ssh(&self.settings, script, printing, &self.scratch).map_err(failing("starting ssh"))?
            }
        };
        launched();
        let Line { input: mut stdin, output: stdout, far, command_line } = line;
        // If the other end does not take it all, the reason follows.
        let _ = input.map_or(Ok(0), |mut file| io::copy(&mut file, &mut stdin));
        let mut connection = Connection { far, stdin: Some(stdin), stdout, stderr, command_line };
        match connection.until_marker(deadline) {
            Ok(()) => Ok(connection),
            Err(error) => Err(connection.explained(&self.settings, &error, limit)),
        }
    }
}

impl Connection {
    /// Reads what the user's profile prints, up to the marker.
    fn until_marker(&mut self, deadline: Instant) -> io::Result<()> {
        let mut line = Vec::new();
        let mut read = Until { read: &mut self.stdout, deadline };
        for _ in 0..LONGEST_PROFILE {
            let mut byte = [0];
            if read.read(&mut byte)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            match byte[0] {
                b'\n' if line.ends_with(MARKER.as_bytes()) => return Ok(()),
                b'\n' => line.clear(),
                byte => line.push(byte),
            }
        }
        Err(io::Error::new(ErrorKind::InvalidData, "its shell prints without end"))
    }

    pub fn write(&mut self, message: &impl Serialize) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(ErrorKind::NotConnected)?;
        write_frame(stdin, message)
    }

    /// Closes its input, and waits until the other end has ended.
    pub fn hang_up(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        self.stdin = None;
        self.far.wait(limit)
    }

    /// What it goes over: the first word of its command line.
    fn program(&self) -> &str {
        self.command_line.first().map_or("ssh", String::as_str)
    }

    pub fn read<T: DeserializeOwned>(&mut self, limit: Duration) -> io::Result<T> {
        let mut read = Until { read: &mut self.stdout, deadline: Instant::now() + limit };
        read_frame(&mut read)?.ok_or(ErrorKind::UnexpectedEof.into())
    }

    /// Why the connection is of no use, in the words of what reaches the host or of the commands there.
    pub fn explained(&mut self, settings: &HostSettings, error: &io::Error, limit: Duration) -> MachineError {
        let host = settings.name();
        if error.kind() == ErrorKind::TimedOut {
            let (what, console) = (format!("the host {host}"), self.stderr.text());
            return MachineError::Silent { what, limit_s: limit.as_secs(), console };
        }
        let status = self.far.wait(PROMPT_LIMIT).ok().flatten();
        let printed = self.stderr.to_the_end();
        let last = printed.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed nothing").trim();
        let why = match status.and_then(|status| status.code()) {
            Some(SSH_STATUS) => format!("{} does not reach the host {host}: {}", self.program(), told_by_ssh(&printed)),
            Some(OTHER_SYSTEM_STATUS) => {
                format!("the host {host} runs {last}, and this bakeoff is for Linux x86_64")
            }
            Some(NO_FOLDER_STATUS) => {
                format!("there is no usable folder {} on the host {host}: {last}", settings.folder)
            }
            Some(CUT_SHORT_STATUS) => format!("the host {host} got only a part of bakeoff's binary: {last}"),
            _ => {
                let status = status.map_or_else(|| error.to_string(), |status| status.to_string());
                let what = format!("what was started on the host {host}");
                return MachineError::Ended { what, status, console: printed };
            }
        };
        MachineError::Unavailable { why }
    }
}

/// The line of ssh that says most: after a changed host key, the last one only says that verification failed.
fn told_by_ssh(printed: &str) -> String {
    let is_told = |line: &&str| !line.trim().is_empty() && !line.starts_with("@@@");
    let last = printed.lines().rfind(is_told).unwrap_or("it printed nothing").trim();
    if printed.contains("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        return format!("its key is not the one that is known for this host ({last})");
    }
    last.to_owned()
}

/// A host as a platform.
pub struct HostPlatform {
    way: Way,
    host: Ready,
    keeper: Mutex<Connection>,
}

/// Shared with the leases, which are removed through it.
struct Shared(Arc<HostPlatform>);

pub fn open(table: &Map<String, Value>, order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
    let settings = settings::read(table).map_err(|problems| {
        let why = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        MachineError::Unavailable { why }
    })?;
    let platform = HostPlatform::open(settings, order)?;
    if let Some(image) = order.image {
        platform.bring_tree(&image.tree)?;
    }
    Ok(Box::new(Shared(Arc::new(platform))))
}

/// A host that drives load. Nothing on it is measured.
pub struct LoadHost(HostPlatform);

impl LoadHost {
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

    /// Starts an agent there. `scratch` is its folder on this host.
    pub fn start(&self, name: &str, scratch: &Path) -> Result<Box<dyn Machine>, MachineError> {
        machine::start(&self.0.way, &self.0.host, &RunOrder::of_load(name), scratch, &|| ())
    }
}

impl HostPlatform {
    /// Brings our binary there, unless it is there, and starts the keeper.
    fn open(settings: HostSettings, order: &OpenOrder<'_>) -> Result<Self, MachineError> {
        let way = Way { settings, scratch: order.scratch.to_owned(), lines: order.lines.cloned() };
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

fn begin(keeper: &mut Connection) -> Result<Ready, BeginError> {
    let theirs: Greeting = keeper.read(PROMPT_LIMIT)?;
    if theirs.protocol != PROTOCOL {
        let other = LinkError::OtherVersion { ours: Greeting::ours(), theirs };
        return Err(BeginError::Other(other.into()));
    }
    match keeper.read(CLOSE_LIMIT)? {
        Told::Ready(ready) => Ok(ready),
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
        let status = taking.hang_up(BRING_LIMIT).map_err(failing(doing))?;
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

    fn ask(&self, ask: &Ask, limit: Duration) -> io::Result<Told> {
        let mut keeper = self.keeper();
        keeper.write(ask)?;
        keeper.read(limit)
    }

    /// Asks for work on a folder there.
    fn ask_for(&self, ask: &Ask, what: &'static str, path: &Path, limit: Duration) -> Result<(), DataError> {
        let failed = |cause| DataError::Io { what, path: path.to_owned(), cause };
        match self.ask(ask, limit).map_err(failed)? {
            Told::Done => Ok(()),
            Told::Failed { why } => Err(failed(io::Error::other(why))),
            Told::NoSpace { needed_bytes, free_bytes } => {
                let (needed, free) = (needed_bytes >> 20, free_bytes >> 20);
                let host = self.way.settings.name();
                let why = format!(
                    "the host {host} has {free} MiB free in {}, and {needed} MiB are needed",
                    self.way.settings.folder
                );
                Err(failed(io::Error::new(ErrorKind::StorageFull, why)))
            }
            Told::Ready(_) => Err(failed(ErrorKind::InvalidData.into())),
        }
    }
}

impl Drop for HostPlatform {
    fn drop(&mut self) {
        // The keeper removes everything when its input ends, and then ends itself. If the host is gone, the next run there does it.
        let _ = self.keeper.get_mut().unwrap_or_else(PoisonError::into_inner).hang_up(CLOSE_LIMIT);
    }
}

impl Platform for Shared {
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
        let run = RunOrder::of(order, data, is_whole_host);
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

pub(super) fn failing(doing: &'static str) -> impl FnOnce(io::Error) -> MachineError {
    move |source| MachineError::Io { doing: doing.to_owned(), source }
}

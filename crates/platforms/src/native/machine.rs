//! From an order to a running native machine, and the actual value of each requested property.

use super::command::{CommandOrder, Confinement, Data, command_line};
use super::launch::{LaunchOutcome, Started};
use super::limits::{self, Limits};
use crate::affinity;
use crate::order::{Launched, MachineOrder};
use crate::rights::can_contain;
use images::data::DataDisk;
use machines::boot::{DATA_FOLDER, WRITABLE_FOLDERS};
use machines::cgroup::Cgroups;
use machines::link::AgentLink;
use machines::machine::{Decided, Machine, MachineError, Watched};
use machines::printed::Printed;
use machines::process::{Launch, Process, ProcessError};
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use telemetry::{DiskLocation, DiskTarget, FamilyTarget, Interfaces, ProcessTarget, Targets};

/// Time to copy a database of hundreds of gigabytes.
const EXTRACT_LIMIT: Duration = Duration::from_hours(4);
const RELEASE_POLL: Duration = Duration::from_millis(10);
/// Time to write out what a machine left in the page cache when it was cut.
const RELEASE_LIMIT: Duration = Duration::from_mins(1);

pub struct NativeMachine {
    link: Option<AgentLink>,
    process: Process,
    /// Removed after the process; removing them ends whatever still runs.
    groups: Cgroups,
    command_line: Vec<String>,
    decided: Decided,
    stderr: Printed,
    watch: Targets,
    /// Must be released before anything else may write to them.
    data: DataDisk,
    name: String,
}

pub fn start(
    _table: &Map<String, Value>,
    order: &MachineOrder,
    launched: Launched<'_>,
) -> Result<Box<dyn Machine>, MachineError> {
    order.image()?;
    Ok(Box::new(begin(order, launched)?))
}

/// The same; without an image, the machine sees the host's own files.
pub(crate) fn begin(order: &MachineOrder, launched: Launched<'_>) -> Result<NativeMachine, MachineError> {
    let mut decided = Decided::new();
    let Limits { groups, cpus } = limits::make(order, &mut decided);
    let data = match &order.data {
        DataDisk::Folder(folder) => Data::Folder(folder.clone()),
        DataDisk::Image(path) => disk(path, false, order)?,
        DataDisk::Device(path) => disk(path, true, order)?,
    };
    let tree = order.image.as_ref().map(|image| image.tree.clone());
    let has = |folder: &str| tree.as_ref().is_some_and(|tree| tree.join(folder.trim_start_matches('/')).is_dir());
    let mut command = CommandOrder {
        cpus,
        // The host's own `/proc` would show the processes of such a namespace under other numbers.
        contained: tree.is_some() && can_contain(),
        confinement: if tree.is_some() { Confinement::Bubblewrap } else { Confinement::None { logs: logs(order)? } },
        writable: WRITABLE_FOLDERS.iter().copied().filter(|folder| has(folder)).collect(),
        tree: tree.unwrap_or_default(),
        agent: order.agent.clone(),
        data,
        cgroups: groups.paths(),
    };
    let started = start_as_allowed(&mut command, order, launched, &mut decided)?;
    let started_id = started.process.identity().pid;
    let cpus = affinity::of_thread(started_id);
    decided.insert("host CPUs".to_owned(), cpus.map(|cpus| affinity::list(&cpus)).map_err(|error| error.to_string()));
    Ok(NativeMachine {
        link: Some(started.link),
        process: started.process,
        groups,
        command_line: command_line(&command),
        decided,
        stderr: started.stderr,
        data: order.data.clone(),
        watch: watch(order, &command.cpus, started_id),
        name: order.name.clone(),
    })
}

/// A folder for the logs of a machine without files of its own.
fn logs(order: &MachineOrder) -> Result<PathBuf, MachineError> {
    let logs = order.scratch.join("logs");
    fs::create_dir_all(&logs).map_err(io_error("making the folder for logs"))?;
    Ok(logs)
}

impl NativeMachine {
    /// Hands over the connection to its agent.
    pub(crate) fn take_link(&mut self) -> AgentLink {
        let Some(link) = self.link.take() else { unreachable!("the link of a machine is taken once") };
        link
    }

    /// Replaces what is said of the machine under this name.
    pub(crate) fn decide(&mut self, name: &str, decided: Result<String, String>) {
        self.decided.insert(name.to_owned(), decided);
    }
}

/// Watches all processes of the machine as one, and the host's device below its data.
fn watch(order: &MachineOrder, cpus: &[usize], process: u32) -> Targets {
    let label = || "machine".to_owned();
    let location = match &order.data {
        DataDisk::Folder(path) | DataDisk::Image(path) => DiskLocation::of(path, false),
        DataDisk::Device(path) => DiskLocation::of(path, true),
    };
    Targets {
        without_system: false,
        cpus: Some(cpus.iter().filter_map(|cpu| u32::try_from(*cpu).ok()).collect()),
        disks: vec![DiskTarget { label: "data".to_owned(), location }],
        interfaces: Interfaces::AllButLoopback,
        threads: Vec::new(),
        families: vec![FamilyTarget { label: label(), process, without_threads: [].into(), with_switches: false }],
        // Mapped pages are counted for a hypervisor's process, and a native machine has none.
        pages: Vec::new(),
        groups: vec![ProcessTarget { label: label(), process }],
    }
}

/// Tries the preferred way first, then what is allowed here; `decided` says which was used.
fn start_as_allowed(
    command: &mut CommandOrder,
    order: &MachineOrder,
    launched: Launched<'_>,
    decided: &mut Decided,
) -> Result<Started, MachineError> {
    let mut data = None;
    let mut confinement = Ok(match command.confinement {
        Confinement::None { .. } => "none: it sees the host's own files and processes",
        _ => "bubblewrap",
    }
    .to_owned());
    loop {
        match Started::try_with(command, order, launched)? {
            LaunchOutcome::Greeted(started) => {
                decided.insert("processor".to_owned(), Ok("the host's own".to_owned()));
                decided.insert("data cached twice".to_owned(), cached_twice(&command.data));
                decided.insert("data".to_owned(), data.unwrap_or_else(|| Ok(data_words(&command.data))));
                decided.insert("confinement".to_owned(), confinement);
                return Ok(started);
            }
            LaunchOutcome::NotMounted(why) => {
                let (DataDisk::Image(image), Data::Disk { .. }) = (&order.data, &command.data) else {
                    return Err(unavailable(format!("its data cannot be mounted: {why}")));
                };
                command.data = Data::Folder(extract(image, &order.scratch)?);
                data = Some(Err(format!("a plain folder of the host, because {why}")));
            }
            LaunchOutcome::NotConfined(why) => {
                if command.confinement != Confinement::Bubblewrap || !rustix::process::geteuid().is_root() {
                    return Err(why);
                }
                let root = order.scratch.join("root");
                fs::create_dir_all(&root).map_err(io_error("making the root folder"))?;
                command.confinement = Confinement::Chroot(root);
                confinement = Ok(format!("chroot and namespaces, because {why}"));
            }
        }
    }
}

/// An image or device to mount. Only trying shows whether that is allowed.
fn disk(path: &Path, is_device: bool, order: &MachineOrder) -> Result<Data, MachineError> {
    let folder = order.scratch.join("data");
    fs::create_dir_all(&folder).map_err(io_error("making the folder for the data disk"))?;
    Ok(Data::Disk { path: path.to_owned(), is_device, folder, answer: order.scratch.join("data-source") })
}

/// The form of the data; for a device, with the source that was really mounted.
fn data_words(data: &Data) -> String {
    match data {
        Data::Folder(_) => "a plain folder of the host".to_owned(),
        Data::Disk { answer, is_device: true, .. } => format!("ext4 on the block device {}", mounted_from(answer)),
        Data::Disk { .. } => "ext4 in an image file, loop-mounted".to_owned(),
    }
}

/// A loop device without direct I/O uses the host's page cache, below that of its own file system.
fn cached_twice(data: &Data) -> Result<String, String> {
    let Data::Disk { answer, is_device: false, .. } = data else { return Ok("no".to_owned()) };
    let device = mounted_from(answer);
    let file = format!("/sys/class/block/{}/loop/dio", device.trim_start_matches("/dev/"));
    match fs::read_to_string(&file).map(|direct| direct.trim() == "1") {
        Ok(true) => Ok("no, the loop device has direct I/O".to_owned()),
        Ok(false) => Ok("yes, the loop device could not have direct I/O".to_owned()),
        Err(error) => Err(format!("{file} cannot be read: {error}")),
    }
}

/// The device that the machine reports as mounted.
fn mounted_from(answer: &Path) -> String {
    fs::read_to_string(answer).unwrap_or_default().trim().to_owned()
}

/// Copies the content of an ext4 image into a folder, for hosts where it cannot be mounted.
fn extract(image: &Path, scratch: &Path) -> Result<PathBuf, MachineError> {
    let folder = scratch.join("data");
    fs::create_dir_all(&folder).map_err(io_error("making the data folder"))?;
    let launch = Launch::new(&["/usr/sbin/debugfs", "-R", "rdump / ."]).args([image]).folder(&folder);
    let copying = "copying the data out of its image";
    let ended = launch.run(EXTRACT_LIMIT, &mut |_| ()).map_err(|error| match error {
        ProcessError::Missing { .. } => MachineError::MissingTool { program: "debugfs", package: "e2fsprogs" },
        error => io_error(copying)(io::Error::other(error)),
    })?;
    // debugfs succeeds even if it could not read the image; then only its messages say why.
    if fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_none()) {
        return Err(io_error(copying)(io::Error::other(ended.stderr)));
    }
    Ok(folder)
}

/// Waits until the data are no longer mounted. The kernel unmounts shortly after the last process ended, and releases a
/// loop device after that.
fn release(data: &DataDisk, limit: Duration) -> Result<(), MachineError> {
    let deadline = Instant::now() + limit;
    while let Some(why) = in_use(data).map_err(io_error("looking whether the data are still mounted"))? {
        if Instant::now() > deadline {
            return Err(io_error("waiting until the data are unmounted")(io::Error::other(why)));
        }
        std::thread::sleep(RELEASE_POLL);
    }
    Ok(())
}

/// What still uses the data; `None` if nothing does.
fn in_use(data: &DataDisk) -> io::Result<Option<String>> {
    use std::os::unix::fs::OpenOptionsExt;
    match data {
        DataDisk::Folder(_) => Ok(None),
        DataDisk::Device(device) => {
            let exclusive = rustix::fs::OFlags::EXCL.bits().cast_signed();
            match File::options().read(true).custom_flags(exclusive).open(device) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Ok(Some(error.to_string())),
                opened => opened.map(|_| None),
            }
        }
        DataDisk::Image(image) => {
            let image = image.canonicalize()?;
            let behind = |device: &Path| fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
            let mut devices = fs::read_dir("/sys/block")?.flatten().map(|device| device.path());
            let holder = devices.find(|device| Path::new(behind(device).trim_end()) == image);
            Ok(holder.map(|device| format!("{} holds {}", device.display(), image.display())))
        }
    }
}

impl Machine for NativeMachine {
    fn link(&mut self) -> &mut AgentLink {
        // `link` is taken only by `stop`, which consumes the machine.
        let Some(link) = &mut self.link else { unreachable!("a stopped machine is not there to be asked") };
        link
    }

    fn command_line(&self) -> &[String] {
        &self.command_line
    }

    fn decided(&self) -> &Decided {
        &self.decided
    }

    fn reached_at(&self, port: u16) -> Option<SocketAddr> {
        Some((Ipv4Addr::LOCALHOST, port).into())
    }

    /// The machine shares the host's network, and the load generator is on this host, too.
    fn listens_on(&self) -> IpAddr {
        Ipv4Addr::LOCALHOST.into()
    }

    fn data(&self) -> &str {
        DATA_FOLDER
    }

    fn watched(&mut self) -> Watched {
        Watched { targets: self.watch.clone(), asked: Vec::new() }
    }

    fn console(&self) -> String {
        self.stderr.text()
    }

    fn stop(mut self: Box<Self>, limit: Duration) -> Result<(), MachineError> {
        // If the agent still runs, it ends when its standard input is closed.
        self.link = None;
        let status = self
            .process
            .wait(limit)
            .map_err(|error| io_error("waiting for the end of a machine")(io::Error::other(error)))?;
        let console = self.stderr.to_the_end();
        match status {
            Some(status) if status.success() => release(&self.data, limit),
            Some(status) => Err(MachineError::Ended { what: what(&self.name), status: status.to_string(), console }),
            None => {
                let what = format!("{}, asked to end,", what(&self.name));
                Err(MachineError::Silent { what, limit_s: limit.as_secs(), console })
            }
        }
    }

    fn cut(self: Box<Self>) -> Result<(), MachineError> {
        let Self { mut process, groups, data, .. } = *self;
        process.kill().map_err(|error| io_error("ending a machine")(io::Error::other(error)))?;
        // Removing the groups ends whatever the process left behind.
        drop(groups);
        release(&data, RELEASE_LIMIT)
    }
}

pub(super) fn what(name: &str) -> String {
    format!("the native machine {name}")
}

pub(super) fn unavailable(why: String) -> MachineError {
    MachineError::Unavailable { why }
}

pub(super) fn io_error(doing: &str) -> impl FnOnce(io::Error) -> MachineError {
    let doing = doing.to_owned();
    move |source| MachineError::Io { doing, source }
}

//! From an order to a running container, and the actual value of each requested property.

use super::bundle::{self, BundleOrder};
use super::command::{ContainerOrder, Gvisor, RuntimeFamily, command_line};
use super::runtime::Runtime;
use super::settings::{ContainerNetwork, OciSettings};
use crate::lease::{Lease, LeaseOrder};
use crate::on_host::data::{DataPlace, NOT_MOUNTED_STATUS, in_a_folder, why_not_mounted};
use crate::on_host::error::{io_error, unavailable};
use crate::on_host::launch::{LaunchEnd, StartedMachine, attempt};
use crate::on_host::limits::{self, HostLimits};
use crate::on_host::machine::{HOSTS_KERNEL, HostMachine, has};
use crate::order::{Launched, MachineOrder};
use crate::platform::Platform;
use crate::rights::Namespaces;
use images::data::DataError;
use machines::boot::WRITABLE_FOLDERS;
use machines::cgroup;
use machines::machine::{Decisions, Machine, MachineError};
use rustix::thread::{CapabilitySet, capabilities};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

const KVM: &str = "kvm";
/// Where runtimes look for control groups of version 2.
const CGROUPS: &str = "/sys/fs/cgroup";
const KVM_DEVICE: &str = "/dev/kvm";
/// What the agent needs: to give the server another user and its files to that user, and to end it.
const RIGHTS: [(&str, CapabilitySet); 8] = [
    ("CHOWN", CapabilitySet::CHOWN),
    ("DAC_OVERRIDE", CapabilitySet::DAC_OVERRIDE),
    ("FOWNER", CapabilitySet::FOWNER),
    ("KILL", CapabilitySet::KILL),
    ("SETGID", CapabilitySet::SETGID),
    ("SETUID", CapabilitySet::SETUID),
    ("SYS_CHROOT", CapabilitySet::SYS_CHROOT),
    ("SYS_NICE", CapabilitySet::SYS_NICE),
];

/// And to count with perf events. gVisor has none, and does not know this right.
const COUNTING: (&str, CapabilitySet) = ("PERFMON", CapabilitySet::PERFMON);

/// Programs that did not bring up a container with KVM, and why. The next trials need not wait for that again.
static WITHOUT_KVM: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// The containers of one contender.
struct Containers {
    settings: OciSettings,
    /// What the runtime said of itself, asked before the first of them.
    runtime: OnceLock<(Runtime, Option<Gvisor>)>,
}

pub fn open(settings: &OciSettings) -> Box<dyn Platform> {
    Box::new(Containers { settings: settings.clone(), runtime: OnceLock::new() })
}

impl Containers {
    fn runtime(&self) -> Result<&(Runtime, Option<Gvisor>), MachineError> {
        if let Some(known) = self.runtime.get() {
            return Ok(known);
        }
        let runtime = Runtime::find(&self.settings.runtime)?;
        let gvisor = runtime.gvisor(self.settings.gvisor)?;
        Ok(self.runtime.get_or_init(|| (runtime, gvisor)))
    }
}

impl Platform for Containers {
    fn lease(&self, order: &LeaseOrder<'_>) -> Result<Lease, DataError> {
        Lease::of_a_disk(order)
    }

    fn start(&self, order: &MachineOrder, launched: Launched<'_>) -> Result<Box<dyn Machine>, MachineError> {
        let (runtime, gvisor) = self.runtime()?;
        start(runtime, gvisor.clone(), order, launched)
    }
}

fn start(
    runtime: &Runtime,
    gvisor: Option<Gvisor>,
    order: &MachineOrder,
    launched: Launched<'_>,
) -> Result<Box<dyn Machine>, MachineError> {
    if let Some(gvisor) = &gvisor {
        may_work(gvisor, runtime, order)?;
    }
    let namespaces = Namespaces::here()?;
    let mut decided = Decisions::new();
    let HostLimits { groups, cpus, memory_policy } = limits::make(order, &mut decided);
    let mut command = ContainerOrder {
        cpus,
        cgroups: groups.paths(),
        memory_policy,
        namespaces,
        data: DataPlace::of(order)?,
        program: runtime.program.clone(),
        family: runtime.family,
        gvisor,
        state: order.scratch.join("state"),
        bundle: order.scratch.join("bundle"),
        config: String::new(),
        name: format!("bakeoff-{}-{}", std::process::id(), order.name),
    };
    let started = start_as_allowed(&mut command, runtime, order, launched, &mut decided)?;
    describe(&command, runtime, &mut decided);
    let words = (command_line(&command), decided);
    Ok(Box::new(HostMachine::new(started, order, (groups, &command.cpus), words, what(runtime, order))))
}

/// Tries with the data as a disk, then as a folder where disks may not be mounted.
fn start_as_allowed(
    command: &mut ContainerOrder,
    runtime: &Runtime,
    order: &MachineOrder,
    launched: Launched<'_>,
    decided: &mut Decisions,
) -> Result<StartedMachine, MachineError> {
    let mut data = None;
    loop {
        make_folders(command)?;
        command.config = config(command, order)?;
        let outcome = attempt(&command_line(command), order, what(runtime, order), launched);
        match outcome.map_err(|error| without_kvm(command, runtime, error))? {
            LaunchEnd::Greeted(started) => {
                decided.insert("data".to_owned(), data.unwrap_or_else(|| Ok(command.data.told())));
                return Ok(started);
            }
            LaunchEnd::Ended(status, console) if status.code() == Some(NOT_MOUNTED_STATUS) => {
                let why = why_not_mounted(&console);
                command.data = command.data.extracted(order, &why)?;
                data = Some(Err(in_a_folder(order, &why)));
            }
            LaunchEnd::Ended(status, console) => {
                let what = what(runtime, order);
                return Err(MachineError::Ended { what, status: status.to_string(), console });
            }
        }
    }
}

/// Folders for the bundle and for the runtime's state, which is empty: that of an earlier start names processes that are
/// gone.
fn make_folders(command: &ContainerOrder) -> Result<(), MachineError> {
    let failing = || io_error("making the folders of a container");
    match fs::remove_dir_all(&command.state) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failing()(error)),
        _ => {}
    }
    for folder in [&command.state, &command.bundle] {
        fs::create_dir_all(folder).map_err(failing())?;
    }
    Ok(())
}

fn config(command: &ContainerOrder, order: &MachineOrder) -> Result<String, MachineError> {
    // runc refuses a path that leads over a symbolic link, as that of a cache may.
    let tree = fs::canonicalize(&order.image()?.tree).map_err(io_error("finding the image's tree"))?;
    let bundle = BundleOrder {
        tree: tree.clone(),
        agent: order.agent.clone(),
        data: command.data.folder().to_owned(),
        writable: WRITABLE_FOLDERS.iter().copied().filter(|folder| has(&tree, folder)).collect(),
        capabilities: rights(command)?,
        group: group(command),
        own_sys: command.family == RuntimeFamily::Gvisor,
    };
    Ok(bundle::config(&bundle).to_string())
}

/// Runtimes that cannot do without a group get one below that of the machine, where its limits hold.
fn group(command: &ContainerOrder) -> Option<PathBuf> {
    let needs_it = matches!(command.family, RuntimeFamily::Runc | RuntimeFamily::Other) && cgroup::is_one_tree();
    let above = command.cgroups.first().filter(|_| needs_it)?.strip_prefix(CGROUPS).ok()?;
    Some(Path::new("/").join(above).join("container"))
}

/// The rights that we can pass on. In namespaces of our own we have them all.
fn rights(command: &ContainerOrder) -> Result<Vec<&'static str>, MachineError> {
    let ours = match command.namespaces {
        Namespaces::Root => {
            let sets = capabilities(None).map_err(io::Error::from);
            sets.map_err(io_error("reading our own capabilities"))?.permitted
        }
        Namespaces::ManyUsers | Namespaces::OneUser => CapabilitySet::all(),
    };
    let counting = Some(&COUNTING).filter(|_| command.family != RuntimeFamily::Gvisor);
    Ok(RIGHTS.iter().chain(counting).filter(|(_, right)| ours.contains(*right)).map(|(name, _)| *name).collect())
}

/// What the machine is, beside its limits.
fn describe(command: &ContainerOrder, runtime: &Runtime, decided: &mut Decisions) {
    let mut tell = |name: &str, told: Result<String, String>| decided.insert(name.to_owned(), told);
    tell("runtime", Ok(format!("{}, {}", runtime.version, runtime.program.display())));
    tell("confinement", Ok("namespaces, without a filter of system calls".to_owned()));
    tell("processor", Ok("the host's own".to_owned()));
    tell("users", users(command.namespaces));
    // gVisor reads files through descriptors of the host and keeps no pages of them, even with exclusive access.
    tell("data cached twice", command.data.cached_twice());
    let Some(Gvisor { platform, network, file_access, directfs_told, .. }) = &command.gvisor else {
        tell("system calls", Ok(HOSTS_KERNEL.to_owned()));
        return;
    };
    tell("system calls", Ok(format!("gVisor, platform {platform}")));
    let stack = match network {
        ContainerNetwork::None => "gVisor's own, with nothing but a loopback device",
        ContainerNetwork::Host => "the host's",
    };
    tell("network stack", Ok(stack.to_owned()));
    tell("file access", Ok(file_access.name().to_owned()));
    tell("directfs", Ok(directfs_told.clone()));
}

fn users(namespaces: Namespaces) -> Result<String, String> {
    match namespaces {
        Namespaces::Root => Ok("the host's".to_owned()),
        Namespaces::ManyUsers => Ok("those of a user namespace".to_owned()),
        Namespaces::OneUser => {
            Err("there is only root, which is the user who started bakeoff, because that user has no \
             subordinate ids (/etc/subuid) or newuidmap is missing (Debian's package uidmap)"
                .to_owned())
        }
    }
}

/// What is known before gVisor is started, and was not when the study was checked: only now it is known to be gVisor.
fn may_work(gvisor: &Gvisor, runtime: &Runtime, order: &MachineOrder) -> Result<(), MachineError> {
    if gvisor.network == ContainerNetwork::None && !order.reached.ports.is_empty() {
        let version = &runtime.version;
        return Err(unavailable(format!(
            "nobody outside reaches {version}; load from outside needs network = \"host\""
        )));
    }
    if gvisor.platform != KVM {
        return Ok(());
    }
    let known = WITHOUT_KVM.lock().unwrap_or_else(PoisonError::into_inner).get(&runtime.program).cloned();
    let closed = || {
        let error = File::options().read(true).write(true).open(KVM_DEVICE).err()?;
        Some(format!("{KVM_DEVICE} cannot be opened ({error})"))
    };
    known.or_else(closed).map_or(Ok(()), |why| Err(unavailable(why)))
}

/// A container that does not come up with KVM is due to this host and not to the database. The device may be there and not
/// work.
fn without_kvm(command: &ContainerOrder, runtime: &Runtime, error: MachineError) -> MachineError {
    match (&command.gvisor, &error) {
        (Some(gvisor), MachineError::Silent { limit_s, .. }) if gvisor.platform == KVM => {
            let why = format!(
                "{KVM_DEVICE} is there, but {} had not started a container with it after {limit_s} s; ask for platform = \
                 \"auto\"",
                runtime.version
            );
            let mut known = WITHOUT_KVM.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(runtime.program.clone(), why.clone());
            unavailable(why)
        }
        _ => error,
    }
}

fn what(runtime: &Runtime, order: &MachineOrder) -> String {
    let name = runtime.program.file_name().unwrap_or_default().to_string_lossy();
    format!("the container {} of {name}", order.name)
}

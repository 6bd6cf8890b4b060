//! From an order to a running virtual machine, and the actual value of each requested property.

use super::accelerator::{self, Choice, KvmProbe};
use super::boot::{guest_kernel, initramfs};
use super::command::{Accelerator, GuestDisk, GuestOrder, LIMIT, drivers, file_node};
use super::decided::{self, AskedGuest};
use super::error::{failing, unavailable};
use super::guest::{Guest, LaunchedGuest};
use super::isolation::Isolation;
use super::monitor::Monitor as _;
use super::monitor::QmpError;
use super::patience::start_limit;
use super::placed::{self, MemoryBinding, VcpuPinning};
use super::qmp::Qmp;
use super::settings::{GuestNetwork, QemuSettings};
use super::watch::{self, NodeNames, SharedConsole};
use crate::huge_pages::HugePages;
use crate::order::{Launched, MachineOrder, Reached};
use crate::rights;
use images::data::DataDisk;
use machines::boot::GuestAddress;
use machines::cgroup::{Cgroups, Limit};
use machines::limits::OPEN_FILES;
use machines::link::AgentLink;
use machines::machine::{Decisions, LaunchFacts, Machine, MachineError, WatchedMachine};
use serde_json::json;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Only the host can connect to a guest's addresses.
pub(crate) const ONLY_FROM_HOST: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

pub struct QemuMachine {
    guest: Guest,
    /// Removed after the guest; removing them ends whatever still runs.
    _groups: Cgroups,
    /// Shared with the probes that query it once a second while load is driven.
    qmp: SharedConsole,
    data: Option<GuestDisk>,
    cpus: Vec<usize>,
    facts: LaunchFacts,
    /// By the guest's ports.
    addresses: BTreeMap<u16, SocketAddr>,
}

pub fn start(
    settings: &QemuSettings,
    order: &MachineOrder,
    launched: Launched<'_>,
) -> Result<Box<dyn Machine>, MachineError> {
    can_be_had(settings, order)?;
    let choice = accelerator::choose(settings.accelerator, &probe(settings, order)?)?;
    let limit = start_limit(choice.accelerator, settings.start_limit);
    let quota: Vec<Limit> = order.cpu_quota.map(|share| Limit::CpuTime(order.cpu_time(share))).into_iter().collect();
    let (groups, quota) = Cgroups::hold(&order.name, &order.scratch, &quota);
    let command = GuestOrder { cgroups: groups.paths(), ..command_order(settings.clone(), order, choice.accelerator)? };
    let guest = LaunchedGuest::start(&command, &order.scratch)?;
    launched();
    let (guest, mut qmp) = guest.greeted(limit)?;
    let control = |error| failing("asking QEMU", error);
    let mut decided = decide(&mut qmp, &command, &choice).map_err(control)?;
    decided.extend(running(guest.pid(), &command));
    let pinning = if command.settings.pin && order.place.is_pinned { VcpuPinning::Ours } else { VcpuPinning::None };
    let binding = MemoryBinding { to: &command.bound_to, policy: "bind" };
    placed::settle(guest.pid(), &mut qmp, &order.place, pinning, binding, &mut decided).map_err(control)?;
    command.isolation.settle(guest.pid(), &mut decided);
    decided.extend(quota.into_iter().map(|held| ("CPU quota".to_owned(), held)));
    let addresses = addresses(&mut qmp, &command)?;
    let (data, cpus) = (command.data, order.place.vcpu_cpus().to_vec());
    let facts = LaunchFacts { command_line: guest.command_line.clone(), decided, listens_on: ONLY_FROM_HOST };
    Ok(Box::new(QemuMachine { guest, _groups: groups, qmp: Arc::new(Mutex::new(qmp)), data, cpus, facts, addresses }))
}

/// The disk for the machine's data.
pub(crate) fn data_disk(data: &DataDisk) -> Result<GuestDisk, MachineError> {
    match data {
        DataDisk::Image(path) => Ok(GuestDisk { path: path.clone(), is_device: false }),
        DataDisk::Device(path) => Ok(GuestDisk { path: path.clone(), is_device: true }),
        DataDisk::Folder(path) => {
            Err(unavailable(format!("a virtual machine needs a disk, and {} is a folder", path.display())))
        }
    }
}

/// How KVM is tried for this machine, if that must be known.
pub(crate) fn probe(settings: &QemuSettings, order: &MachineOrder) -> Result<KvmProbe, MachineError> {
    Ok(KvmProbe {
        image: order.image()?.clone(),
        agent: order.agent.clone(),
        cache: order.cache.clone(),
        scratch: order.scratch.clone(),
        wish: settings.wish(),
        cpus: order.place.vcpu_cpus().to_vec(),
    })
}

/// Fails if load from outside could not reach a guest with this network.
pub(crate) fn can_be_reached(network: GuestNetwork, reached: &Reached) -> Result<(), MachineError> {
    let why = match network {
        GuestNetwork::None if !reached.ports.is_empty() => "load from outside needs a network, and network = \"none\"",
        GuestNetwork::User if reached.address.is_ipv6() => {
            "QEMU's own network forwards no ports of an IPv6 address; give load.address an IPv4 one"
        }
        _ => return Ok(()),
    };
    Err(unavailable(why.to_owned()))
}

/// Checks everything that is known before the start.
fn can_be_had(settings: &QemuSettings, order: &MachineOrder) -> Result<(), MachineError> {
    can_be_reached(settings.network, &order.reached)?;
    for (key, file) in [("binary", Some(&settings.binary)), ("kernel", settings.kernel.as_ref())] {
        if let Some(file) = file.filter(|file| file.contains('/') && !Path::new(file).is_file()) {
            return Err(unavailable(format!("{key} = \"{file}\" is no file here")));
        }
    }
    parts_of_host(settings, order)
}

/// Checks what the host itself must have: huge pages, and a tap device.
pub(crate) fn parts_of_host(settings: &QemuSettings, order: &MachineOrder) -> Result<(), MachineError> {
    let places = std::slice::from_ref(&order.place);
    if let Some(lack) =
        settings.huge_pages.then(|| HugePages::read(Path::new("/")).lacking(order.memory_bytes, places)).flatten()
    {
        return Err(unavailable(format!("{lack}; {}", lack.instead())));
    }
    if let Some(tap) = &settings.tap
        && !Path::new("/sys/class/net").join(tap).join("tun_flags").exists()
    {
        return Err(unavailable(format!(
            "the host has no tap device {tap}; `ip tuntap add {tap} mode tap`, an address for it and `ip link set {tap} up` make one"
        )));
    }
    Ok(())
}

fn command_order(
    settings: QemuSettings,
    order: &MachineOrder,
    accelerator: Accelerator,
) -> Result<GuestOrder, MachineError> {
    let data = data_disk(&order.data)?;
    let cpu = match settings.cpu.as_str() {
        "auto" => accelerator.fullest_cpu().to_owned(),
        model => model.to_owned(),
    };
    let image = order.image()?;
    let initramfs = initramfs(image, &order.agent, &drivers(image.root_disk.is_some(), &settings))?;
    Ok(GuestOrder {
        name: order.name.clone(),
        accelerator,
        cpu,
        vcpus: order.vcpus,
        memory_bytes: order.memory_bytes,
        cpus: placed::unpinned_cpus(&order.place, settings.pin).to_vec(),
        bound_to: order.place.bound_to.clone(),
        cgroups: Vec::new(),
        kernel: match &settings.kernel {
            Some(own) => own.into(),
            None => guest_kernel(image)?.file.clone(),
        },
        initramfs,
        console: order.scratch.join(format!("{}.console", order.name)),
        root: image.root_disk.clone(),
        data: Some(data),
        tuning: order.mounting.tuning.clone(),
        open_files: Some(rights::open_files()).filter(|files| *files < OPEN_FILES),
        reached: order.reached.clone(),
        isolation: Isolation::here().clone(),
        is_quiet: true,
        settings,
    })
}

/// The actual value of each requested property, read back from QEMU and the host if they report it.
fn decide(qmp: &mut Qmp, order: &GuestOrder, choice: &Choice) -> Result<Decisions, QmpError> {
    let disk = order.settings.disk;
    let version = qmp.version().to_owned();
    let node = file_node(disk);
    let asked = AskedGuest {
        version: &version,
        accelerator: order.accelerator,
        why: &choice.why,
        cpu: &order.cpu,
        huge_pages: order.settings.huge_pages,
        disk,
        data: order.data.as_ref(),
        is_file_node: &|found| found["node-name"] == node,
    };
    let mut decided = decided::read_back(qmp, &asked)?;
    if disk.is_limited() {
        let asked = json!({ "path": format!("/objects/{LIMIT}"), "property": "limits" });
        let limits = decided::limit_words(&qmp.execute("qom-get", asked)?);
        decided.insert("disk limit".to_owned(), Ok(limits));
    }
    Ok(decided)
}

/// The process's program, guest kernel and further arguments, according to the kernel.
fn running(process: u32, order: &GuestOrder) -> Decisions {
    let unknown = |error: std::io::Error| error.to_string();
    let binary = std::fs::read_link(format!("/proc/{process}/exe")).map_err(unknown);
    let words = std::fs::read(format!("/proc/{process}/cmdline")).map_err(unknown).map(|bytes| {
        let words = bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        words.collect::<Vec<String>>()
    });
    let mut said: Decisions = [("qemu binary".to_owned(), binary.map(|path| path.display().to_string()))].into();
    if order.settings.kernel.is_some() {
        let kernel = words.clone().and_then(|words| {
            let at = words.iter().position(|word| word == "-kernel").and_then(|at| words.get(at + 1));
            at.cloned().ok_or_else(|| "it was started without one".to_owned())
        });
        said.insert("kernel file".to_owned(), kernel);
    }
    let further = &order.settings.arguments;
    if !further.is_empty() {
        let has = |words: Vec<String>| {
            let is_there = words.windows(further.len()).any(|part| part == further.as_slice());
            if is_there { Ok(further.join(" ")) } else { Err("it was started without them".to_owned()) }
        };
        said.insert("further arguments".to_owned(), words.and_then(has));
    }
    said
}

/// The address at which each of the guest's ports is reached.
fn addresses(qmp: &mut Qmp, order: &GuestOrder) -> Result<BTreeMap<u16, SocketAddr>, MachineError> {
    let mut addresses = BTreeMap::new();
    for port in order.reached.ports.iter().copied() {
        let address = match order.settings.network {
            GuestNetwork::User => {
                let host_port =
                    qmp.forwarded_port(port).map_err(|error| failing("finding the forwarded port", error))?;
                Some(SocketAddr::from((order.reached.address, host_port)))
            }
            GuestNetwork::Tap => {
                let guest = super::command::boot_words(order).network;
                guest.map(|guest: GuestAddress| SocketAddr::from((guest.address, port)))
            }
            GuestNetwork::None => None,
        };
        addresses.extend(address.map(|address| (port, address)));
    }
    Ok(addresses)
}

impl Machine for QemuMachine {
    fn link(&mut self) -> &mut AgentLink {
        &mut self.guest.link
    }

    fn facts(&self) -> &LaunchFacts {
        &self.facts
    }

    fn reached_at(&self, port: u16) -> Option<SocketAddr> {
        self.addresses.get(&port).copied()
    }

    fn watched(&mut self) -> WatchedMachine {
        watch::of(self.guest.pid(), &self.qmp, self.data.as_ref(), NodeNames::new(), &self.cpus)
    }

    fn console(&self) -> String {
        self.guest.console()
    }

    fn stop(self: Box<Self>, limit: Duration) -> Result<(), MachineError> {
        self.guest.stop(limit)
    }

    fn cut(self: Box<Self>) -> Result<(), MachineError> {
        self.guest.cut()
    }
}

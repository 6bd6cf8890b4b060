//! A domain's XML, as data. Pure: decisions come in, a text comes out.
//!
//! The domain boots our kernel and initramfs directly and has only the devices named here, as far as libvirt lets us
//! say so. Whatever the guest does at its end, the domain ends too. No file changes its owner: QEMU runs as the user
//! whose files they are.

use super::rpc::procedures::Uuid;
use super::settings::{GuestType, LibvirtSettings};
use super::xml::{Element, element, text};
use crate::affinity;
use crate::placement::{NodeShare, divided};
use crate::qemu::command::{Accelerator, GuestDisk, guest_address, kernel_words};
use crate::qemu::memory;
use crate::qemu::settings::{Adapter, DiskSettings, GuestNetwork};
use machines::boot::{AGENT_PORT, BootWords, DATA_LABEL, DataTuning, ROOT_LABEL};
use machines::cgroup::CpuQuota;
use std::path::{Path, PathBuf};

/// Our name for the data disk, by which it is found again in QEMU. libvirt takes only names that begin so.
pub const DATA_ALIAS: &str = "ua-data";
const KIB: u64 = 1 << 10;
const HUGE_PAGE_KIB: u64 = 2 << 10;
const IOTHREAD: u32 = 1;

/// What runs the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hypervisor {
    Qemu(Accelerator),
    Xen(GuestType),
}

/// The guest's console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Console {
    /// Two named pipes with this path and the endings ".in" and ".out".
    Pipes(PathBuf),
    /// Nobody reads it.
    Unread,
}

/// A domain, completely decided.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainOrder {
    pub name: String,
    pub uuid: Uuid,
    pub hypervisor: Hypervisor,
    pub vcpus: u32,
    pub memory_bytes: u64,
    /// The host CPUs of all vCPUs together, and of each one if they are pinned.
    pub cpus: Vec<usize>,
    pub pins: Option<Vec<usize>>,
    /// The host CPUs of QEMU's other threads.
    pub emulator_cpus: Vec<usize>,
    /// Memory nodes of the host to which memory is bound; with several, the guest gets one for each.
    pub bound_to: Vec<NodeShare>,
    /// CPU time of the whole domain.
    pub quota: Option<CpuQuota>,
    /// User and group that QEMU runs as; `None` where libvirt does not choose another.
    pub runs_as: Option<(u32, u32)>,
    pub kernel: PathBuf,
    pub initramfs: PathBuf,
    pub console: Console,
    /// The socket that the agent answers on.
    pub agent: PathBuf,
    pub root: Option<PathBuf>,
    pub data: Option<GuestDisk>,
    pub tuning: DataTuning,
    /// The guest's limit of open files, if machines here have fewer than elsewhere.
    pub open_files: Option<u64>,
    pub settings: LibvirtSettings,
}

/// The whole domain.
pub fn xml(order: &DomainOrder) -> String {
    let kind = match order.hypervisor {
        Hypervisor::Qemu(Accelerator::Kvm) => "kvm",
        Hypervisor::Qemu(Accelerator::Tcg) => "qemu",
        Hypervisor::Xen(_) => "xen",
    };
    let mut domain = element("domain").with("type", kind).add(text("name", &order.name)).add(text("uuid", order.uuid));
    domain = domain.add(text("memory", order.memory_bytes / KIB).with("unit", "KiB"));
    domain = domain.add_all(memory_backing(order));
    let vcpus = text("vcpu", order.vcpus).with("placement", "static");
    domain = domain.add(vcpus.with("cpuset", affinity::list(&order.cpus)));
    if order.settings.disk.iothread {
        domain = domain.add(text("iothreads", IOTHREAD));
    }
    domain = domain.add(cpu_tune(order)).add_all(numa_tune(order)).add(os(order));
    if let Hypervisor::Qemu(_) = order.hypervisor {
        domain = domain.add(element("features").add(element("acpi")).add(element("apic"))).add(cpu(order));
    }
    for event in ["on_poweroff", "on_reboot", "on_crash"] {
        domain = domain.add(text(event, "destroy"));
    }
    domain.add(devices(order)).add_all(label(order)).written()
}

/// The words for the guest on its kernel command line.
pub fn boot_words(order: &DomainOrder) -> BootWords {
    BootWords {
        root: order.root.as_ref().map(|_| ROOT_LABEL.to_owned()),
        data: order.data.as_ref().map(|_| DATA_LABEL.to_owned()),
        tuning: order.tuning.clone(),
        network: guest_address(&order.settings.of_qemu()),
        open_files: order.open_files,
    }
}

fn memory_backing(order: &DomainOrder) -> Option<Element> {
    let pages = element("hugepages").add(element("page").with("size", HUGE_PAGE_KIB).with("unit", "KiB"));
    let taken = element("allocation").with("mode", "immediate");
    let backing = element("memoryBacking").add(pages).add(element("source").with("type", "memfd")).add(taken);
    order.settings.huge_pages.then_some(backing)
}

/// Who runs where, and for how long.
fn cpu_tune(order: &DomainOrder) -> Element {
    let mut tune = element("cputune");
    if let Some(CpuQuota { quota, period }) = order.quota {
        tune = tune.add(text("global_period", period.as_micros())).add(text("global_quota", quota.as_micros()));
    }
    for (vcpu, cpu) in order.pins.iter().flatten().enumerate() {
        tune = tune.add(element("vcpupin").with("vcpu", vcpu).with("cpuset", cpu));
    }
    let emulator = affinity::list(&order.emulator_cpus);
    tune = tune.add(element("emulatorpin").with("cpuset", &emulator));
    if order.settings.disk.iothread {
        tune = tune.add(element("iothreadpin").with("iothread", IOTHREAD).with("cpuset", &emulator));
    }
    tune
}

fn numa_tune(order: &DomainOrder) -> Option<Element> {
    let mode = order.settings.numa.name();
    let nodes = order.bound_to.iter().map(|share| share.node as usize).collect::<Vec<_>>();
    if nodes.is_empty() {
        return None;
    }
    let mut tune = element("numatune");
    tune = tune.add(element("memory").with("mode", mode).with("nodeset", affinity::list(&nodes)));
    if nodes.len() > 1 {
        let cells = nodes.iter().enumerate();
        let of_cell = |(cell, node): (usize, &usize)| {
            element("memnode").with("cellid", cell).with("mode", mode).with("nodeset", node)
        };
        tune = tune.add_all(cells.map(of_cell));
    }
    Some(tune)
}

fn os(order: &DomainOrder) -> Element {
    let (words, kind) = match order.hypervisor {
        Hypervisor::Qemu(accelerator) => {
            let kind = text("type", "hvm").with("arch", "x86_64").with("machine", &order.settings.machine);
            (kernel_words(accelerator, true, &boot_words(order)), kind)
        }
        Hypervisor::Xen(guest) => {
            let (machine, kind) = match guest {
                GuestType::Pvh => ("xenpvh", "xenpvh"),
                GuestType::Hvm => ("xenfv", "hvm"),
            };
            let words = ["console=hvc0 quiet panic=-1".to_owned()].into_iter().chain(boot_words(order).to_words());
            let kind = text("type", kind).with("arch", "x86_64").with("machine", machine);
            (words.collect::<Vec<_>>().join(" "), kind)
        }
    };
    let files = [text("kernel", order.kernel.display()), text("initrd", order.initramfs.display())];
    element("os").add(kind).add_all(files).add(text("cmdline", words))
}

fn cpu(order: &DomainOrder) -> Element {
    let is_kvm = order.hypervisor == Hypervisor::Qemu(Accelerator::Kvm);
    let mut cpu = match order.settings.cpu.as_str() {
        "auto" if is_kvm => element("cpu").with("mode", "host-passthrough"),
        "auto" | "maximum" | "max" => element("cpu").with("mode", "maximum"),
        "host" | "host-passthrough" => element("cpu").with("mode", "host-passthrough"),
        "host-model" => element("cpu").with("mode", "host-model"),
        model => {
            let custom = element("cpu").with("mode", "custom").with("match", "exact").with("check", "none");
            custom.add(text("model", model).with("fallback", "forbid"))
        }
    };
    let sockets = memory::sockets(order.vcpus, &order.bound_to);
    let topology = element("topology").with("sockets", sockets).with("dies", 1).with("cores", order.vcpus / sockets);
    cpu = cpu.add(topology.with("threads", 1));
    if order.bound_to.len() > 1 {
        let parts = divided(order.memory_bytes, &order.bound_to);
        let cells = order.bound_to.iter().zip(parts).enumerate().map(|(number, (share, bytes))| {
            let cell = element("cell").with("id", number).with("cpus", affinity::list(&share.vcpus));
            cell.with("memory", bytes / KIB).with("unit", "KiB")
        });
        cpu = cpu.add(element("numa").add_all(cells));
    }
    cpu
}

/// QEMU runs as the user whose files these are, so none has to change its owner, and libvirt is asked to change none.
fn label(order: &DomainOrder) -> Option<Element> {
    let (user, group) = order.runs_as?;
    let label = element("seclabel").with("type", "static").with("model", "dac").with("relabel", "no");
    Some(label.add(text("label", format!("+{user}:+{group}"))))
}

fn devices(order: &DomainOrder) -> Element {
    let is_xen = matches!(order.hypervisor, Hypervisor::Xen(_));
    let mut devices = element("devices");
    // The data come first: devices get their places in this order.
    if let Some(data) = &order.data {
        devices = devices.add(data_disk(data, order.settings.disk, is_xen));
    }
    if let Some(root) = &order.root {
        devices = devices.add(root_disk(root, order.settings.disk, is_xen));
    }
    devices = devices.add_all(network(order, is_xen));
    if is_xen {
        devices = devices.add(element("console").with("type", "pty").add(element("target").with("type", "xen")));
        return devices.add(agent(&order.agent, "xen"));
    }
    devices = devices.add_all(controllers(order.settings.disk)).add(console(&order.console));
    devices = devices.add(agent(&order.agent, "virtio"));
    let random = element("backend").with("model", "builtin");
    devices.add(element("rng").with("model", "virtio").add(random)).add(element("memballoon").with("model", "none"))
}

fn controllers(disk: DiskSettings) -> Vec<Element> {
    let scsi = |model: &str| {
        let driver = disk.iothread.then(|| element("driver").with("iothread", IOTHREAD));
        element("controller").with("type", "scsi").with("index", 0).with("model", model).add_all(driver)
    };
    let own = match disk.adapter {
        Adapter::VirtioScsi => Some(scsi("virtio-scsi")),
        Adapter::Pvscsi => Some(scsi("vmpvscsi")),
        Adapter::VirtioBlk | Adapter::Nvme | Adapter::Ahci => None,
    };
    own.into_iter().chain([element("controller").with("type", "usb").with("model", "none")]).collect()
}

fn console(console: &Console) -> Element {
    let port = element("target").with("type", "isa-serial").with("port", 0);
    match console {
        Console::Pipes(path) => {
            let source = element("source").with("path", path.display());
            element("serial").with("type", "pipe").add(source).add(port)
        }
        Console::Unread => element("serial").with("type", "null").add(port),
    }
}

fn agent(socket: &Path, target: &str) -> Element {
    let source = element("source").with("mode", "bind").with("path", socket.display());
    let target = element("target").with("type", target).with("name", AGENT_PORT);
    element("channel").with("type", "unix").add(source).add(target)
}

fn source(path: &Path, is_device: bool) -> (&'static str, Element) {
    if is_device {
        ("block", element("source").with("dev", path.display()))
    } else {
        ("file", element("source").with("file", path.display()))
    }
}

/// libvirt's name for the data disk, and its bus.
pub fn data_target(adapter: Adapter) -> (&'static str, &'static str) {
    match adapter {
        Adapter::VirtioBlk => ("vda", "virtio"),
        Adapter::VirtioScsi | Adapter::Pvscsi => ("sda", "scsi"),
        // Refused before: libvirt has no such bus.
        Adapter::Nvme => ("nvme0n1", "nvme"),
        Adapter::Ahci => ("sda", "sata"),
    }
}

fn data_disk(data: &GuestDisk, disk: DiskSettings, is_xen: bool) -> Element {
    let (kind, source) = source(&data.path, data.is_device);
    if is_xen {
        let driver = element("driver").with("name", if data.is_device { "phy" } else { "qdisk" });
        let target = element("target").with("dev", "xvda").with("bus", "xen");
        return element("disk").with("type", kind).with("device", "disk").add(driver).add(source).add(target);
    }
    let of_blk = (disk.iothread && disk.adapter == Adapter::VirtioBlk).then_some(IOTHREAD);
    let driver = element("driver").with("name", "qemu").with("type", "raw").with("cache", disk.cache.name());
    let driver = driver.with("io", disk.aio.name()).with("discard", disk.discard.name());
    let (name, bus) = data_target(disk.adapter);
    let mut tune = element("iotune");
    if let Some(bytes) = disk.bandwidth_limit_bytes {
        tune = tune.add(text("total_bytes_sec", bytes.0));
    }
    if let Some(operations) = disk.operations_limit_per_s {
        tune = tune.add(text("total_iops_sec", operations));
    }
    element("disk")
        .with("type", kind)
        .with("device", "disk")
        .add(driver.with_some("iothread", of_blk))
        .add(source)
        .add(element("target").with("dev", name).with("bus", bus))
        .add_all((!tune.is_empty()).then_some(tune))
        .add(element("alias").with("name", DATA_ALIAS))
}

/// The image's tree is never written, so machines share it. The host's page cache holds it, as for a native machine.
fn root_disk(path: &Path, data: DiskSettings, is_xen: bool) -> Element {
    let (kind, source) = source(path, false);
    let (driver, name, bus) = if is_xen {
        (element("driver").with("name", "qdisk"), "xvdb", "xen")
    } else {
        let name = if data.adapter == Adapter::VirtioBlk { "vdb" } else { "vda" };
        (element("driver").with("name", "qemu").with("type", "raw"), name, "virtio")
    };
    let target = element("target").with("dev", name).with("bus", bus);
    let disk = element("disk").with("type", kind).with("device", "disk").add(driver).add(source).add(target);
    disk.add(element("readonly"))
}

fn network(order: &DomainOrder, is_xen: bool) -> Option<Element> {
    let settings = &order.settings;
    let interface = |kind: &str| element("interface").with("type", kind);
    let mut interface = match settings.network {
        GuestNetwork::None => return None,
        GuestNetwork::User => interface("user"),
        GuestNetwork::Tap => {
            let tap = settings.tap.as_deref().unwrap_or_default();
            interface("ethernet").add(element("target").with("dev", tap).with("managed", "no"))
        }
    };
    if !is_xen {
        interface = interface.add(element("model").with("type", "virtio"));
        if settings.network == GuestNetwork::Tap {
            let driver = if settings.vhost { "vhost" } else { "qemu" };
            interface = interface.add(element("driver").with("name", driver));
        }
        // Without a boot ROM: it would be one more file to install, and nothing boots from the network.
        interface = interface.add(element("rom").with("enabled", "no"));
    }
    Some(interface)
}

#[cfg(test)]
mod tests;

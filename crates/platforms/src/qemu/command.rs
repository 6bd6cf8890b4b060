//! QEMU's command line, as data. Pure: decisions come in, words come out.
//!
//! The machine has only the devices named here (`-nodefaults`) and boots our kernel and initramfs directly. It gets its
//! two connections as open sockets: the agent's on standard input, QEMU's own (QMP) on standard output. So there are no
//! socket files to clean up, no paths too long for a socket address, and nothing to wait for before connecting.

use super::isolation::Isolation;
use super::memory;
use super::settings::{Adapter, DiskSettings, GuestNetwork, QemuSettings};
use crate::order::Reached;
use crate::placement::NodeShare;
use crate::{affinity, join};
use machines::boot::{AGENT_PORT, BootWords, DATA_LABEL, DataTuning, GuestAddress, ROOT_LABEL};
use serde_json::{Map, json};
use std::path::{Path, PathBuf};

/// The address that QEMU's own network stack expects of its guest.
pub const USER_NETWORK_GUEST: GuestAddress =
    GuestAddress { address: std::net::Ipv4Addr::new(10, 0, 2, 15), prefix: 24 };
/// The block node that the guest's data disk is attached to.
pub const DATA_NODE: &str = "data";
/// The block node that opened the file or device, if the throttle node is above it.
const FILE_NODE: &str = "data-file";
/// The throttle group that limits the I/O of the data node.
pub const LIMIT: &str = "limit";
/// QEMU's standard input and output, which are sockets.
const AGENT_DESCRIPTOR: u32 = 0;
const QMP_DESCRIPTOR: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    Kvm,
    Tcg,
}

impl Accelerator {
    pub fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }

    /// The CPU model that "auto" stands for: everything that this accelerator offers.
    pub fn fullest_cpu(self) -> &'static str {
        match self {
            Self::Kvm => "host",
            Self::Tcg => "max",
        }
    }
}

/// A disk of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestDisk {
    pub path: PathBuf,
    pub is_device: bool,
}

/// A virtual machine, completely decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestOrder {
    pub name: String,
    pub accelerator: Accelerator,
    /// One of QEMU's models, not "auto".
    pub cpu: String,
    pub vcpus: u32,
    pub memory_bytes: u64,
    /// The CPUs of all threads that are not pinned later.
    pub cpus: Vec<usize>,
    /// Memory nodes of the host to which memory is bound; with several, the guest gets one for each.
    pub bound_to: Vec<NodeShare>,
    /// Control groups to join.
    pub cgroups: Vec<PathBuf>,
    pub kernel: PathBuf,
    pub initramfs: PathBuf,
    pub console: PathBuf,
    pub root: Option<PathBuf>,
    pub data: Option<GuestDisk>,
    pub tuning: DataTuning,
    /// The guest's limit of open files, if machines here have fewer than elsewhere.
    pub open_files: Option<u64>,
    /// Guest ports that must be reachable, and the host's address for those that QEMU forwards.
    pub reached: Reached,
    pub isolation: Isolation,
    /// Whether the guest's kernel keeps its steps for itself.
    pub is_quiet: bool,
    pub settings: QemuSettings,
}

/// The whole command line, with the program.
pub fn command_line(order: &GuestOrder) -> Vec<String> {
    let mut words = Words::default();
    // Joining a group may change the CPUs to the group's own, so the requested CPUs are set afterwards.
    if !order.cgroups.is_empty() {
        words.0.extend(join::words(&order.cgroups));
    }
    words.add(&["taskset", "--cpu-list", &affinity::list(&order.cpus)]);
    words.0.extend(order.isolation.words());
    words.add(&[&order.settings.binary, "-name", &format!("bakeoff-{},debug-threads=on", escaped(&order.name))]);
    words.add(&["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-action", "panic=shutdown"]);
    words.0.extend(order.isolation.options());
    processor(&mut words, order);
    words.0.extend(memory::words(order.memory_bytes, order.settings.huge_pages, &order.bound_to));
    boot(&mut words, order);
    conversations(&mut words);
    if let Some(root) = &order.root {
        root_disk(&mut words, root);
    }
    if let Some(data) = &order.data {
        data_disk(&mut words, data, order.settings.disk);
    }
    network(&mut words, order);
    words.0.extend(order.settings.arguments.iter().cloned());
    words.0
}

/// The words for the guest on its kernel command line.
pub fn boot_words(order: &GuestOrder) -> BootWords {
    BootWords {
        root: order.root.as_ref().map(|_| ROOT_LABEL.to_owned()),
        data: order.data.as_ref().map(|_| DATA_LABEL.to_owned()),
        tuning: order.tuning.clone(),
        network: guest_address(&order.settings),
        open_files: order.open_files,
    }
}

/// The address that the guest gives itself.
pub fn guest_address(settings: &QemuSettings) -> Option<GuestAddress> {
    match settings.network {
        GuestNetwork::None => None,
        GuestNetwork::User => Some(USER_NETWORK_GUEST),
        GuestNetwork::Tap => settings.guest_address.as_deref().and_then(|address| address.parse().ok()),
    }
}

/// The guest's kernel modules: for what every machine has, and for its adapter. A kernel of the user's own gets none,
/// since the image's modules do not fit it.
pub fn drivers(has_root: bool, settings: &QemuSettings) -> Vec<&'static str> {
    if settings.kernel.is_some() {
        return Vec::new();
    }
    let mut drivers = vec!["virtio_pci", "virtio_console", "virtio_rng"];
    if has_root {
        drivers.extend(Adapter::VirtioBlk.drivers());
    }
    if settings.network != GuestNetwork::None {
        drivers.push("virtio_net");
    }
    drivers.extend(settings.disk.adapter.drivers());
    drivers.push("ext4");
    drivers
}

fn processor(words: &mut Words, order: &GuestOrder) {
    words.add(&["-machine", &order.settings.machine]);
    match order.accelerator {
        Accelerator::Kvm => words.add(&["-accel", "kvm"]),
        Accelerator::Tcg => words.add(&["-accel", "tcg,thread=multi"]),
    }
    words.add(&["-cpu", &order.cpu]);
    let (vcpus, sockets) = (order.vcpus, memory::sockets(order.vcpus, &order.bound_to));
    words.add(&["-smp", &format!("cpus={vcpus},sockets={sockets},cores={},threads=1", vcpus / sockets)]);
}

/// The guest's kernel command line.
pub fn kernel_words(accelerator: Accelerator, is_quiet: bool, boot: &BootWords) -> String {
    let mut words = vec!["console=ttyS0".to_owned()];
    words.extend(is_quiet.then(|| "quiet".to_owned()));
    // A kernel that panics reboots at once, and a reboot ends QEMU.
    words.push("panic=-1".to_owned());
    if accelerator == Accelerator::Tcg {
        // All emulated CPUs read one counter, but the emulation does not guarantee that. Without this word the kernel
        // falls back to an emulated timer chip, and each clock read takes 20 times as long.
        words.push("tsc=reliable".to_owned());
        // The kernel panics if its timer does not tick during a check, and an emulated CPU may be taken away just then.
        words.push("no_timer_check".to_owned());
    }
    words.extend(boot.to_words());
    words.join(" ")
}

fn boot(words: &mut Words, order: &GuestOrder) {
    words.add(&["-kernel", &text(&order.kernel), "-initrd", &text(&order.initramfs)]);
    words.add(&["-append", &kernel_words(order.accelerator, order.is_quiet, &boot_words(order))]);
    words.add(&["-chardev", &format!("file,id=console,path={}", escaped_path(&order.console))]);
    words.add(&["-serial", "chardev:console"]);
}

fn conversations(words: &mut Words) {
    words.add(&["-chardev", &format!("socket,id=qmp,fd={QMP_DESCRIPTOR}"), "-mon", "chardev=qmp,mode=control"]);
    words.add(&["-device", "virtio-serial-pci,id=serial"]);
    words.add(&["-chardev", &format!("socket,id=agent,fd={AGENT_DESCRIPTOR}")]);
    words.add(&["-device", &format!("virtserialport,bus=serial.0,chardev=agent,name={AGENT_PORT}")]);
    words.add(&["-object", "rng-builtin,id=random", "-device", "virtio-rng-pci,rng=random"]);
}

/// The image's tree is never written, so machines share it. The host's page cache holds it, as for a native machine. It
/// always uses virtio-blk: the adapter under test is for the data.
fn root_disk(words: &mut Words, path: &Path) {
    let node = format!("driver=file,node-name=root,filename={},read-only=on", escaped_path(path));
    words.add(&["-blockdev", &node, "-device", "virtio-blk-pci,drive=root"]);
}

/// The block node that QEMU is asked about to read back the cache settings.
pub fn file_node(settings: DiskSettings) -> &'static str {
    if settings.is_limited() { FILE_NODE } else { DATA_NODE }
}

fn data_disk(words: &mut Words, disk: &GuestDisk, settings: DiskSettings) {
    let DiskSettings { adapter, cache, aio, iothread, .. } = settings;
    let driver = if disk.is_device { "host_device" } else { "file" };
    let (direct, no_flush) = (on_off(cache.is_direct()), on_off(cache.ignores_flushes()));
    words.add(&[
        "-blockdev",
        &format!(
            "driver={driver},node-name={},filename={},cache.direct={direct},cache.no-flush={no_flush},aio={}",
            file_node(settings),
            escaped_path(&disk.path),
            aio.name()
        ),
    ]);
    if settings.is_limited() {
        let mut limits = Map::new();
        if let Some(operations) = settings.operations_limit_per_s {
            limits.insert("iops-total".to_owned(), json!(operations));
        }
        if let Some(bytes) = settings.bandwidth_limit_bytes {
            limits.insert("bps-total".to_owned(), json!(bytes.0));
        }
        words.add(&["-object", &json!({ "qom-type": "throttle-group", "id": LIMIT, "limits": limits }).to_string()]);
        let node = format!("driver=throttle,node-name={DATA_NODE},throttle-group={LIMIT},file={FILE_NODE}");
        words.add(&["-blockdev", &node]);
    }
    let drive = format!("drive={DATA_NODE},write-cache={}", on_off(cache.has_write_cache()));
    let mut thread = "";
    if iothread {
        words.add(&["-object", "iothread,id=disk"]);
        thread = ",iothread=disk";
    }
    match adapter {
        Adapter::VirtioBlk => words.add(&["-device", &format!("virtio-blk-pci,{drive}{thread}")]),
        Adapter::VirtioScsi => {
            words.add(&["-device", &format!("virtio-scsi-pci,id=scsi{thread}")]);
            words.add(&["-device", &format!("scsi-hd,bus=scsi.0,{drive}")]);
        }
        Adapter::Pvscsi => {
            words.add(&["-device", "pvscsi,id=scsi", "-device", &format!("scsi-hd,bus=scsi.0,{drive}")]);
        }
        Adapter::Nvme => words.add(&["-device", &format!("nvme,serial={DATA_LABEL},{drive}")]),
        // The machine type has its own AHCI controller.
        Adapter::Ahci => words.add(&["-device", &format!("ide-hd,bus=ide.0,{drive}")]),
    }
}

fn network(words: &mut Words, order: &GuestOrder) {
    let settings = &order.settings;
    let backend = match settings.network {
        GuestNetwork::None => return,
        // The guest can connect to nothing, but the host can connect to its ports. Port 0 lets the host choose a port,
        // and QMP reports which.
        GuestNetwork::User => {
            let Reached { address, ports } = &order.reached;
            let forward = |port: &u16| format!(",hostfwd=tcp:{address}:0-{}:{port}", USER_NETWORK_GUEST.address);
            format!("user,id=network,restrict=on{}", ports.iter().map(forward).collect::<String>())
        }
        GuestNetwork::Tap => {
            let device = escaped(settings.tap.as_deref().unwrap_or_default());
            format!("tap,id=network,ifname={device},script=no,downscript=no,vhost={}", on_off(settings.vhost))
        }
    };
    // Without a boot ROM: it would be one more file to install, and nothing boots from the network.
    words.add(&["-netdev", &backend, "-device", "virtio-net-pci,netdev=network,romfile="]);
}

#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|word| (*word).to_owned()));
    }
}

fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn escaped_path(path: &Path) -> String {
    escaped(&text(path))
}

/// A value inside QEMU's comma-separated options; its commas are doubled.
fn escaped(value: &str) -> String {
    value.replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::{Accelerator, GuestDisk, GuestOrder, command_line, drivers};
    use crate::order::Reached;
    use crate::placement::NodeShare;
    use crate::qemu::isolation::{Isolation, Switch};
    use crate::qemu::settings::{Adapter, Aio, DiskCache, DiskSettings, GuestNetwork, QemuSettings};
    use machines::boot::DataTuning;

    fn order(accelerator: Accelerator, settings: QemuSettings) -> GuestOrder {
        GuestOrder {
            name: "trial-0001".to_owned(),
            accelerator,
            cpu: accelerator.fullest_cpu().to_owned(),
            vcpus: 2,
            memory_bytes: 2 << 30,
            cpus: vec![2, 3],
            bound_to: Vec::new(),
            cgroups: Vec::new(),
            kernel: "/cache/vmlinuz".into(),
            initramfs: "/cache/first.cpio".into(),
            console: "/scratch/trial-0001.console".into(),
            root: Some("/cache/root.ext4".into()),
            data: Some(GuestDisk { path: "/scratch/data, cloned.img".into(), is_device: false }),
            tuning: DataTuning::default(),
            open_files: None,
            reached: Reached { ports: vec![5432], ..Reached::default() },
            isolation: Isolation { sandbox: Ok(()), user: None },
            is_quiet: true,
            settings,
        }
    }

    fn bound(base: &GuestOrder, shares: &[(u32, &[usize])]) -> GuestOrder {
        let share = |(node, vcpus): &(u32, &[usize])| NodeShare { node: *node, vcpus: vcpus.to_vec() };
        GuestOrder { bound_to: shares.iter().map(share).collect(), ..base.clone() }
    }

    /// One option per line, as a person would write it in a script.
    fn lines(words: &[String]) -> String {
        let mut text = String::new();
        for word in words {
            if !text.is_empty() {
                text.push_str(if word.starts_with('-') { "\n" } else { " " });
            }
            text.push_str(word);
        }
        text.replace(crate::join::JOIN, "(join.sh)").replace(crate::qemu::isolation::FIRST, "(FIRST)")
    }

    /// The lines that are in only one of the two commands.
    fn difference(base: &GuestOrder, other: &GuestOrder) -> String {
        let (base, other) = (lines(&command_line(base)), lines(&command_line(other)));
        let gone =
            base.lines().filter(|line| !other.lines().any(|another| another == *line)).map(|line| format!("< {line}"));
        let new =
            other.lines().filter(|line| !base.lines().any(|another| another == *line)).map(|line| format!("> {line}"));
        gone.chain(new).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_whole_command_line_with_nothing_said() {
        insta::assert_snapshot!(lines(&command_line(&order(Accelerator::Kvm, QemuSettings::default()))));
    }

    #[test]
    fn each_accelerator_and_network_and_what_it_changes() {
        let base = order(Accelerator::Kvm, QemuSettings::default());
        let tap = QemuSettings {
            network: GuestNetwork::Tap,
            tap: Some("tap0".to_owned()),
            guest_address: Some("192.168.77.2/24".to_owned()),
            vhost: true,
            ..QemuSettings::default()
        };
        let mut device = base.clone();
        device.data = Some(GuestDisk { path: "/dev/sdb".into(), is_device: true });
        let disk = DiskSettings {
            operations_limit_per_s: Some(500),
            bandwidth_limit_bytes: Some(settings::Bytes(16 << 20)),
            ..base.settings.disk
        };
        let limited = order(Accelerator::Kvm, QemuSettings { disk, ..QemuSettings::default() });
        let cases = [
            ("tcg", order(Accelerator::Tcg, QemuSettings::default())),
            (
                "network none",
                order(Accelerator::Kvm, QemuSettings { network: GuestNetwork::None, ..QemuSettings::default() }),
            ),
            ("network tap", order(Accelerator::Kvm, tap)),
            ("huge pages", order(Accelerator::Kvm, QemuSettings { huge_pages: true, ..QemuSettings::default() })),
            ("block device", device),
            ("limited disk", limited),
            ("memory of a node", bound(&base, &[(1, &[0, 1])])),
            ("memory of two nodes", bound(&base, &[(0, &[0]), (1, &[1])])),
            (
                "started by root",
                GuestOrder { isolation: Isolation { sandbox: Ok(()), user: Some(Ok(Switch::RunAs)) }, ..base.clone() },
            ),
            ("control groups", GuestOrder { cgroups: vec!["/sys/fs/cgroup/cpu/bakeoff".into()], ..base.clone() }),
            (
                "no root, no data, no port",
                GuestOrder { root: None, data: None, reached: Reached::default(), ..base.clone() },
            ),
        ];
        let told = cases.map(|(name, case)| format!("# {name}\n{}\n", difference(&base, &case)));
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn a_hypervisor_developers_own_parts_are_what_is_started() {
        let base = order(Accelerator::Kvm, QemuSettings::default());
        let own = QemuSettings {
            binary: "/opt/qemu/bin/qemu".to_owned(),
            machine: "pc-q35-7.2".to_owned(),
            arguments: ["-device", "virtio-balloon-pci"].map(str::to_owned).to_vec(),
            ..QemuSettings::default()
        };
        let changed = difference(&base, &order(Accelerator::Kvm, own.clone()));
        assert!(changed.contains("qemu-system-x86_64\n") && changed.contains("/opt/qemu/bin/qemu\n"), "{changed}");
        assert!(changed.contains("< -machine q35") && changed.contains("> -machine pc-q35-7.2"), "{changed}");
        assert!(changed.ends_with("> -device virtio-balloon-pci"), "after all others: {changed}");
        let kernel = QemuSettings { kernel: Some("/boot/own".to_owned()), ..own };
        assert!(drivers(true, &kernel).is_empty(), "modules are another kernel's");
    }

    #[test]
    fn each_adapter_cache_and_aio_and_what_it_changes() {
        let base = order(Accelerator::Tcg, QemuSettings::default());
        let mut told = Vec::new();
        for adapter in [Adapter::VirtioBlk, Adapter::VirtioScsi, Adapter::Nvme, Adapter::Pvscsi, Adapter::Ahci] {
            for cache in [
                DiskCache::None,
                DiskCache::Writeback,
                DiskCache::Writethrough,
                DiskCache::Directsync,
                DiskCache::Unsafe,
            ] {
                for aio in [Aio::Threads, Aio::Native, Aio::IoUring] {
                    let disk = DiskSettings { adapter, cache, aio, ..base.settings.disk };
                    let case = order(Accelerator::Tcg, QemuSettings { disk, ..QemuSettings::default() });
                    let name = format!("# {}, {}, {}", adapter.name(), cache.name(), aio.name());
                    told.push(format!("{name}\n{}\n", difference(&base, &case)));
                }
            }
        }
        for adapter in [Adapter::VirtioBlk, Adapter::VirtioScsi] {
            let disk = DiskSettings { adapter, iothread: true, ..base.settings.disk };
            let case = order(Accelerator::Tcg, QemuSettings { disk, ..QemuSettings::default() });
            told.push(format!("# {}, iothread\n{}\n", adapter.name(), difference(&base, &case)));
        }
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn a_guest_gets_the_drivers_for_what_it_has() {
        let of = |adapter| {
            let disk = DiskSettings { adapter, ..QemuSettings::default().disk };
            drivers(false, &QemuSettings { disk, network: GuestNetwork::None, ..QemuSettings::default() })
        };
        assert_eq!(of(Adapter::Nvme), ["virtio_pci", "virtio_console", "virtio_rng", "nvme", "ext4"]);
        assert!(of(Adapter::Pvscsi).contains(&"sd_mod"));
        assert!(drivers(true, &QemuSettings::default()).contains(&"virtio_net"));
        for adapter in [Adapter::VirtioBlk, Adapter::VirtioScsi, Adapter::Nvme, Adapter::Pvscsi, Adapter::Ahci] {
            let disk = DiskSettings { adapter, ..QemuSettings::default().disk };
            let asked = drivers(true, &QemuSettings { disk, ..QemuSettings::default() });
            // A kernel in the cache has no others.
            assert!(asked.iter().all(|driver| images::kernel::GUEST_DRIVERS.contains(driver)), "{asked:?}");
        }
    }
}

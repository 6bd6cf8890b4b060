//! The keys of a QEMU machine in a study, and the combinations that QEMU does not support. Pure.

use crate::order::MachineRequest;
use images::KernelChoice;
use machines::boot::GuestAddress;
use serde::Deserialize;
use settings::{Bytes, Holds, Key, Problem, keys, names};

pub const PROGRAM: &str = "qemu-system-x86_64";

keys! {
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    pub struct QemuSettings {
        accelerator: WantedAccelerator = "auto", Holds::Choice(WantedAccelerator::NAMES),
            "kvm runs guest code on the CPU, tcg translates it; auto is kvm where a guest boots with it, else tcg";
        cpu: String = "auto", Holds::Text,
            "CPU model that the guest sees, as QEMU names it; auto is host under kvm and max under tcg";
        binary: String = "qemu-system-x86_64", Holds::Text,
            "the QEMU that is run: a program on PATH, or the path of one that was built";
        machine: String = "q35", Holds::Text,
            "machine type, as QEMU names it; it must have a PCI bus and a serial port";
        kernel: Option<String> = "", Holds::Text,
            "path of a kernel to boot in place of the image's; what it needs must be built in, since no module is loaded";
        start_limit: Option<u64> = "", Holds::Span { min_ms: 1_000, max_ms: 86_400_000 },
            "how long a guest may take to boot; unless given, a minute with KVM and three without, and more on a slow host";
        arguments: Vec<String> = "[]", Holds::Words,
            "further arguments for QEMU, after all others; bakeoff does not know what they mean";
        pin: bool = "true", Holds::Boolean,
            "vCPUs stay where machine.pinning puts them; if not, all of QEMU's threads may use all of the machine's \
             CPUs";
        huge_pages: bool = "false", Holds::Boolean, "guest memory in 2 MiB pages that the host has set aside";
        disk: DiskSettings = "{}", Holds::Table(&DISK_KEYS), "the data disk";
        network: GuestNetwork = "user", Holds::Choice(GuestNetwork::NAMES),
            "user is QEMU's own network stack, tap a device of the host named by `tap`";
        tap: Option<String> = "", Holds::Text,
            "with network = \"tap\": the host's tap device, which must exist and be up";
        guest_address: Option<String> = "", Holds::Text,
            "with network = \"tap\": the guest's address and prefix length, like 192.168.77.2/24";
        vhost: bool = "false", Holds::Boolean,
            "with network = \"tap\": packets are moved by the host's kernel instead of QEMU";
    }
}

pub const DISK_KEYS: [Key; 6] = *keys! {
    adapter = "virtio-blk", Holds::Choice(Adapter::NAMES), "the controller that the guest sees";
    cache = "none", Holds::Choice(DiskCache::NAMES),
        "none and directsync bypass the host's page cache; unsafe ignores flushes, so it is not durable";
    aio = "threads", Holds::Choice(Aio::NAMES),
        "how QEMU does disk I/O on the host; native needs a cache mode that bypasses the page cache";
    iothread = "false", Holds::Boolean, "disk I/O on a thread of its own (virtio-blk and virtio-scsi only)";
    operations_limit = "", Holds::Integer { min: 1, max: 1_000_000_000 },
        "how many reads and writes QEMU lets the guest do in a second, as clouds limit their disks; no limit unless \
         given";
    bandwidth_limit = "", Holds::Size { min: 4 << 10, max: 1 << 40 },
        "how much QEMU lets the guest read and write in a second; no limit unless given";
};

/// A guest needs this much to unpack its initramfs, which holds our whole binary.
const LEAST_MEMORY_BYTES: u64 = 128 << 20;
/// The chosen machine type takes at most this many vCPUs without an interrupt remapping unit.
const MOST_VCPUS: u32 = 255;

impl Default for QemuSettings {
    fn default() -> Self {
        settings::defaults(KEYS)
    }
}

names! {
    pub enum WantedAccelerator {
        Auto => "auto",
        Kvm => "kvm",
        Tcg => "tcg",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct DiskSettings {
    pub adapter: Adapter,
    pub cache: DiskCache,
    pub aio: Aio,
    /// The platform qemu has no key for it.
    #[serde(default)]
    pub discard: Discard,
    pub iothread: bool,
    #[serde(default, rename = "operations_limit")]
    pub operations_limit_per_s: Option<u64>,
    #[serde(default, rename = "bandwidth_limit")]
    pub bandwidth_limit_bytes: Option<Bytes>,
}

names! {
    #[derive(Default)]
    pub enum Discard {
        #[default]
        Ignore => "ignore",
        Unmap => "unmap",
    }
}

impl DiskSettings {
    pub fn is_limited(&self) -> bool {
        self.operations_limit_per_s.is_some() || self.bandwidth_limit_bytes.is_some()
    }
}

names! {
    pub enum Adapter {
        VirtioBlk => "virtio-blk",
        VirtioScsi => "virtio-scsi",
        Nvme => "nvme",
        Pvscsi => "pvscsi",
        Ahci => "ahci",
    }
}

names! {
    pub enum DiskCache {
        None => "none",
        Writeback => "writeback",
        Writethrough => "writethrough",
        Directsync => "directsync",
        Unsafe => "unsafe",
    }
}

names! {
    pub enum Aio {
        Threads => "threads",
        Native => "native",
        IoUring => "io_uring",
    }
}

names! {
    pub enum GuestNetwork {
        User => "user",
        Tap => "tap",
        None => "none",
    }
}

impl Adapter {
    /// The guest's kernel modules for a disk on this adapter.
    pub fn drivers(self) -> &'static [&'static str] {
        match self {
            Self::VirtioBlk => &["virtio_blk"],
            Self::VirtioScsi => &["virtio_scsi", "sd_mod"],
            Self::Nvme => &["nvme"],
            Self::Pvscsi => &["vmw_pvscsi", "sd_mod"],
            Self::Ahci => &["ahci", "sd_mod"],
        }
    }

    /// The kernel to take in place of this one, which is for clouds and omits hardware that no cloud has.
    fn needs_more_than(self, kernel: &KernelChoice) -> Option<&'static str> {
        match kernel {
            KernelChoice::Debian(debian) if self == Self::Ahci => debian.with_every_driver,
            _ => None,
        }
    }

    /// True if QEMU can run this adapter's I/O on its own thread.
    fn takes_iothread(self) -> bool {
        matches!(self, Self::VirtioBlk | Self::VirtioScsi)
    }
}

impl DiskCache {
    /// True if the host's page cache is bypassed.
    pub fn is_direct(self) -> bool {
        matches!(self, Self::None | Self::Directsync)
    }

    /// True if the guest sees a volatile write cache, which it flushes when it needs durability. Otherwise each write
    /// is on the disk before it is answered.
    pub fn has_write_cache(self) -> bool {
        matches!(self, Self::None | Self::Writeback | Self::Unsafe)
    }

    pub fn ignores_flushes(self) -> bool {
        self == Self::Unsafe
    }
}

/// What a contender asks of KVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvmWish {
    pub accelerator: WantedAccelerator,
    /// CPU model, as QEMU names it; "auto" is the model that `auto` would use.
    pub cpu: String,
    /// The QEMU that runs the guest.
    pub binary: String,
    /// How long the guest may take to boot, if the study says so.
    pub limit_ms: Option<u64>,
}

impl QemuSettings {
    /// How KVM is to be tried.
    pub fn wish(&self) -> KvmWish {
        let Self { accelerator, cpu, binary, start_limit, .. } = self;
        KvmWish { accelerator: *accelerator, cpu: cpu.clone(), binary: binary.clone(), limit_ms: *start_limit }
    }
}

/// Finds unsupported combinations, for this platform or for one that starts QEMU in another way.
pub fn check(settings: &QemuSettings, request: &MachineRequest<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |path: &str, found: String, expected: &str| problems.push(Problem::new(path, found, expected));
    let DiskSettings { adapter, cache, aio, iothread, .. } = settings.disk;
    if aio == Aio::Native && !cache.is_direct() {
        let found = format!("found \"native\" with cache = \"{}\"", cache.name());
        refuse("disk.aio", found, "\"threads\" or \"io_uring\", or a cache of \"none\" or \"directsync\"");
    }
    if settings.binary.is_empty() {
        refuse("binary", "found \"\"".to_owned(), "a program on PATH, or the path of one");
    }
    if iothread && !adapter.takes_iothread() {
        let found = format!("found true with adapter = \"{}\"", adapter.name());
        refuse("disk.iothread", found, "false, or an adapter of \"virtio-blk\" or \"virtio-scsi\"");
    }
    if let (None, Some(other)) = (&settings.kernel, adapter.needs_more_than(request.kernel)) {
        let found =
            format!("found \"{}\" with kernel = \"{}\", which has no driver for it", adapter.name(), request.kernel);
        refuse("disk.adapter", found, &format!("another adapter, or kernel = \"{other}\" in [machine]"));
    }
    if settings.network == GuestNetwork::None && request.is_reached_from_outside {
        refuse(
            "network",
            "found \"none\"".to_owned(),
            "\"user\" or \"tap\", because of placement = \"outside\" in [load]",
        );
    }
    if request.vcpus > MOST_VCPUS {
        refuse("", format!("found a machine of {} vCPUs", request.vcpus), "at most 255 vCPUs");
    }
    if request.memory_bytes < LEAST_MEMORY_BYTES {
        let found = format!("found a machine with a memory of {}", Bytes(request.memory_bytes));
        refuse("", found, "at least 128 MiB, or the guest cannot boot");
    }
    let lack = settings.huge_pages.then(|| request.huge_pages.lacking(request.memory_bytes, request.places)).flatten();
    if let Some(lack) = lack {
        let machines = if request.count == 1 { "1 machine".to_owned() } else { format!("{} machines", request.count) };
        let found = format!("found true for {machines} of {}: {lack}", Bytes(request.memory_bytes));
        refuse("huge_pages", found, &format!("false, or more of them: {}", lack.instead()));
    }
    tap_fits(settings, request.count, &mut refuse);
    problems
}

fn tap_fits(settings: &QemuSettings, count: u32, refuse: &mut impl FnMut(&str, String, &str)) {
    if settings.network != GuestNetwork::Tap {
        let given = [
            ("tap", settings.tap.is_some()),
            ("guest_address", settings.guest_address.is_some()),
            ("vhost", settings.vhost),
        ];
        for (key, _) in given.iter().filter(|(_, is_given)| *is_given) {
            refuse(key, "found it without network = \"tap\"".to_owned(), "network = \"tap\", or no such key");
        }
        return;
    }
    if count > 1 {
        let found = format!("found \"tap\" for {count} machines");
        refuse("network", found, "\"user\" or \"none\": a tap device and the address behind it are one machine's");
    }
    if settings.tap.is_none() {
        refuse("tap", "missing".to_owned(), "the name of a tap device, because network = \"tap\"");
    }
    match settings.guest_address.as_deref().map(str::parse::<GuestAddress>) {
        None => refuse("guest_address", "missing".to_owned(), "an address, because network = \"tap\""),
        Some(Err(found)) => refuse("guest_address", found, "an IPv4 address with a prefix length"),
        Some(Ok(_)) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{KEYS, QemuSettings, check};
    use crate::huge_pages::HugePages;
    use crate::order::MachineRequest;
    use images::KernelChoice;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    static NOT_ISOLATED: BTreeSet<usize> = BTreeSet::new();
    static NO_HUGE_PAGES: LazyLock<HugePages> = LazyLock::new(HugePages::default);
    static REQUEST: LazyLock<MachineRequest<'_>> = LazyLock::new(|| MachineRequest {
        count: 1,
        vcpus: 2,
        memory_bytes: 1 << 30,
        kernel: &KernelChoice::DEBIAN_12_GENERIC,
        is_reached_from_outside: false,
        places: &[],
        huge_pages: &NO_HUGE_PAGES,
        isolated: &NOT_ISOLATED,
    });

    fn read(value: &Value) -> QemuSettings {
        settings::read(value.as_object().unwrap(), KEYS).unwrap()
    }

    fn paths(value: &Value) -> Vec<String> {
        check(&read(value), &REQUEST).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn nothing_said_is_virtio_without_host_cache() {
        let settings = QemuSettings::default();
        let disk = (settings.disk.adapter, settings.disk.cache, settings.disk.aio);
        assert_eq!(disk, (super::Adapter::VirtioBlk, super::DiskCache::None, super::Aio::Threads));
        assert!(!settings.disk.is_limited() && settings.pin && settings.kernel.is_none());
        assert!(check(&settings, &REQUEST).is_empty());
    }

    #[test]
    fn native_aio_needs_a_direct_cache() {
        for (cache, is_refused) in
            [("none", false), ("directsync", false), ("writeback", true), ("writethrough", true), ("unsafe", true)]
        {
            let found = paths(&json!({ "disk": { "aio": "native", "cache": cache } }));
            assert_eq!(!found.is_empty(), is_refused, "{cache}");
        }
    }

    #[test]
    fn an_iothread_needs_virtio() {
        for (adapter, is_refused) in
            [("virtio-blk", false), ("virtio-scsi", false), ("nvme", true), ("pvscsi", true), ("ahci", true)]
        {
            let found = paths(&json!({ "disk": { "iothread": true, "adapter": adapter } }));
            assert_eq!(found == ["disk.iothread"], is_refused, "{adapter}");
        }
    }

    #[test]
    fn tap_needs_a_device_and_an_address_and_others_take_none() {
        assert_eq!(paths(&json!({ "network": "tap" })), ["tap", "guest_address"]);
        assert_eq!(paths(&json!({ "network": "tap", "tap": "t0", "guest_address": "192.168.7.2" })), ["guest_address"]);
        assert!(
            paths(&json!({ "network": "tap", "tap": "t0", "guest_address": "192.168.7.2/24", "vhost": true }))
                .is_empty()
        );
        assert_eq!(paths(&json!({ "tap": "t0", "vhost": true })), ["tap", "vhost"]);
    }

    #[test]
    fn a_tap_device_is_for_one_machine() {
        let tap = read(&json!({ "network": "tap", "tap": "t0", "guest_address": "192.168.7.2/24" }));
        assert!(check(&tap, &REQUEST).is_empty());
        let problems = check(&tap, &MachineRequest { count: 2, ..*REQUEST });
        assert_eq!(problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>(), ["network"]);
    }

    #[test]
    fn a_guest_too_small_to_boot_is_refused() {
        for request in
            [MachineRequest { memory_bytes: 64 << 20, ..*REQUEST }, MachineRequest { vcpus: 256, ..*REQUEST }]
        {
            assert_eq!(check(&QemuSettings::default(), &request).len(), 1);
        }
    }

    #[test]
    fn ahci_needs_the_kernel_that_has_it() {
        let cloud = MachineRequest { kernel: &KernelChoice::DEBIAN_12, ..*REQUEST };
        for (adapter, is_refused) in
            [("virtio-blk", false), ("virtio-scsi", false), ("nvme", false), ("pvscsi", false), ("ahci", true)]
        {
            let disk = read(&json!({ "disk": { "adapter": adapter } }));
            assert_eq!(check(&disk, &cloud).len(), usize::from(is_refused), "{adapter}");
            assert!(check(&disk, &REQUEST).is_empty());
            for other in [KernelChoice::Host, "/boot/vmlinuz".parse().unwrap()] {
                assert!(check(&disk, &MachineRequest { kernel: &other, ..*REQUEST }).is_empty(), "{other}");
            }
        }
        let disk = read(&json!({ "disk": { "adapter": "ahci" } }));
        let problem = check(&disk, &MachineRequest { kernel: &KernelChoice::DEBIAN_13, ..*REQUEST }).remove(0);
        assert_eq!(problem.expected, "another adapter, or kernel = \"debian-13-generic\" in [machine]");
    }

    #[test]
    fn load_from_outside_needs_a_network() {
        let outside = MachineRequest { is_reached_from_outside: true, ..*REQUEST };
        let none = read(&json!({ "network": "none" }));
        assert_eq!(check(&none, &outside)[0].path, "network");
        assert!(check(&none, &REQUEST).is_empty());
    }
}

//! Goldens of a domain's XML.

use super::*;
use crate::libvirt::settings::Numa;
use crate::qemu::settings::Discard;
use crate::qemu::settings::{Aio, DiskCache};
use std::time::Duration;

fn settings() -> LibvirtSettings {
    settings::read(&serde_json::Map::new(), crate::libvirt::settings::KEYS).unwrap()
}

fn order(hypervisor: Hypervisor, settings: LibvirtSettings) -> DomainOrder {
    DomainOrder {
        name: "bakeoff-77-trial-0001".to_owned(),
        uuid: Uuid::of_random([7; 16]),
        hypervisor,
        vcpus: 2,
        memory_bytes: 2 << 30,
        cpus: vec![2, 3],
        pins: Some(vec![2, 3]),
        emulator_cpus: vec![0, 1],
        bound_to: Vec::new(),
        quota: None,
        runs_as: Some((0, 0)),
        kernel: "/cache/vmlinuz".into(),
        initramfs: "/cache/first.cpio".into(),
        console: Console::Pipes("/scratch/console".into()),
        agent: "/scratch/agent".into(),
        root: Some("/cache/root.ext4".into()),
        data: Some(GuestDisk { path: "/scratch/data's.img".into(), is_device: false }),
        tuning: machines::boot::DataTuning::default(),
        open_files: None,
        settings,
    }
}

const KVM: Hypervisor = Hypervisor::Qemu(Accelerator::Kvm);
const TCG: Hypervisor = Hypervisor::Qemu(Accelerator::Tcg);

/// The lines that are in only one of the two domains.
fn difference(base: &DomainOrder, other: &DomainOrder) -> String {
    let (base, other) = (xml(base), xml(other));
    let gone = base.lines().filter(|line| !other.lines().any(|another| another == *line)).map(|line| ("< ", line));
    let new = other.lines().filter(|line| !base.lines().any(|another| another == *line)).map(|line| ("> ", line));
    let changed: Vec<String> = gone.chain(new).map(|(mark, line)| format!("{mark}{}\n", line.trim())).collect();
    changed.concat()
}

#[test]
fn the_whole_domain_with_nothing_said() {
    insta::assert_snapshot!(xml(&order(KVM, settings())));
}

#[test]
fn each_decision_and_what_it_changes() {
    let base = order(KVM, settings());
    let own = |change: &dyn Fn(&mut LibvirtSettings)| {
        let mut settings = settings();
        change(&mut settings);
        order(KVM, settings)
    };
    let share = |node: u32, vcpus: &[usize]| NodeShare { node, vcpus: vcpus.to_vec() };
    let cases = [
        ("tcg", order(TCG, settings())),
        ("cpu host-model", own(&|settings| settings.cpu = "host-model".to_owned())),
        ("cpu model", own(&|settings| settings.cpu = "Skylake-Server".to_owned())),
        ("machine", own(&|settings| settings.machine = "pc-q35-7.2".to_owned())),
        ("huge pages", own(&|settings| settings.huge_pages = true)),
        ("no pins", DomainOrder { pins: None, emulator_cpus: vec![2, 3], ..base.clone() }),
        ("quota", DomainOrder { quota: Some(CpuQuota::of_cpus(1.5)), ..base.clone() }),
        ("memory of a node", DomainOrder { bound_to: vec![share(1, &[0, 1])], ..base.clone() }),
        ("memory of two nodes", DomainOrder { bound_to: vec![share(0, &[0]), share(1, &[1])], ..base.clone() }),
        (
            "interleaved",
            DomainOrder { bound_to: vec![share(1, &[0, 1])], ..own(&|settings| settings.numa = Numa::Interleave) },
        ),
        ("network none", own(&|settings| settings.network = GuestNetwork::None)),
        (
            "network tap",
            own(&|settings| {
                settings.network = GuestNetwork::Tap;
                settings.tap = Some("tap0".to_owned());
                settings.guest_address = Some("192.168.77.2/24".to_owned());
                settings.vhost = true;
            }),
        ),
        (
            "limited disk",
            own(&|settings| {
                settings.disk.operations_limit_per_s = Some(500);
                settings.disk.bandwidth_limit_bytes = Some(::settings::Bytes(16 << 20));
            }),
        ),
        ("discard", own(&|settings| settings.disk.discard = Discard::Unmap)),
        (
            "block device",
            DomainOrder { data: Some(GuestDisk { path: "/dev/sdb".into(), is_device: true }), ..base.clone() },
        ),
        ("another host", DomainOrder { console: Console::Unread, ..base.clone() }),
        ("session", DomainOrder { runs_as: None, ..base.clone() }),
        ("no root, no data", DomainOrder { root: None, data: None, ..base.clone() }),
    ];
    let told = cases.map(|(name, case)| format!("# {name}\n{}", difference(&base, &case)));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn each_adapter_cache_and_aio_and_what_it_changes() {
    let base = order(TCG, settings());
    let mut told = Vec::new();
    for adapter in [Adapter::VirtioBlk, Adapter::VirtioScsi, Adapter::Pvscsi, Adapter::Ahci] {
        for cache in
            [DiskCache::None, DiskCache::Writeback, DiskCache::Writethrough, DiskCache::Directsync, DiskCache::Unsafe]
        {
            for aio in [Aio::Threads, Aio::Native, Aio::IoUring] {
                let mut own = settings();
                own.disk = DiskSettings { adapter, cache, aio, ..own.disk };
                let name = format!("# {}, {}, {}", adapter.name(), cache.name(), aio.name());
                told.push(format!("{name}\n{}", difference(&base, &order(TCG, own))));
            }
        }
    }
    for adapter in [Adapter::VirtioBlk, Adapter::VirtioScsi] {
        let mut own = settings();
        own.disk = DiskSettings { adapter, iothread: true, ..own.disk };
        told.push(format!("# {}, iothread\n{}", adapter.name(), difference(&base, &order(TCG, own))));
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn the_same_domain_on_xen() {
    let pvh = order(Hypervisor::Xen(GuestType::Pvh), settings());
    let hvm = order(Hypervisor::Xen(GuestType::Hvm), settings());
    insta::assert_snapshot!(format!("{}\n# hvm\n{}", xml(&pvh), difference(&pvh, &hvm)));
}

#[test]
fn a_quota_is_the_time_of_the_whole_domain() {
    let time = CpuQuota::of_cpus(0.5);
    let limited = DomainOrder { quota: Some(time), ..order(TCG, settings()) };
    assert_eq!(time.quota, Duration::from_millis(50));
    assert!(xml(&limited).contains("<global_quota>50000</global_quota>"));
}

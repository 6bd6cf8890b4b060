//! The list of platforms. A new one is a folder and an entry here.

use crate::ahead::Ahead;
use crate::capabilities::{Capabilities, DataHome, ImageUse, ServerUse, of_an_image};
use crate::entry::PlatformEntry;
use crate::lease::Lease;
use crate::on_host::tried;
use crate::order::MachineRequest;
use crate::platform::plain;
use crate::qemu::settings::KvmWish;
use crate::{host, libvirt, native, oci, qemu, vsphere};
use machines::machine::Decided;
use serde_json::{Map, Value};
use settings::Problem;

pub const PLATFORMS: &[PlatformEntry] = &[
    PlatformEntry {
        kind: "native",
        meaning: "the image's tree on the host's own kernel, held to the shape's CPUs and memory",
        keys: native::settings::KEYS,
        can: |_| of_an_image(ImageUse::Tree),
        check: native::settings::check,
        foreseen: |_, ahead| tried::foreseen(ahead),
        open: |table, _| Ok(plain(table, Lease::of_a_disk, native::machine::start)),
    },
    PlatformEntry {
        kind: "qemu",
        meaning: "a virtual machine by QEMU, on KVM or emulated",
        keys: qemu::settings::KEYS,
        can: |_| of_an_image(ImageUse::TreeAndKernel),
        check: qemu::settings::check,
        foreseen: qemu::foreseen::of_table,
        open: |table, _| Ok(plain(table, Lease::of_a_disk, qemu::machine::start)),
    },
    PlatformEntry {
        kind: libvirt::KIND,
        meaning: "a virtual machine by libvirt, as it runs QEMU, on KVM or emulated",
        keys: libvirt::settings::KEYS,
        can: |_| of_an_image(ImageUse::TreeAndKernel),
        check: libvirt::settings::check,
        foreseen: libvirt::settings::foreseen,
        open: |table, _| Ok(plain(table, Lease::of_a_disk, libvirt::machine::start)),
    },
    PlatformEntry {
        kind: "oci",
        meaning: "a container of the image's tree, by runc, crun, gVisor or another OCI runtime",
        keys: oci::settings::KEYS,
        can: |_| of_an_image(ImageUse::Tree),
        check: oci::settings::check,
        foreseen: oci::settings::foreseen,
        open: |table, _| oci::machine::open(table),
    },
    PlatformEntry {
        kind: host::settings::KIND,
        meaning: "a machine that already runs, reached by ssh: any guest of any hypervisor, a cloud's, or bare metal",
        keys: host::settings::KEYS,
        can: host::settings::can,
        check: host::settings::check,
        foreseen: |_, _| Decided::new(),
        open: host::keeper::open,
    },
    PlatformEntry {
        kind: vsphere::KIND,
        meaning: "a machine of a vCenter server, cloned from a template",
        keys: vsphere::settings::KEYS,
        can: |_| Capabilities {
            image: ImageUse::None,
            data: DataHome::Elsewhere,
            executes: true,
            server: ServerUse::Started,
        },
        check: vsphere::settings::check,
        foreseen: |_, _| Decided::new(),
        open: vsphere::platform::open,
    },
];

/// What a contender asks of KVM on this host; `None` on a platform without it.
pub fn kvm_wish(kind: &str, table: &Map<String, Value>) -> Option<KvmWish> {
    match kind {
        "qemu" => qemu::settings::kvm_wish(table),
        libvirt::KIND => libvirt::settings::kvm_wish(table),
        _ => None,
    }
}

/// The URI of a daemon that must answer before a contender can run; `None` on a platform without one.
pub fn daemon(kind: &str, table: &Map<String, Value>) -> Option<String> {
    if kind == libvirt::KIND { libvirt::settings::uri(table) } else { None }
}

/// The URL of a contender's server that runs already; `None` if bakeoff starts one.
pub fn running_server(kind: &str, table: &Map<String, Value>) -> Option<String> {
    if kind == host::settings::KIND { host::settings::running_server(table) } else { None }
}

/// The machines of a contender that has several, of which each trial has one; empty on any other platform.
pub fn hosts(kind: &str, table: &Map<String, Value>) -> Vec<String> {
    if kind == host::settings::KIND { host::settings::hosts(table) } else { Vec::new() }
}

/// A contender's settings for a trial on one of its several machines.
pub fn on_host(table: &Map<String, Value>, host: &str) -> Map<String, Value> {
    host::settings::on(table, host)
}

pub fn entry(kind: &str) -> Option<&'static PlatformEntry> {
    PLATFORMS.iter().find(|entry| entry.kind == kind)
}

/// Combinations that a platform cannot run, and machines that it cannot make. This starts nothing. Each key is assumed
/// to be valid by itself; an unknown kind has no problems here.
pub fn check(kind: &str, table: &Map<String, Value>, request: &MachineRequest<'_>) -> Vec<Problem> {
    entry(kind).map_or_else(Vec::new, |entry| (entry.check)(table, request))
}

/// The facts about a contender's machine on this host that are known before anything starts; empty for machines elsewhere.
pub fn foreseen(kind: &str, table: &Map<String, Value>, ahead: &Ahead<'_>) -> Decided {
    entry(kind).map_or_else(Decided::new, |entry| (entry.foreseen)(table, ahead))
}

//! The list of platforms. A new one is a folder and an entry here.

use crate::entry::{PlatformEntry, ReadSettings, read};
use crate::{host, libvirt, native, oci, qemu, vsphere};
use serde_json::{Map, Value};

pub const PLATFORMS: &[PlatformEntry] = &[
    PlatformEntry {
        kind: "native",
        meaning: "the image's tree on the host's own kernel, held to the shape's CPUs and memory",
        keys: native::settings::KEYS,
        read: |table| read::<native::settings::NativeSettings>(table, native::settings::KEYS),
    },
    PlatformEntry {
        kind: "qemu",
        meaning: "a virtual machine by QEMU, on KVM or emulated",
        keys: qemu::settings::KEYS,
        read: |table| read::<qemu::settings::QemuSettings>(table, qemu::settings::KEYS),
    },
    PlatformEntry {
        kind: "libvirt",
        meaning: "a virtual machine by libvirt, as it runs QEMU, on KVM or emulated",
        keys: libvirt::settings::KEYS,
        read: |table| read::<libvirt::settings::LibvirtSettings>(table, libvirt::settings::KEYS),
    },
    PlatformEntry {
        kind: "oci",
        meaning: "a container of the image's tree, by runc, crun, gVisor or another OCI runtime",
        keys: oci::settings::KEYS,
        read: |table| read::<oci::settings::OciSettings>(table, oci::settings::KEYS),
    },
    PlatformEntry {
        kind: "host",
        meaning: "a machine that already runs, reached by ssh: any guest of any hypervisor, a cloud's, or bare metal",
        keys: host::settings::KEYS,
        read: |table| read::<host::settings::HostSettings>(table, host::settings::KEYS),
    },
    PlatformEntry {
        kind: "vsphere",
        meaning: "a machine of a vCenter server, cloned from a template",
        keys: vsphere::settings::KEYS,
        read: |table| read::<vsphere::settings::VsphereSettings>(table, vsphere::settings::KEYS),
    },
];

pub fn entry(kind: &str) -> Option<&'static PlatformEntry> {
    PLATFORMS.iter().find(|entry| entry.kind == kind)
}

/// The settings in the table of a contender on a platform of this kind; `None` if there is no such platform.
pub fn settings(kind: &str, table: &Map<String, Value>) -> Option<ReadSettings> {
    entry(kind).map(|entry| (entry.read)(table))
}

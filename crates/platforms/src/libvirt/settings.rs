//! The keys of a libvirt domain in a study, and the combinations that libvirt cannot do. Pure.
//!
//! What means the same as for the platform `qemu` has the same name and the same values there.

use super::uri::{Driver, EXAMPLES, Uri};
use crate::order::MachineRequest;
use crate::placement::cpu_list;
use crate::qemu::settings::{
    self as qemu, Adapter, Discard, DiskSettings, GuestNetwork, QemuSettings, WantedAccelerator,
};
use serde::Deserialize;
use settings::{Holds, Key, Problem, keys, names};

keys! {
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    pub struct LibvirtSettings {
        uri: String = "qemu:///system", Holds::Text,
            "the libvirt that makes the domain: qemu:///system, qemu:///session, qemu+unix:///system?socket=/PATH, \
             qemu+ssh://USER@HOST/system (with the files at the same paths there), or xen:///system";
        accelerator: WantedAccelerator = "auto", Holds::Choice(WantedAccelerator::NAMES),
            "kvm runs guest code on the CPU, tcg translates it; auto is kvm where a guest boots with it, else tcg";
        guest_type: GuestType = "pvh", Holds::Choice(GuestType::NAMES),
            "with a xen URI: pvh is a guest without emulated devices, hvm one with a device model";
        cpu: String = "auto", Holds::Text,
            "host-passthrough, host-model, maximum, or a CPU model as libvirt names it; auto is host-passthrough under \
             kvm and maximum under tcg";
        machine: String = "q35", Holds::Text,
            "machine type, as QEMU names it; it must have a PCI bus and a serial port";
        start_limit: Option<u64> = "", Holds::Span { min_ms: 1_000, max_ms: 86_400_000 },
            "how long a guest may take to boot; unless given, a minute with KVM and three without, and more on a slow host";
        pin: bool = "true", Holds::Boolean,
            "vCPUs stay where machine.pinning puts them; if not, all of QEMU's threads may use all of the machine's \
             CPUs";
        emulator_cpus: String = "auto", Holds::Text,
            "host CPUs of QEMU's other threads, such as 0-1,4; auto is where machine.pinning puts them";
        numa: Numa = "strict", Holds::Choice(Numa::NAMES),
            "how memory is bound to the nodes that machine.pinning chooses";
        huge_pages: bool = "false", Holds::Boolean, "guest memory in 2 MiB pages that the host has set aside";
        disk: DiskSettings = "{}", Holds::Table(DISK_KEYS), "the data disk";
        network: GuestNetwork = "user", Holds::Choice(GuestNetwork::NAMES),
            "user is a network stack of the user's (passt, if the load comes from outside), tap a device of the host \
             named by `tap`";
        tap: Option<String> = "", Holds::Text,
            "with network = \"tap\": the host's tap device, which must exist and be up";
        guest_address: Option<String> = "", Holds::Text,
            "with network = \"tap\": the guest's address and prefix length, like 192.168.77.2/24";
        vhost: bool = "false", Holds::Boolean,
            "with network = \"tap\": packets are moved by the host's kernel instead of QEMU";
    }
}

const DISCARD: &[Key] = keys! {
    discard = "ignore", Holds::Choice(Discard::NAMES), "whether space that the guest frees is given back to the host";
};

const DISK_KEYS: &[Key] = {
    let [adapter, cache, aio, iothread, operations_limit, bandwidth_limit] = qemu::DISK_KEYS;
    &[adapter, cache, aio, DISCARD[0], iothread, operations_limit, bandwidth_limit]
};

/// Words that stand for no model of their own, and QEMU's model that each becomes.
const MODES: [(&str, &str); 5] = [
    ("host-passthrough", "host"),
    ("host-model", "host"),
    ("maximum", "max"),
    // QEMU's own words, as the platform qemu takes them.
    ("host", "host"),
    ("max", "max"),
];

names! {
    pub enum GuestType {
        Pvh => "pvh",
        Hvm => "hvm",
    }
}

names! {
    pub enum Numa {
        Strict => "strict",
        Interleave => "interleave",
        Preferred => "preferred",
    }
}

impl LibvirtSettings {
    /// The settings of a QEMU that runs alike, for the rules and parts that both platforms share.
    pub fn of_qemu(&self) -> QemuSettings {
        QemuSettings {
            accelerator: self.accelerator,
            cpu: self.cpu_of_qemu().to_owned(),
            machine: self.machine.clone(),
            start_limit: self.start_limit,
            pin: self.pin,
            huge_pages: self.huge_pages,
            disk: self.disk,
            network: self.network,
            tap: self.tap.clone(),
            guest_address: self.guest_address.clone(),
            vhost: self.vhost,
            ..QemuSettings::default()
        }
    }

    /// QEMU's model for the CPU.
    fn cpu_of_qemu(&self) -> &str {
        MODES.iter().find(|(mode, _)| *mode == self.cpu).map_or(&self.cpu, |(_, model)| model)
    }
}

/// Finds unsupported combinations.
pub fn check(settings: &LibvirtSettings, request: &MachineRequest<'_>) -> Vec<Problem> {
    let uri = Uri::parse(&settings.uri);
    let mut shared = settings.of_qemu();
    // What this host has set aside says nothing of another one.
    shared.huge_pages &= uri.as_ref().is_ok_and(Uri::is_here);
    let mut problems = crate::qemu::settings::check(&shared, request);
    let mut refuse = |path: &str, found: String, expected: &str, nearest: Option<String>| {
        problems.push(Problem { nearest, ..Problem::new(path, found, expected) });
    };
    match uri {
        Err(problem) => {
            let found = format!("found \"{}\": {}", settings.uri.escape_debug(), problem.why);
            refuse("uri", found, EXAMPLES, problem.nearest);
        }
        Ok(uri) => {
            if uri.driver == Driver::Xen && settings.accelerator != WantedAccelerator::Auto {
                let found = format!("found \"{}\" with a xen URI", settings.accelerator.name());
                refuse("accelerator", found, "\"auto\": Xen itself is what virtualizes", None);
            }
            if !uri.is_here() && request.is_reached_from_outside && settings.network == GuestNetwork::User {
                let found = "found \"user\" at another host".to_owned();
                refuse("network", found, "\"tap\", because of placement = \"outside\" in [load]", None);
            }
        }
    }
    if settings.disk.adapter == Adapter::Nvme {
        let found = "found \"nvme\", which libvirt cannot emulate".to_owned();
        refuse(
            "disk.adapter",
            found,
            "\"virtio-blk\", \"virtio-scsi\", \"pvscsi\" or \"ahci\", or platform qemu",
            None,
        );
    }
    if settings.emulator_cpus != "auto"
        && let Err(why) = cpu_list::parse(&settings.emulator_cpus)
    {
        refuse("emulator_cpus", format!("found {why}"), "\"auto\", or a list of CPUs such as \"0-3,8\"", None);
    }
    if settings.cpu.is_empty() {
        refuse("cpu", "found \"\"".to_owned(), "\"auto\", \"host-passthrough\" or a CPU model", None);
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::PlatformSettings;
    use crate::huge_pages::HugePages;
    use images::KernelChoice;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    fn read(value: &Value) -> LibvirtSettings {
        settings::read(value.as_object().unwrap(), KEYS).unwrap()
    }

    fn found(value: &Value, outside: bool) -> Vec<(String, Option<String>)> {
        let huge_pages = HugePages::default();
        let request = MachineRequest {
            count: 1,
            vcpus: 2,
            memory_bytes: 1 << 30,
            kernel: &KernelChoice::DEBIAN_12_GENERIC,
            is_reached_from_outside: outside,
            places: &[],
            huge_pages: &huge_pages,
            isolated: &BTreeSet::new(),
        };
        let problems = check(&read(value), &request);
        problems.into_iter().map(|problem| (problem.path, problem.nearest)).collect()
    }

    fn paths(value: &Value) -> Vec<String> {
        found(value, false).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn nothing_said_is_the_systems_libvirt_and_as_the_platform_qemu() {
        assert!(paths(&json!({})).is_empty());
        let settings = read(&json!({}));
        assert_eq!(settings.of_qemu(), QemuSettings::default());
        assert_eq!(settings.disk.discard, Discard::Ignore);
    }

    #[test]
    fn what_qemu_refuses_is_refused_here_too() {
        assert_eq!(paths(&json!({ "disk": { "aio": "native", "cache": "writeback" } })), ["disk.aio"]);
        assert_eq!(paths(&json!({ "disk": { "adapter": "ahci", "iothread": true } })), ["disk.iothread"]);
        assert_eq!(paths(&json!({ "network": "tap" })), ["tap", "guest_address"]);
    }

    #[test]
    fn what_libvirt_cannot_do_is_a_problem_of_the_study() {
        assert_eq!(paths(&json!({ "disk": { "adapter": "nvme" } })), ["disk.adapter"]);
        assert_eq!(paths(&json!({ "emulator_cpus": "3-1" })), ["emulator_cpus"]);
        assert_eq!(paths(&json!({ "uri": "xen:///system", "accelerator": "kvm" })), ["accelerator"]);
        let near = found(&json!({ "uri": "qemu:///sytem" }), false);
        assert_eq!(near, [("uri".to_owned(), Some("qemu:///system".to_owned()))]);
        let far = found(&json!({ "uri": "qemu+ssh://far/system" }), true);
        assert_eq!(far, [("network".to_owned(), None)]);
    }

    #[test]
    fn kvm_is_tried_here_only_for_what_runs_here() {
        let cpu = |value: Value| read(&value).kvm_wish().map(|wish| wish.cpu);
        assert_eq!(cpu(json!({})).as_deref(), Some("auto"));
        assert_eq!(cpu(json!({ "cpu": "host-passthrough" })).as_deref(), Some("host"));
        assert_eq!(cpu(json!({ "cpu": "Skylake-Server" })).as_deref(), Some("Skylake-Server"));
        assert_eq!(cpu(json!({ "uri": "qemu+ssh://far/system" })), None);
        assert_eq!(cpu(json!({ "uri": "xen:///system" })), None);
    }
}

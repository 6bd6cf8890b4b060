//! The keys of a machine of vSphere, and which combinations it refuses. Pure.

use crate::order::MachineRequest;
use crate::placement::cpu_list;
use serde::Deserialize;
use settings::{Holds, Problem, keys, names};
use std::path::PathBuf;
use trust::Fingerprint;

keys! {
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    pub struct VsphereSettings {
        url: String, Holds::Text, "the vCenter server, such as https://vcenter.example";
        user: Option<String> = "", Holds::Text, "who logs in there; unless given, VSPHERE_USER";
        password_file: Option<PathBuf> = "", Holds::Text,
            "a file with the password that only you can read; unless given, VSPHERE_PASSWORD";
        fingerprint: Option<String> = "", Holds::Text,
            "the SHA-256 of the server's certificate, which is then accepted whoever signed it";
        insecure: bool = "false", Holds::Boolean, "whether any certificate is accepted, also that of somebody in between";
        datacenter: Option<String> = "", Holds::Text, "the datacenter; unless given, the only one";
        folder: Option<String> = "", Holds::Text,
            "the folder for machines; bakeoff makes a folder of its own in it. Unless given, the datacenter's";
        resource_pool: Option<String> = "", Holds::Text,
            "a resource pool, or a cluster for its whole; unless given, the host's, or that of the only cluster";
        host: Option<String> = "", Holds::Text, "the ESXi host; unless given, vSphere chooses one for each machine";
        datastore: Option<String> = "", Holds::Text, "where disks are put; unless given, where the template's are";
        network: Option<String> = "", Holds::Text, "the network; unless given, the template's";
        template: String, Holds::Text, "the template or machine to clone; see docs/platforms.md for what it must have";
        snapshot: Option<String> = "", Holds::Text, "a snapshot of it; unless given, its present state";
        clone: CloneKind = "full", Holds::Choice(CloneKind::NAMES),
            "full copies the loaded disks for each trial; linked hangs them on a snapshot, which is quick but costs at every first write";
        cores_per_socket: u32 = "1", Holds::Integer { min: 1, max: 256 }, "cores of a socket that the machine sees; a part of its vCPUs";
        cpu_reservation: Reservation = "none", Holds::Choice(Reservation::NAMES), "how much of the vCPUs' clock rate is held for the machine";
        memory_reservation: Reservation = "none", Holds::Choice(Reservation::NAMES), "how much of its memory is held for it";
        latency_sensitivity: Sensitivity = "normal", Holds::Choice(Sensitivity::NAMES),
            "the latency sensitivity of vSphere; high gives each vCPU a core of its own and needs both reservations";
        affinity: Option<String> = "", Holds::Text, "the host's CPUs that the vCPUs may use, such as 0-3,8";
        adapter: Option<ScsiAdapter> = "", Holds::Choice(ScsiAdapter::NAMES), "the adapter of the data disk; unless given, the template's";
        disk_mode: Option<DiskMode> = "", Holds::Choice(DiskMode::NAMES),
            "whether snapshots cover the data disk; unless given, as in the template";
        provisioning: Option<Provisioning> = "", Holds::Choice(Provisioning::NAMES),
            "how the blocks of full clones are allocated; unless given, as in the template";
        nic: Option<Nic> = "", Holds::Choice(Nic::NAMES), "the network card; unless given, the template's";
        agent_port: u16 = "7070", Holds::Integer { min: 1, max: 65_535 }, "the port on which the template's agent listens";
        start_limit: u64 = "10m", Holds::Span { min_ms: 1_000, max_ms: 86_400_000 },
            "how long a machine may take from power-on until its agent answers";
        extra_config: Vec<String> = "[]", Holds::Words, "further settings of the machine, each as name=value";
    }
}

names! {
    /// How the data of a trial are copied.
    pub enum CloneKind {
        Full => "full",
        Linked => "linked",
    }
}

names! {
    /// How much is held for a machine.
    pub enum Reservation {
        Nothing => "none",
        All => "all",
    }
}

names! {
    pub enum Sensitivity {
        Low => "low",
        Normal => "normal",
        High => "high",
    }
}

names! {
    pub enum ScsiAdapter {
        Pvscsi => "pvscsi",
        Lsilogic => "lsilogic",
        Lsisas => "lsisas",
        Ahci => "ahci",
        Nvme => "nvme",
    }
}

names! {
    pub enum DiskMode {
        Persistent => "persistent",
        Independent => "independent_persistent",
    }
}

names! {
    pub enum Provisioning {
        Thin => "thin",
        Lazy => "lazy_zeroed",
        Eager => "eager_zeroed",
    }
}

names! {
    pub enum Nic {
        Vmxnet3 => "vmxnet3",
        E1000e => "e1000e",
    }
}

impl ScsiAdapter {
    /// The server's type of the controller.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Pvscsi => "ParaVirtualSCSIController",
            Self::Lsilogic => "VirtualLsiLogicController",
            Self::Lsisas => "VirtualLsiLogicSASController",
            Self::Ahci => "VirtualAHCIController",
            Self::Nvme => "VirtualNVMEController",
        }
    }

    pub fn is_scsi(self) -> bool {
        matches!(self, Self::Pvscsi | Self::Lsilogic | Self::Lsisas)
    }

    pub fn of_kind(kind: &str) -> Option<Self> {
        [Self::Pvscsi, Self::Lsilogic, Self::Lsisas, Self::Ahci, Self::Nvme].into_iter().find(|one| one.kind() == kind)
    }
}

impl Nic {
    pub fn kind(self) -> &'static str {
        match self {
            Self::Vmxnet3 => "VirtualVmxnet3",
            Self::E1000e => "VirtualE1000e",
        }
    }
}

/// vSphere allocates memory in steps of this.
const MEMORY_STEP_BYTES: u64 = 4 << 20;
/// Names that we set ourselves.
pub const OURS: &str = "guestinfo.bakeoff.";

#[cfg(test)]
pub fn read(table: &serde_json::Map<String, serde_json::Value>) -> Result<VsphereSettings, Vec<Problem>> {
    settings::read(table, KEYS)
}

impl VsphereSettings {
    /// The address of the API, and the host in it.
    pub fn endpoint(&self) -> Result<(String, String), String> {
        let url = self.url.trim_end_matches('/');
        let rest = url.strip_prefix("https://").unwrap_or(url);
        if rest.contains("://") {
            return Err("a URL that begins with https://".to_owned());
        }
        let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || "@?#\\%\"<>".contains(letter);
        if authority.is_empty() || authority.contains(is_odd) {
            return Err("a URL with a host and, if need be, a port, but without a user".to_owned());
        }
        if !(path.is_empty() || path == "sdk") {
            return Err("a URL without a path, or with /sdk".to_owned());
        }
        Ok((format!("https://{authority}/sdk"), authority.to_owned()))
    }

    pub fn fingerprint(&self) -> Result<Option<Fingerprint>, String> {
        let Some(text) = &self.fingerprint else { return Ok(None) };
        let digits: String = text.chars().filter(|letter| *letter != ':').collect();
        let expected = || "64 hexadecimal digits, with or without colons".to_owned();
        if digits.len() != 2 * size_of::<Fingerprint>() || !digits.is_ascii() {
            return Err(expected());
        }
        let mut fingerprint = Fingerprint::default();
        for (place, byte) in fingerprint.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * place..2 * place + 2], 16).map_err(|_| expected())?;
        }
        Ok(Some(fingerprint))
    }

    pub fn affinity(&self) -> Result<Vec<usize>, String> {
        self.affinity.as_deref().map_or_else(|| Ok(Vec::new()), cpu_list::parse)
    }

    /// Names and values.
    pub fn extra_config(&self) -> Vec<(&str, &str)> {
        self.extra_config.iter().filter_map(|word| word.split_once('=')).collect()
    }
}

/// Finds unsupported combinations.
pub fn check(settings: &VsphereSettings, request: &MachineRequest<'_>) -> Vec<Problem> {
    let mut problems = problems_of_server(settings);
    let &VsphereSettings { latency_sensitivity, cpu_reservation, memory_reservation, clone, .. } = settings;
    if latency_sensitivity == Sensitivity::High {
        for (path, reservation) in [("cpu_reservation", cpu_reservation), ("memory_reservation", memory_reservation)] {
            if reservation != Reservation::All {
                let expected = "\"all\", because latency_sensitivity = \"high\" needs it";
                problems.push(Problem::new(path, "found \"none\"", expected));
            }
        }
    }
    if !request.vcpus.is_multiple_of(settings.cores_per_socket) {
        let expected = format!("a number that divides machine.vcpus, which is {}", request.vcpus);
        problems.push(Problem::new("cores_per_socket", format!("found {}", settings.cores_per_socket), expected));
    }
    if !request.memory_bytes.is_multiple_of(MEMORY_STEP_BYTES) {
        let found = format!("machine.memory is {} bytes", request.memory_bytes);
        problems.push(Problem::new(
            "kind",
            &found,
            "a whole number of 4 MiB, because vSphere allocates memory in such steps",
        ));
    }
    if clone == CloneKind::Linked {
        if settings.disk_mode == Some(DiskMode::Independent) {
            let expected = "\"persistent\", because a linked clone's disks hang on a snapshot";
            problems.push(Problem::new("disk_mode", "found \"independent_persistent\"", expected));
        }
        if let Some(provisioning) = settings.provisioning {
            let found = format!("found \"{}\"", provisioning.name());
            problems.push(Problem::new(
                "provisioning",
                &found,
                "none with clone = \"linked\", whose disks hang on others",
            ));
        }
    }
    match settings.affinity() {
        Err(why) => problems.push(Problem::new("affinity", &why, "a list of CPUs such as 0-3,8")),
        Ok(cpus) if !cpus.is_empty() && settings.host.is_none() => {
            let expected = "none without platform.host, because CPUs are numbered on each host";
            problems.push(Problem::new("affinity", format!("found \"{}\"", cpu_list::written(&cpus)), expected));
        }
        Ok(cpus) if !cpus.is_empty() && cpus.len() < request.vcpus as usize => {
            let expected = format!("at least as many CPUs as machine.vcpus, which is {}", request.vcpus);
            problems.push(Problem::new("affinity", format!("found \"{}\"", cpu_list::written(&cpus)), expected));
        }
        Ok(_) => {}
    }
    for word in &settings.extra_config {
        let name = word.split_once('=').map(|(name, _)| name);
        if name.is_none_or(|name| name.is_empty() || name.starts_with(OURS)) {
            let expected = format!("words like name=value, whose names do not begin with {OURS}");
            problems.push(Problem::new("extra_config", format!("found \"{}\"", word.escape_debug()), expected));
        }
    }
    problems
}

fn problems_of_server(settings: &VsphereSettings) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Err(expected) = settings.endpoint() {
        // It may hold a password.
        problems.push(Problem::new("url", "found another text", expected));
    }
    match settings.fingerprint() {
        Err(expected) => problems.push(Problem::new("fingerprint", "found another text", expected)),
        Ok(Some(_)) if settings.insecure => {
            problems.push(Problem::new("insecure", "found true", "false, because a fingerprint is given"));
        }
        Ok(_) => {}
    }
    for (path, name) in [("template", Some(&settings.template)), ("host", settings.host.as_ref())] {
        if name.is_some_and(|name| name.trim().is_empty()) {
            problems.push(Problem::new(path, "found an empty name", "a name in the inventory"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::huge_pages::HugePages;
    use images::KernelChoice;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    fn problems(more: &Value) -> Vec<String> {
        let mut table = json!({ "url": "https://vc.test", "template": "t" });
        for (key, value) in more.as_object().unwrap() {
            table[key] = value.clone();
        }
        let settings = read(table.as_object().unwrap()).unwrap();
        let request = MachineRequest {
            count: 1,
            vcpus: 4,
            memory_bytes: 1 << 30,
            kernel: &KernelChoice::DEBIAN_12,
            is_reached_from_outside: false,
            places: &[],
            huge_pages: &HugePages::default(),
            isolated: &BTreeSet::new(),
        };
        check(&settings, &request).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn combinations_that_vsphere_refuses_are_refused_here() {
        assert_eq!(problems(&json!({})), Vec::<String>::new());
        let good = json!({
            "latency_sensitivity": "high", "cpu_reservation": "all", "memory_reservation": "all", "host": "h", "affinity": "0-3",
            "cores_per_socket": 2, "extra_config": ["a.b=c=d"], "disk_mode": "independent_persistent", "provisioning": "thin",
        });
        assert_eq!(problems(&good), Vec::<String>::new());
        let bad = [
            json!({ "latency_sensitivity": "high", "cpu_reservation": "all" }),
            json!({ "cores_per_socket": 3 }),
            json!({ "clone": "linked", "disk_mode": "independent_persistent" }),
            json!({ "clone": "linked", "provisioning": "thin" }),
            json!({ "affinity": "0-3" }),
            json!({ "affinity": "0-2", "host": "h" }),
            json!({ "affinity": "x", "host": "h" }),
            json!({ "extra_config": ["nothing"] }),
            json!({ "extra_config": ["guestinfo.bakeoff.token=1"] }),
            json!({ "fingerprint": "ab:cd" }),
            json!({ "fingerprint": "ab".repeat(32), "insecure": true }),
            json!({ "url": "https://me:secret@vc.test" }),
            json!({ "url": "http://vc.test" }),
            json!({ "url": "https://vc.test/ui" }),
        ];
        let told: Vec<String> = bad.iter().map(|table| problems(table).join("; ")).collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        memory_reservation: found "none"; expected "all", because latency_sensitivity = "high" needs it
        cores_per_socket: found 3; expected a number that divides machine.vcpus, which is 4
        disk_mode: found "independent_persistent"; expected "persistent", because a linked clone's disks hang on a snapshot
        provisioning: found "thin"; expected none with clone = "linked", whose disks hang on others
        affinity: found "0-3"; expected none without platform.host, because CPUs are numbered on each host
        affinity: found "0-2"; expected at least as many CPUs as machine.vcpus, which is 4
        affinity: "x" is no list of CPUs such as "0-3,8"; expected a list of CPUs such as 0-3,8
        extra_config: found "nothing"; expected words like name=value, whose names do not begin with guestinfo.bakeoff.
        extra_config: found "guestinfo.bakeoff.token=1"; expected words like name=value, whose names do not begin with guestinfo.bakeoff.
        fingerprint: found another text; expected 64 hexadecimal digits, with or without colons
        insecure: found true; expected false, because a fingerprint is given
        url: found another text; expected a URL with a host and, if need be, a port, but without a user
        url: found another text; expected a URL that begins with https://
        url: found another text; expected a URL without a path, or with /sdk
        "#);
    }

    #[test]
    fn a_url_may_have_the_path_of_the_api() {
        let endpoint = |url: &str| {
            let table = json!({ "url": url, "template": "t" });
            read(table.as_object().unwrap()).unwrap().endpoint()
        };
        let expected = ("https://vc.test:8989/sdk".to_owned(), "vc.test:8989".to_owned());
        for url in [
            "https://vc.test:8989",
            "https://vc.test:8989/",
            "https://vc.test:8989/sdk",
            "https://vc.test:8989/sdk/",
            "vc.test:8989",
        ] {
            assert_eq!(endpoint(url), Ok(expected.clone()), "{url}");
        }
    }
}

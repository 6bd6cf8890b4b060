//! The keys of a container in a study, and the combinations that no runtime supports. Pure.

use crate::order::MachineRequest;
use serde::Deserialize;
use settings::{Holds, Key, Problem, keys, names};

keys! {
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    pub struct OciSettings {
        runtime: String = "runc", Holds::Text,
            "the program that makes the container: runc, crun or runsc (gVisor), or the path of one that takes the options of runc";
        gvisor: Option<GvisorSettings> = "", Holds::Table(GVISOR_KEYS),
            "with runsc only: how gVisor stands between the container and the host's kernel";
    }
}

const GVISOR_KEYS: &[Key] = keys! {
    platform = "auto", Holds::Choice(WantedPlatform::NAMES),
        "how gVisor gets hold of system calls; auto is systrap where this runsc has it, else ptrace";
    network = "none", Holds::Choice(ContainerNetwork::NAMES),
        "none is gVisor's own network stack with nothing but a loopback device, host is the host's network stack";
    file_access = "shared", Holds::Choice(FileAccess::NAMES),
        "exclusive allows gVisor to remember sizes and times of the data's files, as if nobody else wrote them; shared asks \
         the host again";
    directfs = "", Holds::Boolean,
        "whether gVisor opens files by itself instead of asking a process beside it; as this runsc does by itself unless \
         given";
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct GvisorSettings {
    pub platform: WantedPlatform,
    pub network: ContainerNetwork,
    pub file_access: FileAccess,
    #[serde(default)]
    pub directfs: Option<bool>,
}

impl Default for GvisorSettings {
    fn default() -> Self {
        settings::defaults(GVISOR_KEYS)
    }
}

names! {
    pub enum WantedPlatform {
        Auto => "auto",
        Systrap => "systrap",
        Ptrace => "ptrace",
        Kvm => "kvm",
    }
}

names! {
    pub enum ContainerNetwork {
        None => "none",
        Host => "host",
    }
}

names! {
    pub enum FileAccess {
        Shared => "shared",
        Exclusive => "exclusive",
    }
}

/// A runtime that is known by its name and has a package.
pub const PACKAGED: [&str; 3] = ["runc", "crun", "runsc"];
const GVISOR: &str = "runsc";

impl OciSettings {
    /// Whether the runtime is named by its path, so that only the program itself can say which one it is.
    pub fn is_by_path(&self) -> bool {
        self.runtime.starts_with('/')
    }

    /// Whether the study says that it is gVisor.
    pub(crate) fn is_gvisor(&self) -> bool {
        self.gvisor.is_some() || self.runtime == GVISOR
    }
}

/// Finds unsupported combinations.
pub fn check(settings: &OciSettings, request: &MachineRequest<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |path: &str, found: String, expected: &str, nearest: Option<String>| {
        problems.push(Problem { nearest, ..Problem::new(path, found, expected) });
    };
    let runtime = settings.runtime.as_str();
    if !settings.is_by_path() && !PACKAGED.contains(&runtime) {
        let nearest = settings::nearest(runtime, PACKAGED).map(str::to_owned);
        let found = format!("found \"{}\"", runtime.escape_debug());
        refuse("runtime", found, "\"runc\", \"crun\", \"runsc\", or the absolute path of another one", nearest);
    }
    if settings.gvisor.is_some() && !settings.is_by_path() && runtime != GVISOR {
        let found = format!("found it with runtime = \"{}\"", runtime.escape_debug());
        refuse("gvisor", found, "runtime = \"runsc\", or no such table", None);
    }
    let own_network = settings.gvisor.unwrap_or_default().network == ContainerNetwork::None;
    if settings.is_gvisor() && own_network && request.is_reached_from_outside {
        let expected = "\"host\", because of placement = \"outside\" in [load]";
        refuse("gvisor.network", "found \"none\"".to_owned(), expected, None);
    }
    problems.extend(request.on_isolated_cpus());
    problems
}

#[cfg(test)]
mod tests {
    use super::{GvisorSettings, KEYS, OciSettings, check};
    use crate::huge_pages::HugePages;
    use crate::order::MachineRequest;
    use images::KernelChoice;
    use serde_json::{Map, Value, json};
    use std::collections::BTreeSet;

    fn problems(value: &Value, is_reached_from_outside: bool) -> Vec<String> {
        let huge_pages = HugePages::default();
        let request = MachineRequest {
            count: 1,
            vcpus: 2,
            memory_bytes: 1 << 30,
            kernel: &KernelChoice::DEBIAN_12,
            is_reached_from_outside,
            places: &[],
            huge_pages: &huge_pages,
            isolated: &BTreeSet::new(),
        };
        check(&settings::read(value.as_object().unwrap(), KEYS).unwrap(), &request)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn nothing_said_is_runc_and_an_empty_table_is_gvisor_as_it_comes() {
        let settings: OciSettings = settings::read(&Map::new(), KEYS).unwrap();
        assert_eq!(settings, OciSettings { runtime: "runc".to_owned(), gvisor: None });
        let table = json!({ "runtime": "runsc", "gvisor": {} });
        let settings: OciSettings = settings::read(table.as_object().unwrap(), KEYS).unwrap();
        let gvisor = settings.gvisor.unwrap();
        assert_eq!((gvisor, gvisor.network), (GvisorSettings::default(), super::ContainerNetwork::None));
        assert_eq!(problems(&table, false), [""; 0]);
    }

    #[test]
    fn a_runtime_is_a_known_name_or_a_path() {
        for fine in ["runc", "crun", "runsc", "/opt/runc/bin/runc"] {
            assert_eq!(problems(&json!({ "runtime": fine }), false), [""; 0], "{fine}");
        }
        let told = problems(&json!({ "runtime": "rnuc" }), false);
        assert!(told.len() == 1 && told[0].ends_with("did you mean \"runc\"?"), "{told:?}");
        assert_eq!(problems(&json!({ "runtime": "bin/runc" }), false).len(), 1);
    }

    #[test]
    fn keys_of_gvisor_are_for_gvisor() {
        let told = problems(&json!({ "runtime": "crun", "gvisor": { "platform": "systrap" } }), false);
        assert_eq!(told, ["gvisor: found it with runtime = \"crun\"; expected runtime = \"runsc\", or no such table"]);
        assert_eq!(problems(&json!({ "runtime": "/opt/runsc", "gvisor": { "directfs": false } }), false), [""; 0]);
    }

    #[test]
    fn load_from_outside_needs_the_hosts_network() {
        assert_eq!(problems(&json!({ "runtime": "runc" }), true), [""; 0]);
        let told = problems(&json!({ "runtime": "runsc" }), true);
        assert!(told.len() == 1 && told[0].starts_with("gvisor.network: found \"none\""), "{told:?}");
        assert_eq!(problems(&json!({ "runtime": "runsc", "gvisor": { "network": "host" } }), true), [""; 0]);
    }
}

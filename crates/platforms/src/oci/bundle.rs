//! The bundle of a container, as data: what it sees, may do and runs. The same for all runtimes. Pure.

use crate::on_host::data::text;
use crate::on_host::launch::AGENT_WORDS;
use machines::boot::{AGENT_FILE, DATA_FOLDER, ENVIRONMENT, LOG_FOLDER};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The version of the format. Every runtime that is still maintained knows it.
const FORMAT: &str = "1.0.2";
/// The file of a bundle that says what the container is.
pub const FILE: &str = "config.json";

/// A container, completely decided. There are no limits in it: it is inside the machine's control groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleOrder {
    pub tree: PathBuf,
    pub agent: PathBuf,
    /// The host's folder of the data.
    pub data: PathBuf,
    /// Folders of the tree that get an empty writable file system on top.
    pub writable: Vec<&'static str>,
    /// The rights of its root user, as the kernel names them.
    pub capabilities: Vec<&'static str>,
    /// The group below the machine's that a runtime makes for it, from the top of a tree of version 2.
    pub group: Option<PathBuf>,
    /// True if `/sys` is that of the container's own kernel; else it is the host's, as in a native machine.
    pub own_sys: bool,
}

/// The content of [`FILE`].
pub fn config(order: &BundleOrder) -> Value {
    let environment: Vec<String> = ENVIRONMENT.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let capabilities: Vec<String> = order.capabilities.iter().map(|name| format!("CAP_{name}")).collect();
    let namespaces = ["pid", "ipc", "uts", "mount"].map(|kind| json!({ "type": kind }));
    // Without a namespace for the network, which is the host's unless the runtime has its own.
    let mut linux = json!({ "namespaces": namespaces });
    if let Some(group) = &order.group {
        linux["cgroupsPath"] = text(group).into();
    }
    json!({
        "ociVersion": FORMAT,
        "root": { "path": text(&order.tree), "readonly": true },
        "process": {
            "terminal": false,
            "user": { "uid": 0, "gid": 0 },
            "args": AGENT_WORDS,
            "cwd": "/",
            "env": environment,
            "noNewPrivileges": true,
            "capabilities": {
                "bounding": capabilities, "effective": capabilities, "permitted": capabilities,
            },
        },
        "mounts": mounts(order),
        "linux": linux,
    })
}

/// In the order in which they are made.
fn mounts(order: &BundleOrder) -> Vec<Value> {
    let empty = |place: &str, options: &[&str]| json!({ "destination": place, "type": "tmpfs", "source": "tmpfs", "options": options });
    let bound = |place: &str, source: String, options: &[&str]| json!({ "destination": place, "type": "bind", "source": source, "options": options });
    let mut mounts = vec![
        json!({ "destination": "/proc", "type": "proc", "source": "proc" }),
        empty("/dev", &["nosuid", "mode=755"]),
        json!({
            "destination": "/dev/pts", "type": "devpts", "source": "devpts",
            "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
        }),
        // Databases share memory there. The machine's memory limit covers it.
        empty("/dev/shm", &["nosuid", "nodev", "mode=1777"]),
    ];
    mounts.push(if order.own_sys {
        json!({
            "destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"],
        })
    } else {
        bound("/sys", "/sys".to_owned(), &["rbind", "nosuid", "noexec", "nodev", "ro"])
    });
    mounts.extend(order.writable.iter().map(|place| empty(place, &["nosuid", "nodev", "mode=1777"])));
    mounts.push(empty(LOG_FOLDER, &["nosuid", "nodev", "mode=755"]));
    mounts.push(bound(AGENT_FILE, text(&order.agent), &["bind", "ro"]));
    mounts.push(bound(DATA_FOLDER, text(&order.data), &["rbind", "rw"]));
    mounts
}

#[cfg(test)]
mod tests {
    use super::{BundleOrder, config};

    fn order() -> BundleOrder {
        BundleOrder {
            tree: "/cache/tree".into(),
            agent: "/usr/bin/bakeoff".into(),
            data: "/scratch/data".into(),
            writable: vec!["/run", "/tmp"],
            capabilities: vec!["CHOWN", "SETUID"],
            group: None,
            own_sys: false,
        }
    }

    #[test]
    fn the_whole_bundle() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&config(&order())).unwrap());
    }

    #[test]
    fn a_kernel_of_its_own_shows_its_own_devices() {
        let mounts = super::mounts(&BundleOrder { own_sys: true, ..order() });
        let sys = mounts.iter().find(|mount| mount["destination"] == "/sys").unwrap();
        assert_eq!((sys["type"].as_str(), sys["source"].as_str()), (Some("sysfs"), Some("sysfs")));
        assert_eq!(mounts.len(), super::mounts(&order()).len());
    }
}

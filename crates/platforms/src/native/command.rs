//! The command line of a native machine, as data. Pure.

use crate::on_host::data::{DataPlace, text};
use crate::on_host::launch::AGENT_WORDS;
use crate::rights::{CONTAINED, binding};
use crate::{affinity, join};
use machines::boot::{AGENT_FILE, DATA_FOLDER, ENVIRONMENT, LOG_FOLDER};
use std::path::{Path, PathBuf};

/// Makes the tree the root if there is no bubblewrap.
const CHROOT: &str = include_str!("chroot.sh");

/// A native machine, completely decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeOrder {
    pub cpus: Vec<usize>,
    /// True if the whole machine is in a process namespace that ends with its first process.
    pub contained: bool,
    pub confinement: Confinement,
    pub tree: PathBuf,
    pub agent: PathBuf,
    pub data: DataPlace,
    /// Control groups to join.
    pub cgroups: Vec<PathBuf>,
    /// Nodes of its memory, if no group binds it to them.
    pub memory_policy: Option<String>,
    /// Folders of the tree that get an empty writable file system on top.
    pub writable: Vec<&'static str>,
}

/// How the tree becomes the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    Bubblewrap,
    /// For root without bubblewrap: the tree is mounted on this empty folder.
    Chroot(PathBuf),
    /// There is no tree: the machine sees the host's own files, and keeps its logs in this folder.
    None {
        logs: PathBuf,
    },
}

/// The whole command line, with the program.
pub fn command_line(order: &NativeOrder) -> Vec<String> {
    // Joining a group may change the CPUs to the group's own, so the requested CPUs are set afterwards.
    let mut words = join::words(&order.cgroups);
    words.extend(order.memory_policy.iter().flat_map(|nodes| binding(nodes)));
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    add(&["taskset", "--cpu-list", &affinity::list(&order.cpus)]);
    if order.contained {
        add(&CONTAINED);
    }
    add(&enter_words(order).iter().map(String::as_str).collect::<Vec<_>>());
    let confined = match &order.confinement {
        Confinement::Bubblewrap => bubblewrap_words(order),
        Confinement::Chroot(root) => chroot_words(order, root),
        Confinement::None { logs } => {
            words.extend(["env", "-i"].map(str::to_owned));
            words.extend(environment());
            let (agent, data, logs) = (text(&order.agent), text(order.data.folder()), text(logs));
            words.extend([agent.as_str(), "agent", "--data", &data, "--logs", &logs].map(str::to_owned));
            return words;
        }
    };
    words.extend(confined);
    words.extend(AGENT_WORDS.map(str::to_owned));
    words
}

fn environment() -> impl Iterator<Item = String> {
    ENVIRONMENT.iter().map(|(name, value)| format!("{name}={value}"))
}

fn bubblewrap_words(order: &NativeOrder) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    add(&["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc"]);
    add(&["--ro-bind", &text(&order.tree), "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys"]);
    for folder in &order.writable {
        add(&["--perms", "1777", "--tmpfs", folder]);
    }
    add(&["--ro-bind", &text(&order.agent), AGENT_FILE, "--dir", LOG_FOLDER]);
    add(&["--bind", &text(order.data.folder()), DATA_FOLDER]);
    add(&["--clearenv"]);
    for (name, value) in ENVIRONMENT {
        add(&["--setenv", name, value]);
    }
    add(&["--chdir", "/", "--"]);
    words
}

fn chroot_words(order: &NativeOrder, root: &Path) -> Vec<String> {
    let namespaces = ["unshare", "--mount", "--propagation", "private", "--pid", "--ipc", "--fork", "--kill-child"];
    let (root, writable) = (text(root), order.writable.join(" "));
    let (tree, agent, data) = (text(&order.tree), text(&order.agent), text(order.data.folder()));
    let script =
        ["sh", "-c", CHROOT, "chroot", &root, &tree, &agent, AGENT_FILE, LOG_FOLDER, &data, DATA_FOLDER, &writable];
    let mut words: Vec<String> =
        namespaces.iter().chain(&script).chain(&["env", "-i"]).map(|&word| word.to_owned()).collect();
    words.extend(environment());
    words.extend(["chroot".to_owned(), root]);
    words
}

/// A mount namespace is made only if it is needed, because not every user may make one.
fn enter_words(order: &NativeOrder) -> Vec<String> {
    let mount = order.data.mount_words();
    let namespace: &[&str] = if mount.is_empty() { &[] } else { &["unshare", "--mount", "--propagation", "private"] };
    namespace.iter().map(|&word| word.to_owned()).chain(mount).collect()
}

#[cfg(test)]
mod tests {
    use super::{Confinement, DataPlace, NativeOrder, command_line};
    use crate::on_host::data::ENTER;
    use machines::boot::DataTuning;

    fn lines(confinement: Confinement, data: DataPlace, cgroups: &[&str]) -> String {
        let order = NativeOrder {
            cpus: vec![0, 1],
            contained: !cgroups.is_empty(),
            confinement,
            tree: "/cache/tree".into(),
            agent: "/usr/bin/bakeoff".into(),
            data,
            cgroups: cgroups.iter().map(Into::into).collect(),
            memory_policy: None,
            writable: vec!["/run", "/tmp"],
        };
        let words = command_line(&order)
            .join(" ")
            .replace(crate::join::JOIN, "(join.sh)")
            .replace(ENTER, "(enter.sh)")
            .replace(super::CHROOT, "(chroot.sh)");
        words.replace(" --", "\n--")
    }

    #[test]
    fn a_folder_needs_no_mount() {
        insta::assert_snapshot!(lines(Confinement::Bubblewrap, DataPlace::Folder("/scratch/data".into()), &[]));
    }

    #[test]
    fn an_image_is_mounted_in_a_namespace_of_its_own() {
        let disk = |is_device| DataPlace::Disk {
            path: if is_device { "/dev/sdb" } else { "/scratch/data.img" }.into(),
            is_device,
            tuning: DataTuning {
                mount_options: if is_device { "data=journal" } else { "" }.into(),
                read_ahead_kib: is_device.then_some(64),
                ..DataTuning::default()
            },
            folder: "/scratch/data".into(),
            answer: "/scratch/data-source".into(),
        };
        insta::assert_snapshot!(lines(Confinement::Bubblewrap, disk(false), &["/sys/fs/cgroup/memory/bakeoff"]));
        let device = lines(Confinement::Bubblewrap, disk(true), &[]);
        assert!(device.contains("enter /dev/sdb /scratch/data noatime,noinit_itable,data=journal "), "{device}");
    }

    #[test]
    fn without_a_tree_it_sees_the_host() {
        let confinement = Confinement::None { logs: "/scratch/logs".into() };
        insta::assert_snapshot!(lines(confinement, DataPlace::Folder("/scratch/data".into()), &[]));
    }

    #[test]
    fn root_without_bubblewrap_gets_the_same_places() {
        let confinement = Confinement::Chroot("/scratch/root".into());
        insta::assert_snapshot!(lines(confinement, DataPlace::Folder("/scratch/data".into()), &[]));
    }
}

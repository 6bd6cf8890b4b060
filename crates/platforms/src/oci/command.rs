//! The command line of a container, as data. Pure.

use super::bundle;
use super::settings::{ContainerNetwork, FileAccess};
use crate::on_host::data::{DataPlace, text};
use crate::rights::{Namespaces, binding};
use crate::{affinity, join};
use std::path::PathBuf;

/// Writes the bundle and closes the control groups to the runtime, then executes the rest of the command line.
const CLOSED: &str = include_str!("closed.sh");

/// A container and what is around it, completely decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerOrder {
    pub cpus: Vec<usize>,
    /// Control groups to join.
    pub cgroups: Vec<PathBuf>,
    /// Nodes of its memory, if no group binds it to them.
    pub memory_policy: Option<String>,
    pub namespaces: Namespaces,
    pub data: DataPlace,
    pub program: PathBuf,
    pub family: RuntimeFamily,
    /// Only for gVisor.
    pub gvisor: Option<Gvisor>,
    /// The runtime's own files.
    pub state: PathBuf,
    pub bundle: PathBuf,
    /// What is written there, as text: it is part of the command line that is kept in the record.
    pub config: String,
    /// The container's name. gVisor makes a socket of it that all of the host sees.
    pub name: String,
}

/// Runtimes that take the same options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeFamily {
    Runc,
    Crun,
    Gvisor,
    /// It must take the options of runc, and do without control groups of its own.
    Other,
}

/// Options of gVisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gvisor {
    pub platform: String,
    pub network: ContainerNetwork,
    pub file_access: FileAccess,
    /// `None` leaves it to gVisor.
    pub directfs: Option<bool>,
    /// For people.
    pub directfs_told: String,
}

/// The whole command line, with the program.
pub fn command_line(order: &ContainerOrder) -> Vec<String> {
    // Joining a group may change the CPUs to the group's own, so the requested CPUs are set afterwards.
    let mut words = join::words(&order.cgroups);
    words.extend(order.memory_policy.iter().flat_map(|nodes| binding(nodes)));
    words.extend(["taskset", "--cpu-list", &affinity::list(&order.cpus)].map(str::to_owned));
    words.extend(order.namespaces.words().iter().map(|&word| word.to_owned()));
    words.extend(order.data.mount_words());
    let second = if order.family == RuntimeFamily::Crun { "hide" } else { "show" };
    let config = text(&order.bundle.join(bundle::FILE));
    words.extend(["sh", "-c", CLOSED, "closed", second, &config, &order.config].map(str::to_owned));
    words.push(text(&order.program));
    words.extend(runtime_words(order));
    words.extend(["run", "--bundle", &text(&order.bundle), &order.name].map(str::to_owned));
    words
}

/// The options of the runtime itself.
fn runtime_words(order: &ContainerOrder) -> Vec<String> {
    let mut words = vec!["--root".to_owned(), text(&order.state)];
    match order.family {
        // It then goes on where it can make no control group.
        RuntimeFamily::Runc => words.push("--rootless=true".to_owned()),
        RuntimeFamily::Crun => words.push("--cgroup-manager=disabled".to_owned()),
        RuntimeFamily::Gvisor => {
            words.push("--ignore-cgroups".to_owned());
            // Its parts then run as the only user that is surely there, who started it.
            let as_user = order.namespaces != Namespaces::Root;
            words.extend(as_user.then(|| "--rootless".to_owned()));
        }
        RuntimeFamily::Other => {}
    }
    if let Some(Gvisor { platform, network, file_access, directfs, .. }) = &order.gvisor {
        words.push(format!("--platform={platform}"));
        words.push(format!("--network={}", network.name()));
        // Otherwise what is written below a writable root would go to a file in the image's tree.
        words.push("--overlay2=none".to_owned());
        words.push(format!("--file-access-mounts={}", file_access.name()));
        words.extend(directfs.map(|directfs| format!("--directfs={directfs}")));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{CLOSED, ContainerOrder, Gvisor, command_line};
    use crate::oci::command::RuntimeFamily;
    use crate::oci::settings::{ContainerNetwork, FileAccess};
    use crate::on_host::data::{DataPlace, ENTER};
    use crate::rights::Namespaces;

    fn order(family: RuntimeFamily) -> ContainerOrder {
        ContainerOrder {
            cpus: vec![0, 1],
            cgroups: vec!["/sys/fs/cgroup/memory/bakeoff".into()],
            memory_policy: None,
            namespaces: Namespaces::Root,
            data: DataPlace::Disk {
                path: "/scratch/data.img".into(),
                is_device: false,
                tuning: machines::boot::DataTuning::default(),
                folder: "/scratch/data".into(),
                answer: "/scratch/data-source".into(),
            },
            program: "/usr/bin/runtime".into(),
            family,
            gvisor: None,
            state: "/scratch/state".into(),
            bundle: "/scratch/bundle".into(),
            config: "(config.json)".to_owned(),
            name: "bakeoff-1-machine".to_owned(),
        }
    }

    fn lines(order: &ContainerOrder) -> String {
        let words = command_line(order)
            .join(" ")
            .replace(crate::join::JOIN, "(join.sh)")
            .replace(ENTER, "(enter.sh)")
            .replace(CLOSED, "(closed.sh)");
        words.replace(" --", "\n--")
    }

    #[test]
    fn the_whole_command_line() {
        insta::assert_snapshot!(lines(&order(RuntimeFamily::Runc)));
    }

    #[test]
    fn each_runtime_and_what_it_changes() {
        let gvisor = Gvisor {
            platform: "systrap".to_owned(),
            network: ContainerNetwork::None,
            file_access: FileAccess::Exclusive,
            directfs: Some(false),
            directfs_told: String::new(),
        };
        let as_it_comes = Gvisor { directfs: None, ..gvisor.clone() };
        let of_the_runtime = |order: &ContainerOrder| {
            let words = command_line(order);
            let at = words.iter().position(|word| *word == CLOSED).unwrap();
            words[at + 2..].join(" ")
        };
        let told = [
            order(RuntimeFamily::Runc),
            order(RuntimeFamily::Crun),
            order(RuntimeFamily::Other),
            ContainerOrder { gvisor: Some(gvisor), ..order(RuntimeFamily::Gvisor) },
            ContainerOrder { gvisor: Some(as_it_comes), ..order(RuntimeFamily::Gvisor) },
        ]
        .map(|order| of_the_runtime(&order));
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn a_user_is_root_of_namespaces() {
        let folder = DataPlace::Folder("/scratch/data".into());
        let order = ContainerOrder {
            namespaces: Namespaces::OneUser,
            cgroups: Vec::new(),
            data: folder,
            ..order(RuntimeFamily::Crun)
        };
        insta::assert_snapshot!(lines(&order));
    }
}

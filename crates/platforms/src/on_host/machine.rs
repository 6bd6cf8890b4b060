//! A running machine on the host's kernel, which is a family of processes.

use super::data::release;
use super::error::io_error;
use super::launch::StartedMachine;
use crate::affinity;
use crate::order::MachineOrder;
use images::data::DataDisk;
use machines::cgroup::Cgroups;
use machines::link::AgentLink;
use machines::machine::{Decisions, LaunchFacts, Machine, MachineError, WatchedMachine};
use machines::printed::Printed;
use machines::process::Process;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use telemetry::{DiskLocation, DiskTarget, FamilyTarget, Interfaces, ProcessTarget, Targets};

/// Time to write out what a machine left in the page cache when it was cut.
const RELEASE_LIMIT: Duration = Duration::from_mins(1);

/// What answers the system calls of a machine, unless something stands in between.
pub(crate) const HOSTS_KERNEL: &str = "the host's kernel";

pub(crate) struct HostMachine {
    link: Option<AgentLink>,
    process: Process,
    /// Removed after the process; removing them ends whatever still runs.
    groups: Cgroups,
    facts: LaunchFacts,
    stderr: Printed,
    watch: Targets,
    /// Must be released before anything else may write to them.
    data: DataDisk,
    /// Its name in errors.
    what: String,
}

impl HostMachine {
    /// A machine that greeted. `decided` gets the CPUs that it really has.
    pub fn new(
        started: StartedMachine,
        order: &MachineOrder,
        (groups, cpus): (Cgroups, &[usize]),
        (command_line, mut decided): (Vec<String>, Decisions),
        what: String,
    ) -> Self {
        let process = started.process.identity().pid;
        let held_to = affinity::of_thread(process);
        let told = held_to.map(|cpus| affinity::list(&cpus)).map_err(|error| error.to_string());
        decided.insert("host CPUs".to_owned(), told);
        Self {
            link: Some(started.link),
            process: started.process,
            groups,
            // The machine shares the host's network.
            facts: LaunchFacts { command_line, decided, listens_on: order.reached.address },
            stderr: started.stderr,
            watch: watch(order, cpus, process),
            data: order.data.clone(),
            what,
        }
    }

    /// Hands over the connection to its agent.
    pub fn take_link(&mut self) -> AgentLink {
        let Some(link) = self.link.take() else { unreachable!("the link of a machine is taken once") };
        link
    }

    /// Replaces what is said of the machine under this name.
    pub fn decide(&mut self, name: &str, decided: Result<String, String>) {
        self.facts.decided.insert(name.to_owned(), decided);
    }
}

/// Watches all processes of the machine as one, and the host's device below its data.
fn watch(order: &MachineOrder, cpus: &[usize], process: u32) -> Targets {
    let label = || "machine".to_owned();
    let location = match &order.data {
        DataDisk::Folder(path) | DataDisk::Image(path) => DiskLocation::of(path, false),
        DataDisk::Device(path) => DiskLocation::of(path, true),
    };
    Targets {
        without_system: false,
        cpus: Some(cpus.iter().filter_map(|cpu| u32::try_from(*cpu).ok()).collect()),
        disks: vec![DiskTarget { label: "data".to_owned(), location }],
        interfaces: Interfaces::AllButLoopback,
        threads: Vec::new(),
        families: vec![FamilyTarget { label: label(), process, without_threads: [].into(), with_switches: false }],
        // Mapped pages are counted for a hypervisor's process, and such a machine has none.
        pages: Vec::new(),
        groups: vec![ProcessTarget { label: label(), process }],
    }
}

impl Machine for HostMachine {
    fn link(&mut self) -> &mut AgentLink {
        // `link` is taken only by `stop`, which consumes the machine.
        let Some(link) = &mut self.link else { unreachable!("a stopped machine is not there to be asked") };
        link
    }

    fn facts(&self) -> &LaunchFacts {
        &self.facts
    }

    fn reached_at(&self, port: u16) -> Option<SocketAddr> {
        Some((self.facts.listens_on, port).into())
    }

    fn watched(&mut self) -> WatchedMachine {
        WatchedMachine { targets: self.watch.clone(), asked: Vec::new() }
    }

    fn console(&self) -> String {
        self.stderr.text()
    }

    fn stop(mut self: Box<Self>, limit: Duration) -> Result<(), MachineError> {
        // If the agent still runs, it ends when its standard input is closed.
        self.link = None;
        let status = self
            .process
            .wait(limit)
            .map_err(|error| io_error("waiting for the end of a machine")(io::Error::other(error)))?;
        let console = self.stderr.to_the_end();
        match status {
            Some(status) if status.success() => release(&self.data, limit),
            Some(status) => Err(MachineError::Ended { what: self.what, status: status.to_string(), console }),
            None => {
                let what = format!("{}, asked to end,", self.what);
                Err(MachineError::Silent { what, limit_s: limit.as_secs(), console })
            }
        }
    }

    fn cut(self: Box<Self>) -> Result<(), MachineError> {
        let Self { mut process, groups, data, mut stderr, .. } = *self;
        process.kill().map_err(|error| io_error("ending a machine")(io::Error::other(error)))?;
        // Removing the groups ends whatever the process left behind.
        drop(groups);
        // Without groups, its other processes end a moment later, each of which may have this output open.
        stderr.to_the_end();
        release(&data, RELEASE_LIMIT)
    }
}

/// Whether a tree has a folder that a machine sees under this path.
pub(crate) fn has(tree: &Path, folder: &str) -> bool {
    tree.join(folder.trim_start_matches('/')).is_dir()
}

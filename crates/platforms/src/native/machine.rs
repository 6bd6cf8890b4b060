//! From an order to a running native machine, and the actual value of each requested property.

use super::command::{Confinement, NativeOrder, command_line};
use super::launch::{LaunchOutcome, launch, what};
use crate::on_host::data::{DataPlace, in_a_folder};
use crate::on_host::error::io_error;
use crate::on_host::launch::StartedMachine;
use crate::on_host::limits::{self, HostLimits};
use crate::on_host::machine::{HOSTS_KERNEL, HostMachine, has};
use crate::order::{Launched, MachineOrder};
use crate::rights::can_contain;
use machines::boot::WRITABLE_FOLDERS;
use machines::machine::{Decisions, MachineError};
use std::fs;
use std::path::PathBuf;

/// Without an image, the machine sees the host's own files.
pub(crate) fn begin(order: &MachineOrder, launched: Launched<'_>) -> Result<HostMachine, MachineError> {
    let mut decided = Decisions::new();
    let HostLimits { groups, cpus, memory_policy } = limits::make(order, &mut decided);
    let tree = order.image.as_ref().map(|image| image.tree.clone());
    let mut command = NativeOrder {
        cpus,
        // The host's own `/proc` would show the processes of such a namespace under other numbers.
        contained: tree.is_some() && can_contain(),
        confinement: if tree.is_some() { Confinement::Bubblewrap } else { Confinement::None { logs: logs(order)? } },
        writable: WRITABLE_FOLDERS
            .iter()
            .copied()
            .filter(|folder| tree.as_ref().is_some_and(|tree| has(tree, folder)))
            .collect(),
        tree: tree.unwrap_or_default(),
        agent: order.agent.clone(),
        data: DataPlace::of(order)?,
        cgroups: groups.paths(),
        memory_policy,
    };
    let started = start_as_allowed(&mut command, order, launched, &mut decided)?;
    let words = (command_line(&command), decided);
    Ok(HostMachine::new(started, order, (groups, &command.cpus), words, what(&order.name)))
}

/// A folder for the logs of a machine without files of its own.
fn logs(order: &MachineOrder) -> Result<PathBuf, MachineError> {
    let logs = order.scratch.join("logs");
    fs::create_dir_all(&logs).map_err(io_error("making the folder for logs"))?;
    Ok(logs)
}

/// Tries the preferred way first, then what is allowed here; `decided` says which was used.
fn start_as_allowed(
    command: &mut NativeOrder,
    order: &MachineOrder,
    launched: Launched<'_>,
    decided: &mut Decisions,
) -> Result<StartedMachine, MachineError> {
    let mut data = None;
    let mut confinement = Ok(match command.confinement {
        Confinement::None { .. } => "none: it sees the host's own files and processes",
        _ => "bubblewrap",
    }
    .to_owned());
    loop {
        match launch(command, order, launched)? {
            LaunchOutcome::Greeted(started) => {
                decided.insert("processor".to_owned(), Ok("the host's own".to_owned()));
                decided.insert("system calls".to_owned(), Ok(HOSTS_KERNEL.to_owned()));
                decided.insert("data cached twice".to_owned(), command.data.cached_twice());
                decided.insert("data".to_owned(), data.unwrap_or_else(|| Ok(command.data.told())));
                decided.insert("confinement".to_owned(), confinement);
                return Ok(started);
            }
            LaunchOutcome::NotMounted(why) => {
                command.data = command.data.extracted(order, &why)?;
                data = Some(Err(in_a_folder(order, &why)));
            }
            LaunchOutcome::NotConfined(why) => {
                if command.confinement != Confinement::Bubblewrap || !rustix::process::geteuid().is_root() {
                    return Err(why);
                }
                let root = order.scratch.join("root");
                fs::create_dir_all(&root).map_err(io_error("making the root folder"))?;
                command.confinement = Confinement::Chroot(root);
                confinement = Ok(format!("chroot and namespaces, because {why}"));
            }
        }
    }
}

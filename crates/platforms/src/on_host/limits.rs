//! The limits of a machine on the host's kernel: memory, CPUs, CPU time and memory nodes, and whether each could be set.

use crate::affinity;
use crate::order::MachineOrder;
use crate::rights;
use machines::cgroup::{Cgroups, Limit};
use machines::machine::Decisions;

/// The control groups that the machine joins, and its CPUs.
pub(crate) struct HostLimits {
    pub groups: Cgroups,
    pub cpus: Vec<usize>,
    /// The nodes of its memory, if no group binds it to them.
    pub memory_policy: Option<String>,
}

/// Sets the possible limits; `decided` gets the kernel's value of each, or why it could not be set.
///
/// An unconfined machine could use all CPUs of the host, unlike a guest of its shape. So it gets a quota for as many
/// CPUs as it has vCPUs, or is confined to that many.
pub(crate) fn make(order: &MachineOrder, decided: &mut Decisions) -> HostLimits {
    let wished = order.place.vcpu_cpus();
    let has_more_cpus = wished.len() > order.vcpus as usize;
    let share = order.cpu_quota.or(has_more_cpus.then_some(1.0));
    let nodes: Vec<u32> = order.place.bound_to.iter().map(|share| share.node).collect();
    let wanted = [
        Some(("memory limit", Limit::MemoryBytes(order.memory_bytes))),
        share.map(|share| ("CPU quota", Limit::CpuTime(order.cpu_time(share)))),
        (!nodes.is_empty()).then_some(("memory node", Limit::MemoryNodes(nodes))),
    ];
    let (names, limits): (Vec<&str>, Vec<Limit>) = wanted.into_iter().flatten().unzip();
    let (groups, held) = Cgroups::hold(&order.name, &order.scratch, &limits);
    decided.insert("place".to_owned(), Ok(order.place.number.to_string()));
    decided.insert("memory node".to_owned(), Ok(crate::order::UNBOUND_MEMORY.to_owned()));
    decided.extend(names.into_iter().map(str::to_owned).zip(held));
    let memory_policy = policy(order, decided);
    let mut cpus = wished.to_vec();
    if let Some(Err(why)) = decided.get_mut("CPU quota").filter(|_| has_more_cpus) {
        cpus.clone_from(&order.place.cpus);
        *why = format!("the machine stays on CPUs {} instead, because {why}", affinity::list(&cpus));
    }
    HostLimits { groups, cpus, memory_policy }
}

/// Where no group can bind the machine's memory, a policy of its processes does, if numactl is there.
fn policy(order: &MachineOrder, decided: &mut Decisions) -> Option<String> {
    let held = decided.get_mut("memory node")?;
    let why = held.as_ref().err()?.clone();
    let nodes: Vec<String> = order.place.bound_to.iter().map(|share| share.node.to_string()).collect();
    let nodes = nodes.join(",");
    match rights::binding_refused(&nodes) {
        None => {
            *held = Ok(nodes.clone());
            Some(nodes)
        }
        Some(error) => {
            *held = Err(format!("{why}; {error}"));
            None
        }
    }
}

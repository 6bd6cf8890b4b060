//! The limits of a machine on the host's kernel: memory, CPUs, CPU time and memory nodes, and whether each could be set.

use crate::affinity;
use crate::order::MachineOrder;
use machines::cgroup::Cgroups;
use machines::machine::Decided;

/// The control groups that the machine joins, and its CPUs.
pub(crate) struct Limits {
    pub groups: Cgroups,
    pub cpus: Vec<usize>,
}

/// Sets the possible limits; `decided` gets the kernel's value of each, or why it could not be set.
pub(crate) fn make(order: &MachineOrder, decided: &mut Decided) -> Limits {
    let mut groups = Cgroups::new(&order.name, &order.scratch);
    let memory = groups.hold_memory(order.memory_bytes).map(|bytes| format!("{bytes} bytes"));
    decided.insert("memory limit".to_owned(), memory);
    decided.insert("place".to_owned(), Ok(order.place.number.to_string()));
    decided.insert("memory node".to_owned(), memory_nodes(order, &mut groups));
    let cpus = cpus(order, &mut groups, decided);
    Limits { groups, cpus }
}

/// An unconfined machine could use all CPUs of the host, unlike a guest of its shape. So it gets a quota for as many
/// CPUs as it has vCPUs, or is confined to that many.
fn cpus(order: &MachineOrder, groups: &mut Cgroups, decided: &mut Decided) -> Vec<usize> {
    let wished = order.place.vcpu_cpus();
    let has_more_cpus = wished.len() > order.vcpus as usize;
    let Some(share) = order.cpu_quota.or(has_more_cpus.then_some(1.0)) else { return wished.to_vec() };
    let held = groups.hold_cpu_time(order.cpu_time(share)).map(|time| time.to_string());
    match held {
        Err(why) if has_more_cpus => {
            let instead = &order.place.cpus;
            let why = format!("the machine stays on CPUs {} instead, because {why}", affinity::list(instead));
            decided.insert("CPU quota".to_owned(), Err(why));
            instead.clone()
        }
        held => {
            decided.insert("CPU quota".to_owned(), held);
            wished.to_vec()
        }
    }
}

fn memory_nodes(order: &MachineOrder, groups: &mut Cgroups) -> Result<String, String> {
    let nodes: Vec<u32> = order.place.bound_to.iter().map(|share| share.node).collect();
    if nodes.is_empty() { Ok(crate::order::UNBOUND_MEMORY.to_owned()) } else { groups.hold_memory_nodes(&nodes) }
}

//! The limits of a machine on the host's kernel: memory, CPUs, CPU time and memory nodes, and whether each could be set.

use crate::affinity;
use crate::order::MachineOrder;
use crate::placement::Topology;
use crate::rights;
use machines::cgroup::{Cgroups, CpuTime, Limit};
use machines::machine::Decided;
use machines::scratch::Scratch;
use std::path::Path;

/// A limit for a group that stays empty.
const TRIED_BYTES: u64 = 64 << 20;

/// The control groups that the machine joins, and its CPUs.
pub(crate) struct Limits {
    pub groups: Cgroups,
    pub cpus: Vec<usize>,
    /// The nodes of its memory, if no group binds it to them.
    pub memory_policy: Option<String>,
}

/// The limits that machines on this host's kernel will not be held to, and why.
pub(crate) fn foreseen(cache: &Path) -> Option<String> {
    let has_nodes = Topology::read(Path::new("/")).is_ok_and(|topology| topology.nodes().len() > 1);
    let needed = |name: &str| name == "memory" || name == "memory nodes" && has_nodes;
    let lacking = trial(cache).into_iter().filter(|(name, _)| needed(name));
    let lacking: Vec<String> =
        lacking.filter_map(|(name, held)| Some(format!("{name}, because {}", held.err()?))).collect();
    (!lacking.is_empty()).then(|| format!("not held to its {}", lacking.join("; and not to its ")))
}

/// Tries each kind of limit on a group without processes.
pub fn trial(cache: &Path) -> Vec<(&'static str, Result<String, String>)> {
    let kinds = ["memory", "CPU time", "memory nodes"];
    let limits = [Limit::MemoryBytes(TRIED_BYTES), Limit::CpuTime(CpuTime::of_cpus(1.0)), Limit::MemoryNodes(vec![0])];
    let held = match Scratch::create(&cache.join("scratch"), &format!("limits-{}", std::process::id())) {
        Ok(scratch) => Cgroups::hold("limits", scratch.path(), &limits).1,
        Err(error) => kinds.iter().map(|_| Err(error.to_string())).collect(),
    };
    let or_policy = |held: Result<String, String>| {
        let tried =
            |why| rights::binding_refused("0").map_or(Ok("0".to_owned()), |error| Err(format!("{why}; {error}")));
        held.or_else(tried)
    };
    let mut held: Vec<_> = kinds.into_iter().zip(held).collect();
    if let Some((_, nodes)) = held.last_mut() {
        *nodes = or_policy(nodes.clone());
    }
    held
}

/// Sets the possible limits; `decided` gets the kernel's value of each, or why it could not be set.
///
/// An unconfined machine could use all CPUs of the host, unlike a guest of its shape. So it gets a quota for as many
/// CPUs as it has vCPUs, or is confined to that many.
pub(crate) fn make(order: &MachineOrder, decided: &mut Decided) -> Limits {
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
    Limits { groups, cpus, memory_policy }
}

/// Where no group can bind the machine's memory, a policy of its processes does, if numactl is there.
fn policy(order: &MachineOrder, decided: &mut Decided) -> Option<String> {
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

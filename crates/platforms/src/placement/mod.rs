//! Where machines run on the host: the CPU of each vCPU, the CPUs of other threads, and the memory nodes.
//!
//! Pure, except for reading the topology: a topology and a policy in, a place for each machine out. Platforms pin, bind
//! and read back the result. Machines change places from block to block, so that the effect of a place can be distinguished from
//! that of a machine.

mod choice;
pub mod cpu_list;
mod topology;

pub use topology::{Cpu, UsableCpus};

use std::collections::BTreeMap;
use std::fmt;

/// Which CPUs machines get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// A core for each vCPU if there are enough, else thread by thread. All threads of a machine stay on its CPUs, and machines
    /// with this much memory are bound to the nodes of their CPUs if those have enough.
    Auto { memory_bytes: u64 },
    /// The host's scheduler decides.
    None,
    /// A core for each vCPU; the core's other threads stay idle.
    Cores,
    /// Core after core, with all of its threads. While there are enough cores, no core has vCPUs of two machines.
    Threads,
    /// Each machine on one memory node, separate cores first.
    Node,
    /// One list for each place, one CPU for each vCPU.
    Explicit(Vec<Vec<usize>>),
}

/// Where one machine runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1. A place is the same in all blocks, while machines change places.
    pub number: u32,
    /// A host CPU for each vCPU. If there are more vCPUs than CPUs, a CPU occurs several times, here or in other places.
    pub cpus: Vec<usize>,
    /// True if each vCPU stays on its CPU. If not, the whole machine runs on `others`, and `cpus` is its share of the host.
    pub is_pinned: bool,
    /// The memory node, if all its CPUs belong to one.
    pub node: Option<u32>,
    /// The nodes to which memory is bound. Empty if the host's kernel decides, or has only one node.
    pub bound_to: Vec<NodeShare>,
    /// The CPUs of threads that run no vCPU; separate from vCPUs if the policy says so and CPUs are left.
    pub others: Vec<usize>,
}

/// The part of a machine that is on one memory node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeShare {
    pub node: u32,
    pub vcpus: Vec<usize>,
}

/// A policy that this host cannot carry out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {instead}")]
pub struct Misfit {
    pub why: String,
    /// What would help.
    pub instead: String,
}

impl Place {
    /// A place on all of these CPUs, without pinning.
    pub fn anywhere_on(cpus: &[usize]) -> Self {
        Self {
            number: 1,
            cpus: cpus.to_vec(),
            is_pinned: false,
            node: None,
            bound_to: Vec::new(),
            others: cpus.to_vec(),
        }
    }

    /// The CPUs on which its vCPUs may run.
    pub fn vcpu_cpus(&self) -> &[usize] {
        if self.is_pinned { &self.cpus } else { &self.others }
    }
}

/// "place 2: CPUs 4-5 of node 1, other threads on CPUs 6-7, memory bound to node 1".
impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cpus, others) = (cpu_list::written(&self.cpus), cpu_list::written(&self.others));
        if !self.is_pinned {
            return write!(formatter, "place {}: anywhere on CPUs {others}", self.number);
        }
        write!(formatter, "place {}: CPUs {cpus}", self.number)?;
        if let Some(node) = self.node {
            write!(formatter, " of node {node}")?;
        }
        if others != cpus {
            write!(formatter, ", other threads on CPUs {others}")?;
        }
        let nodes = self.bound_to.iter().map(|share| share.node.to_string()).collect::<Vec<_>>();
        if nodes.is_empty() { Ok(()) } else { write!(formatter, ", memory bound to node {}", nodes.join(" and ")) }
    }
}

/// A machine's memory on each of its nodes, in proportion to vCPUs; the last node gets the remainder. Parts are whole
/// huge pages, so that each can be made from them.
pub fn divided(bytes: u64, shares: &[NodeShare]) -> Vec<u64> {
    const UNIT_BYTES: u64 = 2 << 20;
    let vcpus: u64 = shares.iter().map(|share| share.vcpus.len() as u64).sum();
    let units = bytes / UNIT_BYTES;
    let part = |share: &NodeShare| units * share.vcpus.len() as u64 / vcpus.max(1) * UNIT_BYTES;
    let mut parts: Vec<u64> = shares.iter().map(part).collect();
    let given: u64 = parts.iter().sum();
    if let Some(last) = parts.last_mut() {
        *last += bytes - given;
    }
    parts
}

/// A place for each of `count` equal machines. `rotation` is the number of places that each machine moves on.
pub fn place(
    topology: &UsableCpus,
    policy: &Policy,
    count: u32,
    vcpus: u32,
    rotation: u32,
) -> Result<Vec<Place>, Misfit> {
    let (count, vcpus) = (count as usize, vcpus as usize);
    let chosen = choice::choose(topology, policy, count, vcpus)?;
    let mut places: Vec<Place> = (1..)
        .zip(&chosen)
        .map(|(number, cpus)| Place {
            number,
            cpus: cpus.clone(),
            is_pinned: *policy != Policy::None,
            node: only_node(topology, policy, cpus),
            bound_to: bound_to(topology, policy, cpus),
            others: others(topology, policy, cpus, &chosen),
        })
        .collect();
    if let Policy::Auto { memory_bytes } = policy
        && full_node(topology, *memory_bytes, &places).is_some()
    {
        for place in &mut places {
            place.bound_to.clear();
        }
    }
    let steps = rotation as usize % places.len().max(1);
    places.rotate_left(steps);
    Ok(places)
}

fn only_node(topology: &UsableCpus, policy: &Policy, cpus: &[usize]) -> Option<u32> {
    let all = topology.numbers();
    let used = if *policy == Policy::None { &all } else { cpus };
    let shares = shares(topology, used);
    shares.first().filter(|_| shares.len() == 1).map(|share| share.node)
}

fn bound_to(topology: &UsableCpus, policy: &Policy, cpus: &[usize]) -> Vec<NodeShare> {
    if *policy == Policy::None || !topology.has_several_nodes() { Vec::new() } else { shares(topology, cpus) }
}

/// A memory node to which more would be bound than it has: its number, what would be bound, and what it has.
pub fn full_node(topology: &UsableCpus, memory_bytes: u64, places: &[Place]) -> Option<(u32, u64, u64)> {
    let mut bound: BTreeMap<u32, u64> = BTreeMap::new();
    for place in places {
        for (share, bytes) in place.bound_to.iter().zip(divided(memory_bytes, &place.bound_to)) {
            *bound.entry(share.node).or_default() += bytes;
        }
    }
    bound.into_iter().find_map(|(node, bytes)| {
        let there = topology.memory_bytes(node).filter(|there| bytes > *there)?;
        Some((node, bytes, there))
    })
}

/// Which vCPUs are on which node.
fn shares(topology: &UsableCpus, cpus: &[usize]) -> Vec<NodeShare> {
    let mut shares: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (vcpu, cpu) in cpus.iter().enumerate() {
        let node = topology.cpu(*cpu).map_or(0, |cpu| cpu.node);
        shares.entry(node).or_default().push(vcpu);
    }
    shares.into_iter().map(|(node, vcpus)| NodeShare { node, vcpus }).collect()
}

/// CPUs for threads that run no vCPU: those of cores without a vCPU, near ones first. Failing these, idle threads of
/// the machine's own cores; failing those, the machine's own CPUs.
fn others(topology: &UsableCpus, policy: &Policy, cpus: &[usize], chosen: &[Vec<usize>]) -> Vec<usize> {
    let matching = |is_one: &dyn Fn(&Cpu) -> bool| {
        topology.cpus().iter().filter(|cpu| is_one(cpu)).map(|cpu| cpu.number).collect::<Vec<_>>()
    };
    let is_own = |cpu: &Cpu| cpus.contains(&cpu.number);
    match policy {
        Policy::None => return topology.numbers(),
        Policy::Auto { .. } => return matching(&is_own),
        _ => {}
    }
    let same_core = |one: &Cpu, others: &[usize]| {
        others
            .iter()
            .filter_map(|other| topology.cpu(*other))
            .any(|other| (other.node, other.core) == (one.node, one.core))
    };
    let has_vcpu = |cpu: &Cpu| chosen.iter().any(|cpus| cpus.contains(&cpu.number));
    let is_free = |cpu: &Cpu| !chosen.iter().any(|cpus| same_core(cpu, cpus));
    let is_near = |cpu: &Cpu| cpus.iter().any(|own| topology.cpu(*own).is_some_and(|own| own.node == cpu.node));
    let is_idle_beside = |cpu: &Cpu| !has_vcpu(cpu) && same_core(cpu, cpus);
    let wished: [&dyn Fn(&Cpu) -> bool; 4] = [&|cpu| is_free(cpu) && is_near(cpu), &is_free, &is_idle_beside, &is_own];
    wished.into_iter().map(matching).find(|found| !found.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests;

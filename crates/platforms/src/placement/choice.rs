//! Chooses the CPUs of each place by policy. On hosts with several memory nodes, machines are spread over them.

use super::{Cpu, Misfit, Policy, UsableCpus, cpu_list};
use std::collections::BTreeSet;

/// One list of `vcpus` CPUs for each of `count` places.
pub fn choose(topology: &UsableCpus, policy: &Policy, count: usize, vcpus: usize) -> Result<Vec<Vec<usize>>, Misfit> {
    if topology.cpus().is_empty() {
        return Err(misfit("there is no CPU that may be used", "a CPU that this process may use"));
    }
    match policy {
        Policy::None => Ok(round(&topology.numbers(), count, vcpus)),
        Policy::Auto { .. } => cores(topology, count, vcpus).or_else(|_| Ok(threads(topology.cores(), count, vcpus))),
        Policy::Cores => cores(topology, count, vcpus),
        Policy::Threads => Ok(threads(topology.cores(), count, vcpus)),
        Policy::Node => node(topology, count, vcpus),
        Policy::Explicit(lists) => explicit(topology, lists, count, vcpus),
    }
}

fn misfit(why: impl Into<String>, instead: impl Into<String>) -> Misfit {
    Misfit { why: why.into(), instead: instead.into() }
}

/// Deals out one CPU after another, and starts again when all are used.
fn round(cpus: &[usize], count: usize, vcpus: usize) -> Vec<Vec<usize>> {
    let mut endless = cpus.iter().copied().cycle();
    (0..count).map(|_| endless.by_ref().take(vcpus).collect()).collect()
}

fn cores(topology: &UsableCpus, count: usize, vcpus: usize) -> Result<Vec<Vec<usize>>, Misfit> {
    let (needed, there) = (count * vcpus, topology.cores().len());
    if needed > there {
        let why = format!("{needed} vCPUs need a core each, and there are {there} cores");
        return Err(misfit(why, "fewer vCPUs, or \"threads\", which uses every thread of a core"));
    }
    // A single vCPU takes the whole core, so only the core's first thread is offered.
    let first_threads = topology.cores().into_iter().map(|core| core.into_iter().take(1).collect()).collect();
    Ok(threads(first_threads, count, vcpus))
}

/// Each place gets whole cores if there are enough for all. Otherwise places get CPUs one by one, core by core.
fn threads(cores: Vec<Vec<Cpu>>, count: usize, vcpus: usize) -> Vec<Vec<usize>> {
    let one_by_one: Vec<usize> = cores.iter().flatten().map(|cpu| cpu.number).collect();
    let mut free = cores;
    let whole: Option<Vec<Vec<usize>>> = (0..count).map(|_| take_cores(&mut free, vcpus)).collect();
    whole.unwrap_or_else(|| round(&one_by_one, count, vcpus))
}

/// Takes whole cores with at least `vcpus` CPUs: from the node with most left, across nodes only if none has enough.
fn take_cores(free: &mut Vec<Vec<Cpu>>, vcpus: usize) -> Option<Vec<usize>> {
    let left_on = |node: u32| free.iter().flatten().filter(|cpu| cpu.node == node).count();
    let nodes: BTreeSet<u32> = free.iter().flatten().map(|cpu| cpu.node).collect();
    // Among equals this takes the first, so that a single machine is where one would place it by hand.
    let fullest = nodes.into_iter().rev().max_by_key(|node| left_on(*node));
    let home = fullest.filter(|node| left_on(*node) >= vcpus);
    let mut taken = Vec::new();
    let mut kept = Vec::new();
    for core in free.drain(..) {
        let is_at_home = home.is_none_or(|home| core.iter().all(|cpu| cpu.node == home));
        if is_at_home && taken.len() < vcpus { taken.extend(core) } else { kept.push(core) }
    }
    *free = kept;
    let numbers: Vec<usize> = taken.iter().map(|cpu| cpu.number).take(vcpus).collect();
    (numbers.len() == vcpus).then_some(numbers)
}

fn node(topology: &UsableCpus, count: usize, vcpus: usize) -> Result<Vec<Vec<usize>>, Misfit> {
    let is_oversubscribed = count * vcpus > topology.cpus().len();
    let mut rooms: Vec<NodeRoom> = topology.nodes().into_iter().map(|node| NodeRoom::of(topology, node)).collect();
    let mut homes = Vec::new();
    for _ in 0..count {
        let Some(at) = roomiest(&rooms, vcpus) else { continue };
        if !is_oversubscribed && rooms[at].left() < vcpus {
            let sizes = rooms.iter().map(|room| room.cpus.to_string()).collect::<Vec<_>>().join(", ");
            let why = format!(
                "{count} × {vcpus} vCPUs do not fit on memory nodes of {sizes} CPUs without a machine that spans two"
            );
            return Err(misfit(why, "fewer vCPUs, or \"threads\", where a machine may span nodes"));
        }
        homes.push((at, rooms[at].machines));
        rooms[at].machines += 1;
        rooms[at].used += vcpus;
    }
    let chosen: Vec<Vec<Vec<usize>>> = rooms.iter().map(|room| within(topology, room, vcpus)).collect();
    Ok(homes.into_iter().map(|(at, which)| chosen[at][which].clone()).collect())
}

/// A memory node and how much of it is in use.
struct NodeRoom {
    node: u32,
    cpus: usize,
    used: usize,
    machines: usize,
}

impl NodeRoom {
    fn of(topology: &UsableCpus, node: u32) -> Self {
        let cpus = topology.cpus().iter().filter(|cpu| cpu.node == node).count();
        Self { node, cpus, used: 0, machines: 0 }
    }

    fn left(&self) -> usize {
        self.cpus.saturating_sub(self.used)
    }
}

/// The node that would be used least in proportion to its size, among those with enough CPUs left if there are any.
fn roomiest(rooms: &[NodeRoom], vcpus: usize) -> Option<usize> {
    let fits = |room: &NodeRoom| room.left() >= vcpus;
    let any_fits = rooms.iter().any(fits);
    let wanted = rooms.iter().enumerate().filter(|(_, room)| !any_fits || fits(room));
    // Fractions are compared crosswise: a/b < c/d if a·d < c·b.
    let by_part =
        |one: &NodeRoom, other: &NodeRoom| ((one.used + vcpus) * other.cpus).cmp(&((other.used + vcpus) * one.cpus));
    wanted.min_by(|(_, one), (_, other)| by_part(one, other)).map(|(at, _)| at)
}

/// The machines of one node: one core per vCPU if there are enough cores, else all threads of each core.
fn within(topology: &UsableCpus, room: &NodeRoom, vcpus: usize) -> Vec<Vec<usize>> {
    let mut cores = topology.cores();
    cores.retain(|core| core.iter().any(|cpu| cpu.node == room.node));
    if cores.len() >= room.used {
        for core in &mut cores {
            core.truncate(1);
        }
    }
    threads(cores, room.machines, vcpus)
}

fn explicit(
    topology: &UsableCpus,
    lists: &[Vec<usize>],
    count: usize,
    vcpus: usize,
) -> Result<Vec<Vec<usize>>, Misfit> {
    if lists.len() != count {
        let found = if lists.len() == 1 { "1 list".to_owned() } else { format!("{} lists", lists.len()) };
        let why = format!("found {found} of CPUs for {count} machines");
        return Err(misfit(why, "one list for each machine, set apart by semicolons"));
    }
    for list in lists {
        if list.len() != vcpus {
            let why = format!("found CPUs {} for {vcpus} vCPUs", cpu_list::written(list));
            return Err(misfit(why, "one CPU for each vCPU"));
        }
        if let Some(cpu) = list.iter().find(|cpu| topology.cpu(**cpu).is_none()) {
            let why = format!("CPU {cpu} is not there, is offline, or may not be used");
            return Err(misfit(why, format!("CPUs of {}", cpu_list::written(&topology.numbers()))));
        }
    }
    Ok(lists.to_vec())
}

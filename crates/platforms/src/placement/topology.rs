//! The CPUs of a host by core and memory node, as the kernel lists them. Nothing is guessed from a processor's name.

use super::cpu_list;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A CPU that programs can run on: with several threads for each core, one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    pub number: usize,
    /// The lowest CPU of its core, by which cores are told apart.
    pub core: usize,
    /// The memory node it belongs to.
    pub node: u32,
}

/// The CPUs that may be used, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    cpus: Vec<Cpu>,
    /// Memory nodes of the whole host, also those whose CPUs may not be used.
    nodes: Vec<Node>,
}

/// A memory node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    number: u32,
    cpus: Vec<usize>,
    /// What is built in, where the kernel tells.
    memory_bytes: Option<u64>,
}

impl Topology {
    /// Reads the topology of the system whose root folder is `root`: "/" for the one we run on, another for a recorded tree.
    pub fn read(root: &Path) -> Result<Self, String> {
        let system = root.join("sys/devices/system");
        let online = numbers(&system.join("cpu/online"))?;
        let nodes = nodes(&system.join("node"))?;
        let node_of: BTreeMap<usize, u32> =
            nodes.iter().flat_map(|node| node.cpus.iter().map(|cpu| (*cpu, node.number))).collect();
        let cpus = online.into_iter().map(|number| Cpu {
            number,
            core: core_of(&system, number),
            // A kernel without support for memory nodes shows none; there is one then.
            node: node_of.get(&number).copied().unwrap_or_default(),
        });
        Ok(Self { cpus: cpus.collect(), nodes })
    }

    /// This many CPUs of which nothing is known: each is a core of its own, and all are of one memory node.
    pub fn flat(cpus: &[usize]) -> Self {
        let cpus: BTreeSet<usize> = cpus.iter().copied().collect();
        Self { cpus: cpus.into_iter().map(|number| Cpu { number, core: number, node: 0 }).collect(), nodes: Vec::new() }
    }

    /// The running host's, as far as these CPUs may be used. Where the kernel shows no topology, they are taken to be alike.
    pub fn of_host(allowed: &[usize]) -> Self {
        Self::read(Path::new("/")).map_or_else(|_| Self::flat(allowed), |host| host.only(allowed))
    }

    /// Without the CPUs that may not be used.
    #[must_use]
    pub fn only(mut self, allowed: &[usize]) -> Self {
        self.cpus.retain(|cpu| allowed.contains(&cpu.number));
        self
    }

    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    pub fn numbers(&self) -> Vec<usize> {
        self.cpus.iter().map(|cpu| cpu.number).collect()
    }

    pub fn cpu(&self, number: usize) -> Option<&Cpu> {
        self.cpus.iter().find(|cpu| cpu.number == number)
    }

    /// Whether it makes a difference to which node memory is bound.
    pub fn has_several_nodes(&self) -> bool {
        self.nodes.len() > 1
    }

    /// The memory of a node, where it is known.
    pub fn memory_bytes(&self, node: u32) -> Option<u64> {
        self.nodes.iter().find(|one| one.number == node)?.memory_bytes
    }

    /// The CPUs of each core; cores of one node follow each other.
    pub fn cores(&self) -> Vec<Vec<Cpu>> {
        let mut cores: BTreeMap<(u32, usize), Vec<Cpu>> = BTreeMap::new();
        for cpu in &self.cpus {
            cores.entry((cpu.node, cpu.core)).or_default().push(*cpu);
        }
        cores.into_values().collect()
    }

    /// The memory nodes that have CPUs here.
    pub fn nodes(&self) -> BTreeSet<u32> {
        self.cpus.iter().map(|cpu| cpu.node).collect()
    }
}

/// The nodes by number; none where the kernel knows no nodes.
fn nodes(folder: &Path) -> Result<Vec<Node>, String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut nodes = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.strip_prefix("node")?.parse().ok()) else { continue };
        let memory = fs::read_to_string(entry.path().join("meminfo")).unwrap_or_default();
        let cpus = numbers(&entry.path().join("cpulist"))?;
        nodes.push(Node { number, cpus, memory_bytes: total_bytes(&memory) });
    }
    nodes.sort_unstable_by_key(|node| node.number);
    Ok(nodes)
}

/// Of lines such as `Node 0 MemTotal:       24689412 kB`.
fn total_bytes(memory: &str) -> Option<u64> {
    const KIB: u64 = 1 << 10;
    let line = memory.lines().find_map(|line| line.split_once("MemTotal:"))?.1;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(KIB)
}

/// The lowest CPU of a core, offline ones left out; old kernels have the list under another name. What no list tells is a
/// core by itself.
fn core_of(system: &Path, cpu: usize) -> usize {
    let topology = system.join(format!("cpu/cpu{cpu}/topology"));
    let lists = ["core_cpus_list", "thread_siblings_list"].map(|name| numbers(&topology.join(name)));
    let siblings = lists.into_iter().find_map(Result::ok).unwrap_or_default();
    siblings.into_iter().min().unwrap_or(cpu)
}

/// A list of the kernel's; a memory node without CPUs has an empty one.
fn numbers(file: &Path) -> Result<Vec<usize>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    cpu_list::parse(&text).map_err(|why| format!("{}: {why}", file.display()))
}

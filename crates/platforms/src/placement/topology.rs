//! The CPUs of a host by core and memory node, as the kernel lists them. Nothing is guessed from a processor's name.

use super::cpu_list;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A CPU that programs can run on; if a core has several threads, one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    pub number: usize,
    /// The lowest CPU of its core, which identifies the core.
    pub core: usize,
    /// The memory node it belongs to.
    pub node: u32,
}

/// The CPUs that may be used, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsableCpus {
    cpus: Vec<Cpu>,
    /// Memory nodes of the whole host, including those whose CPUs may not be used.
    nodes: Vec<MemoryNode>,
    /// CPUs over which the kernel moves no thread.
    isolated: BTreeSet<usize>,
}

/// A memory node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MemoryNode {
    number: u32,
    cpus: Vec<usize>,
    /// The installed memory, if the kernel reports it.
    memory_bytes: Option<u64>,
}

impl UsableCpus {
    /// Reads the topology of the system whose root folder is `root`: "/" for this host, another for a recorded tree.
    pub fn read(root: &Path) -> Result<Self, String> {
        let system = root.join("sys/devices/system");
        let online = numbers(&system.join("cpu/online"))?;
        let nodes = nodes(&system.join("node"))?;
        let node_of: BTreeMap<usize, u32> =
            nodes.iter().flat_map(|node| node.cpus.iter().map(|cpu| (*cpu, node.number))).collect();
        let cpus = online.into_iter().map(|number| Cpu {
            number,
            core: core_of(&system, number),
            // A kernel without support for memory nodes reports none; all CPUs are then on node 0.
            node: node_of.get(&number).copied().unwrap_or_default(),
        });
        let isolated = numbers(&system.join("cpu/isolated")).unwrap_or_default().into_iter().collect();
        Ok(Self { cpus: cpus.collect(), nodes, isolated })
    }

    /// These CPUs without any known topology: each is its own core, and all are on one memory node.
    pub fn flat(cpus: &[usize]) -> Self {
        let cpus: BTreeSet<usize> = cpus.iter().copied().collect();
        let cpus = cpus.into_iter().map(|number| Cpu { number, core: number, node: 0 });
        Self { cpus: cpus.collect(), ..Self::default() }
    }

    /// This host's topology, limited to the allowed CPUs. If the kernel reports none, all CPUs are treated alike.
    pub fn of_host(allowed: &[usize]) -> Self {
        Self::read(Path::new("/")).map_or_else(|_| Self::flat(allowed), |host| host.only(allowed))
    }

    /// Removes the CPUs that may not be used.
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

    /// CPUs on which a thread stays where it was started (`isolcpus`): several threads of a process may share one while others idle.
    pub fn isolated(&self) -> &BTreeSet<usize> {
        &self.isolated
    }

    /// True if it matters to which node memory is bound.
    pub fn has_several_nodes(&self) -> bool {
        self.nodes.len() > 1
    }

    /// The memory of a node, if it is known.
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

    /// The memory nodes that have usable CPUs.
    pub fn nodes(&self) -> BTreeSet<u32> {
        self.cpus.iter().map(|cpu| cpu.node).collect()
    }
}

/// The nodes by number; empty if the kernel reports none.
fn nodes(folder: &Path) -> Result<Vec<MemoryNode>, String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut nodes = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.strip_prefix("node")?.parse().ok()) else { continue };
        let memory = fs::read_to_string(entry.path().join("meminfo")).unwrap_or_default();
        let cpus = numbers(&entry.path().join("cpulist"))?;
        nodes.push(MemoryNode { number, cpus, memory_bytes: total_bytes(&memory) });
    }
    nodes.sort_unstable_by_key(|node| node.number);
    Ok(nodes)
}

/// Parses lines such as `Node 0 MemTotal:       24689412 kB`.
fn total_bytes(memory: &str) -> Option<u64> {
    const KIB: u64 = 1 << 10;
    let line = memory.lines().find_map(|line| line.split_once("MemTotal:"))?.1;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(KIB)
}

/// The lowest online CPU of a core; old kernels have the list under another name. A CPU in no list is a core by itself.
fn core_of(system: &Path, cpu: usize) -> usize {
    let topology = system.join(format!("cpu/cpu{cpu}/topology"));
    let lists = ["core_cpus_list", "thread_siblings_list"].map(|name| numbers(&topology.join(name)));
    let siblings = lists.into_iter().find_map(Result::ok).unwrap_or_default();
    siblings.into_iter().min().unwrap_or(cpu)
}

/// Reads one of the kernel's CPU lists; that of a memory node without CPUs is empty.
fn numbers(file: &Path) -> Result<Vec<usize>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    cpu_list::parse(&text).map_err(|why| format!("{}: {why}", file.display()))
}

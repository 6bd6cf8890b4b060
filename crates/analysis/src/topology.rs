//! Which cores and memory nodes of the host a machine's vCPUs run on, as far as the record shows.
//!
//! Two hardware threads of one core are not two cores, and memory of another node is further away. So a machine with twice
//! the vCPUs need not be twice the machine. What is not recorded stays unknown; nothing is guessed from a processor's name.

use crate::machines::known;
use record::facts::{Facts, HOST_CPUS};
use record::plan::Cell;
use record::run::Run;
use record::trial::MachineFacts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The host's processors, as its fingerprint describes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    cores: Option<usize>,
    threads: Option<usize>,
    nodes: Option<usize>,
    /// The CPUs of each core, and of each node; empty if the record does not list them.
    cpus_of_cores: Vec<BTreeSet<usize>>,
    cpus_of_nodes: Vec<BTreeSet<usize>>,
    /// True if the host is itself a virtual machine, whose cores are what its hypervisor reports.
    pub is_guest: bool,
}

/// What a machine's vCPUs run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VcpuPlace {
    /// The number of cores they share. Unknown on hosts with several threads per core whose record lists no CPUs.
    pub cores: Option<usize>,
    /// How many memory nodes those cores are spread over.
    pub nodes: Option<usize>,
}

impl VcpuPlace {
    /// True if some vCPUs are second threads of a core, or have no thread of their own.
    pub fn shares_cores(&self, vcpus: f64) -> Option<bool> {
        self.cores.map(|cores| vcpus > cores as f64)
    }
}

impl Topology {
    /// That of the host of a cell's machines. Nothing is known of it if that is another host: a run has the facts of its own only.
    pub fn under(run: &Run, cell: &Cell) -> Self {
        if cell.settings.is_elsewhere() { Self::default() } else { Self::of(&run.host) }
    }

    pub fn of(host: &Facts) -> Self {
        let known = |name: &str| host.get(name).and_then(known);
        let number = |name: &str| known(name).and_then(|text| text.parse().ok());
        Self {
            cores: number("cpu.cores"),
            threads: number("cpu.threads"),
            nodes: number("memory.numa_nodes"),
            cpus_of_cores: known("cpu.core_cpus").map(groups).unwrap_or_default(),
            cpus_of_nodes: known("memory.node_cpus").map(groups).unwrap_or_default(),
            is_guest: known("virtualization.guest") == Some("yes"),
        }
    }

    /// Whether cores have more than one hardware thread.
    pub fn has_second_threads(&self) -> bool {
        self.threads.zip(self.cores).is_some_and(|(threads, cores)| threads > cores)
    }

    /// Where a machine with this many vCPUs ran; `machine` is `None` if it never started.
    pub fn place(&self, vcpus: u32, machine: Option<&MachineFacts>) -> VcpuPlace {
        let cpus = machine.and_then(held_to);
        VcpuPlace { cores: self.cores_of(vcpus, cpus.as_ref()), nodes: self.nodes_of(cpus.as_ref()) }
    }

    /// The memory node on which all of these CPUs are; `None` if the host has only one, or if it is unknown.
    pub fn node_of(&self, cpus: &BTreeSet<usize>) -> Option<usize> {
        let are_several = self.cpus_of_nodes.len() > 1;
        self.cpus_of_nodes.iter().position(|node| cpus.is_subset(node)).filter(|_| are_several)
    }

    fn cores_of(&self, vcpus: u32, cpus: Option<&BTreeSet<usize>>) -> Option<usize> {
        if let Some(cpus) = cpus {
            if !self.cpus_of_cores.is_empty() {
                return Some(touched(&self.cpus_of_cores, cpus));
            }
            if self.cores.is_some() && self.cores == self.threads {
                return Some(cpus.len());
            }
        }
        // More vCPUs than the host has cores share them, wherever they run.
        self.cores.filter(|cores| vcpus as usize > *cores || self.threads == Some(*cores))
    }

    fn nodes_of(&self, cpus: Option<&BTreeSet<usize>>) -> Option<usize> {
        match cpus {
            _ if self.nodes == Some(1) => Some(1),
            Some(cpus) if !self.cpus_of_nodes.is_empty() => Some(touched(&self.cpus_of_nodes, cpus)),
            _ => None,
        }
    }
}

/// How many of the groups contain at least one of the CPUs.
fn touched(groups: &[BTreeSet<usize>], cpus: &BTreeSet<usize>) -> usize {
    groups.iter().filter(|group| !group.is_disjoint(cpus)).count()
}

/// The CPUs of the host to which a machine was pinned, as far as the record shows.
pub fn held_to(machine: &MachineFacts) -> Option<BTreeSet<usize>> {
    cpus_in(known(machine.decided.get(HOST_CPUS)?)?)
}

/// Lists of CPUs separated by semicolons: "0,2; 1,3".
fn groups(text: &str) -> Vec<BTreeSet<usize>> {
    text.split(';').map(cpus_in).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The CPUs of a list in the kernel's format, "0-3,8".
pub fn cpus_in(text: &str) -> Option<BTreeSet<usize>> {
    let mut cpus = BTreeSet::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::facts::Fact;

    fn facts(known: &[(&str, &str)]) -> Facts {
        known.iter().map(|(name, text)| ((*name).to_owned(), Fact::known(*text))).collect()
    }

    fn held_to(cpus: &str) -> MachineFacts {
        MachineFacts { decided: facts(&[(HOST_CPUS, cpus)]), ..MachineFacts::default() }
    }

    /// Two sockets of two cores with two threads each, numbered as Linux does: first threads first.
    fn server() -> Topology {
        Topology::of(&facts(&[
            ("cpu.cores", "4"),
            ("cpu.threads", "8"),
            ("cpu.core_cpus", "0,4; 1,5; 2,6; 3,7"),
            ("memory.numa_nodes", "2"),
            ("memory.node_cpus", "0-1,4-5; 2-3,6-7"),
        ]))
    }

    #[test]
    fn cores_and_nodes_are_counted_from_the_cpus() {
        let place = |vcpus: u32, cpus: &str| {
            let place = server().place(vcpus, Some(&held_to(cpus)));
            (place.cores, place.nodes, place.shares_cores(vcpus.into()))
        };
        assert_eq!(place(2, "0,1"), (Some(2), Some(1), Some(false)));
        assert_eq!(place(2, "0,4"), (Some(1), Some(1), Some(true)), "two threads of one core");
        assert_eq!(place(4, "0,1,2,3"), (Some(4), Some(2), Some(false)));
        assert_eq!(place(8, "0-7"), (Some(4), Some(2), Some(true)));
    }

    #[test]
    fn without_lists_only_what_follows_from_numbers_is_said() {
        let host = Topology::of(&facts(&[("cpu.cores", "4"), ("cpu.threads", "8"), ("memory.numa_nodes", "2")]));
        let place = |vcpus: u32| host.place(vcpus, Some(&held_to("0,1")));
        assert_eq!(place(2), VcpuPlace::default(), "they may be two threads of one core");
        assert_eq!(place(6).shares_cores(6.0), Some(true), "there are only four cores");
        let plain = Topology::of(&facts(&[("cpu.cores", "2"), ("cpu.threads", "2"), ("memory.numa_nodes", "1")]));
        assert_eq!(plain.place(2, Some(&held_to("0,1"))), VcpuPlace { cores: Some(2), nodes: Some(1) });
        assert_eq!(plain.place(4, None).shares_cores(4.0), Some(true));
        assert_eq!(Topology::of(&Facts::new()).place(2, None), VcpuPlace::default());
    }

    #[test]
    fn a_machine_is_on_the_node_that_has_all_of_its_cpus() {
        let node = |cpus: &str| server().node_of(&cpus_in(cpus).unwrap());
        assert_eq!((node("0,4"), node("2-3"), node("1,2")), (Some(0), Some(1), None));
        let one = Topology::of(&facts(&[("memory.node_cpus", "0-3")]));
        assert_eq!(one.node_of(&BTreeSet::from([0])), None, "it makes no difference");
    }

    #[test]
    fn unreadable_lists_are_none() {
        assert_eq!(cpus_in("0-3,8"), Some(BTreeSet::from([0, 1, 2, 3, 8])));
        assert_eq!(cpus_in("all"), None);
        assert!(groups("0,1; what").is_empty());
    }
}

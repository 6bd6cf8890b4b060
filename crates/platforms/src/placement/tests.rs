//! Places on hosts as the kernel describes them.

use super::{Cpu, NodeShare, Place, Policy, UsableCpus, divided, place};
use crate::affinity;
use insta::assert_snapshot;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What the kernel reports of a host: its online CPUs, the CPUs of each core, the CPUs of each memory node.
struct RecordedHost {
    online: &'static str,
    cores: &'static [&'static [usize]],
    nodes: &'static [&'static str],
}

const SMALL: RecordedHost = RecordedHost { online: "0-1", cores: &[&[0], &[1]], nodes: &["0-1"] };

/// Two sockets of four cores with two threads each, second threads numbered last.
const TWO_SOCKETS: RecordedHost = RecordedHost {
    online: "0-15",
    cores: &[&[0, 8], &[1, 9], &[2, 10], &[3, 11], &[4, 12], &[5, 13], &[6, 14], &[7, 15]],
    nodes: &["0-3,8-11", "4-7,12-15"],
};

/// The same with the second threads of the first socket offline.
const PARTLY_OFFLINE: RecordedHost = RecordedHost {
    online: "0-7,12-15",
    cores: &[&[0], &[1], &[2], &[3], &[4, 12], &[5, 13], &[6, 14], &[7, 15]],
    nodes: &["0-3", "4-7,12-15"],
};

/// One socket that the kernel reports as four memory nodes.
const FOUR_NODES: RecordedHost = RecordedHost {
    online: "0-11",
    cores: &[&[0], &[1], &[2], &[3], &[4], &[5], &[6], &[7], &[8], &[9], &[10], &[11]],
    nodes: &["0-2", "3-5", "6-8", "9-11"],
};

/// Large cores with two threads on one node, small ones on another, and memory without CPUs.
const ASYMMETRIC: RecordedHost =
    RecordedHost { online: "0-7", cores: &[&[0, 1], &[2, 3], &[4, 5], &[6], &[7]], nodes: &["0-5", "6-7", ""] };

const ALL: [&RecordedHost; 5] = [&SMALL, &TWO_SOCKETS, &PARTLY_OFFLINE, &FOUR_NODES, &ASYMMETRIC];

impl RecordedHost {
    /// Writes the kernel's files into a tree and reads the topology back.
    fn topology(&self) -> UsableCpus {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = root.path().join("sys/devices/system").join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{text}\n")).unwrap();
        };
        write("cpu/online", self.online);
        for core in self.cores {
            for cpu in *core {
                write(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), &affinity::list(core));
            }
        }
        for (node, cpus) in self.nodes.iter().enumerate() {
            write(&format!("node/node{node}/cpulist"), cpus);
            write(&format!("node/node{node}/meminfo"), &format!("Node {node} MemTotal:       24689412 kB"));
        }
        write("node/online", "0");
        write("cpu/isolated", "");
        UsableCpus::read(root.path()).unwrap()
    }

    fn told(&self, policy: &Policy, count: u32, vcpus: u32) -> String {
        match place(&self.topology(), policy, count, vcpus, 0) {
            Ok(places) => places.iter().map(told).collect::<Vec<_>>().join("\n"),
            Err(misfit) => misfit.to_string(),
        }
    }
}

fn told(place: &Place) -> String {
    let numbers = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let bound = place.bound_to.iter().map(|share| format!("vCPUs {} to node {}", numbers(&share.vcpus), share.node));
    let bound = bound.map(|share| format!("; {share}")).collect::<Vec<_>>().concat();
    let node = place.node.map_or("-".to_owned(), |node| node.to_string());
    let (number, cpus, others) = (place.number, numbers(&place.cpus), numbers(&place.others));
    format!("{number}: CPUs {cpus}; node {node}; others {others}{bound}")
}

#[test]
fn a_topology_is_read_as_the_kernel_shows_it() {
    let cpu = |number, core, node| Cpu { number, core, node };
    let small = SMALL.topology();
    assert_eq!(small.cpus(), [cpu(0, 0, 0), cpu(1, 1, 0)]);
    assert!(!small.has_several_nodes());
    assert_eq!((small.memory_bytes(0), small.memory_bytes(1)), (Some(24_689_412 << 10), None));
    let partly = PARTLY_OFFLINE.topology();
    assert_eq!(partly.cpus().len(), 12);
    assert_eq!(partly.cpu(13), Some(&cpu(13, 5, 1)));
    assert_eq!(partly.cpu(8), None);
    let asymmetric = ASYMMETRIC.topology();
    assert_eq!(asymmetric.cores().iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 1, 1]);
    assert!(asymmetric.has_several_nodes());
    let only = asymmetric.only(&[0, 2, 99]);
    assert_eq!(only.numbers(), [0, 2]);
    assert!(only.has_several_nodes(), "memory of the other node is still there");
}

#[test]
fn kernels_without_cores_and_nodes_have_cpus_all_the_same() {
    let root = tempfile::tempdir().unwrap();
    assert!(UsableCpus::read(root.path()).unwrap_err().contains("cpu/online"));
    fs::create_dir_all(root.path().join("sys/devices/system/cpu")).unwrap();
    fs::write(root.path().join("sys/devices/system/cpu/online"), "0-2\n").unwrap();
    assert_eq!(UsableCpus::read(root.path()).unwrap(), UsableCpus::flat(&[2, 1, 0]));
    let here = UsableCpus::read(Path::new("/")).unwrap();
    assert!(!here.cpus().is_empty());
    assert_eq!(UsableCpus::of_host(&here.numbers()), here);
}

#[test]
fn by_default_a_machine_has_cores_while_there_are_enough_and_nothing_beside_them() {
    let auto = Policy::Auto { memory_bytes: 1 << 30 };
    assert_snapshot!(SMALL.told(&auto, 1, 2), @"1: CPUs 0 1; node 0; others 0 1");
    assert_snapshot!(SMALL.told(&auto, 3, 1), @r"
    1: CPUs 0; node 0; others 0
    2: CPUs 1; node 0; others 1
    3: CPUs 0; node 0; others 0
    ");
    assert_snapshot!(TWO_SOCKETS.told(&auto, 2, 3), @r"
    1: CPUs 0 1 2; node 0; others 0 1 2; vCPUs 0 1 2 to node 0
    2: CPUs 4 5 6; node 1; others 4 5 6; vCPUs 0 1 2 to node 1
    ");
    assert_snapshot!(TWO_SOCKETS.told(&auto, 3, 4), @r"
    1: CPUs 0 8 1 9; node 0; others 0 1 8 9; vCPUs 0 1 2 3 to node 0
    2: CPUs 4 12 5 13; node 1; others 4 5 12 13; vCPUs 0 1 2 3 to node 1
    3: CPUs 2 10 3 11; node 0; others 2 3 10 11; vCPUs 0 1 2 3 to node 0
    ");
    let more_than_a_node = Policy::Auto { memory_bytes: 40 << 30 };
    assert_snapshot!(TWO_SOCKETS.told(&more_than_a_node, 1, 2), @"1: CPUs 0 1; node 0; others 0 1");
}

#[test]
fn without_pinning_all_threads_may_run_on_all_cpus() {
    assert_snapshot!(SMALL.told(&Policy::None, 2, 1), @r"
    1: CPUs 0; node 0; others 0 1
    2: CPUs 1; node 0; others 0 1
    ");
    let place = &place(&TWO_SOCKETS.topology(), &Policy::None, 1, 2, 0).unwrap()[0];
    assert!(!place.is_pinned && place.node.is_none());
    assert_eq!(place.vcpu_cpus().len(), 16);
}

#[test]
fn cores_are_not_shared_by_any_two_vcpus() {
    assert_snapshot!(TWO_SOCKETS.told(&Policy::Cores, 3, 2), @r"
    1: CPUs 0 1; node 0; others 6 7 14 15; vCPUs 0 1 to node 0
    2: CPUs 4 5; node 1; others 6 7 14 15; vCPUs 0 1 to node 1
    3: CPUs 2 3; node 0; others 6 7 14 15; vCPUs 0 1 to node 0
    ");
    assert_snapshot!(TWO_SOCKETS.told(&Policy::Cores, 1, 6), @"1: CPUs 0 1 2 3 4 5; node -; others 6 7 14 15; vCPUs 0 1 2 3 to node 0; vCPUs 4 5 to node 1");
    assert_snapshot!(TWO_SOCKETS.told(&Policy::Cores, 2, 4), @r"
    1: CPUs 0 1 2 3; node 0; others 8 9 10 11; vCPUs 0 1 2 3 to node 0
    2: CPUs 4 5 6 7; node 1; others 12 13 14 15; vCPUs 0 1 2 3 to node 1
    ");
    assert_snapshot!(TWO_SOCKETS.told(&Policy::Cores, 3, 3), @r#"9 vCPUs need a core each, and there are 8 cores; fewer vCPUs, or "threads", which uses every thread of a core"#);
    assert_snapshot!(SMALL.told(&Policy::Cores, 3, 1), @r#"3 vCPUs need a core each, and there are 2 cores; fewer vCPUs, or "threads", which uses every thread of a core"#);
}

#[test]
fn threads_fill_core_after_core() {
    assert_snapshot!(TWO_SOCKETS.told(&Policy::Threads, 2, 3), @r"
    1: CPUs 0 8 1; node 0; others 2 3 10 11; vCPUs 0 1 2 to node 0
    2: CPUs 4 12 5; node 1; others 6 7 14 15; vCPUs 0 1 2 to node 1
    ");
    assert_snapshot!(TWO_SOCKETS.told(&Policy::Threads, 5, 3), @r"
    1: CPUs 0 8 1; node 0; others 0 1 8; vCPUs 0 1 2 to node 0
    2: CPUs 9 2 10; node 0; others 2 9 10; vCPUs 0 1 2 to node 0
    3: CPUs 3 11 4; node -; others 3 4 11; vCPUs 0 1 to node 0; vCPUs 2 to node 1
    4: CPUs 12 5 13; node 1; others 5 12 13; vCPUs 0 1 2 to node 1
    5: CPUs 6 14 7; node 1; others 15; vCPUs 0 1 2 to node 1
    ");
    assert_snapshot!(ASYMMETRIC.told(&Policy::Threads, 3, 2), @r"
    1: CPUs 0 1; node 0; others 6 7; vCPUs 0 1 to node 0
    2: CPUs 2 3; node 0; others 6 7; vCPUs 0 1 to node 0
    3: CPUs 4 5; node 0; others 6 7; vCPUs 0 1 to node 0
    ");
    assert_snapshot!(PARTLY_OFFLINE.told(&Policy::Threads, 1, 10), @"1: CPUs 0 1 2 3 4 12 5 13 6 14; node -; others 7 15; vCPUs 0 1 2 3 to node 0; vCPUs 4 5 6 7 8 9 to node 1");
    assert_snapshot!(SMALL.told(&Policy::Threads, 2, 2), @r"
    1: CPUs 0 1; node 0; others 0 1
    2: CPUs 0 1; node 0; others 0 1
    ");
}

#[test]
fn a_node_holds_whole_machines() {
    assert_snapshot!(FOUR_NODES.told(&Policy::Node, 5, 1), @r"
    1: CPUs 0; node 0; others 2; vCPUs 0 to node 0
    2: CPUs 3; node 1; others 4 5; vCPUs 0 to node 1
    3: CPUs 6; node 2; others 7 8; vCPUs 0 to node 2
    4: CPUs 9; node 3; others 10 11; vCPUs 0 to node 3
    5: CPUs 1; node 0; others 2; vCPUs 0 to node 0
    ");
    assert_snapshot!(TWO_SOCKETS.told(&Policy::Node, 3, 4), @r"
    1: CPUs 0 8 1 9; node 0; others 0 1 8 9; vCPUs 0 1 2 3 to node 0
    2: CPUs 4 5 6 7; node 1; others 12 13 14 15; vCPUs 0 1 2 3 to node 1
    3: CPUs 2 10 3 11; node 0; others 2 3 10 11; vCPUs 0 1 2 3 to node 0
    ");
    assert_snapshot!(ASYMMETRIC.told(&Policy::Node, 2, 2), @r"
    1: CPUs 0 1; node 0; others 4 5; vCPUs 0 1 to node 0
    2: CPUs 2 3; node 0; others 4 5; vCPUs 0 1 to node 0
    ");
    assert_snapshot!(FOUR_NODES.told(&Policy::Node, 2, 4), @r#"2 × 4 vCPUs do not fit on memory nodes of 3, 3, 3, 3 CPUs without a machine that spans two; fewer vCPUs, or "threads", where a machine may span nodes"#);
    assert_snapshot!(FOUR_NODES.told(&Policy::Node, 5, 2), @r#"5 × 2 vCPUs do not fit on memory nodes of 3, 3, 3, 3 CPUs without a machine that spans two; fewer vCPUs, or "threads", where a machine may span nodes"#);
    assert_snapshot!(SMALL.told(&Policy::Node, 3, 1), @r"
    1: CPUs 0; node 0; others 0
    2: CPUs 1; node 0; others 1
    3: CPUs 0; node 0; others 0
    ");
}

#[test]
fn explicit_lists_are_taken_as_they_are() {
    let lists = |lists: &[&[usize]]| Policy::Explicit(lists.iter().map(|list| list.to_vec()).collect());
    assert_snapshot!(TWO_SOCKETS.told(&lists(&[&[3, 4], &[0, 8]]), 2, 2), @r"
    1: CPUs 3 4; node -; others 1 2 5 6 7 9 10 13 14 15; vCPUs 0 to node 0; vCPUs 1 to node 1
    2: CPUs 0 8; node 0; others 1 2 9 10; vCPUs 0 1 to node 0
    ");
    assert_snapshot!(SMALL.told(&lists(&[&[0, 1], &[0, 1]]), 2, 2), @r"
    1: CPUs 0 1; node 0; others 0 1
    2: CPUs 0 1; node 0; others 0 1
    ");
    assert_snapshot!(SMALL.told(&lists(&[&[0, 1]]), 2, 2), @"found 1 list of CPUs for 2 machines; one list for each machine, set apart by semicolons");
    assert_snapshot!(SMALL.told(&lists(&[&[0], &[1]]), 2, 2), @"found CPUs 0 for 2 vCPUs; one CPU for each vCPU");
    assert_snapshot!(PARTLY_OFFLINE.told(&lists(&[&[0, 8]]), 1, 2), @"CPU 8 is not there, is offline, or may not be used; CPUs of 0-7,12-15");
}

/// Every policy on every host, with up to six machines of up to six vCPUs.
fn all_placements(mut look: impl FnMut(&UsableCpus, &Policy, u32, u32)) {
    for topology in ALL.map(RecordedHost::topology) {
        for policy in [Policy::Auto { memory_bytes: 0 }, Policy::None, Policy::Cores, Policy::Threads, Policy::Node] {
            for (count, vcpus) in (1..=6).flat_map(|count| (1..=6).map(move |vcpus| (count, vcpus))) {
                look(&topology, &policy, count, vcpus);
            }
        }
    }
}

#[test]
fn no_cpu_is_shared_while_there_are_enough() {
    let mut cases = 0;
    all_placements(|topology, policy, count, vcpus| {
        let Ok(places) = place(topology, policy, count, vcpus, 0) else { return };
        let case = format!("{policy:?}, {count} machines of {vcpus}: {places:?}");
        assert_eq!(places.len(), count as usize, "{case}");
        let used: Vec<usize> = places.iter().flat_map(|place| place.cpus.clone()).collect();
        assert_eq!(used.len(), (count * vcpus) as usize, "{case}");
        let distinct: BTreeSet<usize> = used.iter().copied().collect();
        assert!(distinct.len() == used.len() || used.len() > topology.cpus().len(), "{case}");
        cases += 1;
    });
    assert!(cases > 500, "{cases}");
}

#[test]
fn cores_and_nodes_keep_their_promise() {
    all_placements(|topology, policy, count, vcpus| {
        let Ok(places) = place(topology, policy, count, vcpus, 0) else { return };
        let case = format!("{policy:?}, {count} machines of {vcpus}: {places:?}");
        let cores: Vec<_> =
            places.iter().flat_map(|place| &place.cpus).map(|cpu| topology.cpu(*cpu).unwrap().core).collect();
        if *policy == Policy::Cores {
            assert_eq!(cores.iter().collect::<BTreeSet<_>>().len(), cores.len(), "{case}");
        }
        for place in &places {
            assert!(*policy != Policy::Node || place.node.is_some(), "{case}");
            assert!(!place.others.is_empty(), "{case}");
            let bound: BTreeSet<usize> = place.bound_to.iter().flat_map(|share| share.vcpus.clone()).collect();
            assert!(place.bound_to.is_empty() || bound == (0..vcpus as usize).collect(), "{case}");
            let is_apart = places.iter().all(|other| other.cpus.iter().all(|cpu| !place.others.contains(cpu)));
            let is_own = place.others.iter().all(|cpu| place.cpus.contains(cpu));
            assert!(*policy == Policy::None || is_apart || is_own, "{case}");
        }
    });
}

#[test]
fn memory_is_divided_in_whole_pages_that_add_up() {
    let share = |node, vcpus: &[usize]| NodeShare { node, vcpus: vcpus.to_vec() };
    let uneven = [share(0, &[0, 1]), share(1, &[2])];
    assert_eq!(divided(3 << 30, &uneven), [2 << 30, 1 << 30]);
    let odd = (1 << 30) + 4096;
    let made = divided(odd, &uneven);
    assert_eq!((made.iter().sum::<u64>(), made[0] % (2 << 20)), (odd, 0));
    assert_eq!(divided(odd, &uneven[..1]), [odd]);
}

#[test]
fn places_are_told_in_a_line() {
    let first = |policy| place(&TWO_SOCKETS.topology(), &policy, 2, 3, 0).unwrap()[0].to_string();
    assert_snapshot!(first(Policy::Threads), @"place 1: CPUs 0,8,1 of node 0, other threads on CPUs 2-3,10-11, memory bound to node 0");
    assert_snapshot!(first(Policy::Auto { memory_bytes: 0 }), @"place 1: CPUs 0-2 of node 0, memory bound to node 0");
    assert_snapshot!(first(Policy::None), @"place 1: anywhere on CPUs 0-15");
    let spanning = &place(&TWO_SOCKETS.topology(), &Policy::Cores, 1, 6, 0).unwrap()[0];
    assert_snapshot!(spanning.to_string(), @"place 1: CPUs 0-5, other threads on CPUs 6-7,14-15, memory bound to node 0 and 1");
}

#[test]
fn machines_change_places_and_places_stay_what_they_are() {
    all_placements(|topology, policy, count, vcpus| {
        let Ok(first) = place(topology, policy, count, vcpus, 0) else { return };
        for rotation in 0..=2 * count {
            let then = place(topology, policy, count, vcpus, rotation).unwrap();
            for (machine, place) in then.iter().enumerate() {
                assert_eq!(*place, first[(machine + rotation as usize) % first.len()]);
            }
        }
        let numbers: Vec<u32> = first.iter().map(|place| place.number).collect();
        assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
    });
}

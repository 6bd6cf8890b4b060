//! Huge pages that a host has reserved, and whether they suffice for machines that use them as memory.
//!
//! They are reserved beforehand, on each memory node separately, and taken in full when a machine starts. So there must
//! be enough for all machines that run side by side, not only for each alone.

use crate::placement::{Place, divided};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

const PAGE_BYTES: u64 = 2 << 20;
const FOLDER: &str = "hugepages/hugepages-2048kB";

/// The 2 MiB pages of one host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HugePages {
    anywhere: HugePagePool,
    on_nodes: BTreeMap<u32, HugePagePool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct HugePagePool {
    set_aside: u64,
    free: u64,
}

/// Too few pages for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lack {
    /// The memory node; `None` if memory is bound to no node.
    node: Option<u32>,
    needed: u64,
    pool: HugePagePool,
}

impl HugePages {
    /// Reads the pages of the system whose root folder is `root`: "/" for this host, another for a recorded tree. A
    /// kernel without huge pages has none free.
    pub fn read(root: &Path) -> Self {
        let mut on_nodes = BTreeMap::new();
        for entry in fs::read_dir(root.join("sys/devices/system/node")).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("node")?.parse().ok());
            if let Some(number) = number {
                on_nodes.insert(number, HugePagePool::read(&entry.path()));
            }
        }
        Self { anywhere: HugePagePool::read(&root.join("sys/kernel/mm")), on_nodes }
    }

    /// The first node with too few pages if machines with this much memory run at these places at the same time.
    pub fn lacking(&self, memory_bytes: u64, places: &[Place]) -> Option<Lack> {
        let mut needed: BTreeMap<Option<u32>, u64> = BTreeMap::new();
        for place in places {
            if place.bound_to.is_empty() {
                *needed.entry(None).or_default() += memory_bytes.div_ceil(PAGE_BYTES);
            }
            for (share, bytes) in place.bound_to.iter().zip(divided(memory_bytes, &place.bound_to)) {
                *needed.entry(Some(share.node)).or_default() += bytes.div_ceil(PAGE_BYTES);
            }
        }
        let pool_of = |node: Option<u32>| match node {
            None => self.anywhere,
            Some(node) => self.on_nodes.get(&node).copied().unwrap_or_default(),
        };
        let lacks = needed.into_iter().map(|(node, needed)| Lack { node, needed, pool: pool_of(node) });
        lacks.into_iter().find(|lack| lack.needed > lack.pool.free)
    }
}

impl HugePagePool {
    fn read(of: &Path) -> Self {
        let number = |file: &str| fs::read_to_string(of.join(FOLDER).join(file)).ok()?.trim().parse().ok();
        Self { set_aside: number("nr_hugepages").unwrap_or(0), free: number("free_hugepages").unwrap_or(0) }
    }
}

impl Lack {
    /// What would help.
    pub fn instead(&self) -> String {
        let folder = match self.node {
            None => "/sys/kernel/mm".to_owned(),
            Some(node) => format!("/sys/devices/system/node/node{node}"),
        };
        let enough = self.pool.set_aside + self.needed - self.pool.free;
        format!("`echo {enough} > {folder}/{FOLDER}/nr_hugepages` sets enough aside")
    }
}

/// "1536 huge pages of 2 MiB are needed on memory node 1, and 512 are free".
impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} huge pages of 2 MiB are needed", self.needed)?;
        if let Some(node) = self.node {
            write!(formatter, " on memory node {node}")?;
        }
        write!(formatter, ", and {} are free", self.pool.free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::{Policy, UsableCpus, place};

    /// A host of two memory nodes with 600 and 100 pages of which 500 and 100 are free, as its kernel shows it.
    fn recorded() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = root.path().join("sys").join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{text}\n")).unwrap();
        };
        let pools =
            [("kernel/mm", 700, 600), ("devices/system/node/node0", 600, 500), ("devices/system/node/node1", 100, 100)];
        for (folder, set_aside, free) in pools {
            write(&format!("{folder}/{FOLDER}/nr_hugepages"), &set_aside.to_string());
            write(&format!("{folder}/{FOLDER}/free_hugepages"), &free.to_string());
        }
        write("devices/system/cpu/online", "0-3");
        write("devices/system/node/node0/cpulist", "0-1");
        write("devices/system/node/node1/cpulist", "2-3");
        root
    }

    #[test]
    fn all_machines_of_a_trial_must_find_theirs() {
        let root = recorded();
        let pages = HugePages::read(root.path());
        let topology = UsableCpus::read(root.path()).unwrap();
        let lacking = |policy: &Policy, count: u32, pages_each: u64| {
            let places = place(&topology, policy, count, 1, 0).unwrap();
            pages.lacking(pages_each * PAGE_BYTES, &places).map(|lack| (lack.to_string(), lack.instead()))
        };
        assert_eq!(lacking(&Policy::None, 1, 600), None);
        assert_eq!(lacking(&Policy::None, 2, 300), None);
        let (why, instead) = lacking(&Policy::None, 3, 300).unwrap();
        assert_eq!(why, "900 huge pages of 2 MiB are needed, and 600 are free");
        assert_eq!(instead, "`echo 1000 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages` sets enough aside");
        // One machine on each node, then a single one on the first.
        assert_eq!(lacking(&Policy::Cores, 2, 100), None);
        assert_eq!(lacking(&Policy::Cores, 1, 500), None);
        let (why, instead) = lacking(&Policy::Cores, 2, 101).unwrap();
        assert_eq!(why, "101 huge pages of 2 MiB are needed on memory node 1, and 100 are free");
        assert!(instead.contains("`echo 101 > /sys/devices/system/node/node1/hugepages/"), "{instead}");
    }

    #[test]
    fn a_kernel_without_huge_pages_has_none() {
        let root = tempfile::tempdir().unwrap();
        let none = HugePages::read(root.path());
        assert_eq!(none, HugePages::default());
        let place = Place::anywhere_on(&[0]);
        assert_eq!(none.lacking(1, &[]), None);
        let why = none.lacking(PAGE_BYTES + 1, &[place]).unwrap().to_string();
        assert_eq!(why, "2 huge pages of 2 MiB are needed, and 0 are free");
    }
}

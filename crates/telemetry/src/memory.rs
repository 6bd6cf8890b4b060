//! Memory: how much, in pages of which size, on how many nodes, and what may be swapped.

use crate::cpu::count_list;
use crate::tree::{Tree, TreeReading};
use crate::{Readings, kernel};

const MEMINFO: &str = "/proc/meminfo";
const NODES: &str = "/sys/devices/system/node";

pub fn facts(tree: &Tree) -> Readings {
    let meminfo = tree.text(MEMINFO);
    let bytes = |field: &str| meminfo.clone().and_then(|text| meminfo_bytes(&text, field));
    let count = |field: &str| meminfo.clone().and_then(|text| meminfo_count(&text, field));
    let nodes = tree.value(&format!("{NODES}/online"));
    vec![
        ("memory.total_bytes", bytes("MemTotal")),
        ("memory.available_bytes", bytes("MemAvailable")),
        ("memory.swap_bytes", bytes("SwapTotal")),
        ("memory.swappiness", tree.value("/proc/sys/vm/swappiness")),
        ("memory.huge_pages", count("HugePages_Total")),
        ("memory.huge_page_bytes", bytes("Hugepagesize")),
        ("memory.transparent_huge_pages", chosen_of(tree, "/sys/kernel/mm/transparent_hugepage/enabled")),
        ("memory.transparent_huge_pages_defrag", chosen_of(tree, "/sys/kernel/mm/transparent_hugepage/defrag")),
        ("memory.transparent_huge_pages_shared", chosen_of(tree, "/sys/kernel/mm/transparent_hugepage/shmem_enabled")),
        ("memory.huge_pages_by_size", huge_pages_by_size(tree)),
        ("memory.compressed_swap", tree.value("/sys/module/zswap/parameters/enabled").map(|on| on_if_yes(&on))),
        ("memory.dirty_background", dirty(tree, "dirty_background")),
        ("memory.dirty_most", dirty(tree, "dirty")),
        ("memory.dirty_expire_centiseconds", tree.value("/proc/sys/vm/dirty_expire_centisecs")),
        ("memory.zone_reclaim", tree.value("/proc/sys/vm/zone_reclaim_mode").map(|mode| kernel::on_or_off(&mode))),
        ("memory.node_distances", node_distances(tree)),
        ("memory.same_page_merging", tree.value("/sys/kernel/mm/ksm/run").map(|run| merging(&run))),
        ("memory.numa_nodes", nodes.and_then(|list| count_list(&list).map(|count| count.to_string()))),
        ("memory.node_cpus", cpus_of_nodes(tree)),
        ("memory.numa_balancing", tree.value("/proc/sys/kernel/numa_balancing").map(|on| kernel::on_or_off(&on))),
    ]
}

pub fn available_bytes(tree: &Tree) -> Result<u64, String> {
    let text = meminfo_bytes(&tree.text(MEMINFO)?, "MemAvailable")?;
    text.parse().map_err(|_| format!("{MEMINFO} gives MemAvailable as {text:?}"))
}

/// The amount of dirty pages above which the kernel writes them out. If both bytes and a share are set, bytes apply.
fn dirty(tree: &Tree, name: &str) -> TreeReading {
    match tree.value(&format!("/proc/sys/vm/{name}_bytes")) {
        Ok(bytes) if bytes != "0" => Ok(format!("{bytes} bytes")),
        _ => tree.value(&format!("/proc/sys/vm/{name}_ratio")).map(|percent| format!("{percent} %")),
    }
}

/// The number of reserved huge pages of each size: "1048576kB: 0; 2048kB: 512".
fn huge_pages_by_size(tree: &Tree) -> TreeReading {
    const FOLDER: &str = "/sys/kernel/mm/hugepages";
    let sizes = tree.names(FOLDER).into_iter().map(|name| {
        let pages = tree.value(&format!("{FOLDER}/{name}/nr_hugepages"))?;
        Ok(format!("{}: {pages}", name.trim_start_matches("hugepages-")))
    });
    let sizes = sizes.collect::<Result<Vec<_>, String>>()?;
    if sizes.is_empty() { Err(format!("{FOLDER} shows none")) } else { Ok(sizes.join("; ")) }
}

fn on_if_yes(flag: &str) -> String {
    if matches!(flag, "Y" | "1") { "on" } else { "off" }.to_owned()
}

/// The distance of each node from each other, one row per node: "10 21; 21 10".
fn node_distances(tree: &Tree) -> TreeReading {
    of_nodes(tree, "distance")
}

/// The CPUs of each node, in the order of the nodes: "0-1,4-5; 2-3,6-7".
fn cpus_of_nodes(tree: &Tree) -> TreeReading {
    of_nodes(tree, "cpulist")
}

fn of_nodes(tree: &Tree, file: &str) -> TreeReading {
    let number = |name: &String| name.strip_prefix("node").and_then(|number| number.parse::<u32>().ok());
    let mut numbers: Vec<u32> = tree.names(NODES).iter().filter_map(number).collect();
    numbers.sort_unstable();
    let lists = numbers.iter().map(|number| tree.value(&format!("{NODES}/node{number}/{file}")));
    let lists = lists.collect::<Result<Vec<_>, _>>()?;
    if lists.is_empty() { Err(format!("{NODES} lists no node")) } else { Ok(lists.join("; ")) }
}

fn meminfo_count(text: &str, field: &str) -> TreeReading {
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.map(|value| value.trim().to_owned()).ok_or_else(|| format!("{MEMINFO} has no field {field}"))
}

fn meminfo_bytes(text: &str, field: &str) -> TreeReading {
    let value = meminfo_count(text, field)?;
    let kibibytes = value.strip_suffix("kB").and_then(|number| number.trim().parse::<u64>().ok());
    kibibytes
        .and_then(|kibibytes| kibibytes.checked_mul(1024))
        .map(|bytes| bytes.to_string())
        .ok_or_else(|| format!("{MEMINFO} gives {field} as {value:?}"))
}

/// The word in brackets, in a file that lists alternatives ("always [madvise] never").
pub fn chosen_of(tree: &Tree, path: &str) -> TreeReading {
    let text = tree.value(path)?;
    chosen(&text).map(ToOwned::to_owned).ok_or_else(|| format!("{path} marks none of {text:?} as chosen"))
}

fn chosen(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
}

fn merging(run: &str) -> String {
    match run {
        "0" => "off",
        "1" => "on",
        _ => "off, and merged pages were split",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "MemTotal:       24684084 kB\nMemTotalElse: 1 kB\nHugePages_Total:       7\n";

    #[test]
    fn sizes_are_bytes_and_counts_are_counts() {
        assert_eq!(meminfo_bytes(TEXT, "MemTotal"), Ok((24_684_084_u64 * 1024).to_string()));
        assert_eq!(meminfo_count(TEXT, "HugePages_Total").as_deref(), Ok("7"));
        assert_eq!(meminfo_bytes(TEXT, "Swap"), Err("/proc/meminfo has no field Swap".to_owned()));
        assert!(meminfo_bytes(TEXT, "HugePages_Total").is_err());
    }

    #[test]
    fn the_chosen_word_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("none"), None);
    }
}

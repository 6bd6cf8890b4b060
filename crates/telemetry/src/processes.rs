//! CPU time of all processes, divided into ours, others' and the kernel's, and others' use of disks.
//!
//! A process counts with its children that have ended and were waited for. So the time of a process that ends between
//! two readings is not lost: it moves into its parent.

use crate::probes::fields;
use crate::tree::Tree;
use record::host_state::ProcessTimes;
use std::collections::{BTreeMap, BTreeSet};

/// Indexes of the fields after the name in `/proc/PID/stat`.
const PARENT: usize = 1;
const FLAGS: usize = 6;
const TIMES: std::ops::Range<usize> = 11..15;
const START: usize = 19;
/// The flag of kernel threads.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// The parent of a process; `None` if the process does not exist.
pub fn parent_of(tree: &Tree, id: u32) -> Option<u32> {
    process_stat(&tree.text(&format!("/proc/{id}/stat")).ok()?).map(|process| process.parent)
}

/// The names of all programs on the system, each cut to 15 letters by the kernel.
pub fn names(tree: &Tree) -> Result<BTreeSet<String>, String> {
    let name = |id: &str| tree.value(&format!("/proc/{id}/comm")).ok();
    // The parent of the kernel's threads is the second process that starts. No container sees it.
    if name("2").as_deref() != Some("kthreadd") {
        return Err("/proc shows the processes of a container only".to_owned());
    }
    let ids = tree.names("/proc").into_iter().filter(|name| name.parse::<u32>().is_ok());
    Ok(ids.filter_map(|id| name(&id)).collect())
}

/// Some fields of `/proc/PID/stat`.
pub struct ProcessStat {
    parent: u32,
    is_kernel: bool,
    ticks: u64,
    /// Since the boot.
    pub start_ticks: u64,
}

/// Adds up the times of all visible processes; `us` and everything below it is ours.
pub fn process_times(tree: &Tree, us: u32, adopted: &[u32]) -> Result<ProcessTimes, String> {
    let ids = tree.names("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
    // A process that has ended since the folder was read is counted with its parent.
    let stats = ids.filter_map(|id| Some((id, tree.text(&format!("/proc/{id}/stat")).ok()?)));
    let processes: BTreeMap<u32, ProcessStat> =
        stats.filter_map(|(id, stat)| Some((id, process_stat(&stat)?))).collect();
    if !processes.contains_key(&us) {
        return Err("/proc does not show our own process".to_owned());
    }
    let ours = below(&processes, us, adopted);
    let others = processes.iter().filter(|(id, process)| !process.is_kernel && !ours.contains(id));
    let shown: Vec<u64> = others.filter_map(|(id, _)| disk_bytes(tree, *id)).collect();
    let others_disk_bytes = (!shown.is_empty()).then(|| shown.iter().sum());
    Ok(ProcessTimes { others_disk_bytes, ..added_up(&processes, &ours) })
}

/// Bytes that a process and its ended children read from disks and wrote to them; `None` if it does not show that to us.
fn disk_bytes(tree: &Tree, id: u32) -> Option<u64> {
    let text = tree.text(&format!("/proc/{id}/io")).ok()?;
    Some(["read_bytes", "write_bytes"].iter().filter_map(|name| fields::number(&text, name)).sum())
}

/// Parses `/proc/PID/stat`. The name may contain spaces and brackets, so the fields begin after the last bracket.
pub fn process_stat(stat: &str) -> Option<ProcessStat> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().take(START + 1).collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let ticks = TIMES.map(number).try_fold(0, |sum: u64, ticks| Some(sum.saturating_add(ticks?)))?;
    let is_kernel = number(FLAGS)? & KERNEL_THREAD != 0;
    let parent = u32::try_from(number(PARENT)?).ok()?;
    Some(ProcessStat { parent, is_kernel, ticks, start_ticks: number(START)? })
}

fn added_up(processes: &BTreeMap<u32, ProcessStat>, ours: &BTreeSet<u32>) -> ProcessTimes {
    let mut times = ProcessTimes::default();
    for (id, process) in processes {
        let sum = match (ours.contains(id), process.is_kernel) {
            (true, _) => &mut times.ours_ticks,
            (false, true) => &mut times.kernel_ticks,
            (false, false) => &mut times.others_ticks,
        };
        *sum += process.ticks;
    }
    times
}

/// Our process and those that we adopted, with all their descendants.
fn below(processes: &BTreeMap<u32, ProcessStat>, us: u32, adopted: &[u32]) -> BTreeSet<u32> {
    let mut to_visit = [&[us], adopted].concat();
    let mut family: BTreeSet<u32> = to_visit.iter().copied().collect();
    while let Some(parent) = to_visit.pop() {
        let children = processes.iter().filter(|(_, process)| process.parent == parent).map(|(id, _)| *id);
        to_visit.extend(children.filter(|child| family.insert(*child)));
    }
    family
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// As recorded, except for the times.
    fn stat(id: u32, name: &str, parent: u32, flags: u64, times: [u64; 4]) -> String {
        let [user, system, childrens_user, childrens_system] = times;
        format!(
            "{id} ({name}) S {parent} 1 1 0 -1 {flags} 9388 405974 0 105 {user} {system} {childrens_user} {childrens_system} \
             20 0 1 0 2512429 5259264 928 18446744073709551615"
        )
    }

    #[test]
    fn ours_is_what_we_started_and_what_that_started() {
        let stats = [
            stat(1, "init", 0, 4_194_560, [1, 0, 0, 0]),
            stat(2, "kthreadd", 0, KERNEL_THREAD, [2, 0, 0, 0]),
            stat(7, "kworker/0:1", 2, KERNEL_THREAD | 64, [0, 30, 0, 0]),
            stat(20, "bakeoff", 1, 4_194_560, [100, 20, 3, 4]),
            stat(21, "qemu (a) b", 20, 4_194_560, [1_000, 0, 0, 0]),
            stat(22, "worker", 21, 4_194_560, [5, 0, 0, 0]),
            stat(30, "cc1", 1, 4_194_560, [400, 50, 0, 6]),
        ];
        let processes: BTreeMap<_, _> =
            [1, 2, 7, 20, 21, 22, 30].into_iter().zip(stats.iter().map(|stat| process_stat(stat).unwrap())).collect();
        let times = |adopted: &[u32]| {
            let times = added_up(&processes, &below(&processes, 20, adopted));
            (times.ours_ticks, times.others_ticks, times.kernel_ticks)
        };
        assert_eq!(times(&[]), (127 + 1_000 + 5, 1 + 456, 32));
        assert_eq!(times(&[30]), (127 + 1_000 + 5 + 456, 1, 32));
    }

    #[test]
    fn others_disk_use_is_a_sum_over_those_that_show_it() {
        let root = tempfile::tempdir().unwrap();
        let file = |id: u32, name: &str, text: &str| {
            let folder = root.path().join(format!("proc/{id}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(name), text).unwrap();
        };
        for (id, parent, flags, bytes) in
            [(1, 0, 0, 4), (2, 0, KERNEL_THREAD, 900), (20, 1, 0, 70), (21, 20, 0, 70), (30, 1, 0, 8)]
        {
            file(id, "stat", &stat(id, "a", parent, flags, [1, 0, 0, 0]));
            file(id, "io", &format!("rchar: 7\nread_bytes: {bytes}\nwrite_bytes: 4096\ncancelled_write_bytes: 5\n"));
        }
        let tree = Tree::new(root.path());
        let others = || process_times(&tree, 20, &[]).unwrap().others_disk_bytes;
        assert_eq!(others(), Some(4 + 8 + 2 * 4_096));
        let hide = |id: u32| std::fs::remove_file(root.path().join(format!("proc/{id}/io"))).unwrap();
        hide(30);
        assert_eq!(others(), Some(4 + 4_096));
        hide(1);
        assert_eq!(others(), None);
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) b) c) S 1 7 7 0 -1 4194560 1 0 0 0 5 0 0 0 20 0 1 0 4321 99 0";
        let parsed = process_stat(stat).unwrap();
        assert_eq!((parsed.parent, parsed.ticks, parsed.start_ticks), (1, 5, 4321));
    }

    #[test]
    fn a_line_that_is_cut_off_is_no_process() {
        assert!(process_stat("1 (init) S 0 1 1").is_none());
        assert!(process_stat("").is_none());
    }

    #[test]
    fn this_system_shows_us() {
        let tree = Tree::new(Path::new("/"));
        assert!(process_times(&tree, std::process::id(), &[]).is_ok());
        assert!(process_times(&Tree::new(Path::new("/nonexistent")), 1, &[]).unwrap_err().contains("our own"));
    }
}

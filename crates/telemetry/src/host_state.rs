//! What may change on a host from trial to trial: clocks, other load, time taken by a hypervisor, memory.
//!
//! A reading takes a few milliseconds on a host with some hundred processes, most of them for the processes' times.

use crate::probes::{fields, pressure};
use crate::processes::process_times;
use crate::tree::Tree;
use crate::{cpu, cpu_time, memory};
use record::host_state::{HostMemory, HostReading, PressureStalls};
use std::path::Path;

const VMSTAT: &str = "/proc/vmstat";

/// Reads the system whose root folder is `root`. `us` is our process and `at_ns` the time of the monotonic clock.
pub fn host_state(root: &Path, us: u32, adopted: &[u32], at_ns: u64) -> HostReading {
    let tree = Tree::new(root);
    HostReading {
        at_ns,
        governor: cpu::governors(&tree).into(),
        turbo: cpu::turbo(&tree).into(),
        mitigations: cpu::mitigations(&tree).into(),
        frequency_khz: cpu::frequency_khz(&tree).into(),
        cpu: cpu_time::cpu_time_of_all(&tree).into(),
        processes: process_times(&tree, us, adopted).into(),
        memory: host_memory(&tree).into(),
        stalls: stalls(&tree).into(),
    }
}

fn host_memory(tree: &Tree) -> Result<HostMemory, String> {
    let counted = tree.text(VMSTAT)?;
    Ok(HostMemory {
        available_bytes: memory::available_bytes(tree)?,
        swapped_in_pages: vmstat(&counted, "pswpin")?,
        swapped_out_pages: vmstat(&counted, "pswpout")?,
    })
}

fn vmstat(text: &str, name: &str) -> Result<u64, String> {
    fields::number(text, name).ok_or_else(|| format!("{VMSTAT} has no {name}"))
}

fn stalls(tree: &Tree) -> Result<PressureStalls, String> {
    let total = |of: &str| {
        let path = format!("/proc/pressure/{of}");
        pressure::total(&tree.text(&path)?, "some")
            .ok_or_else(|| format!("{path} does not say for how long some waited"))
    };
    Ok(PressureStalls { cpu_us: total("cpu")?, memory_us: total("memory")?, io_us: total("io")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_whole_name() {
        let text = "nr_free_pages 1\npswpin 12\npswpout 345\npswpout_more 9\n";
        assert_eq!((vmstat(text, "pswpin"), vmstat(text, "pswpout")), (Ok(12), Ok(345)));
        assert_eq!(vmstat(text, "pswp"), Err("/proc/vmstat has no pswp".to_owned()));
    }

    #[test]
    fn this_system_says_most_of_it() {
        let reading = host_state(Path::new("/"), std::process::id(), &[], 5);
        assert!(reading.cpu.known().is_some_and(|time| time.busy_ticks > 0), "{reading:?}");
        assert!(reading.processes.known().is_some() && reading.memory.known().is_some(), "{reading:?}");
        assert_eq!(reading.at_ns, 5);
    }

    #[test]
    fn a_system_without_these_files_says_why() {
        let reading = host_state(Path::new("/nonexistent"), 1, &[], 0);
        assert_eq!(reading.memory.why_not(), Some("/proc/vmstat does not exist"));
        assert_eq!(reading.stalls.why_not(), Some("/proc/pressure/cpu does not exist"));
        assert!(reading.governor.why_not().is_some() && reading.mitigations.why_not().is_some());
    }
}

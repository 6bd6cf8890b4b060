//! How often and how long the processor throttled itself because of heat (`thermal_throttle`); only on Intel's x86.

use super::{Opening, ProbeReading, fields};
use crate::counter::Counter;
use crate::files::Files;
use crate::tree::Tree;

const CPUS: &str = "/sys/devices/system/cpu";

/// The kernel counts a core's events on each of its threads, and a package's on each of its cores. So these sums are
/// only comparable on one host, and otherwise only show whether there were any.
const FIELDS: [(&str, &str, &str); 4] = [
    ("core_throttle_count", "cores", ""),
    ("package_throttle_count", "packages", ""),
    ("core_throttle_total_time_ms", "cores_time", "ms"),
    ("package_throttle_total_time_ms", "packages_time", "ms"),
];

pub fn opening(tree: &Tree) -> Opening {
    let folders = tree.names(CPUS).into_iter().map(|cpu| format!("{CPUS}/{cpu}/thermal_throttle"));
    let folders: Vec<String> = folders.filter(|folder| tree.exists(folder)).collect();
    let remedy = "it is a host's affair, and only kernels on processors of Intel's count it";
    let source = format!("{CPUS}/cpu*/thermal_throttle");
    Opening::new("throttling", source, remedy, move |files| counters(files, &folders))
}

fn counters(files: &mut Files, folders: &[String]) -> ProbeReading {
    if folders.is_empty() {
        return Err("the kernel does not count throttling of this processor".to_owned());
    }
    let mut counters = Vec::new();
    for (file, name, unit) in FIELDS {
        // Older kernels have no times.
        let each: Vec<u64> =
            folders.iter().filter_map(|folder| files.number(&format!("{folder}/{file}")).ok()).collect();
        if !each.is_empty() {
            counters.push(Counter::counts(format!("throttling.{name}"), unit, fields::total(each)));
        }
    }
    Ok(counters)
}

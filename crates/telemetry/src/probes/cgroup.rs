//! How often and how long a control group was throttled because its CPU quota for the period was used up (`cpu.stat`).
//!
//! The counters are those of the innermost group around the process that has them. Only groups with a limit are throttled.

use super::{Counters, Opening, fields};
use crate::cgroup::Groups;
use crate::counter::Counter;
use crate::targets::ProcessTarget;
use crate::tree::Tree;

/// The two versions have different names for the time: version 1 counts nanoseconds, version 2 microseconds.
const VERSION_1_TIME: &str = "throttled_time";
const VERSION_2_TIME: &str = "throttled_usec";
const NS_PER_US: u64 = 1_000;

pub fn opening(tree: &Tree, target: &ProcessTarget) -> Opening {
    let name = format!("cgroup.{}", target.label);
    let stat = innermost(tree, target.process);
    let source = stat.clone().unwrap_or_else(|_| format!("/proc/{}/cgroup", target.process));
    let prefix = name.clone();
    let remedy = "the cpu controller must be mounted, and the process in a group below its root";
    Opening::new(name, source, remedy, move |files| {
        let path = stat.as_ref().map_err(Clone::clone)?;
        counters(&files.text(path)?, &prefix)
    })
}

fn innermost(tree: &Tree, process: u32) -> Result<String, String> {
    let folders = Groups::of_process(tree, process)?.cpu_folders()?;
    let stats = folders.into_iter().map(|folder| folder.join("cpu.stat").display().to_string());
    let counts = |path: &String| tree.text(path).is_ok_and(|text| fields::number(&text, "nr_throttled").is_some());
    stats.into_iter().find(counts).ok_or_else(|| format!("no group around process {process} counts it"))
}

fn counters(text: &str, prefix: &str) -> Counters {
    let number = |key: &str| fields::number(text, key);
    let time = number(VERSION_1_TIME).or_else(|| number(VERSION_2_TIME)?.checked_mul(NS_PER_US));
    let (Some(periods), Some(throttled), Some(time)) = (number("nr_periods"), number("nr_throttled"), time) else {
        return Err("cpu.stat does not count it".to_owned());
    };
    Ok(vec![
        Counter::counts(format!("{prefix}.periods"), "", periods),
        Counter::counts(format!("{prefix}.throttled"), "", throttled),
        Counter::counts(format!("{prefix}.throttled_time"), "ns", time),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_give_nanoseconds() {
        let expected = [
            Counter::counts("cgroup.machine.periods", "", 50),
            Counter::counts("cgroup.machine.throttled", "", 7),
            Counter::counts("cgroup.machine.throttled_time", "ns", 123_456_000),
        ];
        let version_1 = "nr_periods 50\nnr_throttled 7\nthrottled_time 123456000\nnr_bursts 0\nburst_time 0\n";
        assert_eq!(counters(version_1, "cgroup.machine").as_deref(), Ok(expected.as_slice()));
        let version_2 =
            "usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_periods 50\nnr_throttled 7\nthrottled_usec 123456\n";
        assert_eq!(counters(version_2, "cgroup.machine").as_deref(), Ok(expected.as_slice()));
        assert!(counters("usage_usec 5\n", "cgroup.machine").is_err());
    }
}

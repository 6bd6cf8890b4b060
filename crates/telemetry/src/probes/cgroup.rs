//! How often and how long a control group was throttled because its CPU quota for the period was used up (`cpu.stat`).
//!
//! A group is also held back by the limits of all groups around it, so the counters are sums over them.

use super::{Opening, ProbeReading, fields};
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
    let stats = stats(tree, target.process);
    let source = match &stats {
        Ok(paths) => paths.join(", "),
        Err(_) => format!("/proc/{}/cgroup", target.process),
    };
    let prefix = name.clone();
    let remedy = "the cpu controller must be mounted, and the process in a group below its root";
    Opening::new(name, source, remedy, move |files| {
        let paths = stats.as_ref().map_err(Clone::clone)?;
        counters(&paths.iter().map(|path| files.text(path)).collect::<Result<Vec<_>, _>>()?, &prefix)
    })
}

fn stats(tree: &Tree, process: u32) -> Result<Vec<String>, String> {
    let folders = Groups::of_process(tree, process)?.cpu_folders()?;
    let stats = folders.into_iter().map(|folder| folder.join("cpu.stat").display().to_string());
    let counts = |path: &String| tree.text(path).is_ok_and(|text| throttled(&text).is_some());
    let counted: Vec<String> = stats.filter(counts).collect();
    if counted.is_empty() { Err(format!("no group around process {process} counts it")) } else { Ok(counted) }
}

/// The nanoseconds of one group.
pub fn throttled(stat: &str) -> Option<u64> {
    let number = |key: &str| fields::number(stat, key);
    number(VERSION_1_TIME).or_else(|| number(VERSION_2_TIME)?.checked_mul(NS_PER_US))
}

fn counters(stats: &[String], prefix: &str) -> ProbeReading {
    let sum = |of: &dyn Fn(&str) -> Option<u64>| {
        stats.iter().map(|stat| of(stat)).sum::<Option<u64>>().ok_or("cpu.stat does not count it")
    };
    let number = |key: &'static str| sum(&|stat| fields::number(stat, key));
    Ok(vec![
        Counter::counts(format!("{prefix}.periods"), "", number("nr_periods")?),
        Counter::counts(format!("{prefix}.throttled"), "", number("nr_throttled")?),
        Counter::counts(format!("{prefix}.throttled_time"), "ns", sum(&throttled)?),
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
        let of = |stats: &[&str]| {
            counters(&stats.iter().map(|stat| (*stat).to_owned()).collect::<Vec<_>>(), "cgroup.machine")
        };
        assert_eq!(of(&[version_1]).as_deref(), Ok(expected.as_slice()));
        let version_2 =
            "usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_periods 50\nnr_throttled 7\nthrottled_usec 123456\n";
        assert_eq!(of(&[version_2]).as_deref(), Ok(expected.as_slice()));
        let both = of(&[version_2, "nr_periods 9\nnr_throttled 1\nthrottled_usec 1000\n"]).unwrap();
        let sums = [("periods", 59), ("throttled", 8), ("throttled_time", 124_456_000)];
        assert!(
            both.iter().zip(sums).all(|(counter, sum)| (counter.name.ends_with(sum.0), counter.value) == (true, sum.1))
        );
        assert!(of(&["usage_usec 5\n"]).is_err());
    }
}

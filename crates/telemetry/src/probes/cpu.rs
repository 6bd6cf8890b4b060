//! CPU time by use, of the whole system and of the CPUs of a shape (`/proc/stat`).
//!
//! As the kernel counts, `user` includes `guest` and `nice` includes `guest_nice`. `steal` is time that a hypervisor
//! below gave to others while a CPU had work; idle time is never stolen.

use super::{Opening, fields};
use crate::counter::Counter;
use crate::tree::Tree;
use std::collections::BTreeSet;

const STAT: &str = "/proc/stat";
const KINDS: [&str; 10] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];

pub fn opening(cpus: Option<&BTreeSet<u32>>) -> Opening {
    let cpus = cpus.cloned();
    Opening::new("cpu", STAT, "the proc file system must be mounted", move |files| {
        let text = files.text(STAT)?;
        let mut counters = of_system(&text).ok_or_else(|| format!("{STAT} has no line of all CPUs"))?;
        if let Some(cpus) = &cpus {
            counters.extend(of_cpus(&text, cpus).ok_or_else(|| format!("{STAT} says nothing of CPUs {cpus:?}"))?);
        }
        Ok(counters)
    })
}

/// Whether the system has no other CPUs online than these.
pub fn are_all(tree: &Tree, cpus: &BTreeSet<u32>) -> bool {
    let text = tree.text(STAT).unwrap_or_default();
    let mut online = text.lines().filter_map(|line| line.strip_prefix("cpu")?.split_once(' ')?.0.parse().ok());
    online.all(|cpu| cpus.contains(&cpu))
}

fn of_system(text: &str) -> Option<Vec<Counter>> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    Some(named("cpu", &times(line)))
}

fn of_cpus(text: &str, cpus: &BTreeSet<u32>) -> Option<Vec<Counter>> {
    let lines = text.lines().filter_map(|line| {
        let (number, times) = line.strip_prefix("cpu")?.split_once(' ')?;
        cpus.contains(&number.parse().ok()?).then_some(times)
    });
    let each: Vec<Vec<u64>> = lines.map(times).collect();
    let width = each.iter().map(Vec::len).min()?;
    let sums: Vec<u64> = (0..width).map(|place| fields::total(each.iter().map(|times| times[place]))).collect();
    Some(named("cpu.shape", &sums))
}

fn times(line: &str) -> Vec<u64> {
    line.split_whitespace().map_while(|word| word.parse().ok()).collect()
}

/// Kernels before 2.6.33 count fewer kinds; kinds that they do not count get no column.
fn named(prefix: &str, times: &[u64]) -> Vec<Counter> {
    let each = KINDS.iter().zip(times);
    each.map(|(kind, ticks)| Counter::counts(format!("{prefix}.{kind}"), "ticks", *ticks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As recorded on Linux 6.18.
    const NEW: &str = "\
cpu  2023957 240976 659984 2449653 38713 0 19309 2195 2 0
cpu0 1049009 120000 326078 1200459 20313 0 2987 1108 0 0
cpu1 974948 120975 333906 1249194 18399 0 16322 1086 2 0
intr 57747151 0 0
";
    /// In the form of Linux 2.6.11 to 2.6.23, which ends with steal.
    const OLD: &str = "cpu  100 1 20 3000 40 5 6 7\ncpu0 60 1 10 1500 20 5 3 3\ncpu1 40 0 10 1500 20 0 3 4\n";

    fn value(counters: &[Counter], name: &str) -> Option<u64> {
        counters.iter().find(|counter| counter.name == name).map(|counter| counter.value)
    }

    #[test]
    fn the_eighth_time_is_stolen_and_the_ninth_the_guests() {
        let system = of_system(NEW).unwrap();
        assert_eq!(
            (system.len(), value(&system, "cpu.steal"), value(&system, "cpu.guest")),
            (10, Some(2_195), Some(2))
        );
        let one = of_cpus(NEW, &[1].into()).unwrap();
        assert_eq!((value(&one, "cpu.shape.user"), value(&one, "cpu.shape.iowait")), (Some(974_948), Some(18_399)));
        let both = of_cpus(NEW, &[0, 1].into()).unwrap();
        assert_eq!(value(&both, "cpu.shape.steal"), Some(1_108 + 1_086));
    }

    #[test]
    fn kernels_that_count_less_have_fewer_columns() {
        let system = of_system(OLD).unwrap();
        assert_eq!((system.len(), value(&system, "cpu.steal"), value(&system, "cpu.guest")), (8, Some(7), None));
        assert_eq!(value(&of_cpus(OLD, &[0].into()).unwrap(), "cpu.shape.steal"), Some(3));
        assert!(of_cpus(OLD, &[7].into()).is_none());
    }
}

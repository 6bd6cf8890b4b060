//! The kernel's counts of the time of the CPUs that this process may use.
//!
//! A native machine may only use some of the host's CPUs, so only those are added up; in a guest these are all CPUs.

use crate::cpu;
use crate::tree::Tree;
use record::ladder::CpuTime;
use std::collections::BTreeSet;
use std::path::Path;

const STAT: &str = "/proc/stat";
/// Fields of a CPU's line that every kernel has: user, nice, system, idle, iowait, irq, softirq, steal.
const FIELDS: usize = 8;

/// Reads the times in the system whose root folder is `root`; the error says why there are none.
pub fn cpu_time(root: &Path) -> Result<CpuTime, String> {
    let tree = Tree::new(root);
    let allowed = cpu::listed(&cpu::allowed(&tree)?)?;
    added_up(&tree.text(STAT)?, &allowed).ok_or_else(|| format!("{STAT} says nothing of CPUs {allowed:?}"))
}

/// Reads the times of all CPUs together, including those that this process may not use.
pub fn cpu_time_of_all(tree: &Tree) -> Result<CpuTime, String> {
    let stat = tree.text(STAT)?;
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "));
    line.and_then(times).ok_or_else(|| format!("{STAT} has no line of all CPUs"))
}

fn added_up(stat: &str, allowed: &BTreeSet<u32>) -> Option<CpuTime> {
    let mut total = CpuTime::default();
    let mut seen = 0;
    for line in stat.lines() {
        let Some((number, times)) = line.strip_prefix("cpu").and_then(|rest| rest.split_once(' ')) else { continue };
        if !number.parse().is_ok_and(|number| allowed.contains(&number)) {
            continue;
        }
        let one = self::times(times)?;
        total.busy_ticks += one.busy_ticks;
        total.idle_ticks += one.idle_ticks;
        total.waiting_ticks += one.waiting_ticks;
        total.stolen_ticks += one.stolen_ticks;
        total.interrupt_ticks = Some(total.interrupt_ticks.unwrap_or(0) + one.interrupt_ticks?);
        seen += 1;
    }
    (seen > 0).then_some(total)
}

/// Parses the fields after the name of a CPU.
fn times(fields: &str) -> Option<CpuTime> {
    let times: Vec<u64> = fields.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let &[user, nice, system, idle, waiting, interrupts, soft, stolen] = times.get(..FIELDS)? else { return None };
    let of_interrupts = interrupts + soft;
    Some(CpuTime {
        busy_ticks: user + nice + system + of_interrupts + stolen,
        idle_ticks: idle,
        waiting_ticks: waiting,
        stolen_ticks: stolen,
        interrupt_ticks: Some(of_interrupts),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 1 20 300 40 5 6 7 0 0\ncpu1 100 0 0 0 0 0 0 0 0 0\n\
                        cpu12 1 1 1 1 1 1 1 1 0 0\nintr 1 2 3\n";

    #[test]
    fn only_the_cpus_that_may_be_used_are_added_up() {
        let of = |list: &str| added_up(TEXT, &cpu::listed(list).unwrap());
        let first = CpuTime {
            busy_ticks: 49,
            idle_ticks: 300,
            waiting_ticks: 40,
            stolen_ticks: 7,
            interrupt_ticks: Some(5 + 6),
        };
        assert_eq!(of("0"), Some(first));
        assert_eq!(of("0-1,12").map(|time| time.busy_ticks), Some(49 + 100 + 6));
        assert_eq!(of("7"), None);
    }

    #[test]
    fn this_system_says_something() {
        let time = cpu_time(Path::new("/")).unwrap();
        assert!(time.busy_ticks > 0);
    }
}

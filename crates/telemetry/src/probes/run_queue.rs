//! How long tasks ran and waited to run, of the whole system and of the CPUs of a shape (`/proc/schedstat`).
//!
//! The kernel books a wait when it ends, so a wait that is longer than a second is counted in a later second.

use super::{Opening, ProbeReading};
use crate::counter::Counter;
use std::collections::BTreeSet;

const SCHEDSTAT: &str = "/proc/schedstat";
/// Indexes of the time run, the time waited and the number of turns in a CPU's line, since version 14.
const RUN: usize = 6;
const WAIT: usize = 7;
const TURNS: usize = 8;
const OLDEST_VERSION: u64 = 14;

pub fn opening(cpus: Option<&BTreeSet<u32>>) -> Opening {
    let cpus = cpus.cloned();
    let remedy = "a kernel built with CONFIG_SCHEDSTATS has it; single threads are asked without it";
    Opening::new("run_queue", SCHEDSTAT, remedy, move |files| {
        let text = files.text(SCHEDSTAT)?;
        let mut counters = counters(&text, "run_queue", None)?;
        if cpus.is_some() {
            counters.extend(self::counters(&text, "run_queue.shape", cpus.as_ref())?);
        }
        Ok(counters)
    })
}

fn counters(text: &str, prefix: &str, cpus: Option<&BTreeSet<u32>>) -> ProbeReading {
    let version = super::fields::number(text, "version").unwrap_or(0);
    if version < OLDEST_VERSION {
        return Err(format!("{SCHEDSTAT} is of version {version}, which is laid out differently"));
    }
    let mut sums = [0_u64; 3];
    let mut seen = 0;
    for line in text.lines() {
        let Some((number, numbers)) = line.strip_prefix("cpu").and_then(|rest| rest.split_once(' ')) else { continue };
        let is_wanted = |number: u32| cpus.is_none_or(|cpus| cpus.contains(&number));
        if !number.parse().is_ok_and(is_wanted) {
            continue;
        }
        let numbers: Vec<u64> = numbers.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let picked = [RUN, WAIT, TURNS].map(|place| numbers.get(place).copied());
        let [Some(run), Some(wait), Some(turns)] = picked else {
            return Err(format!("{SCHEDSTAT} has a line that is cut short: {line:?}"));
        };
        sums = [sums[0].saturating_add(run), sums[1].saturating_add(wait), sums[2].saturating_add(turns)];
        seen += 1;
    }
    if seen == 0 {
        return Err(format!("{SCHEDSTAT} says nothing of these CPUs"));
    }
    let [run, wait, turns] = sums;
    Ok(vec![
        Counter::counts(format!("{prefix}.run"), "ns", run),
        Counter::counts(format!("{prefix}.wait"), "ns", wait),
        Counter::counts(format!("{prefix}.turns"), "", turns),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the documented form of Linux 5.10 (version 15).
    const VERSION_15: &str = "\
version 15
timestamp 4295216320
cpu0 0 0 1000 200 600 300 70000000 8000000 590
domain0 00000003 0 0 0 0
cpu1 0 0 2000 400 700 350 90000000 1000000 410
domain0 00000003 0 0 0 0
";
    /// In the form of version 17, in which domains have names.
    const VERSION_17: &str = "version 17\ntimestamp 1\ncpu0 0 0 0 0 0 0 7 8 9\ndomain0 MC 3 0 0\n";

    #[test]
    fn the_last_three_numbers_of_a_cpu_count() {
        let found = counters(VERSION_15, "run_queue", None).unwrap();
        let expected = [
            Counter::counts("run_queue.run", "ns", 160_000_000),
            Counter::counts("run_queue.wait", "ns", 9_000_000),
            Counter::counts("run_queue.turns", "", 1_000),
        ];
        assert_eq!(found, expected);
        let found = counters(VERSION_15, "run_queue.shape", Some(&[1].into())).unwrap();
        assert_eq!(found[1], Counter::counts("run_queue.shape.wait", "ns", 1_000_000));
        assert_eq!(counters(VERSION_17, "run_queue", None).unwrap()[1].value, 8);
    }

    #[test]
    fn other_layouts_are_not_guessed_at() {
        assert!(counters("version 12\ncpu0 1 2 3\n", "run_queue", None).unwrap_err().contains("version 12"));
        assert!(counters("version 15\ncpu0 1 2 3\n", "run_queue", None).unwrap_err().contains("cut short"));
        assert!(counters(VERSION_17, "run_queue", Some(&[5].into())).is_err());
    }
}

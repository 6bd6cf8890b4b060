//! How CPUs save power: the governor and limits of their frequency, and the idle states that they may enter.
//!
//! Waking from a deep idle state takes tens of microseconds, which may delay every commit and every interrupt of a guest.

use crate::Readings;
use crate::cpu::{CPUS, distinct};
use crate::tree::{Tree, TreeReading};

pub fn facts(tree: &Tree) -> Readings {
    let joined = |file: &str| match distinct(tree, file) {
        values if values.is_empty() => Err("the kernel offers no frequency scaling here".to_owned()),
        values => Ok(values.join(" and ")),
    };
    vec![
        ("cpu.frequency_driver", joined("cpufreq/scaling_driver")),
        ("cpu.frequency_least_khz", joined("cpufreq/scaling_min_freq")),
        ("cpu.frequency_most_khz", joined("cpufreq/scaling_max_freq")),
        ("cpu.energy_preference", joined("cpufreq/energy_performance_preference")),
        ("cpu.idle_governor", tree.value(&format!("{CPUS}/cpuidle/current_governor"))),
        ("cpu.idle_states", idle_states(tree)),
    ]
}

/// Idle states of the first CPU, lightest first, each with its wake-up latency: "POLL 0 us, C1 2 us, C6 133 us (off)".
fn idle_states(tree: &Tree) -> TreeReading {
    let folder = format!("{CPUS}/cpu0/cpuidle");
    let mut states: Vec<(u32, String)> = tree
        .names(&folder)
        .into_iter()
        .filter_map(|name| Some((name.strip_prefix("state")?.parse().ok()?, format!("{folder}/{name}"))))
        .collect();
    states.sort_unstable();
    let shown = states.iter().map(|(_, state)| {
        let (name, latency) = (tree.value(&format!("{state}/name"))?, tree.value(&format!("{state}/latency"))?);
        let is_off = tree.value(&format!("{state}/disable")).is_ok_and(|disabled| disabled != "0");
        Ok(format!("{name} {latency} us{}", if is_off { " (off)" } else { "" }))
    });
    let shown = shown.collect::<Result<Vec<_>, String>>()?;
    if shown.is_empty() { Err(format!("{folder} shows none")) } else { Ok(shown.join(", ")) }
}

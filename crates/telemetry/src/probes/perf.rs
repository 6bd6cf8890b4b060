//! Counters of the processor (instructions, cycles, misses of the TLB): whether they can be had, and if not, why.
//!
//! They are not read. Opening them needs a system call that has no safe form, so only their state is told.

use super::{Counters, Opening};
use crate::files::Files;

const EVENTS: &str = "/sys/bus/event_source/devices";
/// Names under which processors' counters are registered; hybrid ones have one for each kind of core.
const NAMES: [&str; 4] = ["cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3"];
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
/// Above this, users other than root may not count what other processes do.
const MOST_PARANOID: i64 = 1;

pub fn opening() -> Opening {
    let remedy = "a host shows them, a guest if it was given virtual ones (QEMU's -cpu host,pmu=on)";
    Opening::new("perf", EVENTS, remedy, state)
}

fn state(files: &mut Files) -> Counters {
    let found = files.tree().names(EVENTS);
    let paranoid = files.text(PARANOID).ok().and_then(|text| text.trim().parse().ok());
    Err(why_not(&found, paranoid))
}

fn why_not(found: &[String], paranoid: Option<i64>) -> String {
    let Some(processor) = found.iter().find(|name| NAMES.contains(&name.as_str())) else {
        return format!("{EVENTS} shows no counters of the processor");
    };
    let allowed = match paranoid {
        None => "the kernel was built without perf events".to_owned(),
        Some(level) if level > MOST_PARANOID => format!("{PARANOID} is {level}, so only root may read them"),
        Some(level) => format!("{PARANOID} is {level}, so they may be read"),
    };
    format!("this version of bakeoff does not read the counters that {EVENTS}/{processor} has ({allowed})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_reason_is_the_first_thing_that_is_missing() {
        // As recorded in a guest without virtual counters.
        let guest = names(&["breakpoint", "msr", "software", "tracepoint", "uprobe"]);
        assert_eq!(why_not(&guest, Some(2)), "/sys/bus/event_source/devices shows no counters of the processor");
        let host = names(&["breakpoint", "cpu", "msr", "power", "software"]);
        assert!(why_not(&host, Some(4)).contains("perf_event_paranoid is 4, so only root"));
        assert!(why_not(&host, Some(-1)).contains("they may be read"));
        assert!(why_not(&host, None).contains("built without"));
    }
}

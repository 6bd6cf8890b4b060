//! What can be watched of a domain: its QEMU, as that of the platform `qemu` is, and libvirt's own statistics beside it.
//!
//! libvirt's counters get the names of the same counters of other probes. So a vCPU's `wait` is the time it waited for a
//! CPU, as for its thread; libvirt calls that `delay`.

use super::rpc::procedures::{Statistic, Statistics};
use super::running::Keeper;
use crate::qemu::command::GuestDisk;
use crate::qemu::watch::{self, NodeNames, SharedConsole};
use machines::machine::WatchedMachine;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use telemetry::{Counter, QueryProbe, Targets};

const PROBE: &str = "libvirt";
/// libvirt asks QEMU for the disks and reads the rest from the kernel.
const ANSWER_LIMIT: Duration = Duration::from_millis(300);
/// libvirt's names of a disk's counters, and ours with their units.
const OF_DISKS: [(&str, &str, &str); 8] = [
    ("rd.reqs", "reads", ""),
    ("rd.bytes", "read_bytes", "bytes"),
    ("rd.times", "read_time", "ns"),
    ("wr.reqs", "writes", ""),
    ("wr.bytes", "write_bytes", "bytes"),
    ("wr.times", "write_time", "ns"),
    ("fl.reqs", "flushes", ""),
    ("fl.times", "flush_time", "ns"),
];
const OF_VCPUS: [(&str, &str, &str); 3] = [("time", "run", "ns"), ("delay", "wait", "ns"), ("wait", "io_wait", "ns")];

/// What the host can observe of a domain.
pub struct Observed<'a> {
    /// Its QEMU, if it runs on this host.
    pub process: Option<u32>,
    pub data: Option<&'a GuestDisk>,
    /// The name of the data disk inside, by which libvirt knows it.
    pub target: &'static str,
    pub nodes: NodeNames,
    pub cpus: &'a [usize],
}

pub fn of(keeper: &Arc<Mutex<Keeper>>, observed: Observed<'_>) -> WatchedMachine {
    let statistics = statistics(keeper, observed.target);
    let Some(process) = observed.process else {
        // The counters of this host are not those of the machine's.
        return WatchedMachine {
            targets: Targets { without_system: true, ..Targets::default() },
            asked: vec![statistics],
        };
    };
    let monitor: SharedConsole = Arc::<Mutex<Keeper>>::clone(keeper);
    let mut watched = watch::of(process, &monitor, observed.data, observed.nodes, observed.cpus);
    watched.asked.push(statistics);
    watched
}

fn statistics(keeper: &Arc<Mutex<Keeper>>, target: &'static str) -> QueryProbe {
    let keeper = Arc::clone(keeper);
    let ask = move || {
        let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
        let found = keeper.statistics(ANSWER_LIMIT).map_err(|error| error.to_string())?;
        drop(keeper);
        Ok(counters(&found, target))
    };
    QueryProbe { name: PROBE.to_owned(), source: "libvirt's statistics of the domain".to_owned(), ask: Box::new(ask) }
}

/// libvirt's statistics as counters. The disk with this target is the one with the data, any other the one with the tree.
fn counters(found: &Statistics, target: &str) -> Vec<Counter> {
    let whole = |name: &str| match found.get(name) {
        Some(Statistic::Whole(value)) => Some(*value),
        _ => None,
    };
    let mut counters = Vec::new();
    let mut add = |of: &str, label: &str, fields: &[(&str, &'static str, &'static str)]| {
        for (theirs, ours, unit) in fields {
            if let Some(value) = whole(&format!("{of}.{theirs}")) {
                counters.push(Counter::counts(format!("{PROBE}.{label}.{ours}"), *unit, value));
            }
        }
    };
    for number in 0..whole("vcpu.maximum").unwrap_or_default().min(u64::from(u8::MAX)) {
        add(&format!("vcpu.{number}"), &format!("vcpu.{number}"), &OF_VCPUS);
    }
    for number in 0..whole("block.count").unwrap_or_default().min(u64::from(u8::MAX)) {
        let of = format!("block.{number}");
        let is_data = found.get(&format!("{of}.name")) == Some(&Statistic::Text(target.to_owned()));
        add(&of, if is_data { "disk.data" } else { "disk.root" }, &OF_DISKS);
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libvirts_statistics_have_the_names_of_like_counters() {
        let whole = |name: &str, value| (name.to_owned(), Statistic::Whole(value));
        let text = |name: &str, value: &str| (name.to_owned(), Statistic::Text(value.to_owned()));
        let found = Statistics::from([
            whole("vcpu.current", 1),
            whole("vcpu.maximum", 1),
            whole("vcpu.0.state", 1),
            whole("vcpu.0.time", 70),
            whole("vcpu.0.delay", 8),
            whole("block.count", 2),
            text("block.0.name", "vdb"),
            whole("block.0.rd.reqs", 3),
            text("block.1.name", "vda"),
            whole("block.1.wr.times", 9),
            whole("block.1.allocation", 4096),
        ]);
        let expected = [
            Counter::counts("libvirt.vcpu.0.run", "ns", 70),
            Counter::counts("libvirt.vcpu.0.wait", "ns", 8),
            Counter::counts("libvirt.disk.root.reads", "", 3),
            Counter::counts("libvirt.disk.data.write_time", "ns", 9),
        ];
        assert_eq!(counters(&found, "vda"), expected);
        assert!(counters(&Statistics::new(), "vda").is_empty());
        let endless = Statistics::from([whole("block.count", u64::MAX)]);
        assert!(counters(&endless, "vda").is_empty());
    }
}

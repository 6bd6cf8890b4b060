//! Where the response time of a transaction went, as far as probes can tell.
//!
//! There are four kinds of waiting: for the driver, for a lock, for a CPU, for storage. Of each kind there may be several
//! readings of the same wait from different places, so all are shown and only the largest counts. The rest is running, the
//! network, and whatever nobody counts; since some of what was counted is work in the background, it is at least that.

use super::evidence::{Evidence, Who, mean};
use crate::counted::places::DiskWork;
use crate::counted::{CountedTrial, SideCounts};
use crate::estimate::Estimate;
use record::telemetry::Side;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResponseSplit {
    pub contender: String,
    /// Mean over all kinds, from due to done.
    pub response_ms: Estimate,
    pub parts: Vec<Part>,
    /// Response less the largest reading of each kind. Below nothing, more was waited for than by those who were answered.
    pub rest_ms: Estimate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub kind: WaitKind,
    /// From where it is seen.
    pub name: String,
    /// For each transaction.
    pub each_ms: Estimate,
    /// Whether it is taken from the response. The others of its kind are the same wait seen from elsewhere.
    pub counts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    Driver,
    Lock,
    Cpu,
    Storage,
}

/// A reading: what kind it is of, what it is called, and how a trial gives it for one transaction.
struct Reading {
    kind: WaitKind,
    name: &'static str,
    each_ms: fn(&CountedTrial) -> Option<f64>,
}

const READINGS: [Reading; 9] = [
    Reading { kind: WaitKind::Driver, name: "for a session and the driver, by the driver", each_ms: driver },
    Reading {
        kind: WaitKind::Lock,
        name: "for locks of rows, by the database",
        each_ms: |trial| trial.database.lock_ms,
    },
    Reading {
        kind: WaitKind::Cpu,
        name: "run queue of the server, inside",
        each_ms: |trial| inside(trial, "server.wait"),
    },
    Reading { kind: WaitKind::Cpu, name: "run queue of all, inside", each_ms: |trial| inside(trial, "run_queue.wait") },
    Reading {
        kind: WaitKind::Cpu,
        name: "stolen, as the machine sees it",
        each_ms: |trial| inside(trial, "cpu.steal"),
    },
    Reading { kind: WaitKind::Cpu, name: "vCPUs waiting for a CPU, on the host", each_ms: vcpus },
    Reading {
        kind: WaitKind::Storage,
        name: "the disk, as the machine sees it",
        each_ms: |trial| disk(trial, Side::Machine, SideCounts::disk),
    },
    Reading {
        kind: WaitKind::Storage,
        name: "the disk, as QEMU sees it",
        each_ms: |trial| disk(trial, Side::Host, SideCounts::qemu_disk),
    },
    Reading {
        kind: WaitKind::Storage,
        name: "the disk, as the host sees it",
        each_ms: |trial| disk(trial, Side::Host, SideCounts::disk),
    },
];

fn driver(trial: &CountedTrial) -> Option<f64> {
    // Both are rounded up by at most a thousandth, so the difference of nearly equal ones may fall below nothing.
    Some((trial.response_ms? - trial.service_ms?).max(0.0))
}

fn inside(trial: &CountedTrial, name: &str) -> Option<f64> {
    Some(trial.side(Side::Machine)?.worth(name)? / trial.transactions)
}

fn vcpus(trial: &CountedTrial) -> Option<f64> {
    let vcpus = trial.side(Side::Host)?.vcpus();
    let waited_ms: f64 = vcpus.iter().map(|vcpu| vcpu.wait_ms).sum();
    (!vcpus.is_empty()).then(|| waited_ms / trial.transactions)
}

fn disk(trial: &CountedTrial, side: Side, of: fn(&SideCounts) -> Option<DiskWork>) -> Option<f64> {
    Some(of(trial.side(side)?)?.waited_ms() / trial.transactions)
}

/// Both contenders' splits, as far as anything was timed.
pub fn splits(evidence: &Evidence<'_>) -> Vec<ResponseSplit> {
    [Who::Baseline, Who::Contender].into_iter().filter_map(|who| split(evidence, who)).collect()
}

fn split(evidence: &Evidence<'_>, who: Who) -> Option<ResponseSplit> {
    let response_ms = evidence.value(who, &|trial| trial.response_ms)?;
    let mut parts: Vec<Part> = READINGS
        .iter()
        .filter_map(|reading| {
            let each_ms = evidence.value(who, &reading.each_ms)?;
            Some(Part { kind: reading.kind, name: reading.name.to_owned(), each_ms, counts: false })
        })
        .collect();
    let mut counted: Vec<&Reading> = Vec::new();
    for kind in [WaitKind::Driver, WaitKind::Lock, WaitKind::Cpu, WaitKind::Storage] {
        let own = parts.iter_mut().filter(|part| part.kind == kind);
        if let Some(largest) = own.max_by(|one, other| one.each_ms.point.total_cmp(&other.each_ms.point)) {
            largest.counts = true;
            counted.extend(READINGS.iter().find(|reading| reading.name == largest.name));
        }
    }
    let rest = |trial: &CountedTrial| {
        let known: Option<f64> = counted.iter().map(|reading| (reading.each_ms)(trial)).sum();
        Some(trial.response_ms? - known?)
    };
    let rest_ms = evidence.signed_value(who, &rest).or_else(|| mean(vec![rest_of_means(&response_ms, &parts)]))?;
    Some(ResponseSplit { contender: evidence.name(who).to_owned(), response_ms, parts, rest_ms })
}

/// Where no block has all of the readings: from the means, and without an interval.
fn rest_of_means(response_ms: &Estimate, parts: &[Part]) -> f64 {
    response_ms.point - parts.iter().filter(|part| part.counts).map(|part| part.each_ms.point).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::evidence::PairedBlock;
    use super::super::evidence::tests::trial;
    use super::*;
    use crate::counted::Counted;
    use crate::counted::unit::Unit;
    use record::telemetry::Behaviour;

    fn side(columns: &[(&str, f64)]) -> SideCounts {
        let counted = |worth| Counted {
            unit: Unit::Milliseconds,
            behaviour: Behaviour::Counts,
            worth: Some(worth),
            rates: Vec::new(),
        };
        let columns = columns.iter().map(|&(name, worth)| (name.to_owned(), counted(worth))).collect();
        SideCounts { seconds: 10.0, samples: 10, columns, unavailable: [].into() }
    }

    /// A thousand transactions of 10 ms: 1 ms before the driver sent it, 2 ms stolen by one reading and 1.5 by another, 3 ms
    /// at the disk. What is left is 4 ms.
    #[test]
    fn of_each_kind_the_largest_reading_counts() {
        let disk =
            ["reads", "writes", "read_bytes", "write_bytes", "read_time"].map(|field| format!("disk.data.{field}"));
        let mut columns: Vec<(&str, f64)> = disk.iter().map(|name| (name.as_str(), 0.0)).collect();
        columns.extend([("disk.data.write_time", 3_000.0), ("cpu.steal", 1_500.0)]);
        let one = CountedTrial {
            response_ms: Some(10.0),
            service_ms: Some(9.0),
            machine: Ok(side(&columns)),
            host: Ok(side(&[
                ("vcpu.0.wait", 1_200.0),
                ("vcpu.0.run", 1.0),
                ("vcpu.1.wait", 800.0),
                ("vcpu.1.run", 1.0),
            ])),
            ..trial(1_000.0)
        };
        let block = || PairedBlock { baseline: vec![&one], contender: vec![&one] };
        let evidence = Evidence { baseline: "native", contender: "kvm", blocks: vec![block(), block(), block()] };
        let split = &splits(&evidence)[1];
        let counted: Vec<(&str, f64)> = split
            .parts
            .iter()
            .filter(|part| part.counts)
            .map(|part| (part.name.as_str(), part.each_ms.point))
            .collect();
        let expected = [
            ("for a session and the driver, by the driver", 1.0),
            ("vCPUs waiting for a CPU, on the host", 2.0),
            ("the disk, as the machine sees it", 3.0),
        ];
        assert_eq!(counted, expected);
        assert_eq!(split.parts.len(), 4);
        assert!((split.rest_ms.point - 4.0).abs() < 1e-9);
        assert_eq!(split.rest_ms.bounds.known().map(|(low, _)| low.round()), Some(4.0));
    }

    /// Writes of the background: 15 ms of the disk for each transaction of 10 ms.
    #[test]
    fn a_rest_below_nothing_is_shown_as_it_is() {
        let disk =
            ["reads", "writes", "read_bytes", "write_bytes", "read_time"].map(|field| format!("disk.data.{field}"));
        let mut columns: Vec<(&str, f64)> = disk.iter().map(|name| (name.as_str(), 0.0)).collect();
        columns.push(("disk.data.write_time", 15_000.0));
        let one = CountedTrial { response_ms: Some(10.0), machine: Ok(side(&columns)), ..trial(1_000.0) };
        let block = PairedBlock { baseline: vec![&one], contender: vec![&one] };
        let evidence = Evidence { baseline: "native", contender: "kvm", blocks: vec![block] };
        let split = &splits(&evidence)[0];
        assert!((split.rest_ms.point + 5.0).abs() < 1e-9, "{split:?}");
        assert_eq!(split.rest_ms.bounds.known(), None);
    }
}

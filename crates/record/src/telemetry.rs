//! What host and machine counted while a trial ran: one column for each counter, one sample for each second.
//!
//! `telemetry.json` says which probes there were and what each column is; `telemetry-host.csv` and
//! `telemetry-machine.csv` have the samples. Counters are kept as they were read, never as rates: what happened in a window is a difference of two
//! samples, and a sample that is late or lost takes nothing away from that.

use crate::looks::Reading;
use serde::{Deserialize, Serialize};

/// From where something was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// On the host, with the machine's processes and devices as it sees them.
    Host,
    /// Inside the machine.
    Machine,
}

/// How a column's values are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behaviour {
    /// Only grows; a window is worth the difference between its ends.
    Counts,
    /// A reading of the moment, like a frequency or a queue's length; a window is worth its mean.
    Stands,
}

/// One counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Dotted and stable, the probe first: `cpu.steal`, `disk.data.writes`, `vcpu.0.wait`.
    pub name: String,
    /// In which its whole numbers count: "ns", "bytes", "ticks", or empty for things that happened.
    pub unit: String,
    pub behaviour: Behaviour,
}

/// One probe: what it can see here, or why it sees nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    pub name: String,
    /// From where it reads: files, or a program that is asked.
    #[serde(default)]
    pub source: String,
    /// Names of its columns.
    pub columns: Reading<Vec<String>>,
}

/// What was seen from one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    pub side: Side,
    pub probes: Vec<Probe>,
    pub columns: Vec<Column>,
    /// CPU time of the thread that sampled, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}

/// All columns at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The side's own monotonic clock half-way through the reading.
    pub at_ns: u64,
    pub took_ns: u64,
    /// In the order of the columns; nothing for what could not be read this time.
    pub values: Vec<Option<u64>>,
}

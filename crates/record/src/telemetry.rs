//! What host and machine counted while a trial ran: one column for each counter, one sample for each second.
//!
//! `telemetry.json` lists the probes and describes each column; `telemetry-host.csv` and `telemetry-machine.csv` have
//! the samples. Counters are kept as they were read, never as rates. A window's value is a difference of two samples,
//! so a late or lost sample does not change it.

use crate::looks::Reading;
use serde::{Deserialize, Serialize};

/// Where something was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// On the host, which sees the machine's processes and devices.
    Host,
    /// Inside the machine.
    Machine,
}

/// How to interpret a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behaviour {
    /// It only grows; its value for a window is the difference between the ends.
    Counts,
    /// A momentary reading, such as a frequency or a queue's length; its value for a window is the mean.
    Stands,
}

/// One counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Dotted and stable, the probe first: `cpu.steal`, `disk.data.writes`, `vcpu.0.wait`.
    pub name: String,
    /// The unit of its whole numbers: "ns", "bytes", "ticks", or empty for numbers of events.
    pub unit: String,
    pub behaviour: Behaviour,
}

/// One probe: what it can read here, or why it reads nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    pub name: String,
    /// Where it reads from: files, or a program that it asks.
    #[serde(default)]
    pub source: String,
    /// Names of its columns.
    pub columns: Reading<Vec<String>>,
}

/// What was observed from one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    pub side: Side,
    pub probes: Vec<Probe>,
    pub columns: Vec<Column>,
    /// CPU time of the sampling thread, as far as it is known.
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
    /// In the order of the columns; `None` where a value could not be read this time.
    pub values: Vec<Option<u64>>,
}

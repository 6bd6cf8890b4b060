//! What the list of workloads holds of each.

use settings::Key;

/// A workload that a study may name.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadEntry {
    pub kind: &'static str,
    /// One sentence for `bakeoff list`.
    pub meaning: &'static str,
    pub keys: &'static [Key],
    /// Those of the keys that only say how it is driven. Data that were loaded with other values of them are the same.
    pub driving_keys: &'static [&'static str],
    /// Who works, and for how long, is decided by its own phases, so a load says neither.
    pub own_phases: bool,
    pub metric: Metric,
}

/// A workload's throughput figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub unit: &'static str,
    /// The figure is the number of counted transactions in this time.
    pub per_ms: u64,
}

//! What the load engine says about itself.

use serde::{Deserialize, Serialize};

/// What the measuring tool says about itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Testimony {
    /// CPU time of the driver's threads in the measured window.
    pub cpu_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns_per_statement: Option<u64>,
    /// Done − due, of all kinds of transaction together.
    #[serde(default)]
    pub response: Spread,
    /// Done − sent, of all kinds together.
    #[serde(default)]
    pub service: Spread,
    /// From due until a session was free. This is queueing, caused by too few sessions or a slow database.
    #[serde(default)]
    pub session_wait: Spread,
    /// How late the driver started work that was due: median, 99th percentile and worst.
    pub lateness_p50_us: u64,
    pub lateness_p99_us: u64,
    pub lateness_max_us: u64,
    /// Share of the measured window in which the busiest shard worked.
    pub busiest_shard: f64,
    /// The largest share of the window in which a shard was ready to work but had no CPU.
    #[serde(default)]
    pub without_cpu: f64,
    /// Share of the window in which each shard worked.
    #[serde(default)]
    pub busy: Vec<f64>,
    /// Times in which the load engine itself stood still.
    #[serde(default)]
    pub stalls: Stalls,
}

/// How long the load engine stood still in the measured window: it was stopped, had no CPU, or was too busy. Only
/// times that nothing but the engine itself explains are included, so a slow database is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stalls {
    pub total_ms: u64,
    pub longest_ms: u64,
    /// In stretches too short for the two before: a CPU limit that is used up many times a second, or steal in pieces.
    #[serde(default)]
    pub scattered_ms: u64,
}

/// The distribution of a time, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spread {
    pub p50_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
}

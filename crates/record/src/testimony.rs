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
    /// `None` if the kernel does not count it, and in records of old versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay: Option<RunDelay>,
    /// Share of the window in which each shard worked.
    #[serde(default)]
    pub busy: Vec<f64>,
    /// Times in which the load engine itself stood still.
    #[serde(default)]
    pub stalls: Stalls,
}

/// How long the load engine's threads were ready to work and waited for a CPU in the measured window, as the kernel counts it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RunDelay {
    /// The largest share of the window in which a thread waited.
    pub share: f64,
    /// The mean over all threads, for each time that a thread got a CPU.
    pub us_per_turn: f64,
    /// Whether the database may use the same CPUs, so that waiting for them is a part of the load. `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_database: Option<bool>,
}

impl RunDelay {
    /// Where a thread waited longest; `None` unless it is known everywhere.
    pub fn longest(each: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        let each: Vec<Self> = each.collect::<Option<_>>()?;
        each.into_iter().max_by(|one, other| one.share.total_cmp(&other.share))
    }
}

/// How long the load engine stood still in the measured window: it was stopped, or was kept from CPUs. Only times that
/// nothing but the engine itself explains are included, so a slow database is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stalls {
    pub total_ms: u64,
    pub longest_ms: u64,
    /// In stretches too short for the two before: stops, or steal in pieces.
    #[serde(default)]
    pub scattered_ms: u64,
    /// Whether `scattered_ms` leaves out what it waited for CPUs. False where such a wait may be a CPU limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_waits: bool,
    /// While the CPU time of a control group around it was used up, added up over CPUs. Groups that bakeoff made do not count. `None`
    /// if no such group is seen and one may be hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ms: Option<u64>,
}

/// The distribution of a time, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spread {
    pub p50_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
}

//! How the number of clients was found that gets most done: the steps of the climb, and what was made of them.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    /// In the order in which they were measured.
    pub rungs: Vec<Rung>,
    /// What the trial's figures were then measured with, afresh.
    pub chosen: u32,
    /// The smallest number of clients that cannot be told apart from the best.
    pub smallest_tied: u32,
    pub ended: ClimbEnd,
    /// No step went beyond this many clients.
    pub largest_allowed: u32,
    /// What ran out at the peak, as far as could be seen.
    pub saturated: String,
}

/// One step: so many clients for a warm-up and a measured window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rung {
    pub clients: u32,
    /// Counted transactions per second.
    pub per_second: f64,
    /// Standard error of that, from the seconds of the window.
    pub standard_error: f64,
    /// Share of transactions that failed for good.
    pub failed_share: f64,
    pub p99_us: u64,
    /// Of the machine's CPUs in the measured window, the load engine included if it runs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuUse>,
    pub busiest_shard: f64,
}

/// Shares of the time of all CPUs that the machine may use.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CpuUse {
    /// Anything but idling and waiting.
    pub busy: f64,
    /// Idle while something waited for storage.
    pub waiting: f64,
    /// Taken by the hypervisor for others; part of busy.
    pub stolen: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClimbEnd {
    /// More clients got less done.
    Declined,
    /// More clients got no more done.
    Levelled,
    /// Throughput still rose at the largest number allowed.
    LargestReached,
    /// Too many transactions failed.
    Errors,
    /// Responses became too long.
    Slow,
}

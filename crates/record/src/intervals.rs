//! Per-second measurements of one trial, in memory. [`crate::hlog`] writes and reads them as a file.

use serde::{Deserialize, Serialize};

/// Latencies are recorded in microseconds from 1 µs to 48 hours with three significant digits.
pub const LATENCY_MAX_US: u64 = 172_800_000_000;
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// Which span of a transaction's life a histogram holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// Done − due: what the client waited, including queueing and the driver's own lateness.
    Response,
    /// Done − sent: what the database needed.
    Service,
    /// Transactions that were due in the measured window and ended neither in it nor within a second of being due.
    /// The value is the time from due until they ended after all or were given up. They are in the last measured
    /// second, belong to the percentiles of the response, and are in no count of finished transactions.
    Unended,
}

/// Everything that finished in one second of one trial, for one kind of transaction and one span. Finished means
/// committed, or rolled back because the workload demands it; failed transactions are not included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindInterval {
    /// Index into [`Measured::kinds`].
    pub kind: u16,
    pub span: Span,
    /// Pairs (highest equivalent value in µs, count), only non-zero counts, ascending.
    pub counts: Vec<(u64, u32)>,
}

/// One second on the grid of the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Start of the second, in milliseconds since the driver started; warm-up included.
    pub start_ms: u64,
    pub length_ms: u64,
    /// Whether the second lies wholly in the measured window.
    pub measured: bool,
    pub kinds: Vec<KindInterval>,
}

/// The measured series of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Names of the kinds of transaction, in the workload's order.
    pub kinds: Vec<String>,
    pub intervals: Vec<Interval>,
}

impl KindInterval {
    /// The number of these transactions.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|&(_, count)| u64::from(count)).sum()
    }
}

//! What the driver is asked to do, and what it says afterwards.

use record::intervals::{Interval, KindInterval, Span};
use record::trial::{DriverFacts, KindTotals};
pub use record::trial::{Pacing, Process};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Who works, how long, and what is random about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrivePlan {
    pub pacing: Pacing,
    /// Threads; 0 means one for each CPU the driver may use, at most one for each session of clients.
    pub shards: u32,
    pub warmup_ms: u64,
    pub measure_ms: u64,
    pub seed: u64,
    /// How often a transaction that the database gave up is tried again with the same inputs.
    pub retries: u32,
    /// If others drive other databases at the same time.
    #[serde(default)]
    pub together: Option<Together>,
    /// How long a lost session is tried again before the database counts as gone.
    pub away_limit_ms: u64,
}

/// Driving that starts at the moment that [`Control`] is told once all sessions are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// For how many seconds it goes on after the window, unmeasured, so that none of them is alone in the end.
    pub tail_s: u64,
}

const MILLIS_PER_SECOND: u64 = 1_000;

impl DrivePlan {
    /// The measured window from the start of driving on, in whole seconds: spans that are not are rounded up, and at
    /// least one second is measured.
    pub fn window_ms(&self) -> Range<u64> {
        let whole = |span_ms: u64| span_ms.div_ceil(MILLIS_PER_SECOND) * MILLIS_PER_SECOND;
        let start = whole(self.warmup_ms);
        start..start + whole(self.measure_ms).max(MILLIS_PER_SECOND)
    }
}

/// What happened in one second, for the live display. Sent once a second, off the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    pub elapsed_ms: u64,
    pub measured: bool,
    /// Transactions of the counted kinds that ended as the workload demands: committed, or rolled back on purpose.
    pub counted: u64,
    pub committed: u64,
    pub errors: u64,
}

/// What is told while driving goes on, on the thread that called the driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// All sessions are open: what is driven together with others waits for its start now.
    Ready,
    /// At the end of each second.
    Tick(Tick),
    /// All about one second, once every shard has closed it: a little later than its tick. It is not kept here.
    Second(SecondSeen),
}

/// One second over all shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondSeen {
    pub interval: Interval,
    /// One for each kind, in the workload's order.
    pub totals: Vec<KindTotals>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Driven {
    pub facts: DriverFacts,
    /// Latencies of the whole measured window, by the workload's kinds. What had not ended in the window stands by itself.
    pub latencies: Vec<KindInterval>,
    /// What was done in each measured second.
    pub seconds: Vec<SecondDone>,
    /// Result lines of deferred transactions or similar, for the trial's logs; bounded.
    pub log: String,
    /// Set if driving ended early because it was told to stop.
    pub stopped: bool,
    /// Why driving ended early, if the database went away after it had worked.
    #[serde(default)]
    pub broke_off: Option<String>,
}

impl Driven {
    /// What had not ended when the window did.
    pub fn unended(&self) -> impl Iterator<Item = &KindInterval> {
        self.latencies.iter().filter(|part| part.span == Span::Unended)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SecondDone {
    /// Transactions of the counted kinds that ended as the workload demands.
    pub counted: u64,
    /// Transactions of all kinds that ended in any way.
    pub ended: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error("nothing would be driven: {0} in the plan must be above zero")]
    Nothing(&'static str),
    #[error("session {index} of {of} could not be opened: {source}")]
    Connect { index: u32, of: u32, source: engines::session::SessionError },
    /// Sessions were lost and could not be opened again: the server is gone.
    #[error("the database went away: {source}")]
    Gone { source: engines::session::SessionError },
    #[error("every transaction fails: {message}")]
    AllFail { message: String },
    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: std::io::Error },
    #[error("driving did not start")]
    NotStarted,
    #[error("a driver thread panicked: {0}")]
    Panicked(String),
}

/// What a driver is told while it drives.
#[derive(Debug, Default)]
pub struct Control {
    stopped: AtomicBool,
    /// By the driver's monotonic clock; 0 until it is told.
    start_ns: AtomicU64,
}

impl Control {
    /// Stop at the next transaction boundary, for good.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Start together with others, at this moment of the driver's clock.
    pub fn start_at(&self, at_ns: u64) {
        self.start_ns.store(at_ns.max(1), Ordering::Relaxed);
    }

    /// What was told for one driving is not for the next.
    pub fn forget_start(&self) {
        self.start_ns.store(0, Ordering::Relaxed);
    }

    pub fn start_ns(&self) -> Option<u64> {
        Some(self.start_ns.load(Ordering::Relaxed)).filter(|at_ns| *at_ns > 0)
    }
}

//! The driver's input and its results.

use crate::slice::Slice;
use record::intervals::{Interval, KindInterval, Span};
pub use record::script::{LoadPhase, PhaseLimit, UserStream};
pub use record::trial::{ArrivalProcess, Pacing};
use record::trial::{DriverFacts, KindTotals};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Who works, for how long, and with which random inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrivePlan {
    /// The phases, one after another; at least one.
    pub phases: Vec<LoadPhase>,
    /// Threads. 0 means one for each CPU the driver may use, but at most one for each session of clients.
    pub shards: u32,
    pub seed: u64,
    /// How often a transaction that the database aborted is tried again with the same inputs.
    pub retries: u32,
    /// Set if others drive other databases at the same time.
    #[serde(default)]
    pub together: Option<Together>,
    /// How long the driver tries to reopen a lost session before the database counts as gone.
    pub away_limit_ms: u64,
    /// How long transactions that are under way at the end of a phase may take to end.
    pub drain_limit_ms: u64,
    /// Which part of the users this load generator drives, if several drive one database.
    #[serde(default)]
    pub generator: Generator,
    /// Receipts that are handed on, to be compared with the data.
    #[serde(default)]
    pub receipts: Receipts,
}

/// Receipts of users that are handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receipts {
    #[default]
    None,
    /// Answers of the workload.
    Told,
    /// And the numbers of receipts that transactions write into the database, counted from this one.
    Written { first: i64 },
}

impl Receipts {
    pub(crate) fn first(self) -> Option<i64> {
        if let Self::Written { first } = self { Some(first) } else { None }
    }
}

/// The answer to a user once a transaction had been acknowledged: numbers in an order that the workload defines for the kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub kind: u16,
    /// When the transaction began, and when its acknowledgement arrived, by the driver's clock.
    pub sent_ns: u64,
    pub done_ns: u64,
    pub numbers: Vec<i64>,
    /// The receipts that it has written into the database.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<i64>,
}

/// The actor that a study's load describes. A workload paces the others itself.
pub(crate) const OF_THE_LOAD: u16 = 0;

/// One of several load generators. Users are numbered over all of them, and each drives every `of`-th. Together they do
/// what one would do alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    /// From 0.
    pub number: u32,
    pub of: u32,
}

impl Generator {
    /// This generator's part of a pacing.
    pub fn of_pacing(self, pacing: Pacing) -> Pacing {
        let own = |count: u32| u32::try_from(self.share().of_all(count).len()).unwrap_or(u32::MAX);
        match pacing {
            Pacing::Clients { clients } => Pacing::Clients { clients: own(clients) },
            Pacing::Terminals { terminals, sessions } => {
                Pacing::Terminals { terminals: own(terminals), sessions: own(sessions) }
            }
            Pacing::Arrivals { per_second, process, sessions } => {
                Pacing::Arrivals { per_second: per_second / f64::from(self.of), process, sessions: own(sessions) }
            }
        }
    }

    /// This generator's part of a number of transactions.
    pub fn of_count(self, count: u32) -> u32 {
        count / self.of + u32::from(self.number < count % self.of)
    }

    /// One shard of this generator's work, as a share of what all generators do.
    pub(crate) fn part_of(self, shard: Slice) -> Slice {
        Slice { shard: self.number + self.of * shard.shard, of: self.of * shard.of }
    }

    fn share(self) -> Slice {
        Slice { shard: self.number, of: self.of }
    }
}

impl Default for Generator {
    fn default() -> Self {
        Self { number: 0, of: 1 }
    }
}

/// Driving that starts at a moment that [`Control`] gives, once all sessions are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// For how many seconds driving goes on after the window, unmeasured, so that no driver is alone at the end.
    pub tail_s: u64,
}

/// How long the driver tries to reopen a lost session, unless the plan sets another limit.
const AWAY_LIMIT_MS: u64 = 3_000;
/// Enough for any transaction of a user that waits for its answer.
const DRAIN_LIMIT_MS: u64 = 10_000;

impl DrivePlan {
    /// Phases with the usual limits, one thread for each CPU, and no retries.
    pub fn of(phases: Vec<LoadPhase>, seed: u64) -> Self {
        Self {
            phases,
            shards: 0,
            seed,
            retries: 0,
            together: None,
            away_limit_ms: AWAY_LIMIT_MS,
            drain_limit_ms: DRAIN_LIMIT_MS,
            generator: Generator::default(),
            receipts: Receipts::None,
        }
    }

    /// One phase of a workload's first actor.
    pub fn timed(pacing: Pacing, warmup_ms: u64, measure_ms: u64, seed: u64) -> Self {
        Self::of(vec![LoadPhase::timed(pacing, warmup_ms, measure_ms)], seed)
    }

    /// The first phase's measured window in milliseconds since the start of driving, in whole seconds. If streams end
    /// the phase, it goes up to the phase's limit.
    pub fn window_ms(&self) -> Range<u64> {
        self.phases.first().map_or(0..0, |phase| {
            let Shape { warmup_s, measure_s, .. } = Shape::of(phase);
            warmup_s * MILLIS_PER_SECOND..(warmup_s + measure_s) * MILLIS_PER_SECOND
        })
    }
}

const MILLIS_PER_SECOND: u64 = 1_000;

/// Lengths of a phase in whole seconds, rounded up; at least one second is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub warmup_s: u64,
    pub measure_s: u64,
    /// The streams may end the phase earlier.
    pub is_open: bool,
}

impl Shape {
    pub fn of(phase: &LoadPhase) -> Self {
        let whole = |span_ms: u64| span_ms.div_ceil(MILLIS_PER_SECOND);
        let (longest_ms, is_open) = match phase.until {
            PhaseLimit::Time { measure_ms } => (measure_ms, false),
            PhaseLimit::StreamsEnd { limit_ms } => (limit_ms, true),
        };
        Self { warmup_s: whole(phase.warmup_ms), measure_s: whole(longest_ms).max(1), is_open }
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

/// What the caller sees while driving goes on, on the thread that called the driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenProgress {
    /// All sessions are open, or the previous phase is over. A driver that starts together with others now waits for
    /// its start.
    Ready,
    /// Comes at the end of each second.
    Tick(Tick),
    /// Everything about one second, once every shard has closed it: a little later than its tick. The driver keeps no copy.
    Second(SecondSeen),
    /// Receipts of users in a second of one shard, if the plan asks for them.
    Receipts(Vec<Receipt>),
}

/// One second, over all shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondSeen {
    pub interval: Interval,
    /// Totals of each kind, in the workload's order.
    pub totals: Vec<KindTotals>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Driven {
    pub facts: DriverFacts,
    /// Latencies of everything that was measured, by the workload's kinds. What had not ended in the window is kept apart.
    pub latencies: Vec<KindInterval>,
    /// What was done in each measured second.
    pub seconds: Vec<SecondDone>,
    /// Result lines of deferred transactions or similar, for the trial's logs; their number is limited.
    pub log: String,
    /// Set if driving ended early because the driver was asked to stop.
    pub stopped: bool,
    /// Why driving ended early, if the database went away after it had worked.
    #[serde(default)]
    pub broke_off: Option<String>,
}

impl Driven {
    /// Latencies of transactions that had not ended with the window.
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

/// Commands to a driver while it drives.
#[derive(Debug, Default)]
pub struct Control {
    stopped: AtomicBool,
    /// By the driver's monotonic clock; 0 until it is set.
    start_ns: AtomicU64,
}

impl Control {
    /// Stop at the next transaction boundary, for good.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Start together with others, at this moment of the driver's clock.
    pub fn start_at(&self, at_ns: u64) {
        self.start_ns.store(at_ns.max(1), Ordering::Relaxed);
    }

    /// Takes the start that was set, because it does not hold for the next phase.
    pub fn take_start(&self) -> Option<u64> {
        Some(self.start_ns.swap(0, Ordering::Relaxed)).filter(|at_ns| *at_ns > 0)
    }
}

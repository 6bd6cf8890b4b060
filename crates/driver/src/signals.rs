//! How threads communicate while driving. Shards look at two flags and a count of shards with work left, and publish
//! three counters, all relaxed atomics. Once a second, off the hot path, each sends a message.

use crate::plan::{Control, DrivePlan, LoadPhase};
use crate::recorder::Second;
use crate::report::ShardReport;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Reasons to end before the window does.
pub struct Signals<'a> {
    control: &'a Control,
    abort: AtomicBool,
    /// The number of shards whose streams have not ended.
    streams_left: AtomicU32,
    filler_over: AtomicBool,
    /// By actor, how many transactions its users may still begin in this phase, if that is limited.
    budgets: Vec<AtomicU64>,
}

impl<'a> Signals<'a> {
    pub fn new(control: &'a Control, actors: usize) -> Self {
        Self {
            control,
            abort: AtomicBool::new(false),
            streams_left: AtomicU32::new(0),
            filler_over: AtomicBool::new(false),
            budgets: (0..actors).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Something went wrong: shards drop their transactions and return.
    pub fn abort(&self) {
        self.abort.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_aborted(&self) -> bool {
        self.abort.load(Ordering::Relaxed)
    }

    /// Begins a phase that this many shards will drive.
    pub fn begin_phase(&self, shards: u32, phase: &LoadPhase, plan: &DrivePlan) {
        self.streams_left.store(shards, Ordering::Relaxed);
        for stream in &phase.streams {
            if let (Some(count), Some(budget)) = (stream.transactions, self.budgets.get(usize::from(stream.actor))) {
                budget.store(plan.generator.of_count(count).into(), Ordering::Relaxed);
            }
        }
    }

    /// Takes one transaction out of what the users of this actor may do together; false if nothing is left.
    pub fn take_from_budget(&self, actor: u16) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        let budget = self.budgets.get(usize::from(actor));
        budget.is_some_and(|budget| budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok())
    }

    /// True if nothing is left to be taken.
    pub fn is_budget_spent(&self, actor: u16) -> bool {
        self.budgets.get(usize::from(actor)).is_none_or(|budget| budget.load(Ordering::Relaxed) == 0)
    }

    /// Records that the streams of one shard have ended.
    pub fn streams_ended(&self) {
        self.streams_left.fetch_sub(1, Ordering::Relaxed);
    }

    #[inline]
    pub fn have_streams_ended(&self) -> bool {
        self.streams_left.load(Ordering::Relaxed) == 0
    }

    /// Begins or ends work that only keeps the database busy.
    pub fn set_filler_over(&self, is_over: bool) {
        self.filler_over.store(is_over, Ordering::Relaxed);
    }

    pub fn is_filler_over(&self) -> bool {
        self.filler_over.load(Ordering::Relaxed)
    }

    /// When the next phase is to start, if that has been set.
    pub fn take_start(&self) -> Option<u64> {
        self.control.take_start()
    }

    /// True if driving should end at the next transaction boundary.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }
}

/// A message from a shard's thread to the calling thread.
pub enum Note {
    /// Its sessions are open.
    Ready,
    /// It has closed a second.
    Closed { shard: u32, second: Box<Second> },
    /// Its part of a phase is over.
    Phase { shard: u32, report: Box<ShardReport> },
    /// It has returned, or is about to.
    Over { shard: u32 },
}

/// One shard's running totals for the live display. Only the shard writes them; each has a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct RunningTotals {
    counted: AtomicU64,
    committed: AtomicU64,
    errors: AtomicU64,
}

/// Running totals of all shards at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    pub counted: u64,
    pub committed: u64,
    pub errors: u64,
}

impl RunningTotals {
    #[inline]
    pub fn ended(&self, counted: bool, committed: bool) {
        bump(&self.counted, u64::from(counted));
        bump(&self.committed, u64::from(committed));
    }

    #[inline]
    pub fn failed(&self) {
        bump(&self.errors, 1);
    }

    pub fn sum(shards: &[Self]) -> Progress {
        let total =
            |field: fn(&Self) -> &AtomicU64| shards.iter().map(|shard| field(shard).load(Ordering::Relaxed)).sum();
        Progress {
            counted: total(|shard| &shard.counted),
            committed: total(|shard| &shard.committed),
            errors: total(|shard| &shard.errors),
        }
    }
}

/// There is a single writer, so a load and a store are enough, and they are cheaper than an atomic addition.
#[inline]
fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

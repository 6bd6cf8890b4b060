//! The result of one shard at the end of a phase.

use crate::clock::Nanos;
use crate::counts::SparseCounts;
use crate::deferral::ResultLines;
use crate::error::DriveError;
use crate::errors::ErrorBook;
use crate::pacing::QueueCounts;
use record::script::PhaseEnd;
use record::trial::{Deferred, Losses, Stalls};

/// What one shard reports at the end of a phase. It has handed on its seconds before.
#[derive(Debug)]
pub struct ShardReport {
    pub errors: ErrorBook,
    pub lines: ResultLines,
    pub deferred: Deferred,
    pub sessions: u32,
    pub losses: Losses,
    /// By kind, the times of transactions that were due in the measured window and had not ended with it. They count
    /// until the transactions ended or driving was given up.
    pub unended: Vec<SparseCounts>,
    /// The transactions that were still under way.
    pub given_up: GivenUp,
    pub stalls: Stalls,
    /// Whether the thread was kept on one CPU.
    pub on_one_cpu: bool,
    /// Whether its sockets were attached to a ring.
    pub through_io_uring: bool,
    pub in_process: bool,
    /// Over the whole phase; `waiting` is from when driving began to end.
    pub queue: QueueCounts,
    pub ended: PhaseEnd,
    pub failure: Option<DriveError>,
}

/// Transactions that were under way when a shard returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GivenUp {
    pub transactions: u64,
    /// How long the one that was due first had been waiting.
    pub oldest: Nanos,
    /// Session time that they took in the measured window.
    pub in_window: Nanos,
}

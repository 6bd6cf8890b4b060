//! The part of a phase that one shard drives.

use crate::clock::Nanos;
use crate::deferral::LOG_LINES_MAX;
use crate::plan::{DrivePlan, LoadPhase, Receipts};
use crate::slice::Slice;
use crate::window::Window;
use workloads::workload::{User, Workload};

/// What one shard needs to know before a phase starts.
pub struct Assignment<'a, W: Workload> {
    pub workload: &'a W,
    pub phase: &'a LoadPhase,
    /// The number of the phase, from 0.
    pub number: u16,
    /// The shard's share of all users, over all load generators.
    pub share: Slice,
    /// The shard's place among the shards of this load generator.
    pub here: Slice,
    pub seed: u64,
    pub retries: u32,
    pub away_limit: Nanos,
    pub drain_limit: Nanos,
    pub window: Window,
    pub log_lines: usize,
    pub receipts: bool,
}

impl<'a, W: Workload> Assignment<'a, W> {
    pub fn of(workload: &'a W, plan: &'a DrivePlan, number: u16, here: Slice, window: Window) -> Option<Self> {
        Some(Self {
            workload,
            phase: plan.phases.get(usize::from(number))?,
            number,
            share: plan.generator.part_of(here),
            here,
            seed: plan.seed,
            retries: plan.retries,
            away_limit: Nanos::from_millis(plan.away_limit_ms),
            drain_limit: Nanos::from_millis(plan.drain_limit_ms),
            window,
            log_lines: LOG_LINES_MAX / here.of as usize,
            receipts: plan.receipts != Receipts::None,
        })
    }

    /// An actor's users with these numbers.
    pub fn users(&self, actor: u16, numbers: impl Iterator<Item = u32>) -> Vec<W::Client> {
        let (seed, phase, is_filler) = (self.seed, self.number, self.window.is_filler);
        numbers.map(|index| self.workload.client(User { seed, phase, actor, index, is_filler })).collect()
    }
}

//! What commits cost on a disk that can lose power, while it is honest.

use super::drive::{Conversing, DISK_LIMIT};
use super::{AuditError, Auditing};
use driver::plan::{Pacing, Receipts};
use record::durability::Rate;
use std::time::Duration;

/// One client is driven so often with flushes that take no time and with longer ones, in turn, and how long each time.
const ROUNDS: u64 = 3;
const ALONE_MS: u64 = 1_000;
/// More clients, with longer flushes, and how long each number is driven.
const CLIENTS: [u32; 3] = [4, 16, 64];
const TOGETHER_MS: u64 = 2_000;
const MILLIS_PER_SECOND: f64 = 1e3;

/// What was measured.
#[derive(Debug, Default)]
pub struct Price {
    pub slope: Option<f64>,
    pub rates: Vec<Rate>,
}

impl Auditing<'_> {
    pub(super) fn price(&self, on: &mut Conversing<'_>) -> Result<Price, AuditError> {
        let delay_ms = self.plan.flush_delay_ms;
        if delay_ms == 0 {
            return Ok(Price::default());
        }
        let (of, mut slopes, mut alone) = (ROUNDS + CLIENTS.len() as u64, Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            (self.tell)("what a commit costs", round, of);
            let [at_once, delayed] = [self.rate(on, 1, 0, ALONE_MS)?, self.rate(on, 1, delay_ms, ALONE_MS)?];
            alone.push(delayed);
            let longer_ms = MILLIS_PER_SECOND / delayed - MILLIS_PER_SECOND / at_once;
            slopes.extend((at_once > 0.0 && delayed > 0.0).then_some(longer_ms.max(0.0) / delay_ms as f64));
        }
        let mut rates = vec![Rate { clients: 1, per_second: median(alone).unwrap_or_default() }];
        for (done, clients) in (ROUNDS..).zip(CLIENTS) {
            (self.tell)("what a commit costs", done, of);
            rates.push(Rate { clients, per_second: self.rate(on, clients, delay_ms, TOGETHER_MS)? });
        }
        on.disk.control(DISK_LIMIT)?.delay_flushes(Duration::ZERO)?;
        Ok(Price { slope: median(slopes), rates })
    }

    /// Commits a second while each flush takes so much longer.
    fn rate(&self, on: &mut Conversing<'_>, clients: u32, delay_ms: u64, drive_ms: u64) -> Result<f64, AuditError> {
        on.disk.control(DISK_LIMIT)?.delay_flushes(Duration::from_millis(delay_ms))?;
        let plan = self.drive_plan(Pacing::Clients { clients }, drive_ms, Receipts::None);
        let facts = on.drive(plan, &mut |_| ())?.facts;
        let committed: u64 = facts.kinds.iter().filter(|kind| !kind.step).map(|kind| kind.committed).sum();
        Ok(committed as f64 * MILLIS_PER_SECOND / facts.measured_ms.max(1) as f64)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

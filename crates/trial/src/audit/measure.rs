//! What commits cost on a disk that can lose power, while it is honest.

use super::drive::{Conversing, DISK_LIMIT, Price};
use super::{AuditError, Auditing};
use crate::site::read_host;
use driver::plan::{Pacing, Receipts};
use record::durability::CommitRate;
use record::host_state::HostState;
use std::time::Duration;

/// One client is driven so often with flushes that take no time and with longer ones, in turn, and how long each time.
const ROUNDS: u64 = 3;
const ALONE_MS: u64 = 1_000;
/// If it commits fewer transactions than this, it is driven longer, but not longer than that.
const COMMITS_MIN: u64 = 20;
const ALONE_MAX_MS: u64 = 8_000;
/// For one client a flush takes at least this part of a commit longer, so that it can be distinguished from chance.
const DELAY_PART: f64 = 0.5;
const DELAY_MAX: Duration = Duration::from_millis(500);
/// Clients with the study's flushes, and how long each number is driven.
const CLIENTS: [u32; 4] = [1, 4, 16, 64];
const TOGETHER_MS: u64 = 2_000;
const MILLIS_PER_SECOND: f64 = 1e3;

/// Transactions that were committed in so many milliseconds.
#[derive(Debug, Clone, Copy)]
struct Committed {
    count: u64,
    in_ms: u64,
}

impl Committed {
    /// Milliseconds for each, if there are enough of them.
    fn each_ms(self) -> Option<f64> {
        (self.count >= COMMITS_MIN / 2).then(|| self.in_ms as f64 / self.count as f64)
    }

    /// How long to drive for enough of them; `None` if these are enough.
    fn longer_ms(self) -> Option<u64> {
        let needed_ms = self.in_ms * COMMITS_MIN / self.count.max(1);
        (self.count < COMMITS_MIN).then(|| needed_ms.min(ALONE_MAX_MS))
    }
}

impl Auditing<'_> {
    pub(super) fn price(&self, on: &mut Conversing<'_>) -> Result<Price, AuditError> {
        let delay = Duration::from_millis(self.plan.flush_delay_ms);
        if delay.is_zero() {
            return Ok(Price::default());
        }
        let (of, mut rates, start) = (ROUNDS + CLIENTS.len() as u64, Vec::new(), read_host());
        let slope = self.slope(on, delay, of)?;
        for (done, clients) in (ROUNDS..).zip(CLIENTS) {
            (self.tell)("what a commit costs", done, of);
            let Committed { count, in_ms } = self.committed(on, clients, delay, TOGETHER_MS)?;
            rates.push(CommitRate { clients, per_second: count as f64 * MILLIS_PER_SECOND / in_ms as f64 });
        }
        on.disk.control(DISK_LIMIT)?.delay_flushes(Duration::ZERO)?;
        let other_cpu = HostState { start, end: read_host() }.others().known().copied();
        Ok(Price { slope, rates, other_cpu })
    }

    /// Milliseconds by which a commit of one client takes longer for each millisecond that a flush does: the median of rounds.
    fn slope(&self, on: &mut Conversing<'_>, least: Duration, of: u64) -> Result<Option<f64>, AuditError> {
        let Some(each_ms) = self.alone(on, Duration::ZERO)? else { return Ok(None) };
        let part = Duration::from_secs_f64(each_ms * DELAY_PART / MILLIS_PER_SECOND);
        let delay = part.min(DELAY_MAX).max(least);
        let mut slopes = Vec::new();
        for round in 0..ROUNDS {
            (self.tell)("what a commit costs", round, of);
            let [at_once, delayed] = [self.alone(on, Duration::ZERO)?, self.alone(on, delay)?];
            slopes.extend(
                at_once
                    .zip(delayed)
                    .map(|(at_once, delayed)| (delayed - at_once).max(0.0) / (delay.as_secs_f64() * MILLIS_PER_SECOND)),
            );
        }
        Ok(median(slopes))
    }

    /// Milliseconds for each commit of one client while each flush takes so much longer.
    fn alone(&self, on: &mut Conversing<'_>, delay: Duration) -> Result<Option<f64>, AuditError> {
        let first = self.committed(on, 1, delay, ALONE_MS)?;
        let enough = match first.longer_ms() {
            Some(longer_ms) => self.committed(on, 1, delay, longer_ms)?,
            None => first,
        };
        Ok(enough.each_ms())
    }

    fn committed(
        &self,
        on: &mut Conversing<'_>,
        clients: u32,
        delay: Duration,
        drive_ms: u64,
    ) -> Result<Committed, AuditError> {
        on.disk.control(DISK_LIMIT)?.delay_flushes(delay)?;
        let plan = self.drive_plan(Pacing::Clients { clients }, drive_ms, Receipts::None);
        let facts = on.drive(plan, &mut |_| ())?.facts;
        let count = facts.kinds.iter().filter(|kind| !kind.step).map(|kind| kind.committed).sum();
        Ok(Committed { count, in_ms: facts.measured_ms.max(1) })
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_commits_are_driven_for_longer_or_say_nothing() {
        let committed = |count, in_ms| Committed { count, in_ms };
        assert_eq!((committed(20, 1_000).longer_ms(), committed(20, 1_000).each_ms()), (None, Some(50.0)));
        assert_eq!(committed(5, 1_000).longer_ms(), Some(4_000));
        assert_eq!((committed(0, 1_000).longer_ms(), committed(1, 1_000).longer_ms()), (Some(8_000), Some(8_000)));
        assert_eq!((committed(9, 8_000).each_ms(), committed(10, 8_000).each_ms()), (None, Some(800.0)));
    }
}

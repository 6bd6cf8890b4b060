//! Per-second measurements of one trial, in memory. [`crate::hlog`] writes and reads them as a file.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

impl Interval {
    /// Adds what was seen elsewhere in the same second: it is as long as the longer of the two.
    pub fn add(&mut self, other: &Self) {
        self.length_ms = self.length_ms.max(other.length_ms);
        self.measured |= other.measured;
        for part in &other.kinds {
            match self.kinds.iter_mut().find(|own| (own.kind, own.span) == (part.kind, part.span)) {
                Some(own) => own.counts = added(&own.counts, &part.counts),
                None => self.kinds.push(part.clone()),
            }
        }
    }
}

/// The sum of two histograms; values stay in ascending order.
fn added(one: &[(u64, u32)], other: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut sums = BTreeMap::new();
    for &(value, count) in one.iter().chain(other) {
        let sum = sums.entry(value).or_insert(0_u32);
        *sum = sum.saturating_add(count);
    }
    sums.into_iter().collect()
}

impl KindInterval {
    /// The number of these transactions.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|&(_, count)| u64::from(count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, KindInterval, Span};

    fn of(kind: u16, span: Span, counts: &[(u64, u32)]) -> KindInterval {
        KindInterval { kind, span, counts: counts.to_vec() }
    }

    #[test]
    fn what_two_saw_in_a_second_is_added_up_by_kind_and_span() {
        let second = |length_ms, kinds| Interval { start_ms: 3_000, length_ms, measured: false, kinds };
        let mut sum = second(1_000, vec![of(0, Span::Response, &[(2, 1), (9, u32::MAX)])]);
        let other = vec![of(0, Span::Service, &[(2, 1)]), of(0, Span::Response, &[(1, 4), (2, 1), (9, 1)])];
        sum.add(&Interval { measured: true, ..second(400, other) });
        let kinds = vec![of(0, Span::Response, &[(1, 4), (2, 2), (9, u32::MAX)]), of(0, Span::Service, &[(2, 1)])];
        assert_eq!(sum, Interval { measured: true, ..second(1_000, kinds) });
    }
}

//! Histograms while a second lasts, sparse counts afterwards.

use crate::clock::Nanos;
use hdrhistogram::{CreationError, Histogram};
use record::intervals::{LATENCY_MAX_US, SIGNIFICANT_DIGITS};
use std::collections::BTreeMap;

/// Pairs of the highest value in µs of a class and how many fell into it, ascending, no zero counts.
pub type SparseCounts = Vec<(u64, u32)>;

/// A latency histogram of fixed size, so that recording never allocates.
pub struct Latencies(Histogram<u32>);

impl Latencies {
    pub fn new() -> Result<Self, CreationError> {
        Histogram::new_with_bounds(1, LATENCY_MAX_US, SIGNIFICANT_DIGITS).map(Self)
    }

    /// Spans outside the range count as its nearest end.
    pub fn record(&mut self, span: Nanos) {
        self.0.saturating_record(span.as_micros().clamp(1, LATENCY_MAX_US));
    }

    /// The counts so far; the histogram is empty afterwards.
    pub fn take(&mut self) -> SparseCounts {
        if self.0.is_empty() {
            return SparseCounts::new();
        }
        let counts = self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        self.0.reset();
        counts
    }
}

/// Sparse counts that are added up one after the other. No larger than a histogram, however many are added.
#[derive(Debug, Clone, Default)]
pub struct Sum(BTreeMap<u64, u32>);

impl Sum {
    pub fn add(&mut self, counts: &SparseCounts) {
        for &(value, count) in counts {
            let entry = self.0.entry(value).or_default();
            *entry = entry.saturating_add(count);
        }
    }

    pub fn counts(&self) -> SparseCounts {
        self.0.iter().map(|(value, count)| (*value, *count)).collect()
    }
}

/// The sum of several sparse counts.
pub fn sum<'a>(parts: impl IntoIterator<Item = &'a SparseCounts>) -> SparseCounts {
    let mut total = Sum::default();
    parts.into_iter().for_each(|part| total.add(part));
    total.counts()
}

pub fn total(counts: &SparseCounts) -> u64 {
    counts.iter().map(|(_, count)| u64::from(*count)).sum()
}

/// The smallest value that at least this share of all counts does not exceed; zero if there are none.
pub fn quantile(counts: &SparseCounts, share: f64) -> u64 {
    // Counts stay far below 2^53, and a share of a count is between zero and it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rank = (share * total(counts) as f64).ceil() as u64;
    let mut seen = 0;
    for &(value, count) in counts {
        seen += u64::from(count);
        if seen >= rank {
            return value;
        }
    }
    counts.last().map_or(0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_of_a_hundred_numbers() {
        let counts: SparseCounts = (1..=100).map(|value| (value, 1)).collect();
        assert_eq!(quantile(&counts, 0.5), 50);
        assert_eq!(quantile(&counts, 0.99), 99);
        assert_eq!(quantile(&counts, 1.0), 100);
        assert_eq!(quantile(&SparseCounts::new(), 0.5), 0);
    }

    #[test]
    fn spans_outside_the_range_count_as_its_ends() {
        let mut latencies = Latencies::new().unwrap();
        latencies.record(Nanos(3));
        latencies.record(Nanos::from_seconds(100_000));
        let counts = latencies.take();
        assert_eq!(counts[0], (1, 1));
        assert!(counts[1].0 >= LATENCY_MAX_US);
        assert_eq!(latencies.take(), []);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_every_value_is_within_its_class(micros in prop::collection::vec(1..10_000_000_u64, 1..300)) {
            let mut latencies = Latencies::new().unwrap();
            for &value in &micros {
                latencies.record(Nanos::from_micros(value));
            }
            let counts = latencies.take();
            prop_assert_eq!(total(&counts), micros.len() as u64);
            prop_assert!(counts.is_sorted());
            let mut sorted = micros.clone();
            sorted.sort_unstable();
            let largest = quantile(&counts, 1.0);
            prop_assert!(largest >= sorted[sorted.len() - 1]);
            prop_assert!(largest as f64 <= sorted[sorted.len() - 1] as f64 * 1.001 + 1.0);
        }

        #[test]
        fn a_sum_does_not_depend_on_the_split(values in prop::collection::vec((1..50_u64, 1..9_u32), 0..80), cut in 0..80_usize) {
            let single: Vec<SparseCounts> = values.iter().map(|pair| vec![*pair]).collect();
            let cut = cut.min(single.len());
            let halves = [sum(&single[..cut]), sum(&single[cut..])];
            prop_assert_eq!(sum(&halves), sum(&single));
        }
    }
}

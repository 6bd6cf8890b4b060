//! Histograms of the current second, and sparse counts of the seconds that are over.

use crate::clock::Nanos;
use record::intervals::{LATENCY_MAX_US, SIGNIFICANT_DIGITS};
use std::collections::BTreeMap;

/// Pairs of a class's highest value in µs and its count, in ascending order and without zero counts.
pub type SparseCounts = Vec<(u64, u32)>;

/// Below this, every microsecond is a class of its own. It is twice the number of values that the digits distinguish,
/// rounded up to a power of two. Above it, classes double in width whenever values double, as in HdrHistogram.
const EXACT_BELOW_US: u64 = (2 * 10_u64.pow(SIGNIFICANT_DIGITS as u32)).next_power_of_two();
const EXACT_BITS: u32 = EXACT_BELOW_US.ilog2();
const CLASSES_OF_ONE_WIDTH: usize = 1 << (EXACT_BITS - 1);
const CLASSES: usize = class_of(LATENCY_MAX_US) + 1;

/// Classes are numbered from 0, which is the class of zero.
const fn class_of(micros: u64) -> usize {
    // How many bits the value has beyond those that are distinguished; zero for a small value.
    let doublings = (micros | 1).ilog2().saturating_sub(EXACT_BITS - 1);
    // It is less than the number of classes, so it fits.
    #[allow(clippy::cast_possible_truncation)]
    let within = (micros >> doublings) as usize;
    doublings as usize * CLASSES_OF_ONE_WIDTH + within
}

/// The highest value of a class.
const fn highest_of(class: usize) -> u64 {
    let doublings = (class / CLASSES_OF_ONE_WIDTH).saturating_sub(1);
    let within = (class - doublings * CLASSES_OF_ONE_WIDTH) as u64;
    ((within + 1) << doublings) - 1
}

/// A latency histogram of fixed size, so that recording never allocates. It keeps a list of the classes in use, so that
/// emptying it takes no longer than recording did.
pub struct Latencies {
    counts: Vec<u32>,
    /// Classes whose count is not zero.
    used: Vec<usize>,
}

impl Latencies {
    pub fn new() -> Self {
        Self { counts: vec![0; CLASSES], used: Vec::with_capacity(CLASSES) }
    }

    /// Spans outside the range count as its nearest end.
    #[inline]
    pub fn record(&mut self, span: Nanos) {
        let class = class_of(span.as_micros().clamp(1, LATENCY_MAX_US));
        let count = &mut self.counts[class];
        if *count == 0 {
            self.used.push(class);
        }
        *count = count.saturating_add(1);
    }

    /// Returns the counts so far and empties the histogram.
    pub fn take(&mut self) -> SparseCounts {
        self.used.sort_unstable();
        let take = |class: usize| (highest_of(class), std::mem::take(&mut self.counts[class]));
        self.used.drain(..).map(take).collect()
    }
}

/// Adds up sparse counts, one after the other. It never gets larger than a histogram, however many are added.
#[derive(Debug, Clone, Default)]
pub struct CountsSum(BTreeMap<u64, u32>);

impl CountsSum {
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
    let mut parts = parts.into_iter().filter(|part| !part.is_empty());
    let (Some(first), second) = (parts.next(), parts.next()) else { return SparseCounts::new() };
    let Some(second) = second else { return first.clone() };
    let mut total = CountsSum::default();
    [first, second].into_iter().chain(parts).for_each(|part| total.add(part));
    total.counts()
}

pub fn total(counts: &SparseCounts) -> u64 {
    counts.iter().map(|(_, count)| u64::from(*count)).sum()
}

/// The smallest value that at least this share of all counts does not exceed; zero if there are no counts.
pub fn quantile(counts: &SparseCounts, share: f64) -> u64 {
    // Counts stay far below 2^53, and a share of a count lies between zero and that count.
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
    use hdrhistogram::Histogram;
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
        let mut latencies = Latencies::new();
        latencies.record(Nanos(3));
        latencies.record(Nanos::from_seconds(1_000_000));
        let counts = latencies.take();
        assert_eq!(counts[0], (1, 1));
        assert!(counts[1].0 >= LATENCY_MAX_US);
        assert_eq!(latencies.take(), []);
    }

    #[test]
    fn every_class_is_one_of_the_published_format() {
        let histogram = Histogram::<u32>::new_with_bounds(1, LATENCY_MAX_US, SIGNIFICANT_DIGITS).unwrap();
        for class in 1..CLASSES {
            let (lowest, highest) = (highest_of(class - 1) + 1, highest_of(class));
            assert_eq!((class_of(lowest), class_of(highest)), (class, class));
            assert_eq!((histogram.lowest_equivalent(highest), histogram.highest_equivalent(lowest)), (lowest, highest));
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_every_value_is_within_its_class(micros in prop::collection::vec(1..10_000_000_u64, 1..300)) {
            let mut latencies = Latencies::new();
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

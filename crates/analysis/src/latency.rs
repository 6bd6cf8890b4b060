//! Latency percentiles of merged histograms, with intervals over blocks.
//!
//! A percentile is never averaged: the histograms of a cell's trials are added up and the percentile is read from the
//! sum. Its interval comes from drawing whole blocks with replacement and reading it from the sum of those.

use crate::bootstrap;
use crate::estimate::{Bounds, Estimate};
use record::intervals::{KindInterval, Measured, Span};
use serde::{Deserialize, Serialize};

/// The percentiles that are reported.
pub const QUANTILES: [f64; 5] = [0.50, 0.90, 0.95, 0.99, 0.999];

/// Fewer transactions above a percentile than this, and it is one accident's latency rather than an estimate.
const FEWEST_ABOVE: f64 = 5.0;

/// Ends of the classic histogram of latencies: powers of two up to about a second.
pub const BUCKETS_MS: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/// Where the curve of a distribution is read: evenly up to the median, then ever closer to one.
const CURVE: [f64; 28] = [
    0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925,
    0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995,
];

/// Latencies of one kind of transaction in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub kind: String,
    pub span: Span,
    pub count: u64,
    pub mean_us: Estimate,
    /// Of [`QUANTILES`], those that have a transaction above them.
    pub quantiles: Vec<Quantile>,
    /// A plain reading: the longest of all.
    pub max_us: u64,
    /// The distribution, for drawing; plain readings.
    pub curve: Vec<CurvePoint>,
    /// How many took less than each of [`BUCKETS_MS`] and not less than the one before, and last how many took longer.
    #[serde(default)]
    pub buckets: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    pub quantile: f64,
    pub value_us: Estimate,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    pub quantile: f64,
    pub value_us: u64,
}

/// How often each value was seen: ascending, only counts that are not zero.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Counts(Vec<(u64, u64)>);

impl Counts {
    /// Sorts and merges equal values.
    pub fn of(pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut sorted: Vec<(u64, u64)> = pairs.into_iter().filter(|&(_, count)| count > 0).collect();
        sorted.sort_unstable();
        sorted.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        Self(sorted)
    }

    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        Self::of(parts.into_iter().flat_map(|part| part.0.iter().copied()))
    }

    pub fn total(&self) -> u64 {
        self.0.iter().map(|&(_, count)| count).sum()
    }

    pub fn longest(&self) -> Option<u64> {
        self.0.last().map(|&(value, _)| value)
    }

    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.0.iter().map(|&(value, count)| value as f64 * count as f64).sum();
        (!self.0.is_empty()).then(|| sum / self.total() as f64)
    }

    /// The smallest value that at least this share of all is at or below.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let needed = quantile * self.total() as f64;
        let mut seen = 0;
        self.0.iter().find_map(|&(value, count)| {
            seen += count;
            (seen as f64 >= needed).then_some(value)
        })
    }
}

/// All of one kind and span in the measured window of one trial. What had not ended in it has a response, too.
pub fn measured_counts(measured: &Measured, kind: u16, span: Span) -> Counts {
    let parts = measured.intervals.iter().filter(|interval| interval.measured).flat_map(|interval| &interval.kinds);
    counts_of_kind(parts, kind, span)
}

/// The same of any parts.
pub fn counts_of_kind<'a>(parts: impl Iterator<Item = &'a KindInterval>, kind: u16, span: Span) -> Counts {
    let belongs = |own: Span| own == span || (span, own) == (Span::Response, Span::Unended);
    let parts = parts.filter(|part| part.kind == kind && belongs(part.span));
    Counts::of(parts.flat_map(|part| part.counts.iter().map(|&(value, count)| (value, u64::from(count)))))
}

/// The latencies of one kind and span over the blocks of a cell; `None` if there were none at all.
pub fn of_blocks(kind: &str, span: Span, blocks: &[Counts], seed: u64) -> Option<Latency> {
    // Sorted, so that the order in which blocks happened to be listed cannot matter.
    let mut blocks: Vec<Counts> = blocks.iter().filter(|block| block.total() > 0).cloned().collect();
    blocks.sort_unstable();
    let all = Counts::merged(&blocks);
    let resampling = Resampling::new(&all, &blocks);
    let quantile = |&quantile: &f64| {
        let is_there = above(&all, quantile) >= 1.0;
        let value_us = quantile_of(&all, blocks.len(), &resampling, quantile, seed)?;
        is_there.then_some(Quantile { quantile, value_us })
    };
    Some(Latency {
        kind: kind.to_owned(),
        span,
        count: all.total(),
        mean_us: mean(&all, &blocks, seed)?,
        quantiles: QUANTILES.iter().filter_map(quantile).collect(),
        max_us: all.longest()?,
        curve: curve(&all),
        buckets: buckets(&all),
    })
}

/// One percentile of the added-up histograms of blocks; `None` if they are empty.
pub fn quantile_of_blocks(blocks: &[Counts], quantile: f64, seed: u64) -> Option<Estimate> {
    let mut blocks: Vec<Counts> = blocks.iter().filter(|block| block.total() > 0).cloned().collect();
    blocks.sort_unstable();
    let all = Counts::merged(&blocks);
    quantile_of(&all, blocks.len(), &Resampling::new(&all, &blocks), quantile, seed)
}

fn quantile_of(all: &Counts, blocks: usize, resampling: &Resampling, quantile: f64, seed: u64) -> Option<Estimate> {
    let bounds = if is_resolved(all, quantile) {
        bootstrap::bounds(blocks, seed, |drawn| resampling.quantile(drawn, quantile))
    } else {
        Bounds::Unknown { why: format!("fewer than {FEWEST_ABOVE} transactions lie above it") }
    };
    let method = "of all trials' histograms added up; BCa bootstrap over blocks".to_owned();
    Some(Estimate { point: all.quantile(quantile)? as f64, bounds, method })
}

/// How many transactions lie above a quantile. With less than one it is only another name for the longest.
fn above(all: &Counts, quantile: f64) -> f64 {
    // Rounded, since one minus a quantile is not exact: of a thousand, one lies above 0.999.
    (all.total() as f64 * (1.0 - quantile) * 1e6).round() / 1e6
}

/// Whether enough lies above a quantile for it to be more than one accident's latency.
pub fn is_resolved(all: &Counts, quantile: f64) -> bool {
    above(all, quantile) >= FEWEST_ABOVE
}

/// The distribution read at fixed shares, as far as enough transactions lie above.
fn curve(all: &Counts) -> Vec<CurvePoint> {
    let resolved = CURVE.into_iter().filter(|quantile| above(all, *quantile) >= 1.0);
    resolved.filter_map(|quantile| Some(CurvePoint { quantile, value_us: all.quantile(quantile)? })).collect()
}

/// Recorded values stand for ranges of which they are the highest. The ends of buckets are ends of such ranges, so nothing
/// is counted on the wrong side.
fn buckets(all: &Counts) -> Vec<u64> {
    let mut buckets = vec![0; BUCKETS_MS.len() + 1];
    for &(value_us, count) in &all.0 {
        let bucket = BUCKETS_MS.iter().position(|end_ms| value_us < end_ms * 1_000).unwrap_or(BUCKETS_MS.len());
        buckets[bucket] += count;
    }
    buckets
}

fn mean(all: &Counts, blocks: &[Counts], seed: u64) -> Option<Estimate> {
    let sums: Vec<(f64, f64)> =
        blocks.iter().map(|block| (block.mean().unwrap_or(0.0) * block.total() as f64, block.total() as f64)).collect();
    let bounds = bootstrap::bounds(blocks.len(), seed, |drawn| {
        let (sum, count) =
            drawn.iter().fold((0.0, 0.0), |(sum, count), &block| (sum + sums[block].0, count + sums[block].1));
        sum / count
    });
    let method = "of all transactions; BCa bootstrap over blocks".to_owned();
    Some(Estimate { point: all.mean()?, bounds, method })
}

/// Cumulative counts of each block on the values of all, so that a quantile of any draw is found by bisection.
pub struct Resampling {
    values: Vec<u64>,
    /// For each block, how many lie at or below each value.
    cumulative: Vec<Vec<u64>>,
}

impl Resampling {
    /// `all` must be the sum of the blocks.
    pub fn new<'a>(all: &Counts, blocks: impl IntoIterator<Item = &'a Counts>) -> Self {
        let values: Vec<u64> = all.0.iter().map(|&(value, _)| value).collect();
        let cumulative = blocks.into_iter().map(|block| {
            let mut pairs = block.0.iter().peekable();
            let mut seen = 0;
            let at_or_below = |value: &u64| {
                while let Some((_, count)) = pairs.next_if(|pair| pair.0 <= *value) {
                    seen += count;
                }
                seen
            };
            values.iter().map(at_or_below).collect()
        });
        let cumulative = cumulative.collect();
        Self { values, cumulative }
    }

    /// The quantile of the blocks drawn, each as often as it was.
    pub fn quantile(&self, drawn: &[usize], quantile: f64) -> f64 {
        let at_or_below = |index: usize| drawn.iter().map(|&block| self.cumulative[block][index]).sum::<u64>() as f64;
        let last = self.values.len() - 1;
        let needed = quantile * at_or_below(last);
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = usize::midpoint(low, high);
            if at_or_below(middle) >= needed {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        self.values[low] as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use record::intervals::{LATENCY_MAX_US, SIGNIFICANT_DIGITS};

    fn counts(values: &[u64]) -> Counts {
        Counts::of(values.iter().map(|&value| (value, 1)))
    }

    /// `numpy.quantile(d, [0.5, 0.9, 0.95, 0.99], method="inverted_cdf")` and `numpy.mean(d)`, numpy 2.4.6.
    #[test]
    fn percentiles_are_those_of_numpy() {
        let counts = counts(&[120, 130, 130, 150, 180, 200, 210, 250, 400, 900]);
        let found = [0.5, 0.9, 0.95, 0.99].map(|quantile| counts.quantile(quantile).unwrap());
        assert_eq!(found, [180, 400, 900, 900]);
        assert_eq!(counts.mean(), Some(267.0));
        assert_eq!(Counts::default().quantile(0.5), None);
    }

    #[test]
    fn buckets_end_before_powers_of_two() {
        let counts = Counts::of([(1, 5), (999, 1), (1_000, 2), (1_999, 3), (2_000, 4), (1_023_999, 7), (1_024_000, 6)]);
        assert_eq!(buckets(&counts), [6, 5, 4, 0, 0, 0, 0, 0, 0, 0, 7, 6]);
    }

    /// Every value that a histogram can hold lies on the same side of each end as what it was recorded from.
    #[test]
    fn no_range_of_recorded_values_holds_the_end_of_a_bucket() {
        let mut histogram =
            hdrhistogram::Histogram::<u64>::new_with_bounds(1, LATENCY_MAX_US, SIGNIFICANT_DIGITS).unwrap();
        for end in BUCKETS_MS {
            histogram.record(end * 1_000 - 1).unwrap();
            histogram.record(end * 1_000).unwrap();
        }
        let recorded = histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
        assert_eq!(buckets(&Counts::of(recorded)), [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1]);
    }

    #[test]
    fn a_percentile_with_nothing_above_it_has_no_interval() {
        let blocks = vec![counts(&(1..=100).collect::<Vec<_>>()); 4];
        let latency = of_blocks("a", Span::Response, &blocks, 1).unwrap();
        let known = |index: usize| latency.quantiles[index].value_us.bounds.known();
        assert_eq!(known(0), Some((50.0, 50.0)));
        assert_eq!(known(3), None, "four of four hundred lie above the 99th percentile");
        assert_eq!(latency.quantiles.len(), 4, "none lies above the 99.9th");
        assert_eq!(latency.count, 400);
    }

    /// Three blocks whose medians are 10, 20 and 30 and that do not overlap. Of the 27 draws one is all the first and
    /// one all the last block, 3.7 % each, so the interval of the median runs from 10 to 30.
    #[test]
    fn blocks_are_drawn_whole() {
        let blocks = [counts(&[10; 9]), counts(&[20; 9]), counts(&[30; 9])];
        let latency = of_blocks("a", Span::Service, &blocks, 1).unwrap();
        assert_eq!(latency.quantiles[0].value_us.point.to_bits(), 20.0_f64.to_bits());
        assert_eq!(latency.quantiles[0].value_us.bounds.known(), Some((10.0, 30.0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn merging_parts_equals_the_whole(parts in vec(vec(1..500_u64, 0..40), 1..5)) {
            let whole = counts(&parts.concat());
            let parts: Vec<Counts> = parts.iter().map(|part| counts(part)).collect();
            prop_assert_eq!(Counts::merged(&parts), whole);
        }

        #[test]
        fn quantiles_are_those_of_hdrhistogram(values in vec(1..2000_u64, 1..200), share in 0.0..1.0_f64) {
            let mut histogram = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 4000, 4).unwrap();
            for &value in &values {
                histogram.record(value).unwrap();
            }
            prop_assert_eq!(counts(&values).quantile(share), Some(histogram.value_at_quantile(share)));
        }

        #[test]
        fn the_order_of_blocks_does_not_matter(mut blocks in vec(vec(1..90_u64, 1..30), 3..6), seed: u64) {
            let forward: Vec<Counts> = blocks.iter().map(|block| counts(block)).collect();
            blocks.rotate_left(1);
            let rotated: Vec<Counts> = blocks.iter().map(|block| counts(block)).collect();
            let of = |blocks: &[Counts]| of_blocks("a", Span::Response, blocks, seed);
            prop_assert_eq!(of(&forward), of(&rotated));
        }

        #[test]
        fn a_draw_of_every_block_once_is_the_whole(blocks in vec(vec(1..90_u64, 1..30), 1..6), share in 0.01..1.0_f64) {
            let blocks: Vec<Counts> = blocks.iter().map(|block| counts(block)).collect();
            let all = Counts::merged(&blocks);
            let drawn: Vec<usize> = (0..blocks.len()).collect();
            let resampled = Resampling::new(&all, &blocks).quantile(&drawn, share);
            prop_assert_eq!(resampled.to_bits(), (all.quantile(share).unwrap() as f64).to_bits());
        }
    }
}

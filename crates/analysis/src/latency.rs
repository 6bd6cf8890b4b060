//! Latencies: counts from a histogram, their percentiles, and the distribution of a cell.
//!
//! A percentile belongs to one trial and is read from its histogram ([`crate::measures::latency`]). A cell's is the geometric
//! mean over its trials, as with throughput, so the ratio of two contenders' percentiles is the mean ratio of their blocks.
//! If histograms were added up instead, fast trials would weigh more, since they do more. Sums are only for drawing.

use record::intervals::{KindInterval, Measured, Span};
use serde::{Deserialize, Serialize};

/// The percentiles that are reported.
pub const QUANTILES: [f64; 5] = [0.50, 0.90, 0.95, 0.99, 0.999];

/// With fewer transactions above a percentile, it is the latency of one accident rather than an estimate.
const FEWEST_ABOVE: f64 = 5.0;

/// Upper ends of the classic latency histogram: powers of two up to about a second.
pub const BUCKETS_MS: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/// The quantiles at which a distribution's curve is read: evenly up to the median, then ever closer to one.
const CURVE: [f64; 28] = [
    0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925,
    0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995,
];

/// All latencies of one kind of transaction in one cell, summed over its trials; only for drawing and counting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub kind: String,
    pub span: Span,
    pub count: u64,
    /// The longest latency.
    pub max_us: u64,
    pub curve: Vec<CurvePoint>,
    /// How many took less than each of [`BUCKETS_MS`] but not less than the one before; the last entry is how many took longer.
    pub buckets: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    pub quantile: f64,
    pub value_us: u64,
}

/// How often each value was seen: sorted by value, without zero counts.
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

    /// Standard deviation.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let sum: f64 = self.0.iter().map(|&(value, count)| (value as f64 - mean).powi(2) * count as f64).sum();
        Some((sum / self.total() as f64).sqrt())
    }

    /// The number of values above a limit.
    pub fn count_above(&self, limit: u64) -> u64 {
        self.0.iter().filter(|&&(value, _)| value > limit).map(|&(_, count)| count).sum()
    }

    /// The smallest value that at least this share of all values does not exceed.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let needed = quantile * self.total() as f64;
        let mut seen = 0;
        self.0.iter().find_map(|&(value, count)| {
            seen += count;
            (seen as f64 >= needed).then_some(value)
        })
    }
}

/// All values of one kind and span in the measured window of one trial. Unended transactions count as responses, too.
pub fn measured_counts(measured: &Measured, kind: u16, span: Span) -> Counts {
    let parts = measured.intervals.iter().filter(|interval| interval.measured).flat_map(|interval| &interval.kinds);
    counts_of_kind(parts, kind, span)
}

/// The same for any parts.
pub fn counts_of_kind<'a>(parts: impl Iterator<Item = &'a KindInterval>, kind: u16, span: Span) -> Counts {
    of_parts(parts.filter(|part| part.kind == kind), span)
}

/// The same for all kinds that have a part.
pub fn of_parts<'a>(parts: impl Iterator<Item = &'a KindInterval>, span: Span) -> Counts {
    let belongs = |own: Span| own == span || (span, own) == (Span::Response, Span::Unended);
    let parts = parts.filter(|part| belongs(part.span));
    Counts::of(parts.flat_map(|part| part.counts.iter().map(|&(value, count)| (value, u64::from(count)))))
}

/// The latencies of one kind and span over the trials of a cell; `None` if there were none.
pub fn of_trials(kind: &str, span: Span, trials: &[Counts]) -> Option<Latency> {
    let all = Counts::merged(trials);
    let max_us = all.longest()?;
    Some(Latency {
        kind: kind.to_owned(),
        span,
        count: all.total(),
        max_us,
        curve: curve(&all),
        buckets: buckets(&all),
    })
}

/// How many transactions lie above a quantile. With less than one, the quantile is just the longest latency.
pub fn above(all: &Counts, quantile: f64) -> f64 {
    // Rounded, since one minus a quantile is not exact: of a thousand, one lies above 0.999.
    (all.total() as f64 * (1.0 - quantile) * 1e6).round() / 1e6
}

/// True if enough transactions lie above a quantile to make it more than the latency of one accident.
pub fn is_resolved(all: &Counts, quantile: f64) -> bool {
    above(all, quantile) >= FEWEST_ABOVE
}

/// The distribution at fixed quantiles, as far as at least one transaction lies above.
fn curve(all: &Counts) -> Vec<CurvePoint> {
    let resolved = CURVE.into_iter().filter(|quantile| above(all, *quantile) >= 1.0);
    resolved.filter_map(|quantile| Some(CurvePoint { quantile, value_us: all.quantile(quantile)? })).collect()
}

/// A recorded value is the highest of the range it stands for. The ends of buckets are ends of such ranges, so nothing
/// is counted on the wrong side.
fn buckets(all: &Counts) -> Vec<u64> {
    let mut buckets = vec![0; BUCKETS_MS.len() + 1];
    for &(value_us, count) in &all.0 {
        let bucket = BUCKETS_MS.iter().position(|end_ms| value_us < end_ms * 1_000).unwrap_or(BUCKETS_MS.len());
        buckets[bucket] += count;
    }
    buckets
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use record::intervals::{LATENCY_MAX_US, SIGNIFICANT_DIGITS};
    use record::run::Run;
    use record::synthetic;

    /// A made-up run whose trials differ much in speed. The fast ones did more, so they weigh more in sums.
    pub fn uneven(blocks: u32) -> Run {
        let mut run = synthetic::run(blocks);
        for trial in &mut run.trials {
            let slower = 1 + trial.record.id * 7 % 5;
            let intervals = trial.measured.iter_mut().flat_map(|measured| &mut measured.intervals);
            for (value_us, count) in
                intervals.flat_map(|interval| &mut interval.kinds).flat_map(|part| &mut part.counts)
            {
                *value_us *= u64::from(slower * slower);
                *count = count.div_ceil(slower);
            }
        }
        run
    }

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

    /// Every value that a histogram can hold lies on the same side of each end as the value it was recorded from.
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
    }
}

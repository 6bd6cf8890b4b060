//! How long transactions took: the mean and percentiles of each kind, from the histograms of a trial's measured window.

use super::{Better, Measure, MeasureReading, Scale, Unit};
use crate::latency::{self, Counts, QUANTILES};
use crate::missing::Missing;
use record::intervals::Span;
use record::run::StoredTrial;

/// A histogram with three significant digits divides each doubling of the time into so many buckets, of 1 µs or more.
const FINEST_BUCKETS: f64 = 1024.0;

const SPANS: [Span; 2] = [Span::Response, Span::Service];

/// "response.p99/new-order".
pub fn percentile(span: Span, quantile: f64, kind: &str) -> String {
    let percent = format!("{:.3}", quantile * 100.0);
    format!("{}.p{}/{kind}", name(span), percent.trim_end_matches('0').trim_end_matches('.'))
}

/// "response.mean/new-order".
pub fn mean(span: Span, kind: &str) -> String {
    format!("{}.mean/{kind}", name(span))
}

/// By how much rounding alone scatters the logarithm of a value, as a standard deviation: a percentile is the end of a bucket
/// of a histogram, and may lie anywhere in it. 0 for measures that are not rounded.
pub fn rounding(measure: &str, value_us: f64) -> f64 {
    let is_percentile =
        SPANS.into_iter().any(|span| measure.strip_prefix(name(span)).is_some_and(|rest| rest.starts_with(".p")));
    if !is_percentile || value_us <= 0.0 {
        return 0.0;
    }
    let bucket_us = (value_us / FINEST_BUCKETS).log2().floor().exp2().max(1.0);
    bucket_us / value_us / 12.0_f64.sqrt()
}

fn name(span: Span) -> &'static str {
    if span == Span::Service { "service" } else { "response" }
}

pub fn readings(trial: &StoredTrial) -> Vec<MeasureReading> {
    let Some(measured) = &trial.measured else { return Vec::new() };
    let kinds = || (0..).zip(&measured.kinds);
    let of_kind = |(number, kind): (u16, &String)| {
        let counts = SPANS.map(|span| (span, latency::measured_counts(measured, number, span)));
        counts.into_iter().flat_map(|(span, counts)| of_counts(span, kind, &counts)).collect::<Vec<_>>()
    };
    kinds().flat_map(of_kind).collect()
}

fn of_counts(span: Span, kind: &str, counts: &Counts) -> Vec<MeasureReading> {
    let Some(mean_us) = counts.mean() else { return Vec::new() };
    let reading = |id: String, value: Result<f64, Missing>| {
        let measure = Measure { id, unit: Unit::Microseconds, better: Better::Less, scale: Scale::Ratio };
        MeasureReading { measure, value, n: Some(counts.total()) }
    };
    let of_quantile = |quantile: f64| {
        let value = counts.quantile(quantile).filter(|_| latency::above(counts, quantile) >= 1.0);
        reading(percentile(span, quantile, kind), value.map(|value_us| value_us as f64).ok_or(Missing::NoneLonger))
    };
    std::iter::once(reading(mean(span, kind), Ok(mean_us))).chain(QUANTILES.map(of_quantile)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;

    /// A bucket's values are as far apart as a uniform distribution over it says.
    #[test]
    fn rounding_is_that_of_the_buckets() {
        let histogram =
            Histogram::<u32>::new_with_bounds(1, 60_000_000, record::intervals::SIGNIFICANT_DIGITS).unwrap();
        for value_us in [1, 50, 1_023, 1_024, 2_047, 2_048, 4_095, 70_000, 1_341_439] {
            let width = histogram.highest_equivalent(value_us) - histogram.lowest_equivalent(value_us) + 1;
            let expected = width as f64 / value_us as f64 / 12.0_f64.sqrt();
            let found = rounding("response.p99/new-order", value_us as f64);
            assert!((found - expected).abs() < 1e-15, "{value_us}: {found}, not {expected}");
        }
        assert!(["response.mean/new-order", "throughput", "service"].iter().all(|name| rounding(name, 50.0) == 0.0));
    }
}

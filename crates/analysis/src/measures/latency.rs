//! How long transactions took: the mean and percentiles of each kind, from the histograms of a trial's measured window.

use super::{Better, Measure, Reading, Scale, Unit};
use crate::latency::{self, Counts, QUANTILES};
use crate::missing::Missing;
use record::intervals::Span;
use record::run::StoredTrial;

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

fn name(span: Span) -> &'static str {
    if span == Span::Service { "service" } else { "response" }
}

pub fn readings(trial: &StoredTrial) -> Vec<Reading> {
    let Some(measured) = &trial.measured else { return Vec::new() };
    let kinds = || (0..).zip(&measured.kinds);
    let of_kind = |(number, kind): (u16, &String)| {
        let counts = SPANS.map(|span| (span, latency::measured_counts(measured, number, span)));
        counts.into_iter().flat_map(|(span, counts)| of_counts(span, kind, &counts)).collect::<Vec<_>>()
    };
    kinds().flat_map(of_kind).collect()
}

fn of_counts(span: Span, kind: &str, counts: &Counts) -> Vec<Reading> {
    let Some(mean_us) = counts.mean() else { return Vec::new() };
    let reading = |id: String, value: Result<f64, Missing>| {
        let measure = Measure { id, unit: Unit::Microseconds, better: Better::Less, scale: Scale::Ratio };
        Reading { measure, value, n: Some(counts.total()) }
    };
    let of_quantile = |quantile: f64| {
        let value = counts.quantile(quantile).filter(|_| latency::above(counts, quantile) >= 1.0);
        reading(percentile(span, quantile, kind), value.map(|value_us| value_us as f64).ok_or(Missing::NoneLonger))
    };
    std::iter::once(reading(mean(span, kind), Ok(mean_us))).chain(QUANTILES.map(of_quantile)).collect()
}

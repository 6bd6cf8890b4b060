//! How throughput varied from second to second, and how many transactions took very long.
//!
//! Two databases of equal throughput are not equal if one of them stops for a second now and then.

use super::{Better, Measure, MeasureReading, Scale, Unit};
use crate::cycle;
use crate::latency::Counts;
use crate::missing::Missing;
use crate::{student, throughput};
use record::intervals::Span;
use record::run::StoredTrial;

/// The bands of one-second throughput: each is a share of the trial's median second.
pub const BANDS: [f64; 4] = [0.01, 0.05, 0.95, 0.99];

pub const CV: &str = "variability.cv";
pub const LONGEST_LOW: &str = "variability.longest_low";
pub const ZERO_SECONDS: &str = "variability.zero_seconds";
pub const SLOW: &str = "variability.slow";
pub const SLOW_SHARE: &str = "variability.slow_share";
pub const CYCLE: &str = "variability.cycle";

/// A second is low if its throughput is below this share of the median.
const LOW: f64 = 0.5;

/// A transaction is slow if its response took longer.
const SLOW_US: u64 = 1_000_000;

/// Shares of the median are kept in millionths, as whole numbers, so that they can be counted.
const MILLIONTHS: f64 = 1e6;

/// "variability.p5": the fifth percentile of the seconds, over their median.
pub fn band(quantile: f64) -> String {
    format!("variability.p{:.0}", quantile * 100.0)
}

pub fn readings(trial: &StoredTrial) -> Vec<MeasureReading> {
    let seconds = throughput::measured_seconds(trial);
    let Some(median) = median(&seconds) else { return Vec::new() };
    let count = seconds.len() as u64;
    let low = longest_run(&seconds, |rate| rate < LOW * median) as f64;
    let zero = seconds.iter().filter(|rate| **rate <= 0.0).count() as f64;
    let (transactions, slow) = slow(trial);
    let slow_share = (transactions > 0).then(|| slow as f64 / transactions as f64);
    let figures = [
        (CV, Unit::Share, Scale::Ratio, student::variation(&seconds), count),
        (LONGEST_LOW, Unit::Seconds, Scale::Difference, Some(low), count),
        (ZERO_SECONDS, Unit::Seconds, Scale::Difference, Some(zero), count),
        (SLOW, Unit::Count, Scale::Difference, Some(slow as f64), transactions),
        (SLOW_SHARE, Unit::Share, Scale::Proportion, slow_share, transactions),
    ];
    let reading = |(id, unit, scale, value, n): (&str, Unit, Scale, Option<f64>, u64)| {
        Some(MeasureReading::new(id, unit, Better::Less, scale, value?).of(n))
    };
    let bands = if median > 0.0 { bands(&seconds, median) } else { Vec::new() };
    figures.into_iter().filter_map(reading).chain(bands).chain(period(&seconds)).collect()
}

/// The period of a cycle; `None` if the window is too short to look for one.
fn period(seconds: &[f64]) -> Option<MeasureReading> {
    let value = (seconds.len() >= cycle::FEWEST_SECONDS).then(|| cycle::period_s(seconds).ok_or(Missing::NoCycle))?;
    let measure = Measure { id: CYCLE.to_owned(), unit: Unit::Seconds, better: Better::Neither, scale: Scale::Ratio };
    Some(MeasureReading { measure, value, n: Some(seconds.len() as u64) })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Neither negative nor too large to fit.
fn bands(seconds: &[f64], median: f64) -> Vec<MeasureReading> {
    let shares = Counts::of(seconds.iter().map(|rate| ((rate / median * MILLIONTHS).round() as u64, 1)));
    let of_band = |quantile: f64| {
        let better = if quantile < 0.5 { Better::More } else { Better::Less };
        let measure = Measure { id: band(quantile), unit: Unit::Share, better, scale: Scale::Difference };
        let value = shares.quantile(quantile).filter(|_| beyond(shares.total(), quantile) >= 1.0);
        let value = value.map(|share| share as f64 / MILLIONTHS).ok_or(Missing::TooFewSeconds);
        MeasureReading { measure, value, n: Some(shares.total()) }
    };
    BANDS.into_iter().map(of_band).collect()
}

/// How many seconds lie beyond a band, on the side away from the median.
fn beyond(seconds: u64, quantile: f64) -> f64 {
    // Rounded, since one minus a quantile is not exact.
    (seconds as f64 * quantile.min(1.0 - quantile) * 1e6).round() / 1e6
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len().is_multiple_of(2) { upper.midpoint(sorted[sorted.len() / 2 - 1]) } else { upper })
}

/// The length of the longest run of values for which the predicate holds.
fn longest_run(values: &[f64], is: impl Fn(f64) -> bool) -> usize {
    values.split(|value| !is(*value)).map(<[f64]>::len).max().unwrap_or(0)
}

/// How many transactions of all kinds finished in the measured window, and how many of them were slow.
fn slow(trial: &StoredTrial) -> (u64, u64) {
    let counts = trial.transactions().filter(|part| part.span == Span::Response).flat_map(|part| &part.counts);
    counts.fold((0, 0), |(all, slow), &(value_us, count)| {
        let count = u64::from(count);
        (all + count, slow + if value_us > SLOW_US { count } else { 0 })
    })
}

#[cfg(test)]
mod tests;

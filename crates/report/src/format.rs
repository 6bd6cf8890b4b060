//! Numbers as text: digits that mean something, thousands set apart, intervals beside their points.

use analysis::estimate::{Bounds, Estimate};

/// Digits that a throughput is shown with; its interval is never narrower than the last of them.
const SIGNIFICANT_DIGITS: i32 = 4;

/// A number with four significant digits and thousands set apart: `5,282`, `52.82`, `0.5282`.
pub fn quantity(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "–".to_owned() };
    }
    #[allow(clippy::cast_possible_truncation)] // The logarithm of a finite number lies within ±308.
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from(SIGNIFICANT_DIGITS - 1 - magnitude).unwrap_or(0);
    decimal(value, decimals)
}

/// A number with this many decimals and thousands set apart.
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), ""), |parts| parts);
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(digits))
}

pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A ratio: `0.853`, with fewer decimals if it is large and more if it is small.
pub fn ratio(value: f64) -> String {
    let decimals = match value {
        _ if value >= 10.0 => 1,
        _ if value >= 0.1 => 3,
        _ => 4,
    };
    decimal(value, decimals)
}

/// Microseconds as milliseconds with this many decimals.
pub fn milliseconds(value_us: f64, decimals: usize) -> String {
    decimal(value_us / 1000.0, decimals)
}

/// Decimals for a table of latencies in milliseconds, so that its smallest keeps two digits and all align.
pub fn latency_decimals(values_us: impl Iterator<Item = f64>) -> usize {
    let smallest = values_us.fold(f64::INFINITY, f64::min);
    match smallest {
        _ if smallest < 100.0 => 3,
        _ if smallest < 10_000.0 => 2,
        _ => 1,
    }
}

/// A quantile as people say it: `p50`, `p99.9`.
pub fn percentile(quantile: f64) -> String {
    let text = format!("{:.3}", quantile * 100.0);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Milliseconds of wall-clock time: `350 ms`, `32.1 s`, `12 min 5 s`.
pub fn span(length_ms: u64) -> String {
    match length_ms {
        0..1000 => format!("{length_ms} ms"),
        1000..120_000 => format!("{:.1} s", length_ms as f64 / 1000.0),
        _ => format!("{} min {} s", length_ms / 60_000, length_ms % 60_000 / 1000),
    }
}

/// The two ends of an interval, or why there is none.
pub fn bounds(bounds: &Bounds, number: impl Fn(f64) -> String) -> String {
    match bounds {
        Bounds::Known { low, high } => format!("{} to {}", number(*low), number(*high)),
        Bounds::Unknown { why } => format!("no interval: {why}"),
    }
}

/// A whole estimate in one line: `0.853 (95 % interval 0.840 to 0.871)`.
pub fn estimate(estimate: &Estimate, number: impl Fn(f64) -> String) -> String {
    let interval = bounds(&estimate.bounds, &number);
    let name = if estimate.bounds.known().is_some() { "95 % interval " } else { "" };
    format!("{} ({name}{interval})", number(estimate.point))
}

/// Words as one list: `a`, `a and b`, `a, b and c`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_keep_four_digits() {
        let shown = [5_282.04, 52.82, 0.052_824, 1_234_567.8, 0.0, 9_999.96].map(quantity);
        assert_eq!(shown, ["5,282", "52.82", "0.05282", "1,234,568", "0", "10,000"]);
    }

    #[test]
    fn ratios_keep_three_digits_or_four() {
        assert_eq!([0.042_2, 0.853_24, 1.9, 33.526].map(ratio), ["0.0422", "0.853", "1.900", "33.5"]);
    }

    #[test]
    fn numbers_are_grouped_and_signed() {
        assert_eq!(decimal(-1234.5, 1), "-1,234.5");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn percentiles_have_no_idle_zeros() {
        assert_eq!([0.5, 0.99, 0.999, 0.9995].map(percentile), ["p50", "p99", "p99.9", "p99.95"]);
    }

    #[test]
    fn spans_are_told_in_a_fitting_unit() {
        assert_eq!([350, 32_050, 725_000].map(span), ["350 ms", "32.0 s", "12 min 5 s"]);
    }

    #[test]
    fn a_missing_interval_says_why() {
        let bounds = Bounds::Unknown { why: "too few trials".to_owned() };
        let estimate = Estimate { point: 0.8531, bounds, method: String::new() };
        assert_eq!(super::estimate(&estimate, ratio), "0.853 (no interval: too few trials)");
    }

    #[test]
    fn lists_read_as_sentences() {
        let words = |count: usize| ["a", "b", "c"].map(str::to_owned)[..count].to_vec();
        assert_eq!([0, 1, 2, 3].map(|count| listed(&words(count))), ["", "a", "a and b", "a, b and c"]);
    }
}

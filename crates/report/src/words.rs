//! Numbers within sentences: three digits, with the interval after the point value.

use analysis::estimate::Estimate;

const DIGITS: i32 = 3;

/// A number with at most three significant digits: `2.1`, `0.312`, `1240`.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    #[allow(clippy::cast_possible_truncation)] // The logarithm of a finite number lies within ±308.
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from(DIGITS - 1 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// A share in percent: `38`, `2.4`, `0.03`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

/// `2.1 ms (1.9 to 2.3)`.
pub fn with_unit(estimate: &Estimate, number: impl Fn(f64) -> String, unit: &str) -> String {
    format!("{} {unit}{}", number(estimate.point), interval(estimate, number))
}

/// `2.1 (1.9 to 2.3)`.
pub fn with_interval(estimate: &Estimate, number: impl Fn(f64) -> String) -> String {
    format!("{}{}", number(estimate.point), interval(estimate, number))
}

/// ` (1.9 to 2.3)`, or empty.
pub fn interval(estimate: &Estimate, number: impl Fn(f64) -> String) -> String {
    estimate.bounds.known().map_or_else(String::new, |(low, high)| format!(" ({} to {})", number(low), number(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [2.1, 0.312_4, 1_240.4, 30.0, 0.0, 99.96].map(number);
        assert_eq!(shown, ["2.1", "0.312", "1240", "30", "0", "100"]);
        assert_eq!([0.381, 0.024, 0.0003].map(percent), ["38", "2.4", "0.0"]);
    }
}

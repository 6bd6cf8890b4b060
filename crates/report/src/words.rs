//! Numbers within sentences: three digits, with the interval after the point value.

use crate::format::{DIGITS, decimal, short, significant};
use analysis::estimate::Estimate;

/// A number with at most three significant digits: `2.1`, `0.312`, `1,240`.
pub fn number(value: f64) -> String {
    short(&significant(value, DIGITS)).to_owned()
}

/// A share in percent: `38`, `2.4`, `0.03`, and `0` for less than a hundred-thousandth.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        ..0.001 => "0".to_owned(),
        ..0.1 => significant(percent, 1),
        ..10.0 => decimal(percent, 1),
        _ => decimal(percent, 0),
    }
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
        let shown = [2.1, 0.312_4, 114_211.0, 30.0, 0.0, 99.96].map(number);
        assert_eq!(shown, ["2.1", "0.312", "114,000", "30", "0", "100"]);
        assert_eq!([0.381, 0.024, 0.0003, 0.0].map(percent), ["38", "2.4", "0.03", "0"]);
    }
}

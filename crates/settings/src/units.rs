//! Sizes, spans of time, rates and shares, as people write them.
//!
//! Decimal and binary units differ ("GB" is not "GiB"), and a unit that could mean either ("2G") is refused.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A size, normalised. Serialises as a whole number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A span of time, normalised. Serialises as a whole number of milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimeSpan(pub u64);

/// An amount per second. Serialises as a number.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub f64);

/// A part of a whole. Serialises as a number: 0.01 is one per cent.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(pub f64);

/// Units of size in bytes. Largest first, binary before decimal: the first that divides a size evenly is displayed.
const SIZE_UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// Units of time in milliseconds, largest first.
const SPAN_UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Seconds in each unit of time that a rate may use.
const RATE_UNITS: [(&str, f64); 3] = [("s", 1.0), ("min", 60.0), ("h", 3_600.0)];

/// Hundredths in a whole.
const PER_CENT: f64 = 100.0;

/// Any number with this many digits fits a `u64`. A longer one is no size or span that anybody means.
const MOST_DIGITS: usize = 19;

/// Reads "2GiB", "512 MiB", "1.5GB" or "4096". Decimal and binary units are distinguished.
///
/// Fractions of a byte are dropped.
pub fn parse_size(text: &str) -> Option<Bytes> {
    let (number, unit) = split_unit(text);
    let scale = if unit.is_empty() { 1 } else { scale_of(unit, &SIZE_UNITS, str::eq_ignore_ascii_case)? };
    scaled(number, scale).map(Bytes)
}

/// Reads "30s", "2m", "1h", "500ms".
///
/// A number without a unit is refused, since it could mean seconds or milliseconds. Fractions of a millisecond are
/// dropped.
pub fn parse_span(text: &str) -> Option<TimeSpan> {
    let (number, unit) = split_unit(text);
    scaled(number, scale_of(unit, &SPAN_UNITS, str::eq)?).map(TimeSpan)
}

/// Reads "500/s", "0.5 / s", "30000/min", "1000/h".
///
/// A number without a unit is refused, as with spans.
pub fn parse_rate(text: &str) -> Option<Rate> {
    let (number, unit) = text.split_once('/')?;
    let (_, seconds) = RATE_UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    Some(Rate(plain_number(number.trim())? / seconds))
}

/// Reads "1%" and "0.5 %".
///
/// A number without the sign is refused, since 1 could mean all of it or a hundredth.
pub fn parse_share(text: &str) -> Option<Share> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    plain_number(number)?;
    // Dividing would be inexact: 0.7 / 100 is not 0.007, and a plan must be equal when it is read again.
    format!("{number}e-2").parse().ok().map(Share)
}

/// Digits with at most one point between them.
fn plain_number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse::<f64>().ok().filter(|_| plain)
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn scale_of(unit: &str, units: &[(&str, u64)], same: fn(&str, &str) -> bool) -> Option<u64> {
    units.iter().find(|(name, _)| same(name, unit)).map(|&(_, scale)| scale)
}

/// `number` (digits with at most one point) times `scale`, in whole units of the scale's base.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) || fraction.len() > MOST_DIGITS {
        return None;
    }
    let places = u32::try_from(fraction.len()).ok()?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let part = fraction.parse::<u64>().ok()?;
    let part = u128::from(part) * u128::from(scale) / 10_u128.pow(places);
    whole.checked_add(u64::try_from(part).ok()?)
}

/// Shows `value` in the largest unit that divides it evenly.
fn show(value: u64, units: &[(&str, u64)], smallest: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let fitting = units.iter().find(|(_, scale)| value != 0 && value.is_multiple_of(*scale));
    let &(unit, scale) = fitting.unwrap_or(&(smallest, 1));
    write!(formatter, "{} {unit}", value / scale)
}

/// Shown so that [`parse_size`] reads the same size again.
impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0, &SIZE_UNITS, "B", formatter)
    }
}

/// Shown so that [`parse_span`] reads the same span again.
impl fmt::Display for TimeSpan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0, &SPAN_UNITS, "s", formatter)
    }
}

/// Shown so that [`parse_rate`] reads the same rate again.
impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/s", self.0)
    }
}

/// In per cent, with enough digits for any share that people write.
impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.3}", self.0 * PER_CENT);
        write!(formatter, "{} %", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_in_every_unit() {
        let cases = [
            ("4096", 4096),
            ("2GiB", 2 << 30),
            ("512 MiB", 512 << 20),
            ("1.5GB", 1_500_000_000),
            ("1.5 GiB", 3 << 29),
            ("64kB", 64_000),
            ("64KB", 64_000),
            ("64KiB", 65_536),
            ("3TB", 3_000_000_000_000),
            ("1TiB", 1 << 40),
            (" 7 b ", 7),
            ("0.1KiB", 102),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Some(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn sizes_that_could_mean_two_things_are_refused() {
        for text in ["", "GiB", "2G", "2Gi", "-1GiB", "1.2.3MB", ".5GB", "5.GB", "1e3", "2 GiB x", "99999999999TiB"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn spans_are_read_in_every_unit() {
        let cases = [("30s", 30_000), ("2m", 120_000), ("1h", 3_600_000), ("500ms", 500), ("1.5s", 1_500), ("0s", 0)];
        for (text, milliseconds) in cases {
            assert_eq!(parse_span(text), Some(TimeSpan(milliseconds)), "{text}");
        }
    }

    #[test]
    fn spans_without_a_unit_or_with_another_are_refused() {
        for text in ["", "30", "30S", "30sec", "30 GiB", "-1s", "s", "99999999999999999h"] {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }

    #[test]
    fn rates_are_read_in_every_unit_and_only_with_one() {
        for (text, per_s) in [("500/s", 500.0), ("30000/min", 500.0), (" 1.5 / s ", 1.5), ("7200/h", 2.0), ("0/s", 0.0)]
        {
            assert_eq!(parse_rate(text), Some(Rate(per_s)), "{text}");
        }
        for text in ["", "500", "/s", "500/", "500/m", "500/S", "-5/s", "1e3/s", "inf/s", "5/s/s", "1.2.3/s"] {
            assert_eq!(parse_rate(text), None, "{text}");
        }
    }

    #[test]
    fn shares_are_read_in_per_cent_and_only_so() {
        for (text, share) in [("1%", 0.01), (" 0.5 % ", 0.005), ("100%", 1.0), ("0%", 0.0)] {
            assert_eq!(parse_share(text), Some(Share(share)), "{text}");
        }
        for text in ["", "%", "1", "0.01", "-1%", "1e1%", "nan%", "1 % of it", "1%%"] {
            assert_eq!(parse_share(text), None, "{text}");
        }
        assert_eq!(
            [0.01, 0.005, 0.123_45, 1.0].map(|share| Share(share).to_string()),
            ["1 %", "0.5 %", "12.345 %", "100 %"]
        );
    }

    proptest! {
        #[test]
        fn a_share_in_a_file_is_read_back(thousandths in 0..100_000_u32) {
            let share = parse_share(&format!("{}%", f64::from(thousandths) / 1_000.0)).unwrap();
            let written = serde_json::to_string(&share).unwrap();
            prop_assert_eq!(serde_json::from_str::<Share>(&written).unwrap(), share);
        }

        #[test]
        fn a_shown_rate_is_read_back(per_s in 0.0..1e7_f64) {
            prop_assert_eq!(parse_rate(&Rate(per_s).to_string()), Some(Rate(per_s)));
        }

        #[test]
        fn a_shown_size_is_read_back(bytes: u64, shift in 0..64_u32) {
            let size = Bytes(bytes >> shift << shift);
            prop_assert_eq!(parse_size(&size.to_string()), Some(size));
        }

        #[test]
        fn a_shown_span_is_read_back(milliseconds: u64, scale in prop::sample::select(vec![1, 1_000, 60_000, 3_600_000])) {
            let span = TimeSpan(milliseconds / scale * scale);
            prop_assert_eq!(parse_span(&span.to_string()), Some(span));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = (parse_size(&text), parse_span(&text), parse_rate(&text), parse_share(&text));
        }
    }
}

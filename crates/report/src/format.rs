//! Numbers as text: meaningful digits, grouped thousands, intervals beside their points.

use analysis::gathered::by_first;
pub use analysis::gathered::distinct;
use analysis::pairing::{Unusable, WhyUnusable};
use record::trial::Outcome;

/// Significant digits of a throughput. More would be noise: runs differ by more than one in a thousand.
const THROUGHPUT_DIGITS: i32 = 4;

/// Histograms keep three digits, and ratios are not known better than that.
const DIGITS: i32 = 3;

/// How a number is written, in the unit in which it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// See [`quantity`].
    Quantity,
    /// See [`ratio`].
    Ratio,
    Decimals(usize),
    /// A number as it is: a name, or a value that somebody chose.
    Plain,
    /// A whole number, followed by the total of which it is a part.
    Of,
    /// Three significant digits; nothing is known below a microsecond.
    Milliseconds,
    /// A ratio, shown as a change. See [`effect`].
    Effect,
    /// A number that may be so small that its power of ten matters.
    Scientific,
}

impl Digits {
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Quantity => quantity(value),
            Self::Decimals(decimals) => decimal(value, decimals),
            Self::Plain => value.to_string(),
            Self::Of => format!("{value:.0}"),
            Self::Milliseconds if value.abs() < 0.1 => decimal(value, 3),
            Self::Milliseconds => significant(value, DIGITS),
            Self::Effect => effect(value),
            Self::Scientific if value < 1e-12 => "0".to_owned(),
            Self::Scientific if value < 1e-3 => format!("{value:.2e}"),
            Self::Ratio | Self::Scientific => ratio(value),
        }
    }
}

/// The unit in which numbers are shown, and their digits.
#[derive(Debug, Clone, Copy)]
pub struct Style<'a> {
    pub unit: &'a str,
    pub digits: Digits,
    /// True if a positive number has a sign.
    pub signed: bool,
    /// Converts from the unit of the value to the unit that is shown.
    pub scale: fn(f64) -> f64,
}

impl<'a> Style<'a> {
    pub const RATIO: Style<'static> = Style::new("", Digits::Ratio);
    /// For whole numbers that are not names, with grouped thousands.
    pub const COUNT: Style<'static> = Style::new("", Digits::Decimals(0));
    /// For values in microseconds.
    pub const MILLISECONDS: Style<'static> =
        Style { scale: |us| us / 1000.0, ..Style::new("ms", Digits::Milliseconds) };
    /// For values that are shares.
    pub const PERCENT: Style<'static> = Style { scale: |share| share * 100.0, ..Style::new("%", Digits::Decimals(1)) };
    /// For a ratio that is shown as a change.
    pub const EFFECT: Style<'static> = Style::new("", Digits::Effect);
    /// For a change that is a share.
    pub const CHANGE: Style<'static> = Style { signed: true, ..Style::PERCENT };

    pub const fn new(unit: &'a str, digits: Digits) -> Self {
        Self { unit, digits, signed: false, scale: |value| value }
    }

    /// With four significant digits.
    pub const fn quantity(unit: &'a str) -> Self {
        Self::new(unit, Digits::Quantity)
    }

    pub fn text(&self, value: f64) -> String {
        let text = self.digits.text((self.scale)(value));
        let is_nothing = !text.contains(|letter: char| ('1'..='9').contains(&letter));
        match (self.signed, value > 0.0) {
            // A number that rounds to zero has no direction.
            (true, _) if is_nothing => text.replacen('-', "", 1),
            (true, true) => format!("+{text}"),
            (true, false) => text.replacen('-', "−", 1),
            (false, _) => text,
        }
    }
}

/// A throughput with four significant digits and grouped thousands: `5,282`, `52.82`, `56,100`.
pub fn quantity(value: f64) -> String {
    significant(value, THROUGHPUT_DIGITS)
}

/// A number rounded to this many significant digits.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "–".to_owned() };
    }
    #[allow(clippy::cast_possible_truncation)] // The logarithm of a finite number lies within ±308.
    let magnitude = value.abs().log10().floor() as i32;
    let idle = digits - 1 - magnitude;
    // Rounded first: with three digits, 9.996 is 10.0, not 10.00.
    let rounded = (value * 10_f64.powi(idle)).round() / 10_f64.powi(idle);
    #[allow(clippy::cast_possible_truncation)]
    let magnitude = rounded.abs().log10().floor() as i32;
    decimal(rounded, usize::try_from(digits - 1 - magnitude).unwrap_or(0))
}

/// A number with this many decimals and grouped thousands.
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

/// "1 setting", "3 settings".
pub fn counted(value: u64, what: &str) -> String {
    format!("{} {what}{}", count(value), if value == 1 { "" } else { "s" })
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

/// A ratio with three significant digits: `0.0956`, `0.853`, `1.98`, `15.5`.
pub fn ratio(value: f64) -> String {
    significant(value, DIGITS)
}

/// A share in per cent without trailing zeros: `3 %`, `0.5 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", (share * 100_000.0).round() / 1_000.0)
}

/// A share as a number of per cent with this many decimals: `24 %`.
pub fn share(share: f64, decimals: usize) -> String {
    format!("{} %", decimal(share * 100.0, decimals))
}

/// Microseconds as milliseconds.
pub fn milliseconds(value_us: f64) -> String {
    Style::MILLISECONDS.text(value_us)
}

/// From this ratio on, and below its inverse, people say "3 times" rather than "200 % more". Per cent of what is left would hide how
/// far apart −98 and −99 % are.
const FACTOR: f64 = 2.0;

/// A ratio as a change, with three significant digits of the ratio: `−14.7 %`, `+3.2 %`, and beyond a factor of two `14.5 ×` or `1/46.3`.
pub fn effect(ratio: f64) -> String {
    if ratio >= FACTOR {
        format!("{} ×", significant(ratio, DIGITS))
    } else if ratio > 0.0 && ratio < 1.0 / FACTOR {
        format!("1/{}", significant(1.0 / ratio, DIGITS))
    } else {
        with_sign(ratio)
    }
}

/// The ends of an interval, in the form of its point as far as that goes: `−17.2 to −12.4 %`, `6.30 to 34.0 ×`, `1/24.1 to 1/4.44`,
/// `−2.0 % to 2.25 ×`.
pub fn effect_bounds(point: f64, low: f64, high: f64) -> String {
    let end = |end: f64| match point {
        FACTOR.. => format!("{} ×", significant(end, DIGITS)),
        _ if end < 1.0 && point >= 1.0 / FACTOR => with_sign(end),
        _ => effect(end),
    };
    let [low, high] = [low, high].map(end);
    let unit = [" %", " ×"].into_iter().find(|unit| low.ends_with(unit) && high.ends_with(unit));
    format!("{} to {high}", unit.map_or(low.as_str(), |unit| low.trim_end_matches(unit)))
}

fn with_sign(ratio: f64) -> String {
    format!("{} %", Style::CHANGE.text(ratio - 1.0))
}

/// A ratio in words: `14.7 % less work than`, `2.50 times as much work as`, `1/46.3 of the work of`, and `as much work as` if it rounds to
/// no change.
pub fn work_against(ratio: f64) -> String {
    let text = effect(ratio);
    match (text.strip_prefix('−'), text.strip_prefix('+'), text.strip_suffix(" ×")) {
        (Some(less), ..) => format!("{less} less work than"),
        (_, Some(more), _) => format!("{more} more work than"),
        (.., Some(times)) => format!("{times} times as much work as"),
        _ if text.starts_with("1/") => format!("{text} of the work of"),
        _ => "as much work as".to_owned(),
    }
}

/// A number without zeros at its end that say nothing: `1.5` for `1.50`.
pub(crate) fn short(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// A quantile as a percentile: `p50`, `p99.9`.
pub fn percentile(quantile: f64) -> String {
    format!("p{}", short(&format!("{:.3}", quantile * 100.0)))
}

/// Milliseconds of wall-clock time: `350 ms`, `32.1 s`, `12 min 5 s`.
pub fn span(length_ms: u64) -> String {
    match length_ms {
        0..1000 => format!("{length_ms} ms"),
        1000..120_000 => format!("{:.1} s", length_ms as f64 / 1000.0),
        _ => format!("{} min {} s", length_ms / 60_000, length_ms % 60_000 / 1000),
    }
}

/// Bytes in GiB or MiB, to a hundredth.
pub fn bytes(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    const MIB: u64 = 1 << 20;
    let (unit, name) = if bytes >= GIB { (GIB, "GiB") } else { (MIB, "MiB") };
    format!("{} {name}", short(&decimal(bytes as f64 / unit as f64, 2)))
}

pub const NO_BREAK: &str = "\u{a0}";

/// Keeps numbers and their units on one line.
pub fn kept_together(text: &str) -> String {
    let is_unit = |word: &str| {
        let rest = ["%", "×", "ms", "s", "GiB", "MiB"].into_iter().find_map(|unit| word.strip_prefix(unit));
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let mut kept = String::new();
    for (index, word) in text.split(' ').enumerate() {
        let follows_number = kept.ends_with(|letter: char| letter.is_ascii_digit());
        kept.push_str(if index == 0 {
            ""
        } else if follows_number && is_unit(word) {
            NO_BREAK
        } else {
            " "
        });
        kept.push_str(word);
    }
    kept
}

/// Words with the same text between each two of them.
pub fn joined(words: impl IntoIterator<Item: ToString>, between: &str) -> String {
    words.into_iter().map(|word| word.to_string()).collect::<Vec<_>>().join(between)
}

/// The same without the words that are empty.
pub fn filled(words: impl IntoIterator<Item: AsRef<str> + ToString>, between: &str) -> String {
    joined(words.into_iter().filter(|word| !word.as_ref().is_empty()), between)
}

/// Text between two others; empty if it is.
pub fn within(before: &str, text: &str, after: &str) -> String {
    if text.is_empty() { String::new() } else { [before, text, after].concat() }
}

/// Words as one list: `a`, `a and b`, `a, b and c`.
pub fn listed(words: impl IntoIterator<Item: ToString>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    match &words[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// " at 1x2", or empty if a study has only one point.
pub fn at(coordinates: &str) -> String {
    within(" at ", coordinates, "")
}

/// "kvm at 3x2".
pub fn who(contender: &str, coordinates: &str) -> String {
    format!("{contender}{}", at(coordinates))
}

/// More trials than this are counted instead of listed.
const MOST_TRIALS: usize = 8;

pub fn trials(trials: &[u32]) -> String {
    match trials {
        [one] => format!("trial {one}"),
        many if many.len() > MOST_TRIALS => format!("{} trials", many.len()),
        few => format!("trials {}", joined(few, ", ")),
    }
}

/// How a trial ended, as a phrase that follows its contender's name.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Invalid { why } => format!("is invalid: {why}"),
        Outcome::Failed { phase, why } => format!("failed in {phase}: {why}"),
        Outcome::Skipped { why } => format!("was skipped: {why}"),
        Outcome::Interrupted { phase } => format!("was interrupted in {phase}"),
    }
}

/// Why a contender's trials of a block cannot be used.
pub fn unusable(unusable: &Unusable) -> String {
    let name = &unusable.contender;
    match &unusable.why {
        WhyUnusable::NotReached => format!("{name} was not reached"),
        WhyUnusable::NotCompleted(ended) => format!("{name} {}", first_line(&outcome(ended)).trim_end_matches(':')),
        WhyUnusable::RecordDisagrees => format!("the record of {name} disagrees with itself"),
        WhyUnusable::WrongData => format!("the data of {name} is wrong"),
        WhyUnusable::CountedNothing => format!("{name} counted nothing"),
    }
}

/// A text of at most so many characters; the last stands for all that is left out.
pub fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

/// A reason may include the end of a console log; often its first line is enough.
pub fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Items with the same key together, in the order of first use.
pub fn grouped_by<T, K: PartialEq>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    by_first(items.into_iter().map(|item| (key(&item), item))).into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_unless_they_round_to_nothing() {
        let shown = [0.081, -0.081, -0.000_4, 12.0].map(|share| Style::CHANGE.text(share));
        assert_eq!(shown, ["+8.1", "−8.1", "0.0", "+1,200.0"]);
    }

    #[test]
    fn ratios_are_told_as_changes_and_from_two_on_as_times() {
        let shown = [0.0966, 0.853, 0.9681, 0.9999, 1.0, 1.0319, 1.994, 2.0, 14.53, 0.0042].map(effect);
        let expected =
            ["1/10.4", "−14.7 %", "−3.2 %", "0.0 %", "0.0 %", "+3.2 %", "+99.4 %", "2.00 ×", "14.5 ×", "1/238"];
        assert_eq!(shown, expected);
        assert_eq!([0.5, 0.0].map(effect), ["−50.0 %", "−100.0 %"]);
        assert_eq!(effect_bounds(0.853, 0.828, 0.876), "−17.2 to −12.4 %");
        assert_eq!(effect_bounds(0.51, 0.49, 0.53), "−51.0 to −47.0 %");
        assert_eq!(effect_bounds(0.0966, 0.0415, 0.225), "1/24.1 to 1/4.44");
        assert_eq!(effect_bounds(14.5, 6.3, 34.0), "6.30 to 34.0 ×");
        assert_eq!(effect_bounds(1.5, 0.98, 2.25), "−2.0 % to 2.25 ×");
        let expected =
            ["2.50 times as much work as", "14.7 % less work than", "20.0 % more work than", "as much work as"];
        assert_eq!([2.5, 0.853, 1.2, 1.0].map(work_against), expected);
        assert_eq!(work_against(0.0216), "1/46.3 of the work of");
    }

    #[test]
    fn quantities_keep_four_digits() {
        let shown = [5_282.04, 52.82, 0.052_824, 1_234_567.8, 0.0, 9_999.96].map(quantity);
        assert_eq!(shown, ["5,282", "52.82", "0.05282", "1,235,000", "0", "10,000"]);
    }

    #[test]
    fn ratios_keep_three_digits() {
        let shown = [0.042_2, 0.853_24, 0.998, 1.004, 1.9, 9.996, 33.526].map(ratio);
        assert_eq!(shown, ["0.0422", "0.853", "0.998", "1.00", "1.90", "10.0", "33.5"]);
    }

    #[test]
    fn times_keep_three_digits_and_no_less_than_a_microsecond() {
        let shown = [7.0, 362.0, 2_783.0, 13_535.0, 1_341_439.0].map(milliseconds);
        assert_eq!(shown, ["0.007", "0.362", "2.78", "13.5", "1,340"]);
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
    fn bytes_are_told_in_a_fitting_unit() {
        assert_eq!([1 << 31, 25_276_502_016, 300 << 20].map(bytes), ["2 GiB", "23.54 GiB", "300 MiB"]);
    }

    #[test]
    fn lists_read_as_sentences() {
        let words = |count: usize| ["a", "b", "c"].map(str::to_owned)[..count].to_vec();
        assert_eq!([0, 1, 2, 3].map(|count| listed(words(count))), ["", "a", "a and b", "a, b and c"]);
    }
}

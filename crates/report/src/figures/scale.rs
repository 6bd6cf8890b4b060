//! Maps values to positions in the drawing, and chooses round numbers to mark.

use crate::format;

/// What equal distances in the drawing mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences.
    Linear,
    /// Equal ratios; values must be positive.
    Logarithmic,
    /// Equal ratios of how many values are above a quantile.
    Rarity,
}

/// A mapping of values to a range of coordinates.
#[derive(Debug, Clone, Copy)]
pub struct AxisScale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    spacing: Spacing,
}

impl AxisScale {
    /// `low` maps to `start` and `high` to `end`; `start` may be the larger of the two.
    pub fn new(spacing: Spacing, (low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let (low, next) = match spacing {
            Spacing::Linear | Spacing::Rarity => (low, low + 1.0),
            Spacing::Logarithmic => (low.max(f64::MIN_POSITIVE), low.max(f64::MIN_POSITIVE) * 10.0),
        };
        Self { low, high: if high > low { high } else { next }, start, end, spacing }
    }

    pub fn at(&self, value: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Logarithmic => (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln(),
            Spacing::Rarity => ((1.0 - value) / (1.0 - self.low)).ln() / ((1.0 - self.high) / (1.0 - self.low)).ln(),
        };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }
}

/// The least and the greatest of some values.
pub fn ends(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|value| value.is_finite()).map(|value| (value, value));
    finite.reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))
}

/// Round numbers with as many decimals as the finest of them needs.
pub fn tick_labels(ticks: &[f64]) -> Vec<String> {
    let exact = |decimals: i32| {
        let power = 10_f64.powi(decimals);
        ticks.iter().all(|tick| ((tick * power).round() / power - tick).abs() < 1e-9)
    };
    let decimals = (0..=4).find(|decimals| exact(*decimals)).unwrap_or(4);
    ticks.iter().map(|tick| format::decimal(*tick, usize::try_from(decimals).unwrap_or(0))).collect()
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that divides `length` into at most `parts`.
pub fn round_step(length: f64, parts: f64) -> f64 {
    let rough = length / parts;
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    let fitting = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|step| step * power >= rough * (1.0 - 1e-9));
    fitting.unwrap_or(10.0) * power
}

/// No axis has more.
const MOST_TICKS: usize = 100;

/// Round values from `low` to `high`, about `parts` of them.
pub fn ticks(low: f64, high: f64, parts: f64) -> Vec<f64> {
    let step = round_step(high - low, parts);
    // Adding zero turns a negative zero into a positive one.
    let first = (low / step - 1e-9).ceil() + 0.0;
    let ticks = (0..MOST_TICKS).map(|index| (first + index as f64) * step);
    ticks.take_while(|tick| *tick <= high + step * 1e-9).collect()
}

/// 1, 2 and 5 times powers of ten between the two, or only powers of ten if there are many.
pub fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let within: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = std::iter::successors(Some(10_f64.powf(low.log10().floor())), |power| Some(power * 10.0));
    let steps = powers.take_while(|power| *power <= high).flat_map(|power| within.iter().map(move |step| step * power));
    steps.filter(|tick| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9)).take(MOST_TICKS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &[f64]) -> Vec<String> {
        values.iter().map(|value| format!("{value:.3}")).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(text(&ticks(0.0, 5800.0, 3.0)), ["0.000", "2000.000", "4000.000"]);
        assert_eq!(text(&ticks(0.81, 1.02, 5.0)), ["0.850", "0.900", "0.950", "1.000"].map(str::to_owned));
        assert_eq!(text(&logarithmic_ticks(0.7, 12.0)), ["1.000", "2.000", "5.000", "10.000"]);
        assert_eq!(text(&logarithmic_ticks(0.5, 900.0)), ["1.000", "10.000", "100.000"]);
        assert!(ticks(1.0, 1.0, 3.0).len() < 100);
    }

    #[test]
    fn ends_go_to_ends() {
        let scale = AxisScale::new(Spacing::Linear, (10.0, 20.0), (100.0, 0.0));
        assert_eq!(
            text(&[scale.at(10.0), scale.at(15.0), scale.at(20.0), scale.at(99.0)]),
            text(&[100.0, 50.0, 0.0, 0.0])
        );
        let scale = AxisScale::new(Spacing::Logarithmic, (1.0, 100.0), (0.0, 10.0));
        assert_eq!(text(&[scale.at(1.0), scale.at(10.0), scale.at(100.0)]), text(&[0.0, 5.0, 10.0]));
        let scale = AxisScale::new(Spacing::Rarity, (0.0, 0.99), (0.0, 10.0));
        assert_eq!(text(&[scale.at(0.0), scale.at(0.9), scale.at(0.99), scale.at(1.0)]), text(&[0.0, 5.0, 10.0, 10.0]));
    }

    #[test]
    fn ticks_show_the_decimals_they_need() {
        assert_eq!(tick_labels(&[0.85, 0.9, 0.95]), ["0.85", "0.90", "0.95"]);
        assert_eq!(tick_labels(&[0.1, 1.0, 10.0]), ["0.1", "1.0", "10.0"]);
        assert_eq!(tick_labels(&[0.975, 1.0]), ["0.975", "1.000"]);
    }
}

//! Means of batches of consecutive seconds, and what they say about a trial's own throughput in spite of autocorrelation.
//!
//! Seconds of one trial depend on each other, so the spread of seconds says little about the spread of their mean. Means
//! of long batches depend on each other less. The dependence that is left is measured by the correlation of neighbours,
//! and makes the batches count for fewer. Nothing here enters an estimate over blocks; it is about single trials.

use crate::distributions::t_975;
use crate::estimate::Bounds;
use crate::missing::Missing;
use crate::student;
use serde::{Deserialize, Serialize};

/// A window is cut into at least this many batches, unless they would be too short. Between 10 and 30 are enough to
/// estimate a spread; more, and therefore shorter, batches gain next to nothing (Schmeiser 1982).
const BATCHES: usize = 20;
const FEWEST_BATCHES: usize = 10;

/// Batches of one second would be the seconds themselves.
const SHORTEST_BATCH_S: usize = 2;

/// The shortest series that says something about its mean.
pub const SHORTEST_S: usize = FEWEST_BATCHES * SHORTEST_BATCH_S;

/// With a higher correlation of neighbouring batches, so few batches do not give the mean: of twenty, fewer than five would
/// count. A lower limit is no better: it prefers series that look independent by chance, whose intervals are too narrow.
const MOST_ALIKE: f64 = 0.6;

/// One second of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BatchSecond {
    pub start_ms: u64,
    pub measured: bool,
    /// What finished in this second, as a rate in the metric's unit.
    pub rate: f64,
}

/// The rates of the seconds of the measured window.
pub fn measured(seconds: &[BatchSecond]) -> Vec<f64> {
    seconds.iter().filter(|second| second.measured).map(|second| second.rate).collect()
}

/// The means of consecutive batches of equal length, and the seconds in each. `None` if there are too few seconds. Seconds that fill no
/// batch are dropped at the beginning, where the rest of the warm-up would be.
pub fn of(seconds: &[f64]) -> Option<(Vec<f64>, usize)> {
    let length = (seconds.len() / BATCHES).max(SHORTEST_BATCH_S);
    let means = means(&seconds[seconds.len() % length..], length);
    (means.len() >= FEWEST_BATCHES).then_some((means, length))
}

/// The means of whole batches of this many seconds.
pub fn means(seconds: &[f64], length: usize) -> Vec<f64> {
    seconds.chunks_exact(length).map(student::mean_of).collect()
}

/// The 95 % confidence interval of a trial's throughput around `value`, from the rates of its seconds: Student's t over as many
/// independent batches as the correlation of neighbours leaves.
pub fn bounds(value: f64, seconds: &[f64]) -> Bounds {
    let Some((means, length)) = of(seconds) else {
        let why = Missing::WindowTooShort { seconds: seconds.len(), needed: SHORTEST_S };
        return Bounds::Unknown { why };
    };
    let count = means.len();
    let mean = student::mean_of(&means);
    let residuals: Vec<f64> = means.iter().map(|batch| batch - mean).collect();
    let alike = correlation_of_neighbours(&residuals, 0);
    if alike > MOST_ALIKE {
        let why = Missing::SecondsDepend { longer_than_s: length };
        return Bounds::Unknown { why };
    }
    let independent = independent(count, alike);
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    // Correlated neighbours do not change the spread of the batches; only their mean is known less well.
    let variance = squares / (count as f64 - 1.0);
    let half = t_975((independent - 1.0).max(1.0)) * (variance / independent).sqrt();
    Bounds::Known { low: (value - half).max(0.0), high: value + half }
}

/// How much neighbouring residuals resemble each other, from 0 (not at all) to 1, after a polynomial of this degree was
/// fitted. This is their lag-1 autocorrelation. In short series it comes out too low, by (1 + 3ρ)/n for a mean
/// (Marriott and Pope 1954) and (2 + 4ρ)/n for a straight line, which is corrected.
pub fn correlation_of_neighbours(residuals: &[f64], degree: u32) -> f64 {
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let (count, degree) = (residuals.len() as f64, f64::from(degree));
    let corrected = (count * products / squares + 1.0 + degree) / (count - 3.0 - degree);
    corrected.max(0.0)
}

/// How many independent values `count` values with this correlation of neighbours are worth.
pub fn independent(count: usize, alike: f64) -> f64 {
    count as f64 * (1.0 - alike) / (1.0 + alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use record::synthetic::Chance;

    /// `numpy.arange(1, 44)[1:].reshape(21, 2).mean(1)` begins with 2.5, 4.5 and ends with 42.5.
    #[test]
    fn batches_are_of_equal_length_and_end_with_the_series() {
        let seconds: Vec<f64> = (1..44).map(f64::from).collect();
        let (means, length) = of(&seconds).unwrap();
        assert_eq!((length, means.len()), (2, 21));
        assert_eq!((means[0], means[1], means[20]), (2.5, 4.5, 42.5));
        let cut = |seconds: usize| of(&vec![1.0; seconds]).map(|(means, length)| (means.len(), length));
        assert_eq!([19, 20, 59, 60, 119].map(cut), [None, Some((10, 2)), Some((29, 2)), Some((20, 3)), Some((23, 5))]);
    }

    /// Worked by hand: for -2, -1, 0, 1, 2 the products of neighbours are 2, 0, 0, 2, and the squares add up to 10.
    /// That is 0.4, corrected to (5 · 0.4 + 1) / (5 - 3).
    #[test]
    fn the_correlation_of_neighbours_is_put_right() {
        let found = correlation_of_neighbours(&[-2.0, -1.0, 0.0, 1.0, 2.0], 0);
        assert!((found - 1.5).abs() < 1e-12, "{found}");
        assert!(correlation_of_neighbours(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0], 0) < 1e-12);
        assert!(correlation_of_neighbours(&[0.0; 9], 1) < 1e-12);
        assert!((independent(20, 0.25) - 12.0).abs() < 1e-12);
    }

    /// `b = numpy.array(BATCHES)`, `r = b - b.mean()`, `a = (20 * (r[1:] * r[:-1]).sum() / (r**2).sum() + 1) / 17` is 0.270749,
    /// `n = 20 * (1 - a) / (1 + a)` 11.477489, and the half width `scipy.stats.t.ppf(0.975, n - 1) * b.std(ddof=1) / n**0.5`
    /// (scipy 1.17.1).
    #[test]
    fn alike_neighbours_widen_the_interval_once() {
        const BATCHES: [f64; 20] = [
            100.0, 101.0, 102.0, 101.0, 99.0, 100.0, 98.0, 99.0, 101.0, 103.0, 101.0, 100.0, 101.0, 97.0, 98.0, 100.0,
            99.0, 102.0, 99.0, 101.0,
        ];
        let seconds: Vec<f64> = BATCHES.iter().flat_map(|batch| [*batch; 2]).collect();
        let (low, high) = bounds(100.1, &seconds).known().unwrap();
        assert!(
            ((high - low) / 2.0 - 0.992_436_997_805).abs() < 1e-9 && (low + high - 200.2).abs() < 1e-9,
            "{low} {high}"
        );
    }

    /// Without correlation, Student's t over the batches is left. For twenty batches that alternate between 99 and 101,
    /// the half width is `scipy.stats.t.ppf(0.975, 19) * (20 / 19)**0.5 / 20**0.5` (scipy 1.17.1).
    #[test]
    fn without_correlation_it_is_the_t_interval_of_the_batches() {
        let seconds: Vec<f64> = (0..40).map(|second| if second / 2 % 2 == 0 { 99.0 } else { 101.0 }).collect();
        let (low, high) = bounds(100.0, &seconds).known().unwrap();
        assert!((high - 100.480_172_6).abs() < 1e-6 && (low + high - 200.0).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn what_cannot_be_known_has_a_reason() {
        let Bounds::Unknown { why } = bounds(5.0, &[5.0; 16]) else { panic!("too short") };
        assert_eq!(why, Missing::WindowTooShort { seconds: 16, needed: 20 });
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        let Bounds::Unknown { why } = bounds(50.0, &rising) else { panic!("not independent") };
        assert_eq!(why, Missing::SecondsDepend { longer_than_s: 5 });
    }

    /// Seconds around 100 whose neighbours have this correlation.
    fn dependent(count: usize, alike: f64, chance: &mut Chance) -> Vec<f64> {
        let mut state = chance.normal() / (1.0 - alike * alike).sqrt();
        let mut next = || {
            state = alike * state + chance.normal();
            100.0 + state
        };
        (0..count).map(|_| next()).collect()
    }

    /// Of 1,000 series of 120 dependent seconds, as many intervals contain the true mean as promised; seconds taken as
    /// independent would reach two thirds (correlation 0.6). Nor are the intervals wider than necessary: their mean
    /// half width is at most 1.3 times that of the interval that knows how far means lie from the truth.
    #[test]
    fn intervals_of_dependent_seconds_cover_the_truth_and_are_no_wider_than_needed() {
        let mut chance = Chance::new(1);
        for alike in [0.0, 0.3, 0.6] {
            let (mut known, mut covering, mut half_widths, mut squares) = (0, 0, 0.0, 0.0);
            for _ in 0..1_000 {
                let seconds = dependent(120, alike, &mut chance);
                let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
                let Some((low, high)) = bounds(mean, &seconds).known() else { continue };
                known += 1;
                covering += u32::from(low <= 100.0 && 100.0 <= high);
                half_widths += (high - low) / 2.0;
                squares += (mean - 100.0).powi(2);
            }
            let count = f64::from(known);
            let share = f64::from(covering) / count;
            assert!(known > 900 && (0.93..=0.985).contains(&share), "{alike}: {share} of {known}");
            let wider = half_widths / count / (1.96 * (squares / count).sqrt());
            assert!((0.95..=1.3).contains(&wider), "{alike}: {wider} times as wide as needed");
        }
    }

    proptest! {
        #[test]
        fn intervals_scale_with_the_unit(seconds in vec(1.0..100.0_f64, 40..90), factor in 0.1..60.0_f64) {
            let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
            let scaled: Vec<f64> = seconds.iter().map(|second| second * factor).collect();
            match (bounds(mean, &seconds).known(), bounds(mean * factor, &scaled).known()) {
                (Some((low, high)), Some((scaled_low, scaled_high))) => {
                    prop_assert!((low * factor - scaled_low).abs() < 1e-6 && (high * factor - scaled_high).abs() < 1e-6);
                }
                (one, other) => prop_assert_eq!(one.is_some(), other.is_some()),
            }
        }
    }
}

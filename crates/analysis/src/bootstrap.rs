//! BCa bootstrap over blocks, seeded: percentiles of resamples, corrected for bias and for skewness (Efron 1987).
//!
//! A block is the unit that is repeated: within it every contender met the same drift of the machine, so blocks are
//! drawn whole. Half of the resamples are the other half with every index mirrored. Together with blocks sorted by
//! value that makes the interval of `b/a` exactly the inverse of the interval of `a/b`, and steadies its ends: of
//! reflected values both corrections are the same with the other sign.
//!
//! Below about ten blocks such an interval is too narrow; [`crate::student`] gives the one that verdicts rest on.

use crate::distributions::{normal_at, normal_below};
use crate::estimate::{Bounds, CONFIDENCE, Estimate};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Enough that the ends of the interval move by less than a tenth of its width with another seed.
pub const RESAMPLES: usize = 10_000;

/// With fewer blocks there is nothing to resample: two blocks have three distinct resamples.
pub const FEWEST_BLOCKS: usize = 3;

/// Numbers that differ by less than this share differ only because they were added up in another order.
const ROUNDING: f64 = 1e-12;

/// The 95 % interval of a statistic of `blocks` blocks. `statistic` gets the indices of the blocks drawn.
pub fn bounds(blocks: usize, seed: u64, mut statistic: impl FnMut(&[usize]) -> f64) -> Bounds {
    if blocks < FEWEST_BLOCKS {
        return too_few(blocks);
    }
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    let mut drawn = vec![0; blocks];
    let mut values = Vec::with_capacity(RESAMPLES);
    while values.len() < RESAMPLES {
        drawn.fill_with(|| index_below(blocks, &mut generator));
        values.push(statistic(&drawn));
        for index in &mut drawn {
            *index = blocks - 1 - *index;
        }
        values.push(statistic(&drawn));
    }
    corrected(values, blocks, statistic)
}

/// The interval that resamples of a statistic allow, given the statistic itself for its value and its jackknife.
pub fn corrected(mut resamples: Vec<f64>, blocks: usize, mut statistic: impl FnMut(&[usize]) -> f64) -> Bounds {
    resamples.sort_unstable_by(f64::total_cmp);
    let all: Vec<usize> = (0..blocks).collect();
    let bias = bias(&resamples, statistic(&all));
    let without = |left_out: usize| -> Vec<usize> { all.iter().copied().filter(|&block| block != left_out).collect() };
    let jackknife: Vec<f64> = all.iter().map(|&block| statistic(&without(block))).collect();
    let acceleration = acceleration(&jackknife);
    let tail = normal_at((1.0 - CONFIDENCE) / 2.0);
    let end = |tail: f64| interpolated(&resamples, corrected_share(tail, bias, acceleration));
    Bounds::Known { low: end(tail), high: end(-tail) }
}

/// How far the median of the resamples lies from the value, in standard deviations. Ties count half, and are ties also if
/// the order in which they were added up left another last digit.
fn bias(sorted: &[f64], value: f64) -> f64 {
    let largest = sorted.first().map_or(0.0, |value| value.abs()).max(sorted.last().map_or(0.0, |value| value.abs()));
    let rounding = largest * ROUNDING;
    let below = sorted.partition_point(|resample| *resample < value - rounding);
    let not_above = sorted.partition_point(|resample| *resample <= value + rounding);
    normal_at((below + not_above) as f64 / (2.0 * sorted.len() as f64))
}

/// How fast the standard deviation changes with the value, from leaving out one block after another.
fn acceleration(jackknife: &[f64]) -> f64 {
    let mean = jackknife.iter().sum::<f64>() / jackknife.len() as f64;
    let power = |exponent: i32| jackknife.iter().map(|value| (mean - value).powi(exponent)).sum::<f64>();
    let squares = power(2);
    // Where leaving out a block changes nothing but the last digits, there is nothing to correct.
    let rounding = (ROUNDING * mean).powi(2) * jackknife.len() as f64;
    if squares <= rounding { 0.0 } else { power(3) / (6.0 * squares.powf(1.5)) }
}

/// The share of resamples below an end of the interval, where it would be that of `tail` without corrections.
fn corrected_share(tail: f64, bias: f64, acceleration: f64) -> f64 {
    let moved = bias + tail;
    let stretched = 1.0 - acceleration * moved;
    if stretched <= 0.0 {
        return if moved > 0.0 { 1.0 } else { 0.0 };
    }
    normal_below(bias + moved / stretched)
}

/// Why there is no interval over `blocks` blocks.
pub fn too_few(blocks: usize) -> Bounds {
    let trials = if blocks == 1 { "block" } else { "blocks" };
    Bounds::Unknown { why: format!("too few trials: {blocks} {trials}, at least {FEWEST_BLOCKS} are needed") }
}

/// The geometric mean of one positive value for each block, with its interval. `None` without values, or if one is
/// not positive: a logarithm of nothing is not a number.
pub fn geometric_mean(values: &[f64], seed: u64) -> Option<Estimate> {
    let mut logs = logarithms(values)?;
    // Sorted, so that the order in which blocks happened to be listed cannot matter.
    logs.sort_unstable_by(f64::total_cmp);
    let point = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    let bounds = bounds(logs.len(), seed, mean_of(&logs)).map(f64::exp);
    let method = "geometric mean over blocks; BCa bootstrap over blocks".to_owned();
    Some(Estimate { point, bounds, method })
}

/// The mean of one value for each block, with its interval; for values that may be nothing. `None` without values.
pub fn mean(values: &[f64], seed: u64) -> Option<Estimate> {
    let mut values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    let point = values.iter().sum::<f64>() / values.len() as f64;
    let bounds = bounds(values.len(), seed, mean_of(&values));
    let method = "mean over blocks; BCa bootstrap over blocks".to_owned();
    (!values.is_empty()).then_some(Estimate { point, bounds, method })
}

/// The mean of the values drawn.
fn mean_of(values: &[f64]) -> impl Fn(&[usize]) -> f64 {
    |drawn| drawn.iter().map(|&index| values[index]).sum::<f64>() / drawn.len() as f64
}

/// Natural logarithms of values that are all positive; `None` if there are none or one is not.
pub fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let usable = !values.is_empty() && values.iter().all(|value| value.is_finite() && *value > 0.0);
    usable.then(|| values.iter().map(|value| value.ln()).collect())
}

/// A fair index below `bound`, by multiplication (Lemire); the bias of 2⁻⁶⁴ per index is far below what is resolved.
pub fn index_below(bound: usize, generator: &mut Pcg64Mcg) -> usize {
    let wide = u128::from(generator.next_u64()) * bound as u128;
    usize::try_from(wide >> 64).unwrap_or(0)
}

/// A quantile of sorted values, linear between neighbours (type 7 of Hyndman and Fan, the usual one).
fn interpolated(sorted: &[f64], quantile: f64) -> f64 {
    let position = quantile * (sorted.len() - 1) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Not negative, and below the length.
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} within {tolerance}");
    }

    /// `x = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829]`;
    /// `scipy.stats.bootstrap((numpy.log(x),), numpy.mean, method="BCa", n_resamples=1_000_000, rng=1)` (scipy 1.17.1),
    /// exponentiated; the point is `scipy.stats.gmean(x)`.
    #[test]
    fn the_interval_is_the_one_scipy_finds() {
        let values = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829];
        let estimate = geometric_mean(&values, 7).unwrap();
        let (low, high) = estimate.bounds.known().unwrap();
        close(estimate.point, 0.860_164_380_706_162, 1e-12);
        close(low, 0.848_840, 5e-4);
        close(high, 0.873_890, 5e-4);
    }

    /// Skewed values, of which the corrections move both ends up: the same call on
    /// `[1.2, 3.4, 0.7, 9.9, 2.2, 15.0, 4.1, 0.9]`. Without them (`method="percentile"`) it is 1.7 to 8.3.
    #[test]
    fn skewed_values_have_the_interval_scipy_finds() {
        let estimate = mean(&SKEWED, 7).unwrap();
        let (low, high) = estimate.bounds.known().unwrap();
        close(low, 2.1125, 0.06);
        close(high, 9.275, 0.15);
    }

    /// The same with `lambda a, axis: numpy.std(a, axis=axis, ddof=1) / numpy.mean(a, axis=axis)`.
    #[test]
    fn other_statistics_than_means_have_the_interval_scipy_finds() {
        let variation = |drawn: &[usize]| {
            let mean = mean_of(&SKEWED)(drawn);
            let squares: f64 = drawn.iter().map(|&index| (SKEWED[index] - mean).powi(2)).sum();
            (squares / (drawn.len() - 1) as f64).sqrt() / mean
        };
        let (low, high) = bounds(SKEWED.len(), 7, variation).known().unwrap();
        close(low, 0.7215, 0.02);
        close(high, 1.673, 0.05);
    }

    /// `n = 8; j = [numpy.delete(x, i).mean() for i in range(n)]; d = numpy.mean(j) - j`,
    /// `(d**3).sum() / (6 * (d**2).sum()**1.5)`.
    #[test]
    fn acceleration_is_that_of_the_jackknife() {
        let without = |left_out: usize| SKEWED.iter().enumerate().filter(move |(index, _)| *index != left_out);
        let jackknife: Vec<f64> =
            (0..8).map(|index| without(index).map(|(_, value)| value).sum::<f64>() / 7.0).collect();
        close(acceleration(&jackknife), 0.071_207_445_461_130_67, 1e-12);
    }

    const SKEWED: [f64; 8] = [1.2, 3.4, 0.7, 9.9, 2.2, 15.0, 4.1, 0.9];

    /// All 27 resamples of three values can be listed, and of evenly spaced ones there is nothing to correct: each extreme
    /// one alone has 1/27 = 3.7 % of them, more than the 2.5 % outside an end, so the interval is their range.
    #[test]
    fn three_even_blocks_give_their_range() {
        let (low, high) = mean(&[0.9, 0.8, 0.85], 1).unwrap().bounds.known().unwrap();
        close(low, 0.8, 1e-12);
        close(high, 0.9, 1e-12);
    }

    #[test]
    fn fewer_than_three_blocks_give_a_reason_instead_of_an_interval() {
        let estimate = geometric_mean(&[0.5, 2.0], 1).unwrap();
        close(estimate.point, 1.0, 1e-12);
        let why = "too few trials: 2 blocks, at least 3 are needed".to_owned();
        assert_eq!(estimate.bounds, Bounds::Unknown { why });
        assert_eq!(geometric_mean(&[], 1), None);
        assert_eq!(geometric_mean(&[1.0, 0.0, 2.0], 1), None);
    }

    #[test]
    fn equal_blocks_leave_no_doubt() {
        let (low, high) = geometric_mean(&[2.0; 5], 1).unwrap().bounds.known().unwrap();
        close(low, 2.0, 1e-12);
        close(high, 2.0, 1e-12);
    }

    /// `numpy.quantile([1, 2, 4, 8], [0.025, 0.5, 0.975])` gives 1.075, 3.0 and 7.7.
    #[test]
    fn quantiles_interpolate_as_numpy_does() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        close(interpolated(&sorted, 0.025), 1.075, 1e-12);
        close(interpolated(&sorted, 0.5), 3.0, 1e-12);
        close(interpolated(&sorted, 0.975), 7.7, 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn the_order_of_blocks_does_not_matter(values in vec(0.1..10.0_f64, 3..9), seed: u64) {
            let mut other = values.clone();
            other.reverse();
            other.rotate_left(1);
            prop_assert_eq!(geometric_mean(&values, seed), geometric_mean(&other, seed));
        }

        #[test]
        fn turning_a_ratio_over_turns_its_interval_over(values in vec(0.1..10.0_f64, 3..9), seed: u64) {
            let inverse: Vec<f64> = values.iter().map(|value| 1.0 / value).collect();
            let (estimate, turned) = (geometric_mean(&values, seed).unwrap(), geometric_mean(&inverse, seed).unwrap());
            let ((low, high), (turned_low, turned_high)) = (estimate.bounds.known().unwrap(), turned.bounds.known().unwrap());
            close(turned.point * estimate.point, 1.0, 1e-9);
            close(turned_low * high, 1.0, 1e-9);
            close(turned_high * low, 1.0, 1e-9);
            prop_assert!(low <= estimate.point + 1e-12 && estimate.point <= high + 1e-12);
        }
    }
}

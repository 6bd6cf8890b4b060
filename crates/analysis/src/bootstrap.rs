//! Percentile bootstrap over blocks, seeded.
//!
//! A block is the unit that is repeated: within it every contender met the same drift of the machine, so blocks are
//! drawn whole. Half of the resamples are the other half with every index mirrored. Together with blocks sorted by
//! value that makes the interval of `b/a` exactly the inverse of the interval of `a/b`, and steadies its ends.
//!
//! Below about ten blocks such an interval is somewhat too narrow; [`crate::student`] gives the other one to look at.

use crate::estimate::{Bounds, CONFIDENCE, Estimate};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Enough that the ends of the interval move by less than a tenth of its width with another seed.
pub const RESAMPLES: usize = 10_000;

/// With fewer blocks there is nothing to resample: two blocks have three distinct resamples.
pub const FEWEST_BLOCKS: usize = 3;

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
    values.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Bounds::Known { low: interpolated(&values, tail), high: interpolated(&values, 1.0 - tail) }
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
    let mean = |indices: &[usize]| indices.iter().map(|&index| logs[index]).sum::<f64>() / indices.len() as f64;
    let point = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    let bounds = bounds(logs.len(), seed, mean).map(f64::exp);
    let method = "geometric mean over blocks; percentile bootstrap over blocks".to_owned();
    Some(Estimate { point, bounds, method })
}

/// The mean of one value for each block, with its interval; for values that may be nothing. `None` without values.
pub fn mean(values: &[f64], seed: u64) -> Option<Estimate> {
    let mut values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    let point = values.iter().sum::<f64>() / values.len() as f64;
    let of = |indices: &[usize]| indices.iter().map(|&index| values[index]).sum::<f64>() / indices.len() as f64;
    let bounds = bounds(values.len(), seed, of);
    let method = "mean over blocks; percentile bootstrap over blocks".to_owned();
    (!values.is_empty()).then_some(Estimate { point, bounds, method })
}

/// Natural logarithms of values that are all positive; `None` if there are none or one is not.
pub fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let usable = !values.is_empty() && values.iter().all(|value| value.is_finite() && *value > 0.0);
    usable.then(|| values.iter().map(|value| value.ln()).collect())
}

/// A fair index below `bound`, by multiplication (Lemire); the bias of 2⁻⁶⁴ per index is far below what is resolved.
fn index_below(bound: usize, generator: &mut Pcg64Mcg) -> usize {
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
    /// `scipy.stats.bootstrap((numpy.log(x),), numpy.mean, method="percentile", n_resamples=1_000_000, rng=1)`
    /// (scipy 1.17.1), exponentiated; the point is `scipy.stats.gmean(x)`.
    #[test]
    fn the_interval_is_the_one_scipy_finds() {
        let values = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829];
        let estimate = geometric_mean(&values, 7).unwrap();
        let (low, high) = estimate.bounds.known().unwrap();
        close(estimate.point, 0.860_164_380_706_162, 1e-12);
        close(low, 0.848_202, 4e-4);
        close(high, 0.873_051, 4e-4);
    }

    /// All 27 resamples of three values can be listed: each extreme one alone has 1/27 = 3.7 % of them, more than the
    /// 2.5 % outside an end, so the interval runs from the smallest value to the largest.
    #[test]
    fn three_blocks_give_their_range() {
        let (low, high) = geometric_mean(&[0.9, 0.8, 0.85], 1).unwrap().bounds.known().unwrap();
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

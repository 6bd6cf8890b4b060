//! Student's t interval over blocks.
//!
//! A block is the unit that is repeated: within it, every contender met the same drift of the machine. The blocks'
//! values, or their logarithms, are assumed to be normal. In return the interval covers as promised with few blocks,
//! where resampling gives intervals that are too narrow. Simulation shows how often it does (`examples/coverage.rs`).

use crate::distributions::t_975;
use crate::estimate::{Bounds, Estimate, EstimateMethod};
use crate::gathered::by_key;
use crate::missing::Missing;
use std::collections::BTreeMap;

/// Two blocks give an interval with one degree of freedom, which says next to nothing.
pub const FEWEST_BLOCKS: usize = 3;

/// Why there is no interval over `blocks` blocks.
pub fn too_few(blocks: usize) -> Bounds {
    Bounds::Unknown { why: Missing::TooFewBlocks { blocks, needed: FEWEST_BLOCKS } }
}

/// Natural logarithms of values that are all positive; `None` if there are no values or one is not positive.
pub fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let usable = !values.is_empty() && values.iter().all(|value| value.is_finite() && *value > 0.0);
    usable.then(|| values.iter().map(|value| value.ln()).collect())
}

/// The geometric mean of each block's values, so that each block has one value: trials of a block share its conditions,
/// so they are not further blocks. All must be positive.
pub fn by_block(values: impl IntoIterator<Item = (u32, f64)>) -> BTreeMap<u32, f64> {
    let blocks: BTreeMap<u32, Vec<f64>> = by_key(values);
    let mean = |values: Vec<f64>| match values[..] {
        // A single value stays as it is: a logarithm and back would change its last digits.
        [one] => one,
        _ => mean_of(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp(),
    };
    blocks.into_iter().map(|(block, values)| (block, mean(values))).collect()
}

/// The 95 % confidence interval of the mean of values, without logarithms.
pub fn bounds_of_mean(values: &[f64]) -> Bounds {
    around(mean_of(values), values, 1.0)
}

/// So many standard errors of the mean of values around a point.
fn around(point: f64, values: &[f64], times: f64) -> Bounds {
    let Some(spread) = spread(values).filter(|_| values.len() >= FEWEST_BLOCKS) else {
        return too_few(values.len());
    };
    let count = values.len() as f64;
    let half = t_975(count - 1.0) * spread * times / count.sqrt();
    Bounds::Known { low: point - half, high: point + half }
}

/// The geometric mean of one positive value for each block, with its interval. `None` without values, or if one is not
/// positive and so has no logarithm.
pub fn geometric_mean(values: &[f64]) -> Option<Estimate> {
    let mut logs = logarithms(values)?;
    // Sorted, so that the order in which blocks are listed cannot matter.
    logs.sort_unstable_by(f64::total_cmp);
    let bounds = bounds_of_mean(&logs).map(f64::exp);
    Some(Estimate { point: mean_of(&logs).exp(), bounds, method: EstimateMethod::GeometricMeanOverBlocks })
}

/// The geometric mean over blocks, each of which counts once however many trials it has.
pub fn geometric_mean_of_blocks(values: impl IntoIterator<Item = (u32, f64)>) -> Option<Estimate> {
    geometric_mean(&by_block(values).into_values().collect::<Vec<_>>())
}

/// The mean over blocks of values that may be negative, such as differences, with its interval. `None` without values.
pub fn mean(mut values: Vec<f64>) -> Option<Estimate> {
    // Sorted, so that the order in which blocks are listed cannot matter.
    values.sort_unstable_by(f64::total_cmp);
    let method = EstimateMethod::MeanOverBlocks;
    let bounds = bounds_of_mean(&values);
    (!values.is_empty()).then(|| Estimate { point: mean_of(&values), bounds, method })
}

/// The same for an amount. An interval around few scattered values reaches below zero; it is cut off there.
pub fn mean_amount(values: Vec<f64>) -> Option<Estimate> {
    Some(mean(values)?.within(0.0, f64::INFINITY))
}

/// The 95 % confidence interval of a number computed from all blocks together, from its values without each block in
/// turn: the jackknife. For a mean it is the usual interval.
pub fn jackknife(point: f64, without: &[f64]) -> Bounds {
    around(point, without, without.len() as f64 - 1.0)
}

/// The sample estimate of the standard deviation; `None` for fewer than two values.
pub fn spread(values: &[f64]) -> Option<f64> {
    let mean = mean_of(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The coefficient of variation; `None` for fewer than two values, or if their mean is not positive.
pub fn variation(values: &[f64]) -> Option<f64> {
    let mean = mean_of(values);
    spread(values).filter(|_| mean > 0.0).map(|spread| spread / mean)
}

/// The arithmetic mean; NaN for no values.
pub fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// `scipy.stats.gmean(x)`, `numpy.exp(scipy.stats.t.interval(0.95, 9, numpy.log(x).mean(), scipy.stats.sem(numpy.log(x))))` and
    /// `numpy.std(numpy.log(x), ddof=1)`, scipy 1.17.1.
    #[test]
    fn the_interval_is_the_one_scipy_finds() {
        let values = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829];
        let estimate = geometric_mean(&values).unwrap();
        assert!((estimate.point - 0.860_164_380_706_162).abs() < 1e-12);
        let (low, high) = estimate.bounds.known().unwrap();
        assert!((low - 0.845_139_697_954).abs() < 1e-8, "{low}");
        assert!((high - 0.875_456_168_521).abs() < 1e-8, "{high}");
        assert!((spread(&logarithms(&values).unwrap()).unwrap() - 0.024_633_263).abs() < 1e-6);
    }

    #[test]
    fn trials_of_one_block_are_one_value() {
        let means = by_block([(2, 9.0), (1, 2.0), (1, 8.0)]);
        assert!((means[&1] - 4.0).abs() < 1e-12 && (means[&2] - 9.0).abs() < 1e-12, "{means:?}");
    }

    /// `x = [1, 1, 9]`, `scipy.stats.t.interval(0.95, 2, numpy.mean(x), scipy.stats.sem(x))` (scipy 1.17.1): -7.8071 to 15.1404.
    #[test]
    fn an_amount_is_never_below_nothing() {
        let close = |bounds: Bounds, low: f64, high: f64| {
            let found = bounds.known().unwrap();
            assert!((found.0 - low).abs() < 1e-4 && (found.1 - high).abs() < 1e-4, "{found:?}");
        };
        close(mean(vec![1.0, 1.0, 9.0]).unwrap().bounds, -7.8071, 15.1404);
        close(mean_amount(vec![1.0, 1.0, 9.0]).unwrap().bounds, 0.0, 15.1404);
        assert_eq!(mean(Vec::new()), None);
    }

    #[test]
    fn the_jackknife_of_a_mean_is_its_interval() {
        let values = [0.873, 0.845, 0.861, 0.902, 0.839];
        let without = |left_out: f64| (values.iter().sum::<f64>() - left_out) / 4.0;
        let (low, high) = jackknife(mean_of(&values), &values.map(without)).known().unwrap();
        let (expected_low, expected_high) = bounds_of_mean(&values).known().unwrap();
        assert!((low - expected_low).abs() < 1e-12 && (high - expected_high).abs() < 1e-12);
        assert_eq!(jackknife(1.0, &[1.0, 1.0]).known(), None);
    }

    proptest! {
        #[test]
        fn the_order_of_blocks_does_not_matter(values in vec(0.1..10.0_f64, 3..9)) {
            let mut other = values.clone();
            other.reverse();
            other.rotate_left(1);
            prop_assert_eq!(geometric_mean(&values), geometric_mean(&other));
            prop_assert_eq!(mean(values), mean(other));
        }

        #[test]
        fn turning_a_ratio_over_turns_its_interval_over(values in vec(0.1..10.0_f64, 3..9)) {
            let inverse: Vec<f64> = values.iter().map(|value| 1.0 / value).collect();
            let (estimate, turned) = (geometric_mean(&values).unwrap(), geometric_mean(&inverse).unwrap());
            let ((low, high), (turned_low, turned_high)) =
                (estimate.bounds.known().unwrap(), turned.bounds.known().unwrap());
            for product in [estimate.point * turned.point, turned_low * high, turned_high * low] {
                prop_assert!((product - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn two_blocks_have_no_interval_and_a_zero_has_no_mean() {
        let why = Missing::TooFewBlocks { blocks: 2, needed: 3 };
        assert_eq!(geometric_mean(&[1.0, 2.0]).unwrap().bounds, Bounds::Unknown { why });
        assert_eq!(geometric_mean(&[1.0, 0.0, 2.0]), None);
    }
}

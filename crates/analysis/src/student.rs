//! Student's t interval over blocks: the interval that verdicts rest on.
//!
//! It assumes that the blocks' values, or their logarithms, are spread normally, and in return covers as promised with
//! few blocks, where the bootstrap is too narrow. How often it does is found by simulation (`examples/coverage.rs`).

use crate::bootstrap::{FEWEST_BLOCKS, logarithms, too_few};
use crate::distributions::t_975;
use crate::estimate::{Bounds, Estimate};

/// The 95 % interval of the geometric mean of positive values.
pub fn bounds(values: &[f64]) -> Bounds {
    if values.len() < FEWEST_BLOCKS {
        return too_few(values.len());
    }
    let Some(logs) = logarithms(values) else {
        return Bounds::Unknown { why: "a block's value is not positive".to_owned() };
    };
    bounds_of_mean(&logs).map(f64::exp)
}

/// The 95 % interval of the mean of values that are taken as they are.
pub fn bounds_of_mean(values: &[f64]) -> Bounds {
    let Some(spread) = spread(values).filter(|_| values.len() >= FEWEST_BLOCKS) else {
        return too_few(values.len());
    };
    let half = t_975(values.len() as f64 - 1.0) * spread / (values.len() as f64).sqrt();
    let mean = mean_of(values);
    Bounds::Known { low: mean - half, high: mean + half }
}

/// The geometric mean of one positive value for each block, with its interval. `None` without values, or if one is
/// not positive: a logarithm of nothing is not a number.
pub fn geometric_mean(values: &[f64]) -> Option<Estimate> {
    let mut logs = logarithms(values)?;
    // Sorted, so that the order in which blocks happened to be listed cannot matter.
    logs.sort_unstable_by(f64::total_cmp);
    let bounds = bounds_of_mean(&logs).map(f64::exp);
    let method = "geometric mean over blocks; Student's t on logarithms".to_owned();
    Some(Estimate { point: mean_of(&logs).exp(), bounds, method })
}

/// The standard deviation of the values that these are a sample of; `None` of fewer than two.
pub fn spread(values: &[f64]) -> Option<f64> {
    let mean = mean_of(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.exp(scipy.stats.t.interval(0.95, 9, numpy.log(x).mean(), scipy.stats.sem(numpy.log(x))))`, scipy 1.17.1.
    #[test]
    fn the_interval_is_the_one_scipy_finds() {
        let values = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829];
        let (low, high) = bounds(&values).known().unwrap();
        assert!((low - 0.845_139_697_954).abs() < 1e-8, "{low}");
        assert!((high - 0.875_456_168_521).abs() < 1e-8, "{high}");
    }

    /// `scipy.stats.gmean` of the same, and `numpy.std(numpy.log(x), ddof=1)`.
    #[test]
    fn a_geometric_mean_carries_that_interval() {
        let values = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829];
        let estimate = geometric_mean(&values).unwrap();
        assert!((estimate.point - 0.860_164_380_706_162).abs() < 1e-12);
        let ((low, high), (expected_low, expected_high)) =
            (estimate.bounds.known().unwrap(), bounds(&values).known().unwrap());
        assert!((low - expected_low).abs() < 1e-12 && (high - expected_high).abs() < 1e-12);
        assert!((spread(&logarithms(&values).unwrap()).unwrap() - 0.024_633_263).abs() < 1e-6);
    }

    #[test]
    fn two_blocks_or_a_zero_give_a_reason() {
        assert_eq!(bounds(&[1.0, 2.0]).known(), None);
        assert_eq!(bounds(&[1.0, 0.0, 2.0]).known(), None);
    }
}

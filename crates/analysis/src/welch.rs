//! The ratio of two means whose samples are not paired: Welch's t interval on logarithms.
//!
//! The blocks of two runs are not paired, and two runs need not vary equally. So neither pairing nor a common variance
//! is assumed.

use crate::distributions::t_975;
use crate::estimate::{Bounds, Estimate, EstimateMethod};
use crate::missing::Missing;
use crate::student::{self, FEWEST_BLOCKS, logarithms};

/// The ratio of the geometric means of positive values, new over old. `None` without values on both sides, or if one is
/// not positive.
pub fn ratio(old: &[f64], new: &[f64]) -> Option<Estimate> {
    let (old, new) = (logarithms(old)?, logarithms(new)?);
    let (point, bounds) = of_difference(&old, &new);
    let method = EstimateMethod::RatioOfTwoRuns;
    Some(Estimate { point: point.exp(), bounds: bounds.map(f64::exp), method })
}

/// The difference of the means, new minus old. `None` without values on both sides.
pub fn difference(old: &[f64], new: &[f64]) -> Option<Estimate> {
    let (point, bounds) = of_difference(old, new);
    let method = EstimateMethod::DifferenceOfTwoRuns;
    (!old.is_empty() && !new.is_empty()).then_some(Estimate { point, bounds, method })
}

fn of_difference(old: &[f64], new: &[f64]) -> (f64, Bounds) {
    let (first, second) = (WelchSample::of(old), WelchSample::of(new));
    let difference = second.mean - first.mean;
    if old.len().min(new.len()) < FEWEST_BLOCKS {
        let why = Missing::TooFewOfEach { old: old.len(), new: new.len(), needed: FEWEST_BLOCKS };
        return (difference, Bounds::Unknown { why });
    }
    let half = half_width(&first, &second);
    (difference, Bounds::Known { low: difference - half, high: difference + half })
}

struct WelchSample {
    count: f64,
    mean: f64,
    /// Variance of the mean.
    error: f64,
}

impl WelchSample {
    fn of(values: &[f64]) -> Self {
        // Sorted, so that the order in which trials are listed cannot matter.
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        let (count, mean) = (values.len() as f64, student::mean_of(&values));
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { count, mean, error: squares / (count - 1.0) / count }
    }
}

/// Half the interval of the difference of two means, with the degrees of freedom by Welch and Satterthwaite.
fn half_width(first: &WelchSample, second: &WelchSample) -> f64 {
    let error = first.error + second.error;
    if error <= 0.0 {
        return 0.0;
    }
    let part = |sample: &WelchSample| sample.error.powi(2) / (sample.count - 1.0);
    t_975(error.powi(2) / (part(first) + part(second))) * error.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} within {tolerance}");
    }

    /// `r = scipy.stats.ttest_ind(numpy.log(new), numpy.log(old), equal_var=False)`, then
    /// `numpy.exp(r.confidence_interval(0.95))` and the ratio of `scipy.stats.gmean`; scipy 1.17.1.
    #[test]
    fn the_interval_is_the_one_scipy_finds() {
        let found = ratio(&[5282.0, 5210.0, 5341.0, 5190.0, 5305.0], &[5020.0, 5105.0, 4960.0, 5068.0]).unwrap();
        let (low, high) = found.bounds.known().unwrap();
        close(found.point, 0.956_824_192_866_075, 1e-12);
        close(low, 0.938_005_475_707_808, 1e-9);
        close(high, 0.976_020_460_182_261, 1e-9);
    }

    /// The same call for samples with different variances: 2.03 degrees of freedom out of six.
    #[test]
    fn samples_need_not_vary_equally() {
        let found = ratio(&[0.873, 0.845, 0.861, 0.902, 0.839], &[1.2, 0.7, 0.95]).unwrap();
        let (low, high) = found.bounds.known().unwrap();
        close(found.point, 1.073_904_782_901_862, 1e-12);
        close(low, 0.552_230_046_329_323, 1e-9);
        close(high, 2.088_389_594_889_478, 1e-9);
    }

    #[test]
    fn few_trials_give_a_reason_and_equal_ones_no_doubt() {
        let found = ratio(&[1.0, 2.0], &[2.0, 2.0, 2.0]).unwrap();
        assert!(matches!(found.bounds, Bounds::Unknown { why: Missing::TooFewOfEach { old: 2, new: 3, .. } }));
        let (low, high) = ratio(&[2.0; 3], &[3.0; 4]).unwrap().bounds.known().unwrap();
        close(low, 1.5, 1e-12);
        close(high, 1.5, 1e-12);
        assert_eq!(ratio(&[], &[1.0]), None);
        assert_eq!(ratio(&[1.0, 0.0, 1.0], &[1.0; 3]), None);
    }

    proptest! {
        #[test]
        fn swapping_the_runs_inverts_the_ratio(old in vec(0.1..10.0_f64, 3..9), new in vec(0.1..10.0_f64, 3..9)) {
            let (one, other) = (ratio(&old, &new).unwrap(), ratio(&new, &old).unwrap());
            let ((low, high), (other_low, other_high)) =
                (one.bounds.known().unwrap(), other.bounds.known().unwrap());
            close(one.point * other.point, 1.0, 1e-9);
            close(low * other_high, 1.0, 1e-9);
            close(high * other_low, 1.0, 1e-9);
            prop_assert!(low <= one.point && one.point <= high);
        }

        #[test]
        fn the_order_of_trials_does_not_matter(old in vec(0.1..10.0_f64, 3..9), mut new in vec(0.1..10.0_f64, 3..9)) {
            let before = ratio(&old, &new);
            new.reverse();
            new.rotate_left(1);
            prop_assert_eq!(before, ratio(&old, &new));
        }
    }
}

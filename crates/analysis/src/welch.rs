//! The ratio of two means whose samples are not paired: Welch's t interval on logarithms.
//!
//! The blocks of two runs do not belong together, and two runs need not vary equally, so neither pairing nor a common
//! variance is assumed. Bootstrap intervals of so few values on each side are too narrow, so there is none here.

use crate::bootstrap::{FEWEST_BLOCKS, logarithms};
use crate::estimate::{Bounds, Estimate};

/// Terms of the continued fraction; it needs fewer than a hundred for any number of degrees of freedom.
const MOST_TERMS: usize = 300;

/// Halvings of a range; each gains a binary digit.
const HALVINGS: usize = 80;

/// Both tails of a 95 % interval together.
const TAILS: f64 = 0.05;

/// The ratio of the geometric means of positive values, new over old. `None` without values on both sides, or if one is
/// not positive.
pub fn ratio(old: &[f64], new: &[f64]) -> Option<Estimate> {
    let (old, new) = (logarithms(old)?, logarithms(new)?);
    let (first, second) = (Sample::of(&old), Sample::of(&new));
    let difference = second.mean - first.mean;
    let fewest = old.len().min(new.len());
    let bounds = if fewest < FEWEST_BLOCKS {
        let why =
            format!("too few trials: {} and {}, at least {FEWEST_BLOCKS} of each are needed", old.len(), new.len());
        Bounds::Unknown { why }
    } else {
        let half = half_width(&first, &second);
        Bounds::Known { low: (difference - half).exp(), high: (difference + half).exp() }
    };
    let method = "ratio of geometric means over trials; Welch's t on logarithms".to_owned();
    Some(Estimate { point: difference.exp(), bounds, method })
}

struct Sample {
    count: f64,
    mean: f64,
    /// Variance of the mean.
    error: f64,
}

impl Sample {
    fn of(values: &[f64]) -> Self {
        // Sorted, so that the order in which trials happened to be listed cannot matter.
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { count, mean, error: squares / (count - 1.0) / count }
    }
}

/// Half of the interval of the difference of two means, with the degrees of freedom by Welch and Satterthwaite.
fn half_width(first: &Sample, second: &Sample) -> f64 {
    let error = first.error + second.error;
    if error <= 0.0 {
        return 0.0;
    }
    let part = |sample: &Sample| sample.error.powi(2) / (sample.count - 1.0);
    t_975(error.powi(2) / (part(first) + part(second))) * error.sqrt()
}

/// The 97.5 % point of t for any number of degrees of freedom, not only whole ones.
fn t_975(degrees: f64) -> f64 {
    beyond(TAILS, degrees, (1.9, 13.0))
}

/// The value of t beyond which, to both sides together, lies this share; for shares of at least one in a million and two or
/// more degrees of freedom.
pub(crate) fn t_beyond(tails: f64, degrees: f64) -> f64 {
    beyond(tails, degrees, (0.0, 1_100.0))
}

fn beyond(tails: f64, degrees: f64, (mut low, mut high): (f64, f64)) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if both_tails(middle, degrees) > tails { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The chance that |t| is larger: a regularised incomplete beta function.
fn both_tails(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / (degrees + t * t), 0.5 * degrees, 0.5)
}

/// Regularised, by the continued fraction (DLMF 8.17.22), which converges quickly below (a + 1) / (a + b + 2).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() - logarithm_of_beta(a, b) - a.ln();
    let (mut numerator, mut denominator, mut value) = (1.0, 0.0, 1.0);
    for term in 0..MOST_TERMS {
        let half = (term / 2) as f64;
        let coefficient = match term {
            0 => 1.0,
            _ if term % 2 == 0 => half * (b - half) * x / ((a + 2.0 * half - 1.0) * (a + 2.0 * half)),
            _ => -(a + half) * (a + b + half) * x / ((a + 2.0 * half) * (a + 2.0 * half + 1.0)),
        };
        denominator = 1.0 / (1.0 + coefficient * denominator);
        numerator = 1.0 + coefficient / numerator;
        value *= numerator * denominator;
        if (1.0 - numerator * denominator).abs() < f64::EPSILON {
            break;
        }
    }
    // The first step of the recurrence counts the leading one besides the first term.
    front.exp() * (value - 1.0)
}

fn logarithm_of_beta(a: f64, b: f64) -> f64 {
    logarithm_of_gamma(a) + logarithm_of_gamma(b) - logarithm_of_gamma(a + b)
}

/// By Stirling's series (DLMF 5.11.1), after moving the argument up to where eight digits need four terms.
fn logarithm_of_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return logarithm_of_gamma(x + 1.0) - x.ln();
    }
    let (inverse, square) = (1.0 / x, 1.0 / (x * x));
    let series = inverse / 12.0 * (1.0 - square / 30.0 * (1.0 - square * (2.0 / 7.0) * (1.0 - square * 0.75)));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
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

    /// The same call for samples that vary differently: 2.03 degrees of freedom of six.
    #[test]
    fn samples_need_not_vary_equally() {
        let found = ratio(&[0.873, 0.845, 0.861, 0.902, 0.839], &[1.2, 0.7, 0.95]).unwrap();
        let (low, high) = found.bounds.known().unwrap();
        close(found.point, 1.073_904_782_901_862, 1e-12);
        close(low, 0.552_230_046_329_323, 1e-9);
        close(high, 2.088_389_594_889_478, 1e-9);
    }

    /// `scipy.stats.t.ppf(0.975, d)`, scipy 1.17.1.
    #[test]
    fn quantiles_of_t_are_those_of_scipy() {
        for (degrees, expected) in [
            (2.0, 4.302_652_729_749_462),
            (2.5, 3.574_654_842_003_682),
            (3.7, 2.867_520_707_191_07),
            (6.913, 2.370_670_283_007_44),
            (12.25, 2.173_891_388_392_06),
            (45.5, 2.013_492_682_929_27),
            (1e6, 1.959_966_356_814_11),
        ] {
            close(t_975(degrees), expected, 1e-8);
        }
    }

    /// `scipy.stats.t.ppf(1 - tails / 2, d)`, scipy 1.17.1.
    #[test]
    fn quantiles_further_out_are_those_of_scipy() {
        for (tails, degrees, expected) in [
            (0.05, 4.0, 2.776_445_105_197_793_4),
            (0.05 / 3.0, 2.0, 7.648_803_937_915_553),
            (0.05 / 3.0, 4.0, 3.960_786_482_770_183_5),
            (0.05 / 8.0, 9.0, 3.546_508_498_078_632),
            (0.05 / 64.0, 2.0, 35.756_121_089_806_38),
            (0.05 / 64.0, 19.0, 3.991_480_024_751_096),
        ] {
            close(t_beyond(tails, degrees), expected, 1e-6);
        }
    }

    #[test]
    fn few_trials_give_a_reason_and_equal_ones_no_doubt() {
        let found = ratio(&[1.0, 2.0], &[2.0, 2.0, 2.0]).unwrap();
        assert!(matches!(found.bounds, Bounds::Unknown { why } if why.starts_with("too few trials: 2 and 3, ")));
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

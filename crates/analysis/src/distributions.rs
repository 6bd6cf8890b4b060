//! Distributions from which intervals, powers and expectations are computed, in the form in which callers need them.
//!
//! The functions themselves come from `statrs`. It has no noncentral t and no integration; what needs these uses
//! [`integral`].

use crate::estimate::CONFIDENCE;
use statrs::distribution::{ChiSquared, Continuous, ContinuousCDF, FisherSnedecor, Normal, StudentsT};

/// Steps of Simpson's rule; twice as many change no digit that is shown.
const STEPS: u32 = 1_800;

/// The t value from the middle of a 95 % confidence interval to either end, for any number of degrees of freedom, whole or not.
pub fn t_975(degrees: f64) -> f64 {
    t_beyond(1.0 - CONFIDENCE, degrees)
}

/// The value of t beyond which this share lies, both tails together. Without degrees of freedom there is no such value,
/// so it is infinite. Accurate to nine digits up to 20,000 degrees; above 50,000 `statrs` ends its search too early.
pub fn t_beyond(tails: f64, degrees: f64) -> f64 {
    // Taken from the lower tail, which is exact where the share is small.
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| -t.inverse_cdf(tails / 2.0))
}

/// The share of values of t below this one.
pub fn t_below(value: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::NAN, |t| t.cdf(value))
}

/// The value that a χ² variable with this many degrees of freedom stays below with this probability.
pub fn chi_squared_at(probability: f64, degrees: f64) -> f64 {
    ChiSquared::new(degrees).map_or(f64::NAN, |distribution| distribution.inverse_cdf(probability))
}

/// The share of values of F above this one.
pub fn f_above(value: f64, between: f64, within: f64) -> f64 {
    FisherSnedecor::new(between, within).map_or(f64::NAN, |f| f.sf(value))
}

/// The density of the standard normal distribution.
pub fn normal_density(value: f64) -> f64 {
    Normal::standard().pdf(value)
}

/// The share of standard normal values below this one.
pub fn normal_below(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// By Simpson's rule.
pub fn integral(from: f64, to: f64, function: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / f64::from(STEPS);
    let weight = |index: u32| if index % 2 == 1 { 4.0 } else { 2.0 };
    let between: f64 = (1..STEPS).map(|index| weight(index) * function(from + step * f64::from(index))).sum();
    (function(from) + between + function(to)) * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} within {tolerance}");
    }

    /// `scipy.stats.t.ppf(0.975, d)`, scipy 1.17.1.
    #[test]
    fn ends_of_intervals_are_those_of_scipy() {
        for (degrees, expected) in [
            (1.0, 12.706_204_736_432_095),
            (2.0, 4.302_652_729_749_462),
            (2.5, 3.574_654_842_003_682),
            (3.7, 2.867_520_707_191_07),
            (6.913, 2.370_670_283_007_44),
            (12.25, 2.173_891_388_392_06),
            (31.0, 2.039_513_446_396_408),
            (45.5, 2.013_492_682_929_27),
            (100.0, 1.983_971_518_523_553),
            (1e4, 1.960_201_239_891),
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
    fn without_freedom_anything_may_be() {
        assert_eq!((t_975(0.0), t_975(-1.0), t_975(f64::NAN)), (f64::INFINITY, f64::INFINITY, f64::INFINITY));
    }

    /// `scipy.stats.chi2.ppf([0.025, 0.975], k)` (scipy 1.17.1).
    #[test]
    fn quantiles_of_chi_squared_are_those_of_scipy() {
        for (degrees, low, high) in [
            (2.0, 0.050_635_615_968_6, 7.377_758_908_23),
            (4.0, 0.484_418_557_087_9, 11.143_286_781_88),
            (9.0, 2.700_389_499_980_4, 19.022_767_798_64),
            (19.0, 8.906_516_481_988_0, 32.852_326_861_73),
            (39.0, 23.654_324_557_593_0, 58.120_059_734_69),
        ] {
            close(chi_squared_at(0.025, degrees), low, 1e-8);
            close(chi_squared_at(0.975, degrees), high, 1e-8);
        }
    }

    /// `scipy.stats.norm.cdf` of -3, -1, 0.5, 1.96 and 6 (scipy 1.17.1).
    #[test]
    fn shares_of_normal_values_are_those_of_scipy() {
        for (value, share) in [
            (-3.0, 0.001_349_898_031_630_093),
            (-1.0, 0.158_655_253_931_457_07),
            (0.5, 0.691_462_461_274_013_1),
            (1.96, 0.975_002_104_851_779_5),
            (6.0, 0.999_999_999_013_412_3),
        ] {
            close(normal_below(value), share, 1e-10);
        }
    }

    /// A third of a cube, for which Simpson's rule is exact, and all of the normal distribution.
    #[test]
    fn integrals_are_those_of_calculus() {
        close(integral(0.0, 3.0, |value| value * value), 9.0, 1e-12);
        close(integral(-9.0, 9.0, normal_density), 1.0, 1e-12);
    }

    proptest! {
        #[test]
        fn smaller_tails_lie_further_out(tails in 1e-6..0.5_f64, degrees in 1.0..200.0_f64) {
            prop_assert!(t_beyond(tails / 2.0, degrees) > t_beyond(tails, degrees));
            prop_assert!(t_beyond(tails, degrees + 1.0) < t_beyond(tails, degrees));
        }
    }
}

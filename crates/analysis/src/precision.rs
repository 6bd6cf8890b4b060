//! How many blocks a given precision needs, and which difference a number of blocks can show.
//!
//! Both follow from the *spread* of a run: the standard deviation of its blocks' log ratios. It is itself an estimate,
//! and a poor one from few blocks; what follows from it is a plan, not a promise.

use crate::distributions::{integral, normal_below, t_975};
use crate::student::FEWEST_BLOCKS;
use statrs::function::gamma::ln_gamma;

/// How often a difference of the smallest effect's size is found; 80 % is the usual convention.
pub const POWER: f64 = 0.80;

/// More blocks than anybody will run; beyond it the precision counts as out of reach.
const MOST_BLOCKS: u32 = 10_000;

/// Halvings of a range: each gains a binary digit, and nobody reads more than nine decimal ones.
const HALVINGS: usize = 30;

/// The fewest blocks whose 95 % t interval of the ratio is no wider than ± `half_width`, if their log ratios keep the
/// standard deviation `spread`. Both are on the scale of natural logarithms: 0.01 is ±1 %. `None` if either is no valid
/// number, or no reasonable number of blocks is enough.
pub fn blocks_needed(spread: f64, half_width: f64) -> Option<u32> {
    if !(spread.is_finite() && half_width.is_finite() && spread >= 0.0 && half_width > 0.0) {
        return None;
    }
    // The normal distribution's quantile is below t's, so the search never starts with too many.
    let least = (1.959 * spread / half_width).powi(2).floor();
    if least > f64::from(MOST_BLOCKS) {
        return None;
    }
    let fewest = u32::try_from(FEWEST_BLOCKS).ok()?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Not negative, and not above the limit.
    let mut blocks = (least as u32).max(fewest);
    while half_width_of(spread, blocks as usize)? > half_width {
        blocks += 1;
    }
    Some(blocks)
}

/// Half the width of the 95 % t interval on the logarithmic scale; `None` where there are too few blocks for one.
pub fn half_width_of(spread: f64, blocks: usize) -> Option<f64> {
    (blocks >= FEWEST_BLOCKS).then(|| t_975(blocks as f64 - 1.0) * spread / (blocks as f64).sqrt())
}

/// The smallest true difference that a verdict at 95 % confidence finds in 80 % of runs with this many blocks, as a
/// logarithm of the ratio: 0.01 is a difference of 1 %. It uses the noncentral t distribution, since the spread is
/// estimated from the same blocks. `None` if there are too few blocks for a verdict, or the spread is no valid number.
pub fn smallest_effect(spread: f64, blocks: usize) -> Option<f64> {
    if blocks < FEWEST_BLOCKS || !spread.is_finite() || spread < 0.0 {
        return None;
    }
    let (mut low, mut high) = (0.0, 2.0 * t_975(blocks as f64 - 1.0));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if power(middle, blocks as f64 - 1.0) < POWER { low = middle } else { high = middle }
    }
    Some(f64::midpoint(low, high) * spread / (blocks as f64).sqrt())
}

/// How often a two-sided t test at 95 % finds a difference of this many standard errors.
///
/// Given the estimated standard deviation as a share of the true one, the test statistic is normal. This is averaged
/// over the distribution of that share, which is the distribution of the root of χ² over its degrees of freedom.
fn power(standard_errors: f64, freedom: f64) -> f64 {
    let critical = t_975(freedom);
    let widest = 9.0 / freedom.sqrt();
    let logarithm = (2.0_f64).ln() + 0.5 * freedom * (0.5 * freedom).ln() - ln_gamma(0.5 * freedom);
    let found = |share: f64| {
        let density = share.powf(freedom - 1.0) * (logarithm - 0.5 * freedom * share * share).exp();
        let above = normal_below(standard_errors - critical * share);
        let below = normal_below(-standard_errors - critical * share);
        density * (above + below)
    };
    integral((1.0 - widest).max(0.0), 1.0 + widest, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first `n` from 3 on with `scipy.stats.t.ppf(0.975, n - 1) * s / n**0.5 <= h` (scipy 1.17.1).
    #[test]
    fn the_blocks_needed_are_those_found_by_counting_up() {
        let expected = [
            (0.003, 0.005, 4),
            (0.005, 0.005, 7),
            (0.01, 0.005, 18),
            (0.02, 0.005, 64),
            (0.03, 0.005, 141),
            (0.01, 0.01, 7),
            (0.02, 0.01, 18),
            (0.03, 0.01, 38),
            (0.03, 0.02, 12),
            (0.01, 0.02, 4),
            (0.000_1, 0.02, 3),
        ];
        for (spread, half_width, blocks) in expected {
            assert_eq!(blocks_needed(spread, half_width), Some(blocks), "{spread} {half_width}");
        }
    }

    /// The `d` at which `n` blocks have a power of 0.8, by `scipy.optimize.brentq` of
    /// `1 - nct.cdf(c, n - 1, d * n**0.5) + nct.cdf(-c, n - 1, d * n**0.5) - 0.8`, `c = t.ppf(0.975, n - 1)` (scipy 1.17.1).
    #[test]
    fn the_smallest_effect_is_that_of_the_noncentral_t() {
        let expected = [
            (3, 3.264_043_549_699_7),
            (5, 1.681_996_965_955_66),
            (10, 0.996_001_371_455_44),
            (20, 0.660_441_654_623_03),
            (40, 0.454_256_939_683_23),
        ];
        for (blocks, effect) in expected {
            let found = smallest_effect(1.0, blocks).unwrap();
            assert!((found - effect).abs() < 2e-5, "{blocks}: {found}");
        }
    }

    /// The same expression for d = 1 and d = 0.2.
    #[test]
    fn power_is_that_of_the_noncentral_t() {
        for (blocks, effect, expected) in
            [(5_u32, 1.0, 0.401_389_917), (10, 1.0, 0.803_096_857), (20, 0.2, 0.135_956_289)]
        {
            let found = power(effect * f64::from(blocks).sqrt(), f64::from(blocks - 1));
            assert!((found - expected).abs() < 1e-6, "{blocks}: {found}");
        }
        assert!((power(0.0, 9.0) - 0.05).abs() < 1e-6, "with no difference, one in twenty is found nevertheless");
    }

    #[test]
    fn what_makes_no_sense_has_no_answer() {
        assert_eq!(blocks_needed(0.01, 0.0), None);
        assert_eq!(blocks_needed(f64::NAN, 0.01), None);
        assert_eq!(blocks_needed(1.0, 1e-9), None, "nobody runs that many");
        assert_eq!(blocks_needed(0.0, 0.01), Some(3));
        assert_eq!(smallest_effect(0.01, 2), None);
        assert_eq!(smallest_effect(f64::INFINITY, 5), None);
    }

    proptest! {
        #[test]
        fn one_block_less_would_not_do(spread in 0.001..0.02_f64, half_width in 0.001..0.1_f64) {
            let blocks = blocks_needed(spread, half_width).unwrap() as usize;
            prop_assert!(half_width_of(spread, blocks).unwrap() <= half_width);
            prop_assert!(half_width_of(spread, blocks - 1).is_none_or(|wider| wider > half_width));
        }

        #[test]
        fn more_blocks_show_smaller_differences(spread in 0.001..0.2_f64, blocks in 3..60_usize) {
            let (fewer, more) = (smallest_effect(spread, blocks).unwrap(), smallest_effect(spread, blocks + 1).unwrap());
            prop_assert!(more < fewer && fewer > half_width_of(spread, blocks).unwrap());
        }
    }
}

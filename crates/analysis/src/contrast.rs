//! Two sides of one measure: their ratio or difference, with its interval, and what it allows us to say.

use crate::distributions::{t_below, t_beyond};
use crate::estimate::{Bounds, CONFIDENCE, Estimate};
use crate::measures::{Better, Scale};
use crate::missing::Missing;
use crate::student::{self, FEWEST_BLOCKS};
use crate::welch;
use serde::{Deserialize, Serialize};

/// How one side compares with the other: their ratio, or their difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    pub measure: String,
    pub scale: Scale,
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Standard deviation of the logarithms of the blocks' ratios, or of their differences. `None` for fewer than two
    /// blocks, or if the sides are not paired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// The blocks behind the estimate; empty if the sides are not paired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockValue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockValue {
    pub block: u32,
    pub value: f64,
}

/// Where an interval lies relative to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    Below,
    /// The value lies in the interval.
    Across,
    Above,
    /// There is no interval.
    Unknown,
}

impl Bounds {
    pub fn against(&self, value: f64) -> Position {
        match *self {
            Self::Unknown { .. } => Position::Unknown,
            Self::Known { high, .. } if high < value => Position::Below,
            Self::Known { low, .. } if low > value => Position::Above,
            Self::Known { .. } => Position::Across,
        }
    }
}

impl Position {
    /// The same position for a measure of which less is better.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::Above => Self::Below,
            same @ (Self::Across | Self::Unknown) => same,
        }
    }
}

impl Contrast {
    /// The value that means that both sides are equal.
    pub fn neutral(&self) -> f64 {
        neutral(self.scale)
    }

    /// Above means better, below worse.
    pub fn position(&self, better: Better) -> Position {
        let position = self.estimate.bounds.against(self.neutral());
        if better == Better::Less { position.turned() } else { position }
    }

    /// How often blocks would lie as far from equal on either side if both sides were equal: the p value of the t test.
    pub fn p_equal(&self) -> Option<f64> {
        let (mean, error, freedom) = self.test()?;
        Some((2.0 * t_below(-(mean / error).abs(), freedom)).min(1.0))
    }

    /// The p value of the two one-sided tests: how often a difference as large as the margin would look as small as this one.
    /// The margin is a share: a ratio from 1 / (1 + margin) to 1 + margin is within it.
    pub fn p_beyond(&self, margin: f64) -> Option<f64> {
        let (mean, error, freedom) = self.test()?;
        let farthest = margin.ln_1p() - mean.abs();
        (self.scale == Scale::Ratio).then(|| t_below(-farthest / error, freedom))
    }

    /// The interval that misses the truth with this probability, both tails together.
    pub fn bounds_but_for(&self, tails: f64) -> Bounds {
        let Some((mean, error, freedom)) = self.test() else { return student::too_few(self.blocks.len()) };
        let half = t_beyond(tails, freedom) * error;
        let bounds = Bounds::Known { low: mean - half, high: mean + half };
        if self.scale == Scale::Ratio { bounds.map(f64::exp) } else { bounds }
    }

    /// Mean, standard error and degrees of freedom of the tested values: logarithms of ratios, or differences.
    fn test(&self) -> Option<(f64, f64, f64)> {
        let count = self.blocks.len();
        let spread = self.spread.filter(|_| count >= FEWEST_BLOCKS)?;
        let mean = if self.scale == Scale::Ratio { self.estimate.point.ln() } else { self.estimate.point };
        // Blocks that are equal to the last bit have no spread; any difference is then certain.
        Some((mean, (spread / (count as f64).sqrt()).max(f64::MIN_POSITIVE), count as f64 - 1.0))
    }

    /// The same contrast with every ratio multiplied and raised to a power.
    #[must_use]
    pub fn scaled(&self, times: f64, power: f64) -> Self {
        let scaled = |value: f64| (value * times).powf(power);
        let Estimate { point, bounds, method } = self.estimate.clone();
        let estimate = Estimate { point: scaled(point), bounds: bounds.map(scaled), method };
        let blocks = self.blocks.iter().map(|one| BlockValue { value: scaled(one.value), ..*one }).collect();
        Self { estimate, spread: self.spread.map(|spread| spread * power.abs()), blocks, ..self.clone() }
    }
}

pub fn neutral(scale: Scale) -> f64 {
    if scale == Scale::Ratio { 1.0 } else { 0.0 }
}

/// From each block's value on one side and on the other. `None` without blocks.
pub fn paired(measure: &str, scale: Scale, blocks: impl Iterator<Item = (u32, f64, f64)>) -> Option<Contrast> {
    let of_block = |(block, base, own): (u32, f64, f64)| {
        let value = if scale == Scale::Ratio { (own.ln() - base.ln()).exp() } else { own - base };
        (BlockValue { block, value }, base == 0.0 && own == 0.0)
    };
    let (blocks, nothing): (Vec<BlockValue>, Vec<bool>) = blocks.map(of_block).unzip();
    let values: Vec<f64> = blocks.iter().map(|one| one.value).collect();
    let (estimate, spread) = if scale == Scale::Ratio {
        (student::geometric_mean(&values)?, student::spread(&student::logarithms(&values)?))
    } else {
        let estimate = student::mean(values.clone())?;
        let seen: Vec<f64> = nothing.iter().map(|nothing| if *nothing { 0.0 } else { 1.0 }).collect();
        (unless_never_seen(&seen, estimate), student::spread(&values))
    };
    Some(Contrast { measure: measure.to_owned(), scale, estimate, spread, blocks })
}

/// From two samples whose members are not paired, each with the variance of its logarithms that is due to rounding.
pub fn unpaired(measure: &str, scale: Scale, samples: &[(Vec<f64>, f64); 2]) -> Option<Contrast> {
    let [(old, _), (new, _)] = samples;
    let estimate = if scale == Scale::Ratio { welch::ratio(old, new)? } else { welch::difference(old, new)? };
    let estimate = estimate.no_surer_than(&samples.each_ref().map(|(values, rounding)| (*rounding, values.len())));
    Some(Contrast { measure: measure.to_owned(), scale, estimate, spread: None, blocks: Vec::new() })
}

/// Never seen does not mean that it never happens: blocks that are all 0 would give an interval without width.
pub fn unless_never_seen(blocks: &[f64], estimate: Estimate) -> Estimate {
    let never = blocks.len() >= FEWEST_BLOCKS && blocks.iter().all(|value| *value == 0.0);
    let bounds = if never { Bounds::Unknown { why: Missing::NeverSeen } } else { estimate.bounds };
    Estimate { bounds, ..estimate }
}

/// The p values of a family of tests, adjusted by Holm's method: calling everything below 5 % a difference errs about
/// any of them in at most 5 % of runs.
pub fn holm(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = values.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))).collect();
    order.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut adjusted = vec![None; values.len()];
    let (count, mut least) = (order.len(), 0.0_f64);
    for (rank, (place, p)) in order.into_iter().enumerate() {
        least = least.max((p * (count - rank) as f64).min(1.0));
        adjusted[place] = Some(least);
    }
    adjusted
}

/// How many of a family's smallest p values count as differences, if on average at most 5 % of those named may be none:
/// Benjamini and Hochberg's method.
pub fn discoveries(values: &[f64]) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let most = |rank: usize| (1.0 - CONFIDENCE) * (rank + 1) as f64 / sorted.len() as f64;
    (0..sorted.len()).rfind(|rank| sorted[*rank] <= most(*rank)).map_or(0, |rank| rank + 1)
}

/// True if a p value is small enough for a verdict.
pub fn is_significant(p: Option<f64>) -> bool {
    p.is_some_and(|p| p < 1.0 - CONFIDENCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "found {found}, expected {expected}");
    }

    fn of_ratios(ratios: &[f64]) -> Contrast {
        paired("m", Scale::Ratio, (1..).zip(ratios).map(|(block, ratio)| (block, 1.0, *ratio))).unwrap()
    }

    const RATIOS: [f64; 10] = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829];

    /// `scipy.stats.ttest_1samp(numpy.log(x), 0).pvalue`, and of `x / 0.86` (scipy 1.17.1).
    #[test]
    fn p_values_are_those_of_scipy() {
        close(of_ratios(&RATIOS).p_equal().unwrap(), P_EQUAL);
        let near: Vec<f64> = RATIOS.iter().map(|ratio| ratio / 0.86).collect();
        close(of_ratios(&near).p_equal().unwrap(), P_NEAR);
    }

    const P_EQUAL: f64 = 1.221_959_032_559_501e-8;
    const P_NEAR: f64 = 0.980_961_122_830_640_5;
    const P_BEYOND: f64 = 0.016_448_619_333_148_812;

    /// `max(ttest_1samp(y, -m, alternative="greater").pvalue, ttest_1samp(y, m, alternative="less").pvalue)` with
    /// `y = numpy.log(x / 0.86)`, `m = numpy.log(1.02)`.
    #[test]
    fn equivalence_is_tested_as_by_scipy() {
        let near: Vec<f64> = RATIOS.iter().map(|ratio| ratio / 0.86).collect();
        close(of_ratios(&near).p_beyond(0.02).unwrap(), P_BEYOND);
        assert!(of_ratios(&RATIOS).p_beyond(0.02).unwrap() > 0.99);
        assert_eq!(of_ratios(&[1.0, 1.1]).p_beyond(0.02), None);
    }

    /// `statsmodels.stats.multitest.multipletests(p, method="holm")[1]` of `[0.01, 0.04, 0.03, 0.005]`.
    #[test]
    fn families_are_adjusted_by_holm() {
        let found = holm(&[Some(0.01), None, Some(0.04), Some(0.03), Some(0.005)]);
        let expected = [Some(0.03), None, Some(0.06), Some(0.06), Some(0.02)];
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some());
            close(found.unwrap_or_default(), expected.unwrap_or_default());
        }
    }

    /// `statsmodels.stats.multitest.multipletests(p, method="fdr_bh")[0].sum()`, 0.05.
    #[test]
    fn discoveries_are_those_of_benjamini_and_hochberg() {
        assert_eq!(discoveries(&[0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205]), 2);
        assert_eq!(discoveries(&[0.03, 0.04, 0.045, 0.049]), 4, "each alone would be missed, all together are not");
        assert_eq!(discoveries(&[0.2, 0.05]), 0);
        assert_eq!(discoveries(&[]), 0);
    }

    #[test]
    fn what_was_never_seen_has_no_interval_that_says_it_cannot_be() {
        let none = paired("m", Scale::Difference, (1..5).map(|block| (block, 0.0, 0.0))).unwrap();
        assert_eq!(none.estimate.bounds, Bounds::Unknown { why: Missing::NeverSeen });
        let some = paired("m", Scale::Difference, (1..5).map(|block| (block, 2.0, 2.0))).unwrap();
        assert_eq!((some.estimate.point, some.position(Better::Less)), (0.0, Position::Across));
    }

    #[test]
    fn less_may_be_better() {
        let slower = of_ratios(&[1.2, 1.21, 1.19]);
        assert_eq!(slower.position(Better::More), Position::Above);
        assert_eq!(slower.position(Better::Less), Position::Below);
        assert_eq!(of_ratios(&[1.2, 1.1]).position(Better::Less), Position::Unknown);
    }

    proptest! {
        /// The interval leaves out 1 exactly where the test finds a difference.
        #[test]
        fn interval_and_test_agree(ratios in vec(0.8..1.3_f64, 3..12)) {
            let contrast = of_ratios(&ratios);
            let (usual, same) = (contrast.estimate.bounds.known().unwrap(), contrast.bounds_but_for(0.05).known().unwrap());
            prop_assert!((usual.0 - same.0).abs() < 1e-9 && (usual.1 - same.1).abs() < 1e-9);
            let wider = contrast.bounds_but_for(0.01).known().unwrap();
            prop_assert!(wider.0 < same.0 && wider.1 > same.1);
            let apart = matches!(contrast.position(Better::More), Position::Above | Position::Below);
            prop_assert_eq!(apart, is_significant(contrast.p_equal()));
        }

        /// A power and a factor can be taken before or after.
        #[test]
        fn scaling_ratios_scales_their_mean(ratios in vec(0.5..2.0_f64, 3..9), times in 0.1..4.0_f64, power in 0.2..3.0_f64) {
            let before: Vec<f64> = ratios.iter().map(|ratio| (ratio * times).powf(power)).collect();
            let (before, after) = (of_ratios(&before), of_ratios(&ratios).scaled(times, power));
            prop_assert!((before.estimate.point / after.estimate.point - 1.0).abs() < 1e-9);
            let ends = |contrast: &Contrast| contrast.estimate.bounds.known().unwrap();
            prop_assert!((ends(&before).0 / ends(&after).0 - 1.0).abs() < 1e-9);
            prop_assert!((before.spread.unwrap() - after.spread.unwrap()).abs() < 1e-9);
        }
    }
}

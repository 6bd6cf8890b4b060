//! Several trials of one cell in one block: the hierarchical bootstrap of a ratio, and means within blocks.
//!
//! Trials of a block are alike in what the block shares, so they are not further blocks. Blocks are drawn first, then,
//! within each block drawn, trials of either side. With one trial of each side in a block that is the plain bootstrap.

use crate::bootstrap::{self, FEWEST_BLOCKS, RESAMPLES, index_below};
use crate::estimate::Bounds;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;

/// What both sides read in one block: logarithms of one value for each trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub baseline: Vec<f64>,
    pub contender: Vec<f64>,
}

impl Block {
    /// The logarithm of the block's ratio, contender over baseline.
    pub fn log_ratio(&self) -> f64 {
        mean(&self.contender) - mean(&self.baseline)
    }

    fn drawn(&self, contender: &[u64], baseline: &[u64]) -> f64 {
        resampled(&self.contender, contender) - resampled(&self.baseline, baseline)
    }

    fn trials_of_larger_side(&self) -> usize {
        self.baseline.len().max(self.contender.len())
    }
}

/// The BCa interval of the mean log ratio. No side of any block may be empty.
///
/// Of each draw there is a second one with blocks mirrored and the draws within both sides exchanged. With it the interval
/// of `b/a` is exactly the negative of that of `a/b`.
pub fn bounds(blocks: &[Block], seed: u64) -> Bounds {
    let blocks = sorted(blocks);
    let ratios: Vec<f64> = blocks.iter().map(Block::log_ratio).collect();
    let statistic = |drawn: &[usize]| drawn.iter().map(|&block| ratios[block]).sum::<f64>() / drawn.len() as f64;
    let most = blocks.iter().map(Block::trials_of_larger_side).max().unwrap_or(0);
    if most <= 1 || blocks.len() < FEWEST_BLOCKS {
        return bootstrap::bounds(blocks.len(), seed, statistic);
    }
    let count = blocks.len();
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    let mut resamples = Vec::with_capacity(RESAMPLES);
    let (mut one, mut other) = (vec![0; count * most], vec![0; count * most]);
    while resamples.len() < RESAMPLES {
        let drawn: Vec<usize> = (0..count).map(|_| index_below(count, &mut generator)).collect();
        one.fill_with(|| generator.next_u64());
        other.fill_with(|| generator.next_u64());
        let with_trials = || drawn.iter().zip(one.chunks(most).zip(other.chunks(most)));
        let straight = with_trials().map(|(&block, (one, other))| blocks[block].drawn(one, other));
        resamples.push(straight.sum::<f64>() / count as f64);
        let mirrored = with_trials().map(|(&block, (one, other))| blocks[count - 1 - block].drawn(other, one));
        resamples.push(mirrored.sum::<f64>() / count as f64);
    }
    bootstrap::corrected(resamples, count, statistic)
}

/// The geometric mean of each block's values, in the order of the blocks. All values must be positive.
pub fn means_of_blocks(values: impl IntoIterator<Item = (u32, f64)>) -> Vec<f64> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, value) in values {
        blocks.entry(block).or_default().push(value);
    }
    let mean_of = |values: &Vec<f64>| match values[..] {
        // As it is: a logarithm and back would change its last digits.
        [one] => one,
        _ => mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp(),
    };
    blocks.values().map(mean_of).collect()
}

/// Blocks and the trials within them by value, so that the order in which they are listed cannot matter.
fn sorted(blocks: &[Block]) -> Vec<Block> {
    let mut blocks = blocks.to_vec();
    for block in &mut blocks {
        block.baseline.sort_unstable_by(f64::total_cmp);
        block.contender.sort_unstable_by(f64::total_cmp);
    }
    blocks.sort_by(|one, other| one.log_ratio().total_cmp(&other.log_ratio()));
    blocks
}

/// The mean of as many values as there are, drawn with replacement.
fn resampled(values: &[f64], draws: &[u64]) -> f64 {
    let of = |&draw: &u64| values[usize::try_from((u128::from(draw) * values.len() as u128) >> 64).unwrap_or(0)];
    draws[..values.len()].iter().map(of).sum::<f64>() / values.len() as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn width(bounds: &Bounds) -> f64 {
        let (low, high) = bounds.known().unwrap();
        high - low
    }

    fn alike(count: usize, baseline: &[f64], contender: &[f64]) -> Vec<Block> {
        vec![Block { baseline: baseline.to_vec(), contender: contender.to_vec() }; count]
    }

    #[test]
    fn with_one_trial_of_each_side_it_is_the_plain_bootstrap() {
        let ratios = [-0.16, -0.14, -0.15, -0.11, -0.17];
        let blocks: Vec<Block> =
            ratios.iter().map(|&ratio| Block { baseline: vec![1.0], contender: vec![1.0 + ratio] }).collect();
        let (low, high) = bounds(&blocks, 7).known().unwrap();
        let plain = bootstrap::mean(&ratios, 7).unwrap().bounds.known().unwrap();
        assert!((low - plain.0).abs() < 1e-12 && (high - plain.1).abs() < 1e-12);
    }

    /// Where all blocks agree, all that varies is within them: each side's mean of two values 0 and 1, drawn from their
    /// block, is 0, ½ or 1 with ¼, ½ and ¼. The mean of sixteen such means has the standard deviation √(⅛/16), and the
    /// difference of two of those √2 times as much: 0.125. So the interval is about 2 · 1.96 · 0.125 = 0.49 wide.
    #[test]
    fn trials_that_vary_within_blocks_widen_the_interval() {
        let varied = alike(16, &[0.0, 1.0], &[0.0, 1.0]);
        let found = width(&bounds(&varied, 3));
        assert!((found - 0.49).abs() < 0.03, "{found}");
        let even = alike(16, &[0.5, 0.5], &[0.5, 0.5]);
        assert!(width(&bounds(&even, 3)) < 1e-12);
    }

    #[test]
    fn two_blocks_are_too_few_whatever_is_within_them() {
        assert_eq!(bounds(&alike(2, &[0.0, 1.0], &[0.0]), 3).known(), None);
    }

    #[test]
    fn trials_of_one_block_are_one_value() {
        let means = means_of_blocks([(2, 9.0), (1, 2.0), (1, 8.0)]);
        assert!((means[0] - 4.0).abs() < 1e-12 && (means[1] - 9.0).abs() < 1e-12, "{means:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn exchanging_the_sides_turns_the_interval_over(
            values in vec((vec(-1.0..1.0_f64, 1..4), vec(-1.0..1.0_f64, 1..4)), 3..7), seed: u64,
        ) {
            let of = |(one, other): &(Vec<f64>, Vec<f64>)| Block { baseline: one.clone(), contender: other.clone() };
            let blocks: Vec<Block> = values.iter().map(of).collect();
            let turned: Vec<Block> = blocks.iter()
                .map(|block| Block { baseline: block.contender.clone(), contender: block.baseline.clone() }).collect();
            let ((low, high), (other_low, other_high)) =
                (bounds(&blocks, seed).known().unwrap(), bounds(&turned, seed).known().unwrap());
            prop_assert!((low + other_high).abs() < 1e-9 && (high + other_low).abs() < 1e-9);
        }
    }
}

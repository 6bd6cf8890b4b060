//! The minimum against chance: what as many equal machines with the same noise would show.
//!
//! One of several machines always does least, and the more machines there are, the less that is. So a minimum is
//! compared with the expected minimum of as many equal machines. The noise of a single machine is what is left of the
//! logarithms of all throughputs, once the effects of blocks and of machines are taken out. A machine that is held back
//! in every block is no noise, and must not excuse itself.

use super::{TrialReadings, means};
use crate::contrast::Position;
use crate::distributions::{integral, normal_below, normal_density};
use crate::estimate::{Bounds, Estimate, EstimateMethod};
use crate::gathered::by_key;
use crate::student::{FEWEST_BLOCKS, mean_of as mean, too_few};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Normal values this many standard deviations from the mean are too rare to count.
const FARTHEST: f64 = 9.0;

/// The number of simulated studies of equal machines that show what chance does; they are always the same.
const DRAWS: usize = 10_000;
const SEED: u64 = 20_261_121;

/// Rounding of logarithms: machines that are equal up to the last digits are not distinguished.
const ROUNDING: f64 = 1e-9;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgainstChance {
    /// Standard deviation of a machine's log throughput by chance; `None` for a single block.
    pub noise: Option<f64>,
    /// The minimum that equal machines with this noise and the geometric mean of these would show, with the range that
    /// would contain it in 95 of 100 such runs.
    pub expected: Estimate,
    /// Below: the minimum is lower than equal machines show, so some get less. Above: machines even each other out and
    /// are more alike than chance would make them. Machines of which a few are now and then much faster than the rest
    /// also look like this, since normal values do not vary that way.
    pub minimum: Position,
}

/// `None` without trials, or with fewer than two machines.
pub fn of_trials(trials: &[TrialReadings]) -> Option<AgainstChance> {
    let rows = rows(trials);
    let (blocks, machines) = (rows.len(), rows.first()?.len());
    if machines < 2 {
        return None;
    }
    let range = (blocks >= FEWEST_BLOCKS).then(|| range_by_chance(blocks, machines));
    Some(against(&rows, range))
}

/// `range` is the range of [`deviation`] by chance.
fn against(rows: &[Vec<f64>], range: Option<(f64, f64)>) -> AgainstChance {
    let machines = rows.first().map_or(0, Vec::len);
    let level = mean(&rows.iter().map(|row| mean(row)).collect::<Vec<_>>());
    let noise = noise(rows);
    let at = |deviations: f64| (level + deviations * noise.unwrap_or(0.0)).exp();
    let (bounds, minimum) = match range.zip(noise) {
        None => (too_few(rows.len()), Position::Unknown),
        Some(((low, high), noise)) => {
            let by_chance = Bounds::Known { low: low * noise - ROUNDING, high: high * noise + ROUNDING };
            // Bounds below the minimum are a minimum above bounds.
            (Bounds::Known { low: at(low), high: at(high) }, by_chance.against(distance(rows)).turned())
        }
    };
    let method = EstimateMethod::LeastOfEqualMachines { machines, draws: DRAWS };
    AgainstChance { noise, expected: Estimate { point: at(expected_least(machines)), bounds, method }, minimum }
}

/// The range that contains, in 95 of 100 runs of equal machines, the mean distance of the minimum from its block's mean,
/// divided by the estimated noise. It is simulated, since few blocks estimate the noise badly, and no table accounts for that.
fn range_by_chance(blocks: usize, machines: usize) -> (f64, f64) {
    let mut generator = Pcg64Mcg::seed_from_u64(SEED);
    let mut uniform = || (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut normal = || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    let mut drawn: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            let rows: Vec<Vec<f64>> = (0..blocks).map(|_| (0..machines).map(|_| normal()).collect()).collect();
            deviation(&rows)
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let tail = DRAWS / 40;
    let end = |place: usize| drawn.get(place).copied().unwrap_or(0.0);
    (end(tail), end(drawn.len().saturating_sub(tail + 1)))
}

/// How far the minimum lies below the mean of its block, averaged over blocks.
fn distance(rows: &[Vec<f64>]) -> f64 {
    mean(&rows.iter().map(|row| lowest(row) - mean(row)).collect::<Vec<_>>())
}

/// The same in units of the noise.
fn deviation(rows: &[Vec<f64>]) -> Option<f64> {
    noise(rows).filter(|noise| *noise > 0.0).map(|noise| distance(rows) / noise)
}

/// Logarithms of the machines' throughputs, one row for each block.
fn rows(trials: &[TrialReadings]) -> Vec<Vec<f64>> {
    let row = |trial: &TrialReadings| -> (u32, Vec<f64>) {
        (trial.block, trial.machines.iter().map(|(_, rate)| rate.ln()).collect())
    };
    let blocks: BTreeMap<u32, Vec<Vec<f64>>> = by_key(trials.iter().map(row));
    blocks.into_values().map(|rows| means(&rows)).collect()
}

/// The standard deviation of what is left once the effects of blocks and machines are taken out.
fn noise(rows: &[Vec<f64>]) -> Option<f64> {
    let (blocks, machines) = (rows.len(), rows.first()?.len());
    let (of_block, of_machine) = (rows.iter().map(|row| mean(row)).collect::<Vec<f64>>(), means(rows));
    let all = mean(&of_block);
    let left = |block: usize, machine: usize| rows[block][machine] - of_block[block] - of_machine[machine] + all;
    let squares: f64 =
        (0..blocks).flat_map(|block| (0..machines).map(move |machine| left(block, machine).powi(2))).sum();
    let freedom = (blocks - 1) * (machines - 1);
    (freedom > 0).then(|| (squares / freedom as f64).sqrt())
}

fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The expected minimum of this many independent standard normal values.
fn expected_least(count: usize) -> f64 {
    let count = count as f64;
    let of_least = |value: f64| value * count * normal_density(value) * normal_below(-value).powf(count - 1.0);
    integral(-FARTHEST, FARTHEST, of_least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic::Chance;

    /// Machines, blocks, and the ends of the range.
    const RANGES: [(usize, usize, f64, f64); 4] = [
        (2, 3, -2.521_03, -0.450_76),
        (3, 5, -1.282_45, -0.648_87),
        (4, 10, -1.235_45, -0.866_83),
        (8, 4, -1.895_87, -1.102_10),
    ];

    fn trials(rows: &[Vec<f64>]) -> Vec<TrialReadings> {
        let trial = |(block, row): (u32, &Vec<f64>)| TrialReadings {
            trial: block,
            block,
            machines: (1..).zip(row.iter().copied()).collect(),
            together: super::super::of(row).unwrap(),
        };
        (1..).zip(rows).map(trial).collect()
    }

    /// `scipy.integrate.quad` of `x * n * norm.pdf(x) * norm.sf(x)**(n - 1)` (scipy 1.17.1); the values are also those
    /// tabulated by H. L. Harter (1961): 0.56419, 0.84628, 1.02938, 1.42360, 1.76599.
    #[test]
    fn the_least_of_normal_values_is_that_of_scipy() {
        let expected = [
            (2, -0.564_189_583_547_756_4),
            (3, -0.846_284_375_321_634_5),
            (4, -1.029_375_373_003_964_5),
            (8, -1.423_600_306_045_278),
            (16, -1.765_991_393_054_788_6),
            (64, -2.343_733_465_079_44),
        ];
        for (count, mean) in expected {
            assert!((expected_least(count) - mean).abs() < 1e-10, "{count}: {}", expected_least(count));
        }
    }

    /// `numpy.quantile(T, [0.025, 0.975])` of two million draws of the same with `numpy.random.default_rng(1)`.
    #[test]
    fn the_range_by_chance_is_that_of_numpy() {
        for (machines, blocks, low, high) in RANGES {
            let found = range_by_chance(blocks, machines);
            let within = 0.06 * f64::abs(low);
            assert!((found.0 - low).abs() < within && (found.1 - high).abs() < within, "{machines}: {found:?}");
        }
    }

    /// What is left of `L = numpy.log(Y)` as `L - L.mean(1)[:, None] - L.mean(0) + L.mean()`, its squares over 8, and
    /// the root of that: 0.021635. The machine in the middle does half as much, and that is not attributed to noise.
    #[test]
    fn a_machine_that_is_held_back_does_not_excuse_itself() {
        let rows =
            [[100.0, 52.0, 104.0], [98.0, 50.0, 99.0], [103.0, 55.0, 101.0], [97.0, 51.0, 100.0], [101.0, 53.0, 98.0]];
        let found = of_trials(&trials(&rows.map(|row| row.to_vec()))).unwrap();
        assert!((found.noise.unwrap() - 0.021_635_023_047_522).abs() < 1e-12, "{found:?}");
        // 80.5447 * exp(-0.846284 * 0.0216350)
        assert!((found.expected.point - 79.083_4).abs() < 1e-3, "{found:?}");
        assert_eq!(found.minimum, Position::Below);
    }

    /// With equal machines the verdict is right in about 19 of 20 runs, and errs equally often to both sides.
    #[test]
    fn equal_machines_are_within_chance() {
        let mut chance = Chance::new(7);
        for (machines, blocks) in [(2, 3), (3, 5), (4, 10), (8, 4)] {
            let range = range_by_chance(blocks, machines);
            let (mut below, mut above) = (0, 0);
            for _ in 0..1_000 {
                let row = |block: f64, chance: &mut Chance| {
                    (0..machines).map(|_| block + 0.03 * chance.normal()).collect::<Vec<f64>>()
                };
                let rows: Vec<Vec<f64>> = (0..blocks).map(|_| row(0.2 * chance.normal(), &mut chance)).collect();
                match against(&rows, Some(range)).minimum {
                    Position::Below => below += 1,
                    Position::Above => above += 1,
                    Position::Across | Position::Unknown => {}
                }
            }
            // Of a thousand, 25 are expected on each side, give or take 5.
            assert!((10..=40).contains(&below), "{machines} machines, {blocks} blocks: {below} below");
            assert!((10..=40).contains(&above), "{machines} machines, {blocks} blocks: {above} above");
        }
    }

    #[test]
    fn two_blocks_or_one_machine_tell_nothing() {
        let two = of_trials(&trials(&[vec![1.0, 2.0], vec![1.1, 2.1]])).unwrap();
        assert_eq!((two.minimum, two.expected.bounds.known()), (Position::Unknown, None));
        assert_eq!(of_trials(&trials(&[vec![1.0]])), None);
        assert_eq!(of_trials(&[]), None);
    }

    /// Machines that are equal to the last digit, without any noise, are not below chance.
    #[test]
    fn no_noise_is_no_verdict_against_anybody() {
        let equal = of_trials(&trials(&vec![vec![3.0; 3]; 4])).unwrap();
        assert_eq!(equal.minimum, Position::Across);
    }
}

//! Compares drawn values with what the formulas predict, bin by bin.

use super::*;
use proptest::prelude::*;

const DRAWS: u64 = 200_000;
const SPECIAL: Special = Special { draws: 12, band_percent: 1, into_band_percent: 75 };

/// Distribution function of the sum of `draws` uniform values (Irwin and Hall).
fn sum_below(draws: u32, limit: f64) -> f64 {
    let mut total = 0.0;
    // (−1)^k · (draws over k) / draws!, which is (−1)^k / (k! · (draws − k)!).
    for k in 0..=draws {
        let rest = limit - f64::from(k);
        if rest <= 0.0 {
            break;
        }
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        total += sign * rest.powi(draws.cast_signed()) / (factorial(k) * factorial(draws - k));
    }
    total.clamp(0.0, 1.0)
}

/// Share of the values below `limit`, computed from the definitions alone.
fn share_below(shape: DistributionShape, count: u64, limit: u64) -> f64 {
    let place = limit as f64 / count as f64;
    let bell = |draws: u32| sum_below(draws, place * f64::from(draws));
    // How far into the band the limit is, from 0 to 1.
    let into_band = |special: Special| {
        let width = (count * u64::from(special.band_percent) / 100).max(1);
        let start = count / 2 - width / 2;
        (limit.saturating_sub(start) as f64 / width as f64).min(1.0)
    };
    let both = |special: Special, in_band: f64| {
        let meant = f64::from(special.into_band_percent) / 100.0;
        meant * in_band + (1.0 - meant) * bell(special.draws)
    };
    match shape {
        DistributionShape::Uniform => place,
        DistributionShape::Gaussian { draws } => bell(draws),
        DistributionShape::SpecialOf04(special) => both(special, into_band(special)),
        DistributionShape::SpecialOf10(special) => {
            let never = 1.0 - f64::from(special.into_band_percent) / 100.0;
            both(special, ((into_band(special) - never) / (1.0 - never)).max(0.0))
        }
        DistributionShape::Pareto { h } => place.powf((1.0 - h).ln() / h.ln()),
        DistributionShape::Zipfian { exponent } => {
            let weights = |ranks: u64| (1..=ranks).map(|rank| (rank as f64).powf(-exponent)).sum::<f64>();
            weights(limit) / weights(count)
        }
    }
}

/// Pearson's statistic in standard deviations from its mean, over bins with at least 20 expected values each.
fn surprise(drawn: DistributionShape, compared_with: DistributionShape, count: u64) -> f64 {
    let distribution = Distribution::new(drawn, count);
    let mut stream = RandomStream::new(42, "distribution", [0, 0]);
    let mut values: Vec<u64> = (0..DRAWS).map(|_| distribution.draw(&mut stream)).collect();
    values.sort_unstable();
    assert!(values.last().is_some_and(|&last| last < count));
    let (mut statistic, mut bins, mut begin) = (0.0, 0, 0);
    let mut seen_below = 0;
    let mut share_begin = 0.0;
    for end in 1..=count {
        let share = share_below(compared_with, count, end);
        let expected = (share - share_begin) * DRAWS as f64;
        // Only whole bins count; the rest at the end is too small to judge. An impossible bin must be empty.
        let is_impossible = expected < 1e-6 && end > begin;
        if expected < 20.0 && !is_impossible {
            continue;
        }
        let seen = values.partition_point(|&value| value < end);
        let found = (seen - seen_below) as f64;
        if is_impossible {
            statistic += found * found;
        } else {
            statistic += (found - expected).powi(2) / expected;
            bins += 1;
        }
        (begin, seen_below, share_begin) = (end, seen, share);
    }
    assert!(bins >= 20, "{drawn:?}: {bins} bins say nothing");
    let freedom = f64::from(bins - 1);
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

/// Seeds are fixed; by chance, about one seed in a hundred thousand would exceed this.
const SURPRISING: f64 = 5.0;

#[test]
fn what_is_drawn_is_what_the_formulas_say() {
    for (shape, count) in [
        (DistributionShape::Uniform, 1_000),
        (DistributionShape::Gaussian { draws: 12 }, 1_000),
        (DistributionShape::Gaussian { draws: 3 }, 777),
        (DistributionShape::SpecialOf04(SPECIAL), 10_000),
        (DistributionShape::SpecialOf10(SPECIAL), 10_000),
        (DistributionShape::SpecialOf10(Special { draws: 5, band_percent: 20, into_band_percent: 40 }), 1_000),
        (DistributionShape::SpecialOf04(Special { draws: 5, band_percent: 20, into_band_percent: 50 }), 1_000),
        (DistributionShape::Pareto { h: 0.2 }, 1_000),
        (DistributionShape::Pareto { h: 0.4 }, 1_000),
        (DistributionShape::Zipfian { exponent: 0.8 }, 1_000),
        (DistributionShape::Zipfian { exponent: 1.0 }, 1_000),
        (DistributionShape::Zipfian { exponent: 2.5 }, 1_000),
    ] {
        let surprise = surprise(shape, shape, count);
        assert!(surprise.abs() < SURPRISING, "{shape:?}: {surprise}");
    }
}

#[test]
fn the_test_tells_near_relatives_apart() {
    for (drawn, other) in [
        (DistributionShape::SpecialOf10(SPECIAL), DistributionShape::SpecialOf04(SPECIAL)),
        (DistributionShape::SpecialOf04(SPECIAL), DistributionShape::SpecialOf10(SPECIAL)),
        (DistributionShape::Gaussian { draws: 12 }, DistributionShape::Gaussian { draws: 11 }),
        (DistributionShape::Pareto { h: 0.2 }, DistributionShape::Pareto { h: 0.21 }),
        (DistributionShape::Zipfian { exponent: 0.8 }, DistributionShape::Zipfian { exponent: 0.83 }),
    ] {
        let surprise = surprise(drawn, other, 10_000);
        assert!(surprise > SURPRISING, "{drawn:?} looks like {other:?}: {surprise}");
    }
}

#[test]
fn the_known_shares_come_out() {
    let share = |shape: DistributionShape, count: u64, within: std::ops::Range<u64>| {
        let distribution = Distribution::new(shape, count);
        let mut stream = RandomStream::new(7, "distribution", [0, 0]);
        let hits = (0..DRAWS).filter(|_| within.contains(&distribution.draw(&mut stream))).count();
        hits as f64 / DRAWS as f64
    };
    // 80 % of the draws fall into the lowest 20 %.
    assert!((share(DistributionShape::Pareto { h: 0.2 }, 100_000, 0..20_000) - 0.8).abs() < 0.005);
    // The band's own draws, plus those of the bell inside it: the bell's deviation is 1/12, so about 4.8 % of a quarter.
    let bell = share(DistributionShape::Gaussian { draws: 12 }, 100_000, 49_500..50_500);
    let whole_band = share(DistributionShape::SpecialOf04(SPECIAL), 100_000, 49_500..50_500);
    assert!((whole_band - (0.75 + 0.25 * bell)).abs() < 0.005, "{whole_band} with {bell}");
    let lowest_quarter = share(DistributionShape::SpecialOf10(SPECIAL), 100_000, 49_500..49_750);
    assert!(lowest_quarter < 0.01, "{lowest_quarter}");
}

#[test]
fn golden_values() {
    let first = |shape: DistributionShape| {
        let distribution = Distribution::new(shape, 10_000);
        let mut stream = RandomStream::new(42, "golden", [0, 0]);
        [(); 6].map(|()| distribution.draw(&mut stream))
    };
    let found = [
        DistributionShape::Uniform,
        DistributionShape::Gaussian { draws: 12 },
        DistributionShape::SpecialOf04(SPECIAL),
        DistributionShape::SpecialOf10(SPECIAL),
    ]
    .map(first);
    let golden = [
        [223, 4627, 6854, 5430, 4611, 21],
        [3267, 4733, 4490, 4875, 5098, 3680],
        [3868, 4964, 4974, 4791, 4847, 4983],
        [3868, 5005, 5003, 4791, 4847, 5021],
    ];
    assert_eq!(found, golden);
}

fn shapes() -> impl Strategy<Value = DistributionShape> {
    let special = (1_u32..20, 1_u32..=100, 0_u32..100).prop_map(|(draws, band_percent, into_band_percent)| Special {
        draws,
        band_percent,
        into_band_percent,
    });
    prop_oneof![
        Just(DistributionShape::Uniform),
        (1_u32..20).prop_map(|draws| DistributionShape::Gaussian { draws }),
        special.clone().prop_map(DistributionShape::SpecialOf04),
        special.prop_map(DistributionShape::SpecialOf10),
        (0.01_f64..0.99).prop_map(|h| DistributionShape::Pareto { h }),
        (0.01_f64..5.0).prop_map(|exponent| DistributionShape::Zipfian { exponent }),
    ]
}

proptest! {
    #[test]
    fn values_stay_in_their_range(shape in shapes(), count in 1_u64..3_000_000_000, seed: u64) {
        let distribution = Distribution::new(shape, count);
        let mut stream = RandomStream::new(seed, "distribution", [0, 0]);
        for _ in 0..50 {
            prop_assert!(distribution.draw(&mut stream) < count);
        }
    }
}

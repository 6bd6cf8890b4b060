//! How far the ratios of single blocks lie apart, and how well that is known: few blocks know it badly.

use crate::bootstrap::{FEWEST_BLOCKS, logarithms, too_few};
use crate::estimate::{Bounds, CONFIDENCE, Estimate};
use crate::precision::logarithm_of_gamma_of_half;
use crate::student;

/// Terms of the series below; the sum has long settled by then for every argument that is asked for.
const MOST_TERMS: usize = 10_000;

/// Halvings of a range; each gains a binary digit.
const HALVINGS: usize = 60;

/// The standard deviation of the logarithms of ratios, with its interval by χ². `None` of fewer than two ratios, or of one
/// that is not positive.
pub fn of_ratios(ratios: &[f64]) -> Option<Estimate> {
    let point = student::spread(&logarithms(ratios)?)?;
    let method = "standard deviation of log ratios over blocks; χ² with a normal spread".to_owned();
    Some(Estimate { point, bounds: bounds(point, ratios.len()), method })
}

fn bounds(spread: f64, blocks: usize) -> Bounds {
    if blocks < FEWEST_BLOCKS {
        return too_few(blocks);
    }
    let (degrees, tail) = (blocks - 1, (1.0 - CONFIDENCE) / 2.0);
    let end = |share: f64| spread * (degrees as f64 / quantile_of_chi_squared(share, degrees)).sqrt();
    Bounds::Known { low: end(1.0 - tail), high: end(tail) }
}

/// The value that a χ² variable of so many degrees of freedom stays below with this probability, by halving.
fn quantile_of_chi_squared(probability: f64, degrees: usize) -> f64 {
    let mean = degrees as f64;
    let (mut low, mut high) = (0.0, mean + 20.0 * (2.0 * mean).sqrt());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if chi_squared_below(middle, degrees) < probability { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The regularised lower incomplete gamma function P(k/2, x/2) by its power series.
fn chi_squared_below(value: f64, degrees: usize) -> f64 {
    let (half, shape) = (0.5 * value, 0.5 * degrees as f64);
    let mut term = (shape * half.ln() - half - logarithm_of_gamma_of_half(degrees + 2)).exp();
    let mut sum = 0.0;
    for index in 1..MOST_TERMS {
        sum += term;
        term *= half / (shape + index as f64);
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `scipy.stats.chi2.ppf([0.025, 0.975], k)` (scipy 1.17.1).
    #[test]
    fn quantiles_of_chi_squared_are_those_of_scipy() {
        let expected = [
            (2, 0.050_635_615_968_6, 7.377_758_908_23),
            (4, 0.484_418_557_087_9, 11.143_286_781_88),
            (9, 2.700_389_499_980_4, 19.022_767_798_64),
            (19, 8.906_516_481_988_0, 32.852_326_861_73),
            (39, 23.654_324_557_593_0, 58.120_059_734_69),
        ];
        for (degrees, low, high) in expected {
            let found = [0.025, 0.975].map(|share| quantile_of_chi_squared(share, degrees));
            assert!((found[0] - low).abs() < 1e-8 && (found[1] - high).abs() < 1e-8, "{degrees}: {found:?}");
        }
    }

    /// `s = numpy.log(x).std(ddof=1)` and `s * (9 / scipy.stats.chi2.ppf([0.975, 0.025], 9))**0.5`.
    #[test]
    fn the_spread_of_ten_ratios_has_the_interval_of_scipy() {
        let ratios = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829];
        let found = of_ratios(&ratios).unwrap();
        let (low, high) = found.bounds.known().unwrap();
        assert!((found.point - 0.024_633_262_747_8).abs() < 1e-12, "{found:?}");
        assert!((low - 0.016_943_625_375_0).abs() < 1e-9 && (high - 0.044_970_735_301_0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn too_few_or_impossible_ratios_have_no_spread_or_no_interval() {
        assert_eq!(of_ratios(&[0.9]), None);
        assert_eq!(of_ratios(&[0.9, 0.0]), None);
        assert_eq!(of_ratios(&[0.9, 0.8]).unwrap().bounds.known(), None);
    }

    proptest! {
        #[test]
        fn more_blocks_know_the_spread_better(spread in 0.001..0.5_f64, blocks in 3..200_usize) {
            let width = |blocks| bounds(spread, blocks).known().map(|(low, high)| high / low).unwrap();
            prop_assert!(width(blocks + 1) < width(blocks));
            let (low, high) = bounds(spread, blocks).known().unwrap();
            prop_assert!(low < spread && spread < high);
        }
    }
}

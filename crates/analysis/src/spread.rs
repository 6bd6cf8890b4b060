//! How far apart the ratios of single blocks lie, and how well that is known: from few blocks, poorly.

use crate::distributions::chi_squared_at;
use crate::estimate::{Bounds, CONFIDENCE, Estimate, EstimateMethod};
use crate::student::{self, FEWEST_BLOCKS, logarithms, too_few};

/// The standard deviation of the logarithms of ratios, with its interval by χ². `None` for fewer than two ratios, or if
/// one is not positive.
pub fn of_ratios(ratios: &[f64]) -> Option<Estimate> {
    let point = student::spread(&logarithms(ratios)?)?;
    let method = EstimateMethod::SpreadOfBlocks;
    Some(Estimate { point, bounds: bounds(point, ratios.len()), method })
}

fn bounds(spread: f64, blocks: usize) -> Bounds {
    if blocks < FEWEST_BLOCKS {
        return too_few(blocks);
    }
    let (degrees, tail) = (blocks as f64 - 1.0, (1.0 - CONFIDENCE) / 2.0);
    let end = |share: f64| spread * (degrees / chi_squared_at(share, degrees)).sqrt();
    Bounds::Known { low: end(1.0 - tail), high: end(tail) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

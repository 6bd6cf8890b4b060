//! What the machines of one trial achieved together.
//!
//! A sum hides a machine that starves, and a minimum falls with the number of machines by chance alone. So both are
//! given, with how unequal the machines were.

use serde::{Deserialize, Serialize};

/// Plain readings of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SideBySide {
    pub minimum: f64,
    pub sum: f64,
    pub mean: f64,
    /// The minimum times the number of machines: what they would do together if all were as slow as the slowest.
    pub minimum_of_all: f64,
    pub largest_over_smallest: f64,
    /// Jain's index: 1 if all machines did the same, 1 over their number if one did everything.
    pub fairness: f64,
}

/// From each machine's throughput; `None` without machines, or if a value is not a number above zero.
pub fn of(machines: &[f64]) -> Option<SideBySide> {
    let usable = !machines.is_empty() && machines.iter().all(|value| value.is_finite() && *value > 0.0);
    let count = machines.len() as f64;
    let sum: f64 = machines.iter().sum();
    let squares: f64 = machines.iter().map(|value| value * value).sum();
    let minimum = machines.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = machines.iter().copied().fold(0.0, f64::max);
    usable.then(|| SideBySide {
        minimum,
        sum,
        mean: sum / count,
        minimum_of_all: minimum * count,
        largest_over_smallest: largest / minimum,
        fairness: sum * sum / (count * squares),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition of R. Jain, D. Chiu, W. Hawe (1984): (1 + 2 + 3)² / (3 · (1 + 4 + 9)) = 36 / 42.
    #[test]
    fn fairness_is_jains() {
        let shares = of(&[1.0, 2.0, 3.0]).unwrap();
        assert!((shares.fairness - 36.0 / 42.0).abs() < 1e-12);
        assert!((shares.mean - 2.0).abs() < 1e-12 && (shares.largest_over_smallest - 3.0).abs() < 1e-12);
        assert!((of(&[5.0; 4]).unwrap().fairness - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_machine_that_did_nothing_is_not_a_figure() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[1.0, 0.0]), None);
    }

    proptest! {
        #[test]
        fn the_slowest_never_does_more_than_the_mean(machines in proptest::collection::vec(0.1..100.0_f64, 1..9)) {
            let shares = of(&machines).unwrap();
            prop_assert!(shares.minimum_of_all <= shares.sum * (1.0 + 1e-12));
            prop_assert!(shares.fairness <= 1.0 + 1e-12 && shares.fairness >= 1.0 / machines.len() as f64 - 1e-12);
        }
    }
}

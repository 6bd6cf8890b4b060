//! Curves of throughput over size: the Universal Scalability Law and, without its last term, Amdahl's law.
//!
//! Throughput at size N is λN / (1 + σ(N − 1) + κN(N − 1)). λ is the rate of one unit, σ the work that has to wait in
//! one queue, and κ what each pair of units must exchange. The logarithm of throughput is fitted by least
//! squares, since errors are a share of throughput at any size. Neither σ nor κ may be negative, which would mean that
//! units help each other; where the data ask for that, the term is zero. The method is Gauss and Newton's, in the
//! coefficients of the reciprocal, in which the law is linear.
//!
//! There are no blocks and no intervals here; those are in [`super::law`].

use crate::least_squares::LeastSquares;

/// The law that is fitted, by the number of its terms: λ, σ and κ, or the first two.
pub type Terms = usize;
pub const UNIVERSAL: Terms = 3;
pub const AMDAHL: Terms = 2;

/// A fitted curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// λ: the throughput of one unit alone.
    pub rate_of_one: f64,
    /// σ: the share of work that only one unit can do at a time.
    pub contention: f64,
    /// κ: the price of keeping each pair of units in agreement.
    pub coherency: f64,
}

/// Coefficients of N / throughput, for the terms 1, N − 1 and N(N − 1).
type Coefficients = [f64; 3];

/// Amdahl's law fits any two points exactly, and then says nothing.
const FEWEST_SIZES: usize = 3;

/// The most steps until the coefficients settle; a handful is usual.
const MOST_STEPS: usize = 60;

/// The search ends with a step that improves the sum of squares by less than this share.
const SETTLED: f64 = 1e-15;

/// How often a step that makes the fit worse is halved before the search ends.
const MOST_HALVINGS: usize = 30;

/// The curve through points of size and throughput, all positive. `None` if there are fewer than three sizes.
pub fn fit(law: Terms, points: &[(f64, f64)]) -> Option<Fit> {
    let usable = points.iter().all(|(size, rate)| *size > 0.0 && *rate > 0.0 && rate.is_finite());
    if points.len() < FEWEST_SIZES || !usable {
        return None;
    }
    // First treat the reciprocal as the value with errors: the law is then linear, and the result is already close.
    let rows = points.iter().map(|&(size, rate)| (terms(size).map(|term| term * rate / size), 1.0));
    let mut found = least_squares(&rows.collect::<Vec<_>>(), law)?;
    let mut squares = sum_of_squares(points, &found);
    for _ in 0..MOST_STEPS {
        let Some((next, fewer)) = step(law, points, &found, squares) else { break };
        let gained = squares - fewer;
        (found, squares) = (next, fewer);
        if gained <= SETTLED * squares {
            break;
        }
    }
    let [one, queue, pairs] = found;
    (one > 0.0).then(|| Fit { rate_of_one: 1.0 / one, contention: queue / one, coherency: pairs / one })
}

/// One step of Gauss and Newton's method, shortened until it improves the fit; `None` if there is no such step.
fn step(law: Terms, points: &[(f64, f64)], from: &Coefficients, squares: f64) -> Option<(Coefficients, f64)> {
    let row = |&(size, rate): &(f64, f64)| {
        let fitted = at(from, size);
        (terms(size).map(|term| term * fitted / size), 1.0 + (fitted / rate).ln())
    };
    let rows: Vec<_> = points.iter().map(row).collect();
    let target = least_squares(&rows, law)?;
    let mut share = 1.0;
    for _ in 0..MOST_HALVINGS {
        let tried: Coefficients = std::array::from_fn(|term| from[term] + share * (target[term] - from[term]));
        let reached = sum_of_squares(points, &tried);
        if reached < squares {
            return Some((tried, reached));
        }
        share /= 2.0;
    }
    None
}

impl Fit {
    pub fn at(&self, size: f64) -> f64 {
        let slowed = 1.0 + self.contention * (size - 1.0) + self.coherency * size * (size - 1.0);
        self.rate_of_one * size / slowed
    }

    /// The size at which the curve is highest; `None` if it always rises.
    pub fn peak(&self) -> Option<f64> {
        (self.coherency > 0.0).then(|| ((1.0 - self.contention).max(0.0) / self.coherency).sqrt())
    }
}

fn terms(size: f64) -> Coefficients {
    [1.0, size - 1.0, size * (size - 1.0)]
}

fn at(coefficients: &Coefficients, size: f64) -> f64 {
    size / terms(size).iter().zip(coefficients).map(|(term, coefficient)| term * coefficient).sum::<f64>()
}

fn sum_of_squares(points: &[(f64, f64)], coefficients: &Coefficients) -> f64 {
    points.iter().map(|&(size, rate)| (rate / at(coefficients, size)).ln().powi(2)).sum()
}

/// The non-negative coefficients with the least squares. There are so few that every choice of zero terms can be tried.
/// The best allowed one is the answer, since the problem is convex.
fn least_squares(rows: &[(Coefficients, f64)], terms: usize) -> Option<Coefficients> {
    let choices = (1_usize..1 << terms).filter(|choice| choice & 1 == 1);
    let solved =
        choices.filter_map(|choice| solve(rows, choice)).filter(|found| found.iter().all(|value| *value >= 0.0));
    let squares = |found: &Coefficients| {
        let miss = |(row, target): &(Coefficients, f64)| {
            (target - row.iter().zip(found).map(|(value, coefficient)| value * coefficient).sum::<f64>()).powi(2)
        };
        rows.iter().map(miss).sum::<f64>()
    };
    solved.min_by(|one, other| squares(one).total_cmp(&squares(other)))
}

/// The unrestricted least squares in the terms whose bits are set in `choice`; the other coefficients are zero.
fn solve(rows: &[(Coefficients, f64)], choice: usize) -> Option<Coefficients> {
    let chosen: Vec<usize> = (0..3).filter(|term| choice >> term & 1 == 1).collect();
    let columns = rows.iter().map(|(row, _)| chosen.iter().map(|&term| row[term]).collect::<Vec<_>>());
    let targets: Vec<f64> = rows.iter().map(|(_, target)| *target).collect();
    let found = LeastSquares::of(&columns.collect::<Vec<_>>(), &targets)?.coefficients()?;
    let mut coefficients = [0.0; 3];
    for (&term, value) in chosen.iter().zip(found) {
        coefficients[term] = value;
    }
    Some(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn close(found: f64, expected: f64, share: f64) {
        assert!((found - expected).abs() <= share * expected.abs(), "found {found}, expected {expected}");
    }

    /// Seven sizes past a peak. `scipy.optimize.least_squares(lambda p: numpy.log(x / law(p, n)), p0, bounds=(0, inf),
    /// xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale=p0)`, scipy 1.17.1, with the law as above and, for Amdahl's, κ left out.
    #[test]
    fn the_curves_are_the_ones_scipy_finds() {
        let points = [
            (1.0, 998.2),
            (2.0, 1951.0),
            (4.0, 3702.0),
            (8.0, 6601.0),
            (16.0, 10480.0),
            (32.0, 12390.0),
            (64.0, 9010.0),
        ];
        let fit = super::fit(UNIVERSAL, &points).unwrap();
        close(fit.rate_of_one, OF_UNIVERSAL.0, 1e-6);
        close(fit.contention, OF_UNIVERSAL.1, 1e-5);
        close(fit.coherency, OF_UNIVERSAL.2, 1e-6);
        close(fit.peak().unwrap(), OF_UNIVERSAL.3, 1e-6);
        let fit = super::fit(AMDAHL, &points).unwrap();
        close(fit.rate_of_one, OF_AMDAHL.0, 1e-6);
        close(fit.contention, OF_AMDAHL.1, 1e-6);
        assert_eq!((fit.coherency.to_bits(), fit.peak()), (0, None));
    }

    const OF_UNIVERSAL: (f64, f64, f64, f64) = (981.597_494_2, 0.012_421_021_48, 0.001_254_682_13, 28.055_567_78);
    const OF_AMDAHL: (f64, f64) = (1_123.682_172, 0.076_356_493_08);

    #[test]
    fn points_on_a_curve_give_that_curve() {
        let truth = Fit { rate_of_one: 500.0, contention: 0.03, coherency: 0.0004 };
        let points = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|size| (size, truth.at(size)));
        let fit = super::fit(UNIVERSAL, &points).unwrap();
        close(fit.rate_of_one, 500.0, 1e-9);
        close(fit.contention, 0.03, 1e-8);
        close(fit.coherency, 0.0004, 1e-8);
        close(fit.peak().unwrap(), (0.97_f64 / 0.0004).sqrt(), 1e-8);
    }

    #[test]
    fn units_that_seem_to_help_each_other_give_a_straight_line() {
        let fit = super::fit(UNIVERSAL, &[(1.0, 100.0), (2.0, 202.0), (4.0, 405.0), (8.0, 820.0)]).unwrap();
        assert_eq!((fit.contention.to_bits(), fit.coherency.to_bits()), (0, 0));
        assert_eq!(fit.peak(), None);
        // The geometric mean of the throughput per unit.
        close(fit.rate_of_one, (100.0 * 101.0 * 101.25 * 102.5_f64).powf(0.25), 1e-9);
    }

    #[test]
    fn two_sizes_or_a_zero_give_nothing() {
        assert_eq!(fit(UNIVERSAL, &[(1.0, 1.0), (2.0, 1.9)]), None);
        assert_eq!(fit(AMDAHL, &[(1.0, 1.0), (2.0, 1.9)]), None);
        assert!(fit(AMDAHL, &[(1.0, 1.0), (2.0, 1.9), (4.0, 3.6)]).is_some());
        assert_eq!(fit(AMDAHL, &[(1.0, 1.0), (2.0, 1.9), (4.0, 0.0)]), None);
    }

    proptest! {
        #[test]
        fn what_throughput_is_counted_in_does_not_matter(
            noise in proptest::collection::vec(0.9..1.1_f64, 6), scale in 0.001..1e6_f64, queue in 0.0..0.2_f64, pairs in 0.0..0.01_f64
        ) {
            let truth = Fit { rate_of_one: 100.0, contention: queue, coherency: pairs };
            let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
            let points: Vec<(f64, f64)> = sizes.iter().zip(&noise).map(|(size, noise)| (*size, truth.at(*size) * noise)).collect();
            let scaled: Vec<(f64, f64)> = points.iter().map(|(size, rate)| (*size, rate * scale)).collect();
            let (fit, other) = (fit(UNIVERSAL, &points).unwrap(), fit(UNIVERSAL, &scaled).unwrap());
            prop_assert!((other.rate_of_one / scale / fit.rate_of_one - 1.0).abs() < 1e-4);
            prop_assert!((other.contention - fit.contention).abs() < 1e-4 && (other.coherency - fit.coherency).abs() < 1e-4);
            prop_assert!(fit.contention >= 0.0 && fit.coherency >= 0.0);
        }

        #[test]
        fn no_curve_nearby_fits_better(
            noise in proptest::collection::vec(0.9..1.1_f64, 6), queue in 0.0..0.2_f64, pairs in 0.0..0.01_f64
        ) {
            let truth = Fit { rate_of_one: 100.0, contention: queue, coherency: pairs };
            let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
            let points: Vec<(f64, f64)> = sizes.iter().zip(&noise).map(|(size, noise)| (*size, truth.at(*size) * noise)).collect();
            let squares = |fit: &Fit| points.iter().map(|(size, rate)| (rate / fit.at(*size)).ln().powi(2)).sum::<f64>();
            let fit = super::fit(UNIVERSAL, &points).unwrap();
            for (one, two, three) in [(1.001, 0.0, 0.0), (0.999, 0.0, 0.0), (1.0, 1e-4, 0.0), (1.0, -1e-4, 0.0), (1.0, 0.0, 1e-5), (1.0, 0.0, -1e-5)] {
                let other = Fit {
                    rate_of_one: fit.rate_of_one * one,
                    contention: (fit.contention + two).max(0.0),
                    coherency: (fit.coherency + three).max(0.0),
                };
                prop_assert!(squares(&other) >= squares(&fit) * (1.0 - 1e-9), "{fit:?} {other:?}");
            }
        }
    }
}

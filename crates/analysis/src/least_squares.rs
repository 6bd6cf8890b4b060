//! Least squares of a linear model, and which sums of its coefficients the observations determine.
//!
//! It uses the singular value decomposition. Squares of the columns are never formed, which would lose half of the
//! digits. Where columns depend on others, it is known which questions can still be answered.

use nalgebra::{DMatrix, DVector, SVD};

/// A singular value below this share of the largest is only rounding error.
const ROUNDING: f64 = 1e-10;

/// A column shorter than this share of the longest is the rounding error of a zero column.
const NOTHING: f64 = 1e-12;

/// The largest share of a sum's weights that may lie outside what the observations determine.
const BEYOND: f64 = 1e-6;

/// A fitted model.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    /// Columns are scaled to a length of one, since their sizes may differ by powers of ten.
    lengths: Vec<f64>,
    /// Directions of the scaled columns, one row for each nonzero singular value, and those values.
    directions: DMatrix<f64>,
    singular: DVector<f64>,
    scaled: DVector<f64>,
    /// The sum of squares of the residuals.
    pub left_over: f64,
}

/// A sum of coefficients, each with its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sum {
    pub value: f64,
    /// Its variance, in multiples of the variance of a single observation.
    pub variance: f64,
}

impl LeastSquares {
    /// From one row per observation, with its value. `None` without observations, or if a number is not finite.
    pub fn of(rows: &[Vec<f64>], values: &[f64]) -> Option<Self> {
        let columns = rows.first().map(Vec::len).filter(|columns| *columns > 0)?;
        let finite = rows.iter().flatten().chain(values).all(|value| value.is_finite());
        if !finite || rows.len() != values.len() || rows.iter().any(|row| row.len() != columns) {
            return None;
        }
        let mut matrix = DMatrix::from_fn(rows.len(), columns, |row, column| rows[row][column]);
        let mut lengths: Vec<f64> = matrix.column_iter().map(|column| column.norm()).collect();
        let least = NOTHING * lengths.iter().copied().fold(0.0, f64::max);
        for (mut column, length) in matrix.column_iter_mut().zip(&mut lengths) {
            if *length > least {
                column /= *length;
            } else {
                column.fill(0.0);
                *length = 1.0;
            }
        }
        let values = DVector::from_column_slice(values);
        let SVD { u, v_t, singular_values } = matrix.clone().svd(true, true);
        let (left, right) = u.zip(v_t)?;
        let largest = singular_values.max();
        let kept: Vec<usize> =
            (0..singular_values.len()).filter(|index| singular_values[*index] > ROUNDING * largest).collect();
        let (directions, left) = (right.select_rows(&kept), left.select_columns(&kept));
        let singular = singular_values.select_rows(&kept);
        let scaled = directions.tr_mul(&left.tr_mul(&values).component_div(&singular));
        let left_over = (values - &matrix * &scaled).norm_squared();
        Some(Self { lengths, directions, singular, scaled, left_over })
    }

    /// The number of coefficients, or independent sums of them, that the observations determine.
    pub fn rank(&self) -> usize {
        self.singular.len()
    }

    /// `None` if columns depend on each other.
    pub fn coefficients(&self) -> Option<Vec<f64>> {
        let each = self.scaled.iter().zip(&self.lengths).map(|(value, length)| value / length);
        (self.rank() == self.lengths.len()).then(|| each.collect())
    }

    /// `None` if the observations do not determine it: other coefficients that fit equally well would give another sum.
    pub fn sum(&self, weights: &[f64]) -> Option<Sum> {
        let scaled = weights.iter().zip(&self.lengths).map(|(weight, length)| weight / length);
        let weights = DVector::from_iterator(self.lengths.len(), scaled);
        let along = &self.directions * &weights;
        let beyond = (&weights - self.directions.tr_mul(&along)).norm();
        let variance = along.component_div(&self.singular).norm_squared();
        (beyond <= BEYOND * weights.norm()).then(|| Sum { value: weights.dot(&self.scaled), variance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "found {found}, expected {expected}");
    }

    /// `X = [[1, 1, 2], [1, 2, 1], [1, 3, 5], [1, 4, 4], [1, 5, 9]]`, `y = [3, 5, 4, 8, 6]`; `b = numpy.linalg.lstsq(X, y)`,
    /// `w = [0, 1, -1]`, `w @ numpy.linalg.inv(X.T @ X) @ w` (numpy 2.4.6).
    #[test]
    fn coefficients_are_those_of_numpy() {
        let rows = [[1.0, 1.0, 2.0], [1.0, 2.0, 1.0], [1.0, 3.0, 5.0], [1.0, 4.0, 4.0], [1.0, 5.0, 9.0]];
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
        let found = LeastSquares::of(&rows, &[3.0, 5.0, 4.0, 8.0, 6.0]).unwrap();
        for (coefficient, expected) in found.coefficients().unwrap().into_iter().zip(COEFFICIENTS) {
            close(coefficient, expected);
        }
        close(found.left_over, LEFT_OVER);
        let sum = found.sum(&[0.0, 1.0, -1.0]).unwrap();
        close(sum.value, COEFFICIENTS[1] - COEFFICIENTS[2]);
        close(sum.variance, VARIANCE);
    }

    /// Two columns that are always equal: only their sum is known.
    #[test]
    fn what_follows_from_other_columns_is_not_told() {
        let rows = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]].map(|row| row.to_vec());
        let found = LeastSquares::of(&rows, &[1.0, 3.0, 6.0, 8.0]).unwrap();
        assert_eq!((found.rank(), found.coefficients()), (2, None));
        assert_eq!(found.sum(&[0.0, 1.0, 0.0]), None);
        // Means of 2 and 7, each from two observations: the variance of their difference is ½ + ½.
        let told = found.sum(&[0.0, 1.0, 1.0]).unwrap();
        close(told.value, 5.0);
        close(told.variance, 1.0);
        close(found.left_over, 4.0);
        let rows = rows.map(|row| vec![row[0], row[1], 1e-17]);
        let found = LeastSquares::of(&rows, &[1.0, 3.0, 6.0, 8.0]).unwrap();
        assert!(found.sum(&[0.0, 1.0, 0.0]).is_some() && found.sum(&[0.0, 0.0, 1.0]).is_none());
    }

    const COEFFICIENTS: [f64; 3] = [1.818_181_818_181_819_7, 2.187_878_787_878_789, -0.757_575_757_575_758_2];
    const LEFT_OVER: f64 = 1.018_181_818_181_817_4;
    const VARIANCE: f64 = 0.836_363_636_363_635_8;

    #[test]
    fn nothing_observed_is_no_model() {
        assert!(LeastSquares::of(&[], &[]).is_none());
        assert!(LeastSquares::of(&[vec![1.0]], &[f64::NAN]).is_none());
    }

    proptest! {
        #[test]
        fn what_is_left_over_is_at_right_angles_to_every_column(
            rows in vec(vec(-1.0..1.0_f64, 3), 5..12), values in vec(-1.0..1.0_f64, 12),
        ) {
            let values = &values[..rows.len()];
            let found = LeastSquares::of(&rows, values).unwrap();
            let coefficients = found.coefficients().unwrap();
            let left = |row: &Vec<f64>, value: f64| {
                value - row.iter().zip(&coefficients).map(|(one, other)| one * other).sum::<f64>()
            };
            for column in 0..3 {
                let along: f64 = rows.iter().zip(values).map(|(row, value)| row[column] * left(row, *value)).sum();
                prop_assert!(along.abs() < 1e-9);
            }
        }
    }
}

//! An additive model: the logarithm of what a machine gets is the sum of what its trial has in common and one effect for each of its
//! labels. It is fitted by least squares ([`crate::least_squares`]).
//!
//! Centring removes the trials' effects, so that only differences within a trial count. Therefore machines of one trial may depend on
//! each other, as machines do that share one host, as long as all do so alike. What a trial has in common is then removed, and the
//! shared dependence with it.

use crate::least_squares::LeastSquares;

/// The fitted model.
#[derive(Debug, Clone)]
pub struct AdditiveFit {
    model: Option<LeastSquares>,
    /// Degrees of freedom left to estimate the noise.
    pub degrees: usize,
}

impl AdditiveFit {
    /// From the indexes of each trial's readings, with the logarithm of each reading and the columns of the effects that it holds,
    /// all below `columns`.
    pub fn of(trials: &[Vec<usize>], logarithms: &[f64], columns: usize, held: impl Fn(usize) -> Vec<usize>) -> Self {
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for trial in trials {
            let count = trial.len() as f64;
            let mean = trial.iter().map(|reading| logarithms[*reading]).sum::<f64>() / count;
            let mut below_mean = vec![0.0; columns];
            trial.iter().flat_map(|reading| held(*reading)).for_each(|column| below_mean[column] -= 1.0 / count);
            for reading in trial {
                let mut row = below_mean.clone();
                for column in held(*reading) {
                    row[column] += 1.0;
                }
                rows.push(row);
                values.push(logarithms[*reading] - mean);
            }
        }
        let model = LeastSquares::of(&rows, &values);
        let used = model.as_ref().map_or(0, LeastSquares::rank);
        Self { model, degrees: values.len().saturating_sub(trials.len() + used) }
    }

    /// The sum of all effects, each with its weight. `None` if the observations do not determine it, because other
    /// effects that fit them equally well would give another sum.
    ///
    /// With its standard error, which means nothing without degrees of freedom.
    pub fn sum(&self, weights: &[f64]) -> Option<(f64, f64)> {
        let model = self.model.as_ref()?;
        let sum = model.sum(weights)?;
        Some((sum.value, (model.left_over / self.degrees as f64 * sum.variance).sqrt()))
    }
}

//! An additive model: an observation is the sum of what its group has in common and one effect for each of its labels.
//! It is fitted by least squares ([`crate::least_squares`]).
//!
//! Centring removes the group effects, so that only differences within a group count. Therefore observations of one
//! group may depend on each other, as machines do that share one host, as long as all do so alike. What a group has in
//! common is then removed, and the shared dependence with it.

use crate::least_squares::LeastSquares;

/// One value, the group it belongs to, and the columns of the effects that it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub group: usize,
    pub columns: Vec<usize>,
    pub value: f64,
}

/// The fitted model.
#[derive(Debug, Clone)]
pub struct Fit {
    model: Option<LeastSquares>,
    /// Degrees of freedom left to estimate the noise.
    pub degrees: usize,
}

/// What the model says about a difference of effects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    pub value: f64,
    /// The standard error of `value`; `None` if no degrees of freedom are left to estimate it.
    pub standard_error: Option<f64>,
}

impl Fit {
    /// Groups are numbered from 0, columns below `columns`.
    pub fn of(observations: &[Observation], columns: usize) -> Self {
        let groups = observations.iter().map(|one| one.group + 1).max().unwrap_or(0);
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        let mut there = 0;
        for group in 0..groups {
            let members: Vec<&Observation> = observations.iter().filter(|one| one.group == group).collect();
            there += usize::from(!members.is_empty());
            let (own_rows, own_values) = centred(&members, columns);
            rows.extend(own_rows);
            values.extend(own_values);
        }
        let model = LeastSquares::of(&rows, &values);
        let used = model.as_ref().map_or(0, LeastSquares::rank);
        Self { model, degrees: observations.len().saturating_sub(there + used) }
    }

    /// The sum of all effects, each with its weight. `None` if the observations do not determine it, because other
    /// effects that fit them equally well would give another sum.
    pub fn difference(&self, weights: &[f64]) -> Option<Difference> {
        let model = self.model.as_ref()?;
        let sum = model.sum(weights)?;
        let noise = (self.degrees > 0).then(|| model.left_over / self.degrees as f64);
        Some(Difference { value: sum.value, standard_error: noise.map(|noise| (noise * sum.variance).sqrt()) })
    }
}

/// Rows and values of one group, as deviations from their means.
fn centred(members: &[&Observation], columns: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let count = members.len() as f64;
    let mean = members.iter().map(|one| one.value).sum::<f64>() / count;
    let mut means = vec![0.0; columns];
    for column in members.iter().flat_map(|one| &one.columns) {
        means[*column] += 1.0 / count;
    }
    let row = |one: &&Observation| {
        let mut row: Vec<f64> = means.iter().map(|mean| -mean).collect();
        for column in &one.columns {
            row[*column] += 1.0;
        }
        row
    };
    (members.iter().map(row).collect(), members.iter().map(|one| one.value - mean).collect())
}

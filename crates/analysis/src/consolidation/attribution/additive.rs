//! Least squares of an additive model: what an observation is made of is added up from what its group has in common and one effect
//! for each of its labels.
//!
//! Group effects are taken out by centring, so that only differences within a group count. That is also why observations of
//! one group may depend on each other, as machines that take from one host do, as long as they all do so alike: what is common
//! to a group is gone then, and with it what they share. The normal equations are solved by the sweep operator (Goodnight, 1979),
//! which leaves out columns that follow from others, and so tells which questions the observations can answer at all.

/// A diagonal element below this share of what it was is nothing but rounding.
const ROUNDING: f64 = 1e-9;

/// One value, the group it belongs to, and the columns of the effects that it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub group: usize,
    pub columns: Vec<usize>,
    pub value: f64,
}

/// The model, fitted.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Swept: the inverse of the normal equations, and in the last column and row the effects and the sum of squares left.
    swept: Vec<Vec<f64>>,
    /// Whether a column has an effect of its own, or follows from others.
    is_free: Vec<bool>,
    /// What is left to estimate the noise with.
    pub degrees: usize,
}

/// What the model says of a difference of effects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    pub value: f64,
    /// Of `value`; `None` if nothing is left to estimate it with.
    pub standard_error: Option<f64>,
}

impl Fit {
    /// Groups are numbered from 0, columns below `columns`.
    pub fn of(observations: &[Observation], columns: usize) -> Self {
        let groups = observations.iter().map(|one| one.group + 1).max().unwrap_or(0);
        let mut swept = normal_equations(observations, groups, columns);
        let diagonal: Vec<f64> = (0..columns).map(|column| swept[column][column]).collect();
        let mut is_free = vec![false; columns];
        for column in 0..columns {
            if swept[column][column] > ROUNDING * diagonal[column].max(1.0) {
                sweep(&mut swept, column);
                is_free[column] = true;
            }
        }
        let used = is_free.iter().filter(|free| **free).count();
        let mut is_there = vec![false; groups];
        for one in observations {
            is_there[one.group] = true;
        }
        let there = is_there.into_iter().filter(|there| *there).count();
        let degrees = observations.len().saturating_sub(there + used);
        Self { swept, is_free, degrees }
    }

    /// The sum of all effects, each with its weight. `None` if the observations cannot tell: other effects that fit them as well
    /// would have another sum.
    pub fn difference(&self, weights: &[f64]) -> Option<Difference> {
        let free = || (0..weights.len()).filter(|column| self.is_free[*column]);
        let follows = |column: usize| free().map(|other| weights[other] * self.swept[other][column]).sum::<f64>();
        let is_told =
            |column: usize| self.is_free[column] || (weights[column] - follows(column)).abs() < ROUNDING.sqrt();
        if !(0..weights.len()).all(is_told) {
            return None;
        }
        let last = weights.len();
        let value = free().map(|column| weights[column] * self.swept[column][last]).sum();
        let of_row = |row: usize| free().map(|column| weights[column] * self.swept[row][column]).sum::<f64>();
        let factor: f64 = free().map(|row| weights[row] * of_row(row)).sum();
        let noise = (self.degrees > 0).then(|| self.swept[last][last].max(0.0) / self.degrees as f64);
        Some(Difference { value, standard_error: noise.map(|noise| (noise * factor.max(0.0)).sqrt()) })
    }
}

/// Products of all pairs of columns, the values being the last, within groups and about their means.
fn normal_equations(observations: &[Observation], groups: usize, columns: usize) -> Vec<Vec<f64>> {
    let mut equations = vec![vec![0.0; columns + 1]; columns + 1];
    let mut add = |entries: &[(usize, f64)], weight: f64| {
        for (row, one) in entries {
            for (column, other) in entries {
                equations[*row][*column] += weight * one * other;
            }
        }
    };
    for group in 0..groups {
        let members: Vec<&Observation> = observations.iter().filter(|one| one.group == group).collect();
        if members.is_empty() {
            continue;
        }
        let count = members.len() as f64;
        let mean = members.iter().map(|one| one.value).sum::<f64>() / count;
        let mut sums = vec![0.0; columns];
        for one in members {
            let effects = one.columns.iter().map(|column| (*column, 1.0));
            // Values about their mean from the beginning: their squares would drown what is left of them.
            let entries: Vec<(usize, f64)> = effects.chain([(columns, one.value - mean)]).collect();
            add(&entries, 1.0);
            for column in &one.columns {
                sums[*column] += 1.0;
            }
        }
        let sums: Vec<(usize, f64)> = sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0.0).collect();
        add(&sums, -1.0 / count);
    }
    equations
}

/// Makes the column one that is solved for.
fn sweep(table: &mut [Vec<f64>], pivot: usize) {
    let divisor = table[pivot][pivot];
    for value in &mut table[pivot] {
        *value /= divisor;
    }
    let row = table[pivot].clone();
    let others = table.iter_mut().enumerate().filter(|(index, _)| *index != pivot).map(|(_, other)| other);
    for other in others {
        let times = other[pivot];
        for (value, swept) in other.iter_mut().zip(&row) {
            *value -= times * swept;
        }
        other[pivot] = -times / divisor;
    }
    table[pivot][pivot] = 1.0 / divisor;
}

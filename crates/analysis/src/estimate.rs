//! A number and how far it can be trusted.

use crate::distributions::t_975;
use crate::missing::Missing;
use serde::{Deserialize, Serialize};

/// The share of intervals that would contain the true value if the run were repeated many times.
pub const CONFIDENCE: f64 = 0.95;

/// A number together with its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub point: f64,
    #[serde(flatten)]
    pub bounds: Bounds,
    pub method: EstimateMethod,
}

/// How point and bounds were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum EstimateMethod {
    GeometricMeanOverBlocks,
    GeometricMeanOverRuns,
    MeanOverBlocks,
    MeanOverRuns,
    RatioOfTwoRuns,
    DifferenceOfTwoRuns,
    /// By Bonferroni's inequality, the intervals of all machines hold together.
    MachineAmongOthers {
        machines: usize,
    },
    LeastOfEqualMachines {
        machines: usize,
        draws: usize,
    },
    AdditiveModel {
        comparisons: usize,
    },
    ScalabilityLaw,
    SpreadOfBlocks,
    SlopeOfBatches,
    MeanOfDrifts,
}

impl Estimate {
    /// Clamps the interval. Around few scattered values, or values at their limit, it reaches beyond what is possible,
    /// and that part means nothing.
    #[must_use]
    pub fn within(self, least: f64, most: f64) -> Self {
        Self { bounds: self.bounds.map(|end| end.clamp(least, most)), ..self }
    }

    /// Widens the interval of a ratio to what rounding alone would give it, since values that are equal after rounding need not
    /// be equal. Each sample has the variance of its logarithms that is due to rounding, and its number of values.
    #[must_use]
    pub fn no_surer_than(self, samples: &[(f64, usize)]) -> Self {
        let error: f64 = samples.iter().map(|(variance, count)| variance / *count as f64).sum::<f64>().sqrt();
        let freedom: usize = samples.iter().map(|(_, count)| count.saturating_sub(1)).sum();
        match self.bounds {
            Bounds::Known { low, high } if error > 0.0 => {
                let times = (t_975(freedom as f64) * error).exp();
                let bounds = Bounds::Known { low: low.min(self.point / times), high: high.max(self.point * times) };
                Self { bounds, ..self }
            }
            _ => self,
        }
    }
}

/// A 95 % confidence interval, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "interval", rename_all = "kebab-case")]
pub enum Bounds {
    Known { low: f64, high: f64 },
    Unknown { why: Missing },
}

impl Bounds {
    pub fn known(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Known { low, high } => Some((low, high)),
            Self::Unknown { .. } => None,
        }
    }

    /// The same bounds on another scale, for example from logarithms back to ratios. `scale` must be increasing.
    #[must_use]
    pub fn map(self, scale: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Known { low, high } => Self::Known { low: scale(low), high: scale(high) },
            unknown @ Self::Unknown { .. } => unknown,
        }
    }

    /// Whether `value` lies inside; `None` if there is no interval.
    pub fn contain(&self, value: f64) -> Option<bool> {
        self.known().map(|(low, high)| low <= value && value <= high)
    }
}

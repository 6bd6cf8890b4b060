//! The units in which telemetry counts, with all times converted to one of them.

use serde::{Deserialize, Serialize};

/// The kernel reports CPU times in hundredths of a second, whatever the rate of its own clock.
const MILLIS_PER_TICK: f64 = 10.0;

/// The unit of a worth or a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedUnit {
    /// Things that happened.
    Things,
    Milliseconds,
    Bytes,
    /// Any other, by its own name.
    Other(String),
}

impl CountedUnit {
    /// The unit of a column. Times become milliseconds when multiplied by [`factor`].
    pub fn named(name: &str) -> Self {
        match name {
            "" => Self::Things,
            "bytes" => Self::Bytes,
            time if millis_per(time).is_some() => Self::Milliseconds,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// What a number in this unit is multiplied by.
pub fn factor(name: &str) -> f64 {
    millis_per(name).unwrap_or(1.0)
}

fn millis_per(name: &str) -> Option<f64> {
    match name {
        "ns" => Some(1e-6),
        "us" => Some(1e-3),
        "ms" => Some(1.0),
        "ticks" => Some(MILLIS_PER_TICK),
        "s" => Some(1e3),
        _ => None,
    }
}

//! The units in which telemetry counts, and times brought to one of them.

use serde::{Deserialize, Serialize};

/// The kernel tells CPU times to programs in hundredths of a second, whatever its own clock ticks at.
const MILLIS_PER_TICK: f64 = 10.0;

/// In what a worth or a figure is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Things that happened.
    Things,
    Milliseconds,
    Bytes,
    /// Any other, by its own name.
    Other(String),
}

impl Unit {
    /// Of a column; times become milliseconds, which [`factor`] makes of them.
    pub fn named(name: &str) -> Self {
        match name {
            "" => Self::Things,
            "bytes" => Self::Bytes,
            time if millis_per(time).is_some() => Self::Milliseconds,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// What a whole number under this unit's name is multiplied with.
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

//! Hosts that drove a part of a trial's load.

use crate::clock::ClockReading;
use crate::facts::Facts;
use crate::testimony::Testimony;
use serde::{Deserialize, Serialize};

/// A host that drove a part of the load, and its account of that.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadHostFacts {
    /// As the study names it.
    pub host: String,
    /// The host's own view of itself.
    pub inside: Facts,
    pub clock: Vec<ClockReading>,
    /// How long after the common start it started, by its own clock: the error of its offset comes on top. Negative if before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_us: Option<i64>,
    pub sessions: u32,
    pub statements: u64,
    pub testimony: Testimony,
}

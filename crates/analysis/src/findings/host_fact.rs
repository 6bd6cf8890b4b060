//! What the state of a host is made of.

use serde::{Deserialize, Serialize};

/// What is read of a host before and after each trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostFact {
    Governor,
    Turbo,
    Mitigations,
    Frequency,
    CpuTime,
    ProcessTime,
    Memory,
    Stalls,
}

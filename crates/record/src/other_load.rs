//! What others used of the host's CPUs during a trial, compared with the limit of its study. A trial during which
//! they used more is void, and is run again.
//!
//! Their use is always [`HostState::others`](crate::host_state::HostState::others).

use crate::looks::Reading;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Other load during one attempt at a trial, and the void attempts before it. Shares are of the host's CPU time in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherLoad {
    /// Above this, the attempt is void.
    pub limit: f64,
    /// How often the trial may be run again because of it.
    pub max_repeats: u32,
    /// If it is not known, the attempt counts.
    pub other_cpu: Reading<f64>,
    /// Earlier attempts at the trial that were void because of other load, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<Disturbed>,
}

/// An attempt that was void.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disturbed {
    /// RFC 3339, UTC.
    pub started: String,
    pub took_ms: u64,
    #[serde(flatten)]
    pub by: Disturbance,
}

/// Why an attempt is void.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    pub other_cpu: f64,
    pub limit: f64,
}

impl OtherLoad {
    pub fn disturbance(&self) -> Option<Disturbance> {
        let (other_cpu, limit) = (*self.other_cpu.known()?, self.limit);
        (other_cpu > limit).then_some(Disturbance { other_cpu, limit })
    }
}

impl Disturbance {
    /// The share used by others, such as "31 %".
    pub fn used(&self) -> String {
        let decimals = usize::from(self.other_cpu < 0.1);
        format!("{:.decimals$} %", self.other_cpu * 100.0)
    }

    /// The limit as it is written in a study, such as "5 %".
    pub fn allowed(&self) -> String {
        let text = format!("{:.3}", self.limit * 100.0);
        format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, allowed) = (self.used(), self.allowed());
        write!(
            formatter,
            "others used {used} of the host's CPU time in the measured window, more than the {allowed} of load.max_other_cpu"
        )
    }
}

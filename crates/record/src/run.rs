//! A whole run in memory: what analysis and report are functions of.

use crate::check::Finding;
use crate::facts::Facts;
use crate::intervals::Measured;
use crate::plan::Plan;
use crate::trial::TrialRecord;
use std::path::PathBuf;

/// Everything a run's folder says.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub plan: Plan,
    /// The host's view of itself.
    pub host: Facts,
    /// Trials that have a record, in the order of their ids. Planned trials without one were not reached.
    pub trials: Vec<StoredTrial>,
    pub dir: PathBuf,
}

/// One trial as it was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrial {
    pub record: TrialRecord,
    /// Absent if the trial ended before anything was measured.
    pub measured: Option<Measured>,
    pub findings: Vec<Finding>,
}

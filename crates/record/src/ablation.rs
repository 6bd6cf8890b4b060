//! An ablation: single changes to one contender, so that each one's effect is known (`plan.json`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The changes that a study makes to a contender. Each is a contender of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ablation {
    /// The contender that is changed.
    pub of: String,
    pub direction: Direction,
    /// In the order of the study.
    pub changes: Vec<Change>,
}

/// What each change is compared with, and what is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The contender with this one change, against the contender.
    AddOne,
    /// The contender with all changes but this one, against the contender with all.
    LeaveOneOut,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub name: String,
    /// Keys of the study, with the values that the change gives them.
    pub set: Map<String, Value>,
    /// The contender that shows its effect.
    pub contender: String,
    /// Why the platform cannot make it here. Then there is no such contender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

//! Whether each trial's record agrees with itself, as found when it was read ([`record::agreement`]).

use record::run::Run;
use record::trial::Outcome;
use serde::{Deserialize, Serialize};

/// One trial's self-check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    pub trial: u32,
    /// What does not add up or is missing, each as a sentence. A trial with any of these is not valid.
    pub disagreements: Vec<String>,
}

/// The self-checks of all completed trials.
pub fn all(run: &Run) -> Vec<Agreement> {
    let completed = run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed);
    completed.map(|trial| Agreement { trial: trial.record.id, disagreements: trial.disagreements.clone() }).collect()
}

//! Reports the same finding in several trials once, with the trials.

use super::Finding;

#[derive(Default)]
pub(crate) struct Gathered(Vec<Finding>);

impl Gathered {
    /// Several machines of a trial may have the same finding.
    pub(crate) fn add(&mut self, finding: Finding, trial: u32) {
        let is_same = |known: &&mut Finding| {
            known.what == finding.what
                && known.subject.contender == finding.subject.contender
                && known.subject.coordinates == finding.subject.coordinates
        };
        match self.0.iter_mut().find(is_same) {
            Some(known) if known.subject.trials.last() == Some(&trial) => {}
            Some(known) => known.subject.trials.push(trial),
            None => self.0.push(finding.in_trials([trial])),
        }
    }

    /// Sorted by the first trial of each.
    pub(crate) fn all(mut self) -> Vec<Finding> {
        self.0.sort_by_key(|finding| finding.subject.trials.first().copied());
        self.0
    }
}

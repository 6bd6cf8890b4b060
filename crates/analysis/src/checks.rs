//! A summary of data checks: each check of each contender once, with how often it held.

use crate::validity;
use record::agreement;
use record::check::{CheckResult, Moment, Verdict};
use record::run::{Run, StoredTrial};
use record::trial::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One check of one contender, over all its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckSummary {
    pub contender: String,
    pub name: String,
    pub rule: String,
    pub moment: Moment,
    pub held: u32,
    pub undecided: u32,
    /// Trials in which it was violated.
    pub violated: Vec<u32>,
    /// What was seen, or why it was undecided, in the most telling trial. A violated one comes before an undecided
    /// one, which comes before one in which it held.
    pub seen: Option<String>,
}

/// Sums over all checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckCounts {
    pub held: u32,
    pub violated: u32,
    pub undecided: u32,
    /// Completed trials without checked data. If a trial has several machines, the data of each must have been checked.
    #[serde(default)]
    pub unchecked_trials: u32,
}

/// Sums over the checks of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CellChecks {
    pub held: u32,
    pub violated: u32,
    /// How many of those that held were asked after the trial. Checks of loaded data alone say nothing about what it left behind.
    pub held_after: u32,
}

/// Every check of every trial, in the order in which they were first met.
pub fn all(run: &Run) -> Vec<CheckSummary> {
    of_trials(run.trials.iter())
}

pub fn of_cell(run: &Run, cell: u32) -> CellChecks {
    CellChecks::of(&of_trials(validity::trials_of(run, cell)))
}

impl CellChecks {
    pub fn of<'a>(checks: impl IntoIterator<Item = &'a CheckSummary>) -> Self {
        checks.into_iter().fold(Self::default(), |sum, check| Self {
            held: sum.held + check.held,
            violated: sum.violated + u32::try_from(check.violated.len()).unwrap_or(u32::MAX),
            held_after: sum.held_after + if check.moment == Moment::AfterTrial { check.held } else { 0 },
        })
    }
}

fn of_trials<'a>(trials: impl Iterator<Item = &'a StoredTrial>) -> Vec<CheckSummary> {
    let mut summaries: Vec<CheckSummary> = Vec::new();
    let mut places = BTreeMap::new();
    for trial in trials {
        for finding in &trial.findings {
            let contender = &trial.record.contender;
            let same = (contender, &finding.name, finding.moment == Moment::AfterLoad);
            let index = *places.entry(same).or_insert_with(|| {
                summaries.push(empty(contender, finding));
                summaries.len() - 1
            });
            add(&mut summaries[index], trial.record.id, &finding.verdict);
        }
    }
    summaries
}

pub fn counts(run: &Run, summaries: &[CheckSummary]) -> CheckCounts {
    let completed = run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed);
    let unchecked = completed.filter(|trial| agreement::is_unchecked(trial)).count();
    let none = CheckCounts { unchecked_trials: u32::try_from(unchecked).unwrap_or(u32::MAX), ..CheckCounts::default() };
    summaries.iter().fold(none, |sum, check| CheckCounts {
        held: sum.held + check.held,
        violated: sum.violated + u32::try_from(check.violated.len()).unwrap_or(u32::MAX),
        undecided: sum.undecided + check.undecided,
        ..sum
    })
}

fn empty(contender: &str, finding: &CheckResult) -> CheckSummary {
    CheckSummary {
        contender: contender.to_owned(),
        name: finding.name.clone(),
        rule: finding.rule.clone(),
        moment: finding.moment,
        held: 0,
        undecided: 0,
        violated: Vec::new(),
        seen: None,
    }
}

fn add(summary: &mut CheckSummary, trial: u32, verdict: &Verdict) {
    match verdict {
        Verdict::Holds { seen } => {
            if summary.undecided == 0 && summary.violated.is_empty() {
                summary.seen.clone_from(seen);
            }
            summary.held += 1;
        }
        Verdict::Undecided { why } => {
            if summary.violated.is_empty() {
                summary.seen = Some(why.clone());
            }
            summary.undecided += 1;
        }
        Verdict::Violated { seen } => {
            if summary.violated.is_empty() {
                summary.seen = Some(seen.clone());
            }
            // Several machines of one trial may have violated it.
            if summary.violated.last() != Some(&trial) {
                summary.violated.push(trial);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn the_most_telling_trial_is_quoted() {
        let finding = CheckResult {
            name: "sum".to_owned(),
            rule: "the sum is right".to_owned(),
            moment: Moment::AfterTrial,
            verdict: Verdict::Holds { seen: None },
        };
        let mut summary = empty("native", &finding);
        add(&mut summary, 1, &Verdict::Holds { seen: Some("10".to_owned()) });
        assert_eq!(summary.seen.as_deref(), Some("10"));
        add(&mut summary, 2, &Verdict::Violated { seen: "11".to_owned() });
        add(&mut summary, 3, &Verdict::Undecided { why: "too few".to_owned() });
        add(&mut summary, 4, &Verdict::Violated { seen: "12".to_owned() });
        assert_eq!(summary.seen.as_deref(), Some("11"));
        let expected = CheckCounts { held: 1, violated: 2, undecided: 1, unchecked_trials: 0 };
        assert_eq!(counts(&synthetic::run(1), &[summary]), expected);
    }
}

//! A summary of data checks: each check of each contender once, with how often it held.

use crate::gathered::by_key;
use record::agreement;
use record::check::{CheckResult, Moment, Verdict};
use record::run::{Run, StoredTrial};
use record::trial::{Outcome, TrialRecord};
use serde::{Deserialize, Serialize};

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
    /// An observation, or why it was undecided, of the trial that says most. A violated one comes before an undecided
    /// one, which comes before one in which it held.
    pub seen: Option<String>,
}

/// Sums over the checks of a run, or of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckCounts {
    pub held: u32,
    pub violated: u32,
    pub undecided: u32,
    /// How many of those that held were asked after the trial. Checks of loaded data alone say nothing about what it left behind.
    pub held_after: u32,
    /// Completed trials without checked data. If a trial has several machines, the data of each must have been checked.
    pub unchecked_trials: u32,
}

/// Every check of every trial, in the order in which they were first met.
pub fn all(run: &Run) -> Vec<CheckSummary> {
    of_trials(run.trials.iter())
}

fn count<T>(found: &[T]) -> u32 {
    u32::try_from(found.len()).unwrap_or(u32::MAX)
}

fn of_trials<'a>(trials: impl Iterator<Item = &'a StoredTrial>) -> Vec<CheckSummary> {
    let each = trials.flat_map(|trial| trial.findings.iter().map(move |found| (&trial.record, found)));
    let same = |(place, (record, found)): (usize, (&'a TrialRecord, &'a CheckResult))| {
        ((&record.contender, &found.name, found.moment == Moment::AfterLoad), (place, record, found))
    };
    let mut checks: Vec<Vec<(usize, &TrialRecord, &CheckResult)>> =
        by_key(each.enumerate().map(same)).into_values().collect();
    checks.sort_by_key(|found| found[0].0);
    checks.iter().map(|found| summary(found)).collect()
}

/// Everything that one check found, in the order of trials.
fn summary(found: &[(usize, &TrialRecord, &CheckResult)]) -> CheckSummary {
    let (_, record, check) = found[0];
    let (mut held, mut undecided, mut violated) = (Vec::new(), Vec::new(), Vec::new());
    for (_, record, check) in found {
        match &check.verdict {
            Verdict::Holds { seen } => held.push(seen.clone()),
            Verdict::Undecided { why } => undecided.push(Some(why.clone())),
            Verdict::Violated { seen } => violated.push((record.id, Some(seen.clone()))),
        }
    }
    let (held_times, undecided_times) = (count(&held), count(&undecided));
    // Several machines of one trial may have violated it.
    violated.dedup_by_key(|(trial, _)| *trial);
    let (violated, seen): (Vec<u32>, Vec<_>) = violated.into_iter().unzip();
    CheckSummary {
        contender: record.contender.clone(),
        name: check.name.clone(),
        rule: check.rule.clone(),
        moment: check.moment,
        held: held_times,
        undecided: undecided_times,
        violated,
        seen: seen.into_iter().next().or(undecided.pop()).or(held.pop()).flatten(),
    }
}

/// Of these trials.
pub fn counts<'a>(trials: impl Iterator<Item = &'a StoredTrial>) -> CheckCounts {
    let trials: Vec<&StoredTrial> = trials.collect();
    let completed = trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed);
    let unchecked: Vec<_> = completed.filter(|trial| agreement::is_unchecked(trial)).collect();
    CheckCounts { unchecked_trials: count(&unchecked), ..sum(&of_trials(trials.iter().copied())) }
}

pub fn sum<'a>(checks: impl IntoIterator<Item = &'a CheckSummary>) -> CheckCounts {
    checks.into_iter().fold(CheckCounts::default(), |sum, check| CheckCounts {
        held: sum.held + check.held,
        violated: sum.violated + count(&check.violated),
        undecided: sum.undecided + check.undecided,
        held_after: sum.held_after + if check.moment == Moment::AfterTrial { check.held } else { 0 },
        ..sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn the_most_telling_trial_is_quoted() {
        let mut trial = synthetic::run(1).trials.remove(0);
        let mut seen = |verdicts: &[Verdict]| {
            let found = |verdict: &Verdict| CheckResult {
                name: "sum".to_owned(),
                rule: "the sum is right".to_owned(),
                moment: Moment::AfterTrial,
                verdict: verdict.clone(),
            };
            let trials: Vec<StoredTrial> = (1..)
                .zip(verdicts)
                .map(|(id, verdict)| {
                    trial.record.id = id;
                    StoredTrial { findings: vec![found(verdict)], ..trial.clone() }
                })
                .collect();
            (of_trials(trials.iter()).remove(0), counts(trials.iter()))
        };
        let verdicts = [
            Verdict::Holds { seen: Some("10".to_owned()) },
            Verdict::Violated { seen: "11".to_owned() },
            Verdict::Undecided { why: "too few".to_owned() },
            Verdict::Violated { seen: "12".to_owned() },
        ];
        assert_eq!(seen(&verdicts[..1]).0.seen.as_deref(), Some("10"));
        assert_eq!(seen(&[verdicts[2].clone(), verdicts[0].clone()]).0.seen.as_deref(), Some("too few"));
        let (summary, sums) = seen(&verdicts);
        assert_eq!((summary.seen.as_deref(), &summary.violated[..]), (Some("11"), &[2, 4][..]));
        let expected = CheckCounts { held: 1, violated: 2, undecided: 1, held_after: 1, unchecked_trials: 0 };
        assert_eq!(sums, expected);
    }
}

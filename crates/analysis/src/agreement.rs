//! Whether a trial's record agrees with itself: the seconds of its log add up to the totals in `trial.json`.
//!
//! Of machines side by side each has a log and totals of its own. They are asked one by one, since what one lacks another may
//! have too much.

use record::intervals::{KindInterval, Span};
use record::run::{Run, StoredTrial};
use record::trial::Outcome;
use serde::{Deserialize, Serialize};

/// One trial's self-check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    pub trial: u32,
    /// What does not add up, each a sentence; empty if everything does.
    pub disagreements: Vec<String>,
}

/// Checks every completed trial.
pub fn all(run: &Run) -> Vec<Agreement> {
    let completed = run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed);
    completed.map(|trial| Agreement { trial: trial.record.id, disagreements: of_trial(trial) }).collect()
}

fn of_trial(trial: &StoredTrial) -> Vec<String> {
    if trial.machines.is_empty() {
        return disagreements(trial);
    }
    let of_machine = |(number, machine): (u32, &StoredTrial)| {
        disagreements(machine).into_iter().map(move |text| format!("machine {number}: {text}"))
    };
    trial.measured_machines().flat_map(of_machine).collect()
}

fn disagreements(trial: &StoredTrial) -> Vec<String> {
    let (Some(measured), Some(driver)) = (&trial.measured, &trial.record.driver) else {
        return vec!["the trial is called completed but its record has no measurements".to_owned()];
    };
    let mut found = Vec::new();
    let window: Vec<_> = measured.intervals.iter().filter(|interval| interval.measured).collect();
    let length_ms: u64 = window.iter().map(|interval| interval.length_ms).sum();
    if length_ms != driver.measured_ms {
        found.push(format!("the log's measured seconds are {length_ms} ms, the window is {} ms", driver.measured_ms));
    }
    let index_of = |kind: &String| measured.kinds.iter().position(|known| known == kind);
    for totals in &driver.kinds {
        let Some(index) = index_of(&totals.kind) else {
            found.push(format!("the log does not know {}", totals.kind));
            continue;
        };
        for (span, name) in [(Span::Response, "response"), (Span::Service, "service")] {
            let parts = window.iter().flat_map(|interval| &interval.kinds);
            let parts = parts.filter(|part| usize::from(part.kind) == index && part.span == span);
            let logged: u64 = parts.map(KindInterval::count).sum();
            if logged != totals.finished() {
                let (kind, finished) = (&totals.kind, totals.finished());
                found.push(format!("{kind}: the log has {logged} {name} times, the totals say {finished} finished"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic::{self, consolidated};

    #[test]
    fn a_sound_record_agrees_with_itself() {
        let run = synthetic::run(3);
        let checked = all(&run);
        assert_eq!(checked.len(), 6);
        assert!(checked.iter().all(|agreement| agreement.disagreements.is_empty()), "{checked:?}");
    }

    #[test]
    fn one_transaction_too_many_is_found() {
        let mut run = synthetic::run(3);
        run.trials[1].record.driver.as_mut().unwrap().kinds[0].committed += 1;
        run.trials[2].measured.as_mut().unwrap().intervals.pop();
        let checked = all(&run);
        assert_eq!(checked[1].disagreements.len(), 2, "{checked:?}");
        assert!(checked[1].disagreements[0].starts_with("new-order: the log has "), "{checked:?}");
        assert!(checked[2].disagreements[0].contains("the window is"), "{checked:?}");
    }

    /// What one machine lost the other found: in the sum nothing is missing.
    #[test]
    fn machines_are_asked_one_by_one() {
        let mut run = consolidated::run(1, None);
        let trial = run.trials.iter_mut().find(|trial| trial.machines.len() == 2).unwrap();
        for (machine, more) in trial.machines.iter_mut().zip([1, -1]) {
            let committed = &mut machine.record.driver.as_mut().unwrap().kinds[0].committed;
            *committed = committed.checked_add_signed(more).unwrap();
        }
        let told = of_trial(trial);
        assert!(told.iter().any(|text| text.starts_with("machine 1: new-order: the log has")), "{told:?}");
        assert!(told.iter().any(|text| text.starts_with("machine 2: new-order: the log has")), "{told:?}");
    }
}

//! Chooses a part of a plan by words on the command line.
//!
//! Words of one kind add up; different kinds narrow: `native kvm block=2` is both contenders in block 2.

use crate::again::original;
use record::plan::{Cell, Plan, PlannedTrial};
use settings::nearest;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OnlyError {
    #[error("\"{word}\" names nothing in this study; known are {known}{}", did_you_mean(.nearest.as_deref()))]
    Unknown { word: String, known: String, nearest: Option<String> },
    #[error("{kind}={value} is not in this study; it has {kind} {from} to {to}")]
    OutOfRange { kind: &'static str, value: String, from: u32, to: u32 },
    #[error("no trial of this study is all of: {}", .words.join(", "))]
    Nothing { words: Vec<String> },
}

fn did_you_mean(word: Option<&str>) -> String {
    word.map(|word| format!("; did you mean \"{word}\"?")).unwrap_or_default()
}

#[derive(Default)]
struct ChosenCells {
    contenders: BTreeSet<String>,
    scenarios: BTreeSet<String>,
    cells: BTreeSet<u32>,
    blocks: BTreeSet<u32>,
    trials: BTreeSet<u32>,
}

/// The plan with only the trials that all kinds of words allow; without words, all trials. Trials keep their ids.
pub fn only(plan: &Plan, words: &[String]) -> Result<Plan, OnlyError> {
    let mut chosen = ChosenCells::default();
    for word in words {
        chosen.add(plan, word)?;
    }
    let trials = plan.trials.iter().filter(|trial| chosen.has(plan, trial)).cloned().collect::<Vec<_>>();
    if trials.is_empty() && !words.is_empty() {
        return Err(OnlyError::Nothing { words: words.to_vec() });
    }
    Ok(Plan { trials, ..plan.clone() })
}

impl ChosenCells {
    fn add(&mut self, plan: &Plan, word: &str) -> Result<(), OnlyError> {
        let (kind, name) = word.split_once('=').map_or((None, word), |(kind, name)| (Some(kind), name));
        let of_trials = |number: fn(&PlannedTrial) -> u32| plan.trials.iter().map(number);
        match kind {
            Some("block") => self.blocks.extend([number("block", name, of_trials(|trial| trial.block))?]),
            Some("trial") => self.trials.extend([number("trial", name, of_trials(|trial| trial.id))?]),
            Some("cell") => self.cells.extend([number("cell", name, of_trials(|trial| trial.cell))?]),
            None | Some("contender") if is_contender(plan, name) => self.contenders.extend([name.to_owned()]),
            None | Some("scenario") if is_scenario(plan, name) => self.scenarios.extend([name.to_owned()]),
            _ => return Err(unknown(plan, word)),
        }
        Ok(())
    }

    fn has(&self, plan: &Plan, trial: &PlannedTrial) -> bool {
        let Some(cell) = plan.cells.iter().find(|cell| cell.id == trial.cell) else { return false };
        let scenario = cell.scenario.as_ref();
        let name = &cell.contender;
        // In an A/A study, a contender's name also covers the contender that repeats it.
        (allows(&self.contenders, Some(name)) || self.contenders.contains(original(name)))
            && allows(&self.scenarios, scenario)
            && allows(&self.cells, Some(&cell.id))
            && allows(&self.blocks, Some(&trial.block))
            && allows(&self.trials, Some(&trial.id))
    }
}

fn allows<T: Ord>(chosen: &BTreeSet<T>, value: Option<&T>) -> bool {
    chosen.is_empty() || value.is_some_and(|value| chosen.contains(value))
}

/// The number in `value`, if the study has it.
fn number(kind: &'static str, value: &str, known: impl Iterator<Item = u32> + Clone) -> Result<u32, OnlyError> {
    let number = value.parse::<u32>().ok().filter(|number| known.clone().any(|one| one == *number));
    number.ok_or_else(|| {
        let (from, to) = (known.clone().min().unwrap_or_default(), known.max().unwrap_or_default());
        OnlyError::OutOfRange { kind, value: value.to_owned(), from, to }
    })
}

fn is_contender(plan: &Plan, name: &str) -> bool {
    plan.cells.iter().any(|cell| cell.contender == name)
}

fn is_scenario(plan: &Plan, name: &str) -> bool {
    plan.cells.iter().any(|cell| cell.scenario.as_deref() == Some(name))
}

fn unknown(plan: &Plan, word: &str) -> OnlyError {
    let contender = |cell: &Cell| cell.contender.clone();
    let names = plan.cells.iter().map(contender).chain(plan.cells.iter().filter_map(|cell| cell.scenario.clone()));
    let mut words: Vec<String> = Vec::new();
    for name in names {
        if !words.contains(&name) {
            words.push(name);
        }
    }
    let name = word.split_once('=').map_or(word, |(_, name)| name);
    let nearest = nearest(name, words.iter().map(String::as_str)).map(str::to_owned);
    let known = words.iter().map(String::as_str).chain(["block=N", "cell=N", "trial=N"]).collect::<Vec<_>>();
    OnlyError::Unknown { word: word.to_owned(), known: known.join(", "), nearest }
}

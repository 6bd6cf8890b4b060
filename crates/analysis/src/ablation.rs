//! What each single change of an ablation does. Its figures are those of the comparison with the contender that has none of the
//! changes, or all of them.

use crate::compare::Comparison;
use crate::gathered::{by_key, differing};
use crate::machines::known;
use crate::settings::PLACES;
use crate::validity;
use record::ablation::Direction;
use record::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The changes, and what they did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblationResult {
    pub of: String,
    pub direction: Direction,
    /// The contender that each is compared with.
    pub against: String,
    /// The greatest first.
    pub effects: Vec<Effect>,
    /// Changes that the platform could not make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// What one change did at one point of the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    pub change: String,
    pub set: Map<String, Value>,
    /// The cell whose comparison has the figures.
    pub cell: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub coordinates: String,
    /// What the platform, the system inside and the server reported otherwise than without the change.
    pub read_back: Vec<ReadBack>,
}

/// One reported fact on both sides; `None` where there is no such fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    pub name: String,
    pub against: Option<String>,
    pub own: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub change: String,
    pub why: String,
}

pub fn of_run(run: &Run, comparisons: &[Comparison]) -> Option<AblationResult> {
    let asked = run.plan.ablation.as_ref()?;
    let against = run.plan.cells.iter().find(|cell| cell.baseline)?.contender.clone();
    let mut effects: Vec<Effect> = Vec::new();
    let mut skipped = Vec::new();
    for change in &asked.changes {
        if let Some(why) = &change.skipped {
            skipped.push(Skipped { change: change.name.clone(), why: why.clone() });
        }
        effects.extend(comparisons.iter().filter(|one| one.contender == change.contender).map(|one| Effect {
            change: change.name.clone(),
            set: change.set.clone(),
            cell: one.contender_cell,
            coordinates: one.coordinates.clone(),
            read_back: read_back(run, one),
        }));
    }
    let size = |effect: &Effect| {
        let own = comparisons.iter().find(|one| one.contender_cell == effect.cell);
        own.and_then(Comparison::throughput).map_or(-1.0, |ratio| ratio.estimate.point.ln().abs())
    };
    effects.sort_by(|one, other| size(other).total_cmp(&size(one)));
    Some(AblationResult { of: asked.of.clone(), direction: asked.direction, against, effects, skipped })
}

/// What differs between two cells and is the same in all trials of each.
fn read_back(run: &Run, comparison: &Comparison) -> Vec<ReadBack> {
    let [against, own] = [comparison.baseline_cell, comparison.contender_cell].map(|cell| reported(run, cell));
    let one_text = |values: Option<&BTreeSet<&str>>| match values {
        Some(values) if values.len() > 1 => None,
        values => Some(values.and_then(BTreeSet::first).map(|text| (*text).to_owned())),
    };
    let of_name = |(name, against, own): (&&str, _, _)| {
        Some(ReadBack { name: (*name).to_owned(), against: one_text(against)?, own: one_text(own)? })
    };
    differing(&against, &own).filter_map(of_name).collect()
}

/// What the platform decided, and what the system inside and the server reported, in all trials of a cell.
fn reported(run: &Run, cell: u32) -> BTreeMap<&str, BTreeSet<&str>> {
    by_key(validity::trials_of(run, cell).flat_map(|trial| {
        let facts = trial.record.machine.iter().flat_map(|machine| machine.decided.iter().chain(&machine.inside));
        let facts = facts.filter_map(|(name, fact)| Some((name.as_str(), known(fact)?)));
        let settings = trial.record.server.iter().flat_map(|server| &server.effective);
        let settings = settings.map(|(name, value)| (name.as_str(), value.as_str()));
        facts.chain(settings.filter(|(name, _)| !PLACES.contains(name)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::analyse;
    use record::ablation::{Ablation as Asked, Change};
    use record::synthetic;
    use serde_json::json;

    /// The synthetic run, whose second contender is a change of the first.
    fn run() -> Run {
        let mut run = synthetic::run(5);
        let change = |name: &str, contender: &str, skipped: Option<&str>| Change {
            name: name.to_owned(),
            set: json!({ "platform.kind": "qemu" }).as_object().cloned().unwrap_or_default(),
            contender: contender.to_owned(),
            skipped: skipped.map(str::to_owned),
        };
        run.plan.ablation = Some(Asked {
            of: "native".to_owned(),
            direction: Direction::AddOne,
            changes: vec![change("a guest", "kvm", None), change("magic", "magic", Some("there is none"))],
        });
        run
    }

    #[test]
    fn each_change_has_its_comparison_and_what_was_read_back() {
        let mut run = run();
        for (index, trial) in run.trials.iter_mut().enumerate() {
            let is_changed = trial.record.cell == 1;
            let server = trial.record.server.as_mut().expect("a server");
            server.effective.insert("sync_method".to_owned(), if is_changed { "b" } else { "a" }.to_owned());
            server.effective.insert("started".to_owned(), index.to_string());
            server.effective.insert("port".to_owned(), if is_changed { "1" } else { "2" }.to_owned());
        }
        let ablation = analyse(&run).ablation.expect("an ablation");
        assert_eq!((ablation.against.as_str(), ablation.effects.len()), ("native", 1));
        assert_eq!((ablation.effects[0].change.as_str(), ablation.effects[0].cell), ("a guest", 1));
        let expected =
            ReadBack { name: "sync_method".to_owned(), against: Some("a".to_owned()), own: Some("b".to_owned()) };
        assert!(ablation.effects[0].read_back.contains(&expected), "{:?}", ablation.effects[0].read_back);
        assert!(ablation.effects[0].read_back.iter().all(|one| !["started", "port"].contains(&one.name.as_str())));
        assert_eq!(ablation.skipped, [Skipped { change: "magic".to_owned(), why: "there is none".to_owned() }]);
    }

    #[test]
    fn a_study_without_one_has_none() {
        assert_eq!(analyse(&synthetic::run(3)).ablation, None);
    }
}

//! Differences between machines side by side: what was decided for each, and what each reports about itself.
//!
//! They are alike in nearly everything, so only differences are shown. What cannot be equal on two machines is left out.

use super::side_by_side::SideBySide;
use crate::document::Block;
use crate::format::distinct;
use crate::table;
use record::facts::{Fact, Facts};
use record::plan::Cell;
use record::run::{Run, StoredTrial};

/// Names of places and moments: where a machine's files and groups are, and when it was started.
const BY_NATURE: [&str; 9] = [
    "cgroup.path",
    "memory.available_bytes",
    "storage.carried_by",
    "storage.device",
    "storage.layers",
    "storage.source",
    "system.boot_id",
    "system.machine_id",
    "system.uptime_s",
];

/// The first trial with the most machines, for each contender.
pub fn blocks(run: &Run) -> Vec<Block> {
    let names = distinct(run.plan.cells.iter().map(|cell| cell.contender.as_str()));
    let trials: Vec<&StoredTrial> = names.into_iter().filter_map(|name| first_with_most(run, name)).collect();
    if trials.is_empty() {
        return Vec::new();
    }
    let heading = Block::Heading { level: 3, text: "What differs between machines side by side".to_owned() };
    std::iter::once(heading).chain(trials.into_iter().flat_map(|trial| of_trial(run, trial))).collect()
}

fn first_with_most<'a>(run: &'a Run, contender: &str) -> Option<&'a StoredTrial> {
    let own = run.trials.iter().filter(|trial| trial.record.contender == contender && trial.machines.len() > 1);
    own.min_by_key(|trial| (std::cmp::Reverse(trial.machines.len()), trial.record.id))
}

fn of_trial(run: &Run, trial: &StoredTrial) -> Vec<Block> {
    let facts: Vec<Facts> = trial.machines.iter().map(all_facts).collect();
    let titles = (1..=facts.len()).map(|number| format!("machine {number}")).collect();
    let mut found = SideBySide::of_facts(titles, &facts.iter().collect::<Vec<_>>(), |_, value| value);
    found.rows.retain(|(name, _)| !BY_NATURE.contains(&name.as_str()) && differs(&facts, name));
    let place = run.plan.cells.iter().find(|cell| cell.id == trial.record.cell).map(Cell::coordinates);
    let place = crate::format::at(&place.unwrap_or_default());
    let (contender, id, many) = (&trial.record.contender, trial.record.id, facts.len());
    if found.rows.is_empty() {
        let text = format!(
            "{contender}{place}: the {many} machines of trial {id} are alike in all that was decided and seen."
        );
        return vec![Block::Paragraph(text)];
    }
    let opening = Block::Paragraph(format!("{contender}{place}, of {many} machines in trial {id}:"));
    std::iter::once(opening).chain(found.blocks(&table::id("machines-apart", contender), "facts")).collect()
}

fn all_facts(machine: &StoredTrial) -> Facts {
    let facts = machine.record.machine.iter().flat_map(|facts| facts.decided.iter().chain(&facts.inside));
    facts.map(|(name, fact)| (name.clone(), fact.clone())).collect()
}

/// A fact that no machine could read is no difference, whatever the reasons.
fn differs(facts: &[Facts], name: &str) -> bool {
    let known = |facts: &Facts| facts.get(name).filter(|fact| matches!(fact, Fact::Known(_))).cloned();
    facts.windows(2).any(|pair| known(&pair[0]) != known(&pair[1]))
}

//! A neighbour that stands idle, compared with cells of the same study in which it works all the time.

use super::parts::{self, TrialParts};
use super::{NeighbourEffect, effects, of_mean};
use crate::consolidation::alone::AloneCell;
use crate::consolidation::slots::position;
use crate::contrast::Position;
use crate::missing::NeighbourPart;
use crate::validity;
use record::plan::Cell;
use record::run::Run;
use record::settings::{ExceptionLoad, key};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The ratio of the others beside a working neighbour to the same machines beside an idle one, block by block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BesideRatio {
    /// The cell in which it works.
    pub reference: AloneCell,
    /// In these, `before` means beside the idle neighbour, and `during` beside the working one.
    pub effects: Vec<NeighbourEffect>,
    pub kept: Position,
}

/// Empty for a neighbour that does anything.
pub fn all(run: &Run, idle: &Cell, machine: u32) -> Vec<BesideRatio> {
    if load(idle) != ExceptionLoad::Idle {
        return Vec::new();
    }
    let works = |cell: &&Cell| {
        let same_machine = cell.exception().is_none_or(|exception| exception.number == machine);
        let alike = cell.contender == idle.contender
            && cell.settings.without(key::EXCEPTION) == idle.settings.without(key::EXCEPTION);
        load(cell) == ExceptionLoad::Same && same_machine && alike
    };
    run.plan.cells.iter().filter(works).filter_map(|cell| of_pair(run, idle, cell, machine)).collect()
}

/// The load of the exception. In a cell without an exception, the load of all machines is the same.
pub fn load(cell: &Cell) -> ExceptionLoad {
    cell.exception().map_or(ExceptionLoad::Same, |exception| exception.load)
}

fn of_pair(run: &Run, idle: &Cell, works: &Cell, machine: u32) -> Option<BesideRatio> {
    let without = by_block(run, idle, machine, NeighbourPart::Before);
    let mut pairs = by_block(run, works, machine, NeighbourPart::During);
    pairs.retain(|block, _| without.contains_key(block));
    let paired = pairs.into_iter().map(|(block, trial)| {
        let parts = without[&block].parts.iter().cloned().chain(trial.parts).collect();
        TrialParts { parts, ..trial }
    });
    let paired: Vec<TrialParts> = paired.collect();
    if paired.is_empty() {
        return None;
    }
    let effects = effects(&paired);
    let kept = position(of_mean(&effects).and_then(NeighbourEffect::kept));
    Some(BesideRatio { reference: AloneCell::of(works), effects, kept })
}

/// A trial without a figure is left out here; its cell reports that.
fn by_block(run: &Run, cell: &Cell, machine: u32, part: NeighbourPart) -> BTreeMap<u32, TrialParts> {
    let whole = validity::valid_trials(run, cell.id).filter_map(|trial| parts::whole(trial, machine, part).ok());
    whole.map(|trial| (trial.block, trial)).collect()
}

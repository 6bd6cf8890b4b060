//! Which blocks of two cells are compared. Every ratio and every difference between two cells of a run is over these.
//!
//! Within a block both sides met the same drift of the machine and the same inputs. Where the two sides ran on different hosts, a
//! block is no such unit: all blocks on one pair of hosts count once. A block in which either side is not valid is left out and
//! named.

use crate::hosts::blocks;
use crate::{throughput, validity};
use record::plan::{Cell, Plan};
use record::run::{Run, StoredTrial};
use record::trial::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The blocks of a cell and of the one that it is compared with.
pub struct Pairing<'a> {
    pub(crate) baseline: u32,
    pub(crate) contender: u32,
    pub(crate) pairs: Vec<Pair<'a>>,
    pub(crate) left_out: Vec<UnpairedBlock>,
}

/// The trials of one block on both sides; neither side is empty, but for planned blocks.
pub(crate) struct Pair<'a> {
    pub block: u32,
    /// The first block together with which it counts once.
    pub unit: u32,
    pub baseline: Vec<&'a StoredTrial>,
    pub contender: Vec<&'a StoredTrial>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnpairedBlock {
    pub block: u32,
    pub why: Vec<Unusable>,
}

/// A contender that has no usable trial in a block, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unusable {
    pub contender: String,
    pub why: WhyUnusable,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyUnusable {
    NotReached,
    NotCompleted(Outcome),
    RecordDisagrees,
    WrongData,
    CountedNothing,
}

impl<'a> Pairing<'a> {
    pub fn of(run: &'a Run, baseline: &Cell, contender: &Cell) -> Self {
        let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
        for block in 1..=run.plan.blocks {
            match (usable(run, baseline, block), usable(run, contender, block)) {
                (Ok(baseline), Ok(contender)) => pairs.push(Pair { block, unit: block, baseline, contender }),
                (first, second) => {
                    let why = [first.err(), second.err()].into_iter().flatten().flatten().collect();
                    left_out.push(UnpairedBlock { block, why });
                }
            }
        }
        let units = blocks::units(&run.plan, [baseline.id, contender.id], pairs.iter().map(|pair| pair.block));
        for (pair, unit) in pairs.iter_mut().zip(units.into_values()) {
            pair.unit = unit;
        }
        Self { baseline: baseline.id, contender: contender.id, pairs, left_out }
    }

    /// All blocks of the plan, for values that are known to be those of valid trials.
    pub fn planned(plan: &Plan, baseline: &Cell, contender: &Cell) -> Self {
        let units = blocks::units(plan, [baseline.id, contender.id], 1..=plan.blocks).into_iter();
        let pair = |(block, unit)| Pair { block, unit, baseline: Vec::new(), contender: Vec::new() };
        Self { baseline: baseline.id, contender: contender.id, pairs: units.map(pair).collect(), left_out: Vec::new() }
    }

    /// The blocks that both sides have: the block for which each counts, and the values of baseline and contender.
    pub(crate) fn values(&self, base: &BTreeMap<u32, f64>, own: &BTreeMap<u32, f64>) -> Vec<(u32, f64, f64)> {
        let of_block = |pair: &Pair<'_>| Some((pair.unit, *base.get(&pair.block)?, *own.get(&pair.block)?));
        self.pairs.iter().filter_map(of_block).collect()
    }
}

/// The valid trials of a cell in a block, or why there is none.
fn usable<'a>(run: &'a Run, cell: &Cell, block: u32) -> Result<Vec<&'a StoredTrial>, Vec<Unusable>> {
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    for trial in validity::trials_of(run, cell.id).filter(|trial| trial.record.block == block) {
        match why_unusable(trial) {
            None => found.push(trial),
            Some(why) => reasons.push(why),
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    if reasons.is_empty() {
        reasons.push(WhyUnusable::NotReached);
    }
    Err(reasons.into_iter().map(|why| Unusable { contender: cell.contender.clone(), why }).collect())
}

fn why_unusable(trial: &StoredTrial) -> Option<WhyUnusable> {
    match &trial.record.outcome {
        Outcome::Completed if validity::has_wrong_data(trial) => Some(WhyUnusable::WrongData),
        Outcome::Completed if !trial.disagreements.is_empty() => Some(WhyUnusable::RecordDisagrees),
        Outcome::Completed if throughput::figure(trial).is_some_and(|value| value > 0.0) => None,
        Outcome::Completed => Some(WhyUnusable::CountedNothing),
        other => Some(WhyUnusable::NotCompleted(other.clone())),
    }
}

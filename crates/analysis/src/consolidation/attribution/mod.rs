//! Why machines of a trial do not get the same. The cause may be the machine itself, its place on the host, the place's
//! memory node, or when it was started.
//!
//! Places and start order change from block to block, so these can be distinguished. Each label is judged with the others
//! taken out. The logarithm of a machine's throughput is its trial's, plus effects of its number, its place and its
//! start order. Where two labels changed together in all blocks, nothing is attributed to either.

mod additive;
mod labels;
mod questions;

use super::TrialReadings;
use super::slots::{self, position};
use crate::contrast::Position;
use crate::distributions::t_beyond;
use crate::estimate::{Bounds, CONFIDENCE, Estimate, EstimateMethod};
use crate::missing::Missing;
use crate::student::{FEWEST_BLOCKS, by_block, mean_of as mean};
use crate::topology::Topology;
use crate::validity;
use additive::AdditiveFit;
use labels::{Label, MachineReading};
use questions::{ContrastSide, EffectContrast, Model};
use record::plan::Cell;
use record::run::Run;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// With fewer degrees of freedom, intervals say nothing. A mean over three blocks leaves as many.
const FEWEST_DEGREES: usize = 2;

/// Rounding of logarithms: machines that are equal up to the last digits are not distinguished.
const ROUNDING: f64 = 1e-9;

/// The attribution of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    pub labels: Vec<LabelAttribution>,
    /// The number of blocks it is based on: those in which every label is known for all machines.
    pub blocks: usize,
    /// The number of blocks from which there are intervals, if all their trials are valid.
    pub blocks_needed: usize,
}

/// One way to distinguish machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelAttribution {
    pub label: LabelKind,
    pub levels: Vec<Level>,
    /// Why nothing can be attributed to it, or said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold: Option<Untold>,
}

impl LabelAttribution {
    fn untold(label: LabelKind, why: Untold) -> Self {
        Self { label, levels: Vec::new(), untold: Some(why) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelKind {
    /// Its number.
    Machine,
    /// Its CPUs on the host.
    Place,
    /// The memory node of its CPUs.
    Node,
    StartOrder,
}

/// A machine, a place, a node, a position in the start order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    pub level: String,
    /// What machines there got over the mean of the others of their trial, including all other differences between them.
    pub seen: Option<Estimate>,
    /// The same with the other labels taken out; places are compared with others of the same node. The intervals of all
    /// levels of all labels hold together with 95 %.
    pub effect: Option<Estimate>,
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Untold {
    /// The record does not give it for every machine, as old records do not.
    NotRecorded,
    /// It was the same for all machines.
    SameForAll,
    /// Each memory node has one place, so node and place are the same.
    OnePlaceEach,
    /// These other labels changed whenever it changed.
    ChangedTogether { with: Vec<LabelKind> },
}

/// `None` for fewer than two machines.
pub fn of_cell(run: &Run, cell: &Cell, trials: &[TrialReadings]) -> Option<Attribution> {
    let readings = labels::readings(trials, validity::valid_trials(run, cell.id), &Topology::under(run, cell));
    of_readings(&labels::complete(readings))
}

fn of_readings(readings: &[MachineReading]) -> Option<Attribution> {
    let machines: BTreeSet<u32> = readings.iter().map(|reading| reading.machine).collect();
    if machines.len() < 2 {
        return None;
    }
    let (mut known, mut labels) = (Vec::new(), Vec::new());
    for label in labels::labels(readings) {
        match label {
            Ok(label) => known.push(label),
            Err(untold) => labels.push(untold),
        }
    }
    let blocks: BTreeSet<u32> = readings.iter().map(|reading| reading.block).collect();
    let (blocks, needed) = (blocks.len(), blocks_needed(&known, machines.len()));
    let too_few =
        if blocks < needed { Missing::TooFewBlocks { blocks, needed } } else { Missing::BlocksIncomplete { blocks } };
    labels.extend(judged(readings, &known, &too_few));
    labels.sort_by_key(|one| one.label);
    Some(Attribution { labels, blocks, blocks_needed: needed })
}

/// Each label has one effect fewer than it has levels. Each block yields one figure fewer than it has machines.
fn blocks_needed(labels: &[Label], machines: usize) -> usize {
    let effects: usize = labels.iter().map(|label| label.levels.len() - 1).sum();
    (effects + FEWEST_DEGREES).div_ceil(machines - 1).max(FEWEST_BLOCKS)
}

/// `too_few` says why there is no interval where too little is left for one.
fn judged(readings: &[MachineReading], known: &[Label], too_few: &Missing) -> Vec<LabelAttribution> {
    let model = Model::of(readings, known);
    let fit = model.fit(|_| true);
    let questions = model.questions();
    let comparisons = questions::distinct(&questions);
    let one = |kind: LabelKind| {
        let asked: Vec<&EffectContrast> = questions.iter().filter(|question| question.kind == kind).collect();
        let is_told = asked.iter().all(|question| question.is_told_by(&fit));
        let level = |question: &&EffectContrast| {
            let is_judged = is_told && question.has_others();
            let effect = is_judged.then(|| effect(&fit, question, comparisons, too_few)).flatten();
            Level {
                level: question.level.clone(),
                seen: slots::simultaneous(&seen(readings, &model, question), asked.len()),
                position: position(effect.as_ref()),
                effect,
            }
        };
        let untold = (!is_told).then(|| Untold::ChangedTogether { with: model.together_with(kind, &asked) });
        LabelAttribution { label: kind, levels: asked.iter().map(level).collect(), untold }
    };
    let kinds: BTreeSet<LabelKind> = questions.iter().map(|question| question.kind).collect();
    kinds.into_iter().map(one).chain(model.untold_node()).collect()
}

/// What machines of the question got over the mean of those they are compared with, block by block.
fn seen(readings: &[MachineReading], model: &Model<'_>, question: &EffectContrast) -> Vec<f64> {
    let of_trial = |trial: &Vec<usize>| {
        let of = |side| trial.iter().filter(move |index| question.sides[**index] == Some(side));
        let rates = |side| of(side).map(|index| readings[*index].rate).collect::<Vec<f64>>();
        let [own, others] = [ContrastSide::Own, ContrastSide::Others].map(rates);
        let is_both = !own.is_empty() && !others.is_empty();
        is_both.then(|| (readings[trial[0]].block, mean(&own) / mean(&others)))
    };
    by_block(model.trials.iter().filter_map(of_trial)).into_values().collect()
}

fn effect(fit: &AdditiveFit, question: &EffectContrast, comparisons: usize, too_few: &Missing) -> Option<Estimate> {
    let (sum, error) = fit.sum(&question.weights)?;
    let bounds = if fit.degrees >= FEWEST_DEGREES {
        let half = t_beyond((1.0 - CONFIDENCE) / comparisons as f64, fit.degrees as f64) * error + ROUNDING;
        Bounds::Known { low: sum - half, high: sum + half }.map(f64::exp)
    } else {
        Bounds::Unknown { why: too_few.clone() }
    };
    Some(Estimate { point: sum.exp(), bounds, method: EstimateMethod::AdditiveModel { comparisons } })
}

#[cfg(test)]
mod tests;

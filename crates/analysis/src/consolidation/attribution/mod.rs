//! Why machines of a trial do not get the same. The cause may be the machine itself, its place on the host, the place's
//! memory node, or when it was started.
//!
//! Places and start order change from block to block, so these can be told apart. Each label is judged with the others
//! taken out. The logarithm of a machine's throughput is its trial's, plus effects of its number, its place and its
//! start order. Where two labels changed together in all blocks, nothing is attributed to either.

mod additive;
mod labels;
mod questions;

use super::TrialReadings;
use super::slots::{self, position};
use crate::contrast::Position;
use crate::distributions::t_beyond;
use crate::estimate::Method;
use crate::estimate::{Bounds, CONFIDENCE, Estimate};
use crate::missing::Missing;
use crate::student::{FEWEST_BLOCKS, by_block, mean_of as mean};
use crate::topology::Topology;
use crate::validity;
use additive::Difference;
use labels::{Label, Reading};
use questions::{Model, Question, Side};
use record::plan::Cell;
use record::run::Run;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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

/// One way to tell machines apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelAttribution {
    pub label: LabelKind,
    pub levels: Vec<Level>,
    /// Why nothing can be attributed to it, or said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold: Option<Untold>,
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

fn of_readings(readings: &[Reading]) -> Option<Attribution> {
    let machines: BTreeSet<u32> = readings.iter().map(|reading| reading.machine).collect();
    if machines.len() < 2 {
        return None;
    }
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for label in labels::labels(readings) {
        match label {
            Ok(label) => known.push(label),
            Err(why) => unknown.push(why),
        }
    }
    let blocks: BTreeSet<u32> = readings.iter().map(|reading| reading.block).collect();
    let (blocks, blocks_needed) = (blocks.len(), blocks_needed(&known, machines.len()));
    let mut labels = judged(readings, &known, (blocks, blocks_needed));
    let untold = |(label, why)| LabelAttribution { label, levels: Vec::new(), untold: Some(why) };
    labels.extend(unknown.into_iter().map(untold));
    labels.sort_by_key(|one| one.label);
    Some(Attribution { labels, blocks, blocks_needed })
}

/// Each label has one effect fewer than it has levels. Each block yields one figure fewer than it has machines.
fn blocks_needed(labels: &[Label], machines: usize) -> usize {
    let effects: usize = labels.iter().map(|label| label.levels.len() - 1).sum();
    (effects + FEWEST_DEGREES).div_ceil(machines - 1).max(FEWEST_BLOCKS)
}

fn judged(readings: &[Reading], known: &[Label], blocks: (usize, usize)) -> Vec<LabelAttribution> {
    let model = Model::of(readings, known);
    let fit = model.fit(|_| true);
    let questions = model.questions();
    let comparisons = questions::distinct(&questions);
    let one = |kind: LabelKind| {
        let asked: Vec<&Question> = questions.iter().filter(|question| question.kind == kind).collect();
        let is_told = asked.iter().all(|question| question.is_told_by(&fit));
        let level = |question: &&Question| {
            let difference = Some(&fit).filter(|_| is_told && question.has_others());
            let difference = difference.and_then(|fit| fit.difference(&question.weights));
            let effect = difference.map(|difference| estimate(difference, fit.degrees, comparisons, blocks));
            Level {
                level: question.level.clone(),
                seen: slots::simultaneous(&seen(readings, question), asked.len()),
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
fn seen(readings: &[Reading], question: &Question) -> Vec<f64> {
    let mut trials: BTreeMap<(u32, u32), (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for (index, reading) in readings.iter().enumerate() {
        let (own, others) = trials.entry((reading.block, reading.trial)).or_default();
        match question.side_of(index) {
            Some(Side::Own) => own.push(reading.rate),
            Some(Side::Others) => others.push(reading.rate),
            None => {}
        }
    }
    let both = trials.into_iter().filter(|(_, (own, others))| !own.is_empty() && !others.is_empty());
    by_block(both.map(|((block, _), (own, others))| (block, mean(&own) / mean(&others)))).into_values().collect()
}

/// `blocks` are the number there are and the number needed.
fn estimate(found: Difference, degrees: usize, comparisons: usize, blocks: (usize, usize)) -> Estimate {
    let bounds = match found.standard_error.filter(|_| degrees >= FEWEST_DEGREES) {
        Some(error) => {
            let t = t_beyond((1.0 - CONFIDENCE) / comparisons as f64, degrees as f64);
            let half = t * error + ROUNDING;
            Bounds::Known { low: found.value - half, high: found.value + half }.map(f64::exp)
        }
        None => Bounds::Unknown { why: too_few(blocks) },
    };
    Estimate { point: found.value.exp(), bounds, method: Method::AdditiveModel { comparisons } }
}

fn too_few((blocks, needed): (usize, usize)) -> Missing {
    if blocks < needed { Missing::TooFewBlocks { blocks, needed } } else { Missing::BlocksIncomplete { blocks } }
}

#[cfg(test)]
mod tests;

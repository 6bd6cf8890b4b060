//! The model of all labels, and the questions put to it: for each level, how it differs from the others of its label.
//!
//! A memory node is no label of the model, since a place is always on the same node. What its places have in common is
//! attributed to the node, and places are then compared only with those of the same node.

use super::additive::AdditiveFit;
use super::labels::{Label, MachineReading};
use super::{LabelAttribution, LabelKind, Untold};
use crate::gathered::by_key;
use std::collections::BTreeSet;

/// Weights are fractions that add up to one.
const ROUNDING: f64 = 1e-9;

/// A model of what machines get, as far as labels distinguish them.
pub struct Model<'a> {
    labels: &'a [Label],
    /// The first column of each label.
    first: Vec<usize>,
    columns: usize,
    /// The indexes of each trial's readings.
    pub trials: Vec<Vec<usize>>,
    logarithms: Vec<f64>,
}

/// The mean of some effects minus the mean of others.
pub struct EffectContrast {
    pub kind: LabelKind,
    pub level: String,
    /// The weight of each column of the model.
    pub weights: Vec<f64>,
    /// The side of each reading.
    pub sides: Vec<Option<ContrastSide>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContrastSide {
    Own,
    Others,
}

impl EffectContrast {
    /// False for a place that is alone on its node, since it is compared with nothing.
    pub fn has_others(&self) -> bool {
        self.sides.contains(&Some(ContrastSide::Others))
    }

    pub fn is_told_by(&self, fit: &AdditiveFit) -> bool {
        !self.has_others() || fit.sum(&self.weights).is_some()
    }
}

/// The number of different questions: with two levels, both ask the same.
pub fn distinct(questions: &[EffectContrast]) -> usize {
    let is_same = |one: &EffectContrast, other: &EffectContrast| {
        let pairs = || one.weights.iter().zip(&other.weights);
        let all_are_nothing = |sum: fn(f64, f64) -> f64| pairs().all(|(one, other)| sum(*one, *other).abs() < ROUNDING);
        all_are_nothing(|one, other| one - other) || all_are_nothing(|one, other| one + other)
    };
    let asked: Vec<&EffectContrast> = questions.iter().filter(|question| question.has_others()).collect();
    let is_new = |index: &usize| !asked[..*index].iter().any(|before| is_same(before, asked[*index]));
    (0..asked.len()).filter(is_new).count()
}

impl<'a> Model<'a> {
    pub fn of(readings: &[MachineReading], labels: &'a [Label]) -> Self {
        let trials = readings.iter().enumerate().map(|(index, reading)| ((reading.block, reading.trial), index));
        let mut columns = 0;
        let first = |label: &Label| {
            columns += label.levels.len();
            columns - label.levels.len()
        };
        Self {
            first: labels.iter().map(first).collect(),
            labels,
            columns,
            trials: by_key::<_, _, Vec<usize>>(trials).into_values().collect(),
            logarithms: readings.iter().map(|reading| reading.rate.ln()).collect(),
        }
    }

    /// Fits the model with only some of the labels.
    pub fn fit(&self, is_in: impl Fn(LabelKind) -> bool) -> AdditiveFit {
        AdditiveFit::of(&self.trials, &self.logarithms, self.columns, |reading| {
            let labels = self.labels.iter().zip(&self.first).filter(|(label, _)| is_in(label.kind));
            labels.map(|(label, first)| first + label.level_of[reading]).collect()
        })
    }

    pub fn questions(&self) -> Vec<EffectContrast> {
        (0..self.labels.len()).flat_map(|label| self.questions_of(label)).collect()
    }

    fn questions_of(&self, label: usize) -> Vec<EffectContrast> {
        let own = &self.labels[label];
        // Without nodes of several places, all levels count as on the same one.
        let nodes: &[String] = if own.has_nodes_of_several_places() { &own.nodes } else { &[] };
        let of_level = |level: usize| {
            self.question(label, own.kind, &own.levels[level], |other| {
                let is_on_same = nodes.get(level) == nodes.get(other);
                if other == level { Some(ContrastSide::Own) } else { is_on_same.then_some(ContrastSide::Others) }
            })
        };
        let of_node = |node: &String| {
            let side = |level: usize| if nodes[level] == *node { ContrastSide::Own } else { ContrastSide::Others };
            self.question(label, LabelKind::Node, node, |level| Some(side(level)))
        };
        let distinct: BTreeSet<&String> = nodes.iter().collect();
        (0..own.levels.len()).map(of_level).chain(distinct.into_iter().map(of_node)).collect()
    }

    /// The means are over readings: a level counts as often as machines had it.
    fn question(
        &self,
        label: usize,
        kind: LabelKind,
        level: &str,
        side: impl Fn(usize) -> Option<ContrastSide>,
    ) -> EffectContrast {
        let level_of = &self.labels[label].level_of;
        let sides: Vec<Option<ContrastSide>> = level_of.iter().map(|level| side(*level)).collect();
        let share = |of: ContrastSide| 1.0 / sides.iter().filter(|side| **side == Some(of)).count() as f64;
        let (own, others) = (share(ContrastSide::Own), share(ContrastSide::Others));
        let mut weights = vec![0.0; self.columns];
        for (level, side) in level_of.iter().zip(&sides) {
            weights[self.first[label] + level] += match side {
                Some(ContrastSide::Own) => own,
                Some(ContrastSide::Others) => -others,
                None => 0.0,
            };
        }
        EffectContrast { kind, level: level.to_owned(), weights, sides }
    }

    /// The labels that changed whenever this one did; all others if only several together did.
    pub fn together_with(&self, kind: LabelKind, asked: &[&EffectContrast]) -> Vec<LabelKind> {
        let own = if kind == LabelKind::Node { LabelKind::Place } else { kind };
        let others: Vec<LabelKind> = self.labels.iter().map(|label| label.kind).filter(|other| *other != own).collect();
        let is_together = |other: &LabelKind| {
            let fit = self.fit(|kind| kind == own || kind == *other);
            !asked.iter().all(|question| question.is_told_by(&fit))
        };
        let together: Vec<LabelKind> = others.iter().copied().filter(is_together).collect();
        if together.is_empty() { others } else { together }
    }

    /// Nodes that have one place each cannot be judged.
    pub fn untold_node(&self) -> Option<LabelAttribution> {
        let is_untold = |label: &Label| !label.nodes.is_empty() && !label.has_nodes_of_several_places();
        let node = || LabelAttribution::untold(LabelKind::Node, Untold::OnePlaceEach);
        self.labels.iter().any(is_untold).then(node)
    }
}

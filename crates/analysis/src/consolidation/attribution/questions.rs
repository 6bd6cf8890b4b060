//! The model of all labels, and the questions put to it: for each level, how it differs from the others of its label.
//!
//! A memory node is no label of the model, since a place is always on the same node. What its places have in common is
//! attributed to the node, and places are then compared only with those of the same node.

use super::additive::{Fit, Observation};
use super::labels::{Label, Reading};
use super::{LabelAttribution, LabelKind, Untold};
use std::collections::{BTreeMap, BTreeSet};

/// Weights are fractions that add up to one.
const ROUNDING: f64 = 1e-9;

/// A model of what machines get, as far as labels tell them apart.
pub struct Model<'a> {
    labels: &'a [Label],
    /// The first column of each label.
    first: Vec<usize>,
    columns: usize,
    group_of: Vec<usize>,
    logarithms: Vec<f64>,
}

/// The mean of some effects minus the mean of others.
pub struct Question {
    pub kind: LabelKind,
    pub level: String,
    /// The weight of each column of the model.
    pub weights: Vec<f64>,
    /// The side of each reading.
    sides: Vec<Option<Side>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Own,
    Others,
}

impl Question {
    pub fn side_of(&self, reading: usize) -> Option<Side> {
        self.sides[reading]
    }

    /// False for a place that is alone on its node, since it is compared with nothing.
    pub fn has_others(&self) -> bool {
        self.sides.contains(&Some(Side::Others))
    }

    pub fn is_told_by(&self, fit: &Fit) -> bool {
        !self.has_others() || fit.difference(&self.weights).is_some()
    }
}

/// The number of different questions: with two levels, both ask the same.
pub fn distinct(questions: &[Question]) -> usize {
    let is_same = |one: &Question, other: &Question| {
        let pairs = || one.weights.iter().zip(&other.weights);
        let all_are_nothing = |sum: fn(f64, f64) -> f64| pairs().all(|(one, other)| sum(*one, *other).abs() < ROUNDING);
        all_are_nothing(|one, other| one - other) || all_are_nothing(|one, other| one + other)
    };
    let asked: Vec<&Question> = questions.iter().filter(|question| question.has_others()).collect();
    let is_new = |index: &usize| !asked[..*index].iter().any(|before| is_same(before, asked[*index]));
    (0..asked.len()).filter(is_new).count()
}

impl<'a> Model<'a> {
    pub fn of(readings: &[Reading], labels: &'a [Label]) -> Self {
        let trials: BTreeSet<(u32, u32)> = readings.iter().map(|reading| (reading.block, reading.trial)).collect();
        let number: BTreeMap<(u32, u32), usize> = trials.into_iter().zip(0..).collect();
        let mut columns = 0;
        let mut first = Vec::new();
        for label in labels {
            first.push(columns);
            columns += label.levels.len();
        }
        Self {
            labels,
            first,
            columns,
            group_of: readings.iter().map(|reading| number[&(reading.block, reading.trial)]).collect(),
            logarithms: readings.iter().map(|reading| reading.rate.ln()).collect(),
        }
    }

    /// Fits the model with only some of the labels.
    pub fn fit(&self, is_in: impl Fn(LabelKind) -> bool) -> Fit {
        let columns = |reading: usize| {
            let labels = self.labels.iter().zip(&self.first).filter(|(label, _)| is_in(label.kind));
            labels.map(|(label, first)| first + label.level_of[reading]).collect()
        };
        let observations: Vec<Observation> = (self.group_of.iter().zip(&self.logarithms).enumerate())
            .map(|(index, (group, value))| Observation { group: *group, columns: columns(index), value: *value })
            .collect();
        Fit::of(&observations, self.columns)
    }

    pub fn questions(&self) -> Vec<Question> {
        (0..self.labels.len()).flat_map(|label| self.questions_of(label)).collect()
    }

    fn questions_of(&self, label: usize) -> Vec<Question> {
        let own = &self.labels[label];
        let all = own.levels.len();
        let question = |kind, level: &str, is_own: &dyn Fn(usize) -> bool, is_other: &dyn Fn(usize) -> bool| {
            self.question(label, kind, level, |level| match (is_own(level), is_other(level)) {
                (true, _) => Some(Side::Own),
                (false, true) => Some(Side::Others),
                (false, false) => None,
            })
        };
        let against_all =
            |level: usize| question(own.kind, &own.levels[level], &|other| other == level, &|other| other != level);
        if !has_nodes_of_several_places(own) {
            return (0..all).map(against_all).collect();
        }
        let on_same = |level: usize, other: usize| own.nodes[level] == own.nodes[other];
        let within = |level: usize| {
            question(own.kind, &own.levels[level], &|other| other == level, &|other| on_same(level, other))
        };
        let nodes: BTreeSet<&String> = own.nodes.iter().collect();
        let of_node = |node: &String| {
            let is_there = |level: usize| own.nodes[level] == *node;
            question(LabelKind::Node, node, &is_there, &|level| !is_there(level))
        };
        (0..all).map(within).chain(nodes.into_iter().map(of_node)).collect()
    }

    /// The means are over readings: a level counts as often as machines had it.
    fn question(&self, label: usize, kind: LabelKind, level: &str, side: impl Fn(usize) -> Option<Side>) -> Question {
        let sides: Vec<Option<Side>> = self.labels[label].level_of.iter().map(|level| side(*level)).collect();
        let count = |of: Side| sides.iter().filter(|side| **side == Some(of)).count() as f64;
        let (own, others) = (count(Side::Own), count(Side::Others));
        let mut weights = vec![0.0; self.columns];
        for (level, side) in self.labels[label].level_of.iter().zip(&sides) {
            weights[self.first[label] + level] += match side {
                Some(Side::Own) => 1.0 / own,
                Some(Side::Others) => -1.0 / others,
                None => 0.0,
            };
        }
        Question { kind, level: level.to_owned(), weights, sides }
    }

    /// The labels that changed whenever this one did; all others if only several together did.
    pub fn together_with(&self, kind: LabelKind, asked: &[&Question]) -> Vec<LabelKind> {
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
        let is_untold = |label: &Label| !label.nodes.is_empty() && !has_nodes_of_several_places(label);
        let untold = Some(Untold::OnePlaceEach);
        let node = || LabelAttribution { label: LabelKind::Node, levels: Vec::new(), untold };
        self.labels.iter().any(is_untold).then(node)
    }
}

fn has_nodes_of_several_places(label: &Label) -> bool {
    let distinct: BTreeSet<&String> = label.nodes.iter().collect();
    distinct.len() < label.nodes.len()
}

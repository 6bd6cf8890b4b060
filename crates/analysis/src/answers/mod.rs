//! The answers of a run, one for each question of its study. Each answer has its own doubts and its own stamp.
//!
//! A finding counts against an answer only if it is about the trials behind that answer. Where the finding has a size ([`reach`]), the
//! answer's interval and the study's margin decide the stamp. Where it has none, its code decides.

pub mod reach;

use self::reach::{Reach, Sides};
use crate::cells::CellResult;
use crate::compare::{Comparison, RatioVerdict};
use crate::consistency::host::OTHERS_MAX;
use crate::consolidation::neighbour::{NeighbourEffect, Of};
use crate::contrast::Contrast;
use crate::durability::Audited;
use crate::estimate::Estimate;
use crate::findings::{Finding, Stamp, What};
use crate::gathered::distinct;
use crate::measures::Scale;
use crate::scaling::Scaling;
use crate::summary::Analysis;
use crate::throughput::TrialThroughput;
use record::settings::key;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A question, with the index of its figures in their list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "question", content = "figures", rename_all = "kebab-case")]
pub enum Question {
    /// The growth of a contender with its vCPUs: a curve.
    Growth(usize),
    /// The slowest of several machines, or the effect of a neighbour on them: a cell with several machines.
    Minimum(usize),
    /// All changes of an ablation at one point: the first effect there.
    Change(usize),
    /// A contender against the baseline: a comparison.
    Cost(usize),
    /// A contender that is compared with nothing: a cell.
    Level(usize),
    /// Whether equal machines side by side get equal shares: a cell with several machines.
    EqualShare(usize),
    /// The verdict of audits of durability: the first audit with it at its point.
    Durable(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub question: Question,
    pub stamp: Stamp,
    /// The findings that could move the answer, the worst first. If each alone has a better stamp, their sum decided.
    pub doubts: Vec<AnswerDoubt>,
    /// The share of the host's CPU time that other processes and a hypervisor below had during these trials, if it is more than on an
    /// idle system. Where all sides lost it alike, it is the answer's scope and no doubt.
    pub others: Option<f64>,
    /// Whether no checkpoint began in any window of both sides. That is scope, too.
    pub is_without_checkpoints: bool,
    /// The kinds of findings about these trials that are accepted and would count otherwise.
    pub accepted: Vec<&'static str>,
}

/// A finding about the trials behind an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerDoubt {
    /// Its place in the list of findings.
    pub finding: usize,
    pub code: &'static str,
    pub kind: &'static str,
    pub stamp: Stamp,
    /// How far it could move the answer; `None` if that is not known.
    #[serde(flatten)]
    pub reach: Option<Reach>,
}

/// All answers of a run, in the order in which they are read.
pub fn all(analysis: &Analysis) -> Vec<Answered> {
    questions(analysis).into_iter().map(|question| of_question(analysis, question)).collect()
}

/// The worst stamp of all answers.
pub fn worst(answers: &[Answered]) -> Stamp {
    answers.iter().map(|one| one.stamp).max().unwrap_or_default()
}

/// The worst stamp of the answers about each cell: of the contender that is compared, or of a cell that is compared with nothing. The
/// growth of a contender is about several cells, and about none of them alone.
pub fn stamps(analysis: &Analysis) -> BTreeMap<u32, Stamp> {
    let mut found = BTreeMap::new();
    for answered in all(analysis) {
        // Of several cells, or about no throughput.
        if matches!(answered.question, Question::Growth(_) | Question::EqualShare(_) | Question::Durable(_)) {
            continue;
        }
        for cell in parts(analysis, answered.question).into_iter().flat_map(|(sides, _)| sides.own) {
            let worst = found.entry(cell.cell).or_insert(answered.stamp);
            *worst = answered.stamp.max(*worst);
        }
    }
    found
}

fn questions(analysis: &Analysis) -> Vec<Question> {
    let has_trials = analysis.cells.iter().any(|cell| cell.outcomes.planned > 0);
    let measured = if has_trials { of_trials(analysis) } else { Vec::new() };
    measured.into_iter().chain(of_audits(analysis)).collect()
}

fn of_trials(analysis: &Analysis) -> Vec<Question> {
    // More clients are more load, and other axes are no size of anything.
    let grows =
        |curve: &Scaling| curve.axis == key::VCPUS && curve.points.last().is_some_and(|point| point.growth.is_some());
    let growing = (0..analysis.scaling.len()).filter(|index| grows(&analysis.scaling[*index]));
    let mut asked: Vec<Question> = growing.map(Question::Growth).collect();
    // The most machines first: where only a few answers are shown, each contender is among them.
    let mut several: Vec<usize> = (0..analysis.consolidation.len()).collect();
    several.sort_by_key(|index| Reverse(analysis.consolidation[*index].machines));
    asked.extend(several.iter().copied().map(Question::Minimum));
    let effects = analysis.ablation.iter().flat_map(|ablation| &ablation.effects);
    let (mut places, mut changed) = (BTreeSet::new(), BTreeSet::new());
    for (index, effect) in effects.enumerate() {
        changed.insert(effect.cell);
        asked.extend(places.insert(&effect.coordinates).then_some(Question::Change(index)));
    }
    let compared = analysis.comparisons.iter().enumerate().filter(|(_, one)| !changed.contains(&one.contender_cell));
    asked.extend(compared.map(|(index, _)| Question::Cost(index)));
    if analysis.comparisons.is_empty() && analysis.consolidation.is_empty() {
        asked.extend((0..analysis.cells.len()).map(Question::Level));
    }
    // Of each contender where it has the most machines.
    let mut contenders = BTreeSet::new();
    several.retain(|index| {
        let one = &analysis.consolidation[*index];
        one.are_equal() && contenders.insert(&one.contender)
    });
    asked.extend(several.into_iter().map(Question::EqualShare));
    asked
}

/// Liars first, and one question for all contenders of which the same is said.
fn of_audits(analysis: &Analysis) -> Vec<Question> {
    let mut found: Vec<usize> = (0..analysis.durability.len()).collect();
    found.retain(|index| audited_alike(analysis, *index).next() == analysis.durability.get(*index));
    found.sort_by_key(|index| !analysis.durability[*index].verdict.is_a_lie());
    found.into_iter().map(Question::Durable).collect()
}

/// All audits of which the same is said as of this one.
pub fn audited_alike(analysis: &Analysis, index: usize) -> impl Iterator<Item = &Audited> {
    let first = &analysis.durability[index];
    analysis.durability.iter().filter(move |one| one.says_the_same_as(first))
}

/// The figure of an answer: over the baseline, over the smallest size, or a level, of which there is no verdict.
#[derive(Clone, Copy)]
struct AnswerFigure<'a> {
    estimate: &'a Estimate,
    scale: Scale,
    verdict: RatioVerdict,
}

fn ratio(contrast: &Contrast, verdict: RatioVerdict) -> AnswerFigure<'_> {
    AnswerFigure { estimate: &contrast.estimate, scale: contrast.scale, verdict }
}

fn level(estimate: &Estimate) -> AnswerFigure<'_> {
    AnswerFigure { estimate, scale: Scale::Ratio, verdict: RatioVerdict::NothingToCompare }
}

/// The cells of the baseline and those of the contender, and their figure.
type AnswerCells<'a> = (Sides<'a>, Option<AnswerFigure<'a>>);

fn parts(analysis: &Analysis, question: Question) -> Vec<AnswerCells<'_>> {
    match question {
        Question::Cost(index) => vec![of_comparison(analysis, &analysis.comparisons[index])],
        Question::Change(index) => {
            changes(analysis, index).into_iter().map(|one| of_comparison(analysis, one)).collect()
        }
        Question::Growth(index) => {
            let points = &analysis.scaling[index].points;
            let ids: Vec<u32> = points.iter().map(|point| point.cell).collect();
            let growth = points.last().and_then(|point| point.growth.as_ref());
            let figure = growth.map(|growth| ratio(growth, growth.estimate.bounds.against(1.0).into()));
            vec![(sides(analysis, &ids[..1], &ids[1..]), figure)]
        }
        Question::Minimum(index) => {
            let one = &analysis.consolidation[index];
            let effects = one.neighbour.iter().flat_map(|neighbour| &neighbour.effects);
            let effect = effects.filter(|effect| effect.of == Of::Mean).find_map(NeighbourEffect::kept);
            vec![(sides(analysis, &[], &[one.cell]), effect.or(one.minimum.as_ref()).map(level))]
        }
        Question::Level(index) => {
            let cell = &analysis.cells[index];
            vec![(sides(analysis, &[], &[cell.cell]), cell.throughput().map(level))]
        }
        Question::EqualShare(index) => {
            let one = &analysis.consolidation[index];
            vec![(sides(analysis, &[], &[one.cell]), one.most_unequal().map(level))]
        }
        Question::Durable(_) => Vec::new(),
    }
}

fn of_question(analysis: &Analysis, question: Question) -> Answered {
    // The verdict says itself what may be believed.
    if let Question::Durable(index) = question {
        let stamp = if analysis.durability[index].verdict.is_known() { Stamp::Usable } else { Stamp::NotUsable };
        let (doubts, accepted) = (Vec::new(), Vec::new());
        return Answered { question, stamp, doubts, others: None, is_without_checkpoints: false, accepted };
    }
    let parts = parts(analysis, question);
    let others = parts.iter().filter_map(|(sides, _)| sides.others()).reduce(f64::max);
    // One of several changes that may not be believed is enough.
    let weighed = parts.iter().map(|(sides, figure)| weigh(analysis, sides, *figure));
    let (stamp, doubts) = weighed.max_by_key(|(stamp, _)| *stamp).unwrap_or_default();
    let others = others.filter(|share| *share > OTHERS_MAX);
    let is_without_checkpoints = !parts.is_empty() && parts.iter().all(|(sides, _)| sides.are_without_checkpoints());
    let is_accepted = |finding: &&Finding| {
        let counts = finding.accepted.is_some() && finding.what.kind().stamp > Stamp::Usable;
        counts && parts.iter().any(|(sides, _)| touches(finding, sides))
    };
    let accepted = distinct(analysis.findings.iter().filter(is_accepted).map(|finding| finding.what.kind().name));
    Answered { question, stamp, doubts, others, is_without_checkpoints, accepted }
}

/// The finding as it is about the trials of this answer.
pub fn narrowed(analysis: &Analysis, question: Question, finding: &Finding) -> Finding {
    analysis.consistency.host.narrowed(finding, &trials(analysis, question, |_| true))
}

/// How many of the trials that count for this answer have no reading of their host, so that no check could judge its load.
pub fn without_host(analysis: &Analysis, question: Question) -> usize {
    let read: BTreeSet<u32> = analysis.consistency.host.trials.iter().map(|read| read.trial).collect();
    trials(analysis, question, |trial| trial.valid).difference(&read).count()
}

fn trials(analysis: &Analysis, question: Question, is_asked: fn(&TrialThroughput) -> bool) -> BTreeSet<u32> {
    let parts = parts(analysis, question);
    let cells = parts.iter().flat_map(|(sides, _)| sides.cells());
    cells.flat_map(|cell| &cell.trials).filter(|trial| is_asked(trial)).map(|one| one.trial).collect()
}

fn sides<'a>(analysis: &'a Analysis, base: &[u32], own: &[u32]) -> Sides<'a> {
    let [base, own] = [base, own]
        .map(|ids| ids.iter().filter_map(|id| analysis.cells.iter().find(|cell| cell.cell == *id)).collect());
    Sides { analysis, base, own }
}

fn of_comparison<'a>(analysis: &'a Analysis, one: &'a Comparison) -> AnswerCells<'a> {
    let figure = one.throughput().map(|contrast| ratio(contrast, one.verdict));
    (sides(analysis, &[one.baseline_cell], &[one.contender_cell]), figure)
}

/// The comparisons of all changes at the point of this effect.
fn changes(analysis: &Analysis, effect: usize) -> Vec<&Comparison> {
    let effects = || analysis.ablation.iter().flat_map(|ablation| &ablation.effects);
    let place = effects().nth(effect).map(|effect| &effect.coordinates);
    let own = effects().filter(|one| Some(&one.coordinates) == place);
    own.filter_map(|own| analysis.comparisons.iter().find(|one| one.contender_cell == own.cell)).collect()
}

/// The stamp of a figure, and the doubts that count against it.
fn weigh(analysis: &Analysis, sides: &Sides<'_>, figure: Option<AnswerFigure<'_>>) -> (Stamp, Vec<AnswerDoubt>) {
    let mut doubts: Vec<AnswerDoubt> = Vec::new();
    let mut together = Reach::NONE;
    // Whether a doubt of known size can be held against it.
    let is_relative =
        figure.is_some_and(|figure| figure.scale == Scale::Ratio && figure.estimate.bounds.known().is_some());
    for (place, finding) in analysis.findings.iter().enumerate() {
        let (code, kind) = (finding.what.code(), finding.what.kind());
        let unequal = matches!(&finding.what, What::NotHonoured { wish, .. } if sides.honoured(wish).is_some());
        if finding.accepted.is_some() || !touches(finding, sides) {
            continue;
        }
        let reach = reach::of(&finding.what, sides).filter(|_| is_relative);
        if !unequal && doubts.iter().any(|known| known.kind == kind.name && known.reach == reach) {
            continue;
        }
        let of_unknown = if unequal { Stamp::NotUsable } else { kind.stamp };
        let stamp = reach.map_or(of_unknown, |reach| stamp(figure, analysis.margin, reach));
        // Load beside one side only is the same load.
        if !doubts.iter().any(|known| known.reach == reach && reach.is_some()) {
            together = together.and(reach.unwrap_or(Reach::NONE));
        }
        doubts.push(AnswerDoubt { finding: place, code, kind: kind.name, stamp, reach });
    }
    let together = stamp(figure, analysis.margin, together);
    doubts.retain(|doubt| doubt.stamp > Stamp::Usable || doubt.reach.is_some_and(|reach| reach != Reach::NONE));
    doubts.sort_by_key(|doubt| Reverse(doubt.stamp));
    (doubts.first().map_or(together, |doubt| doubt.stamp.max(together)), doubts)
}

/// Usable: the answer stays within its interval, or within the margin below which the study calls a difference none. With care: it
/// moves. Not usable: it would be another answer.
fn stamp(figure: Option<AnswerFigure<'_>>, margin: Option<f64>, reach: Reach) -> Stamp {
    let Some(AnswerFigure { estimate, verdict, .. }) = figure else { return Stamp::NotUsable };
    let Some((low, high)) = estimate.bounds.known() else { return Stamp::NotUsable };
    if verdict == RatioVerdict::WrongData {
        return Stamp::NotUsable;
    }
    let within =
        |[low, high]: [f64; 2], reach: Reach, of: [f64; 2]| low <= of[0] * reach.low && of[1] * reach.high <= high;
    let of_margin = margin.map(|margin| [1.0 / (1.0 + margin), 1.0 + margin]);
    let is_harmless = of_margin.is_some_and(|margin| within(margin, reach, [1.0; 2]));
    if is_harmless || within([low, high], reach, [estimate.point; 2]) {
        return Stamp::Usable;
    }
    let is_another = match verdict {
        RatioVerdict::Slower => high * reach.high >= 1.0,
        RatioVerdict::Faster => low * reach.low <= 1.0,
        RatioVerdict::Equivalent => !of_margin.is_some_and(|margin| within(margin, reach, [low, high])),
        // The doubt says more than the measurement.
        _ => reach.high / reach.low > high / low,
    };
    if is_another { Stamp::NotUsable } else { Stamp::WithCare }
}

/// Whether a finding is about the trials behind an answer.
fn touches(finding: &Finding, sides: &Sides<'_>) -> bool {
    let subject = &finding.subject;
    let is_there = |cell: &&CellResult| subject.coordinates.is_empty() || cell.coordinates == subject.coordinates;
    let of_contender = |cell: &&CellResult| subject.contender.as_ref().is_none_or(|name| *name == cell.contender);
    let in_trials = |cell: &&CellResult| {
        subject.trials.is_empty()
            || cell.outcomes.not_reached > 0
            || cell.trials.iter().any(|trial| subject.trials.contains(&trial.trial))
    };
    let cells: Vec<&CellResult> = sides.cells().filter(is_there).filter(of_contender).filter(in_trials).collect();
    let contenders: BTreeSet<&str> = sides.cells().map(|cell| cell.contender.as_str()).collect();
    !cells.is_empty() && finding.what.concerns(&contenders)
}

#[cfg(test)]
mod tests;

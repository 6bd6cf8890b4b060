//! Two runs of the same study, cell by cell: did anything change, and by how much?
//!
//! Cells are matched by contender, scenario and swept values. Two runs share only the study, not the drift of a block,
//! so their trials are two samples, and the ratio is one of means ([`crate::welch`]). A host that is slower today is
//! slower for all contenders. So if both runs have a baseline, contenders are judged by their ratios to it, and drift
//! between the runs cancels. Other differences between the runs come first ([`surroundings`]). Runs that ask for
//! different things are not compared ([`questions`]).

pub mod questions;
pub mod surroundings;

use crate::answers;
use crate::compare::{self, RatioVerdict};
use crate::contrast::{self, Contrast};
use crate::estimate::{Bounds, Estimate};
use crate::findings::{Finding, Stamp};
use crate::measures::throughput::THROUGHPUT;
use crate::measures::{Better, CATALOG, Measure, MeasureEntry, Scale};
use crate::missing::Missing;
use crate::observations::{MeasuredValues, Observations};
use crate::pairing::Pairing;
use crate::summary;
use crate::throughput;
use crate::validity;
use questions::Difference;
use record::plan::Cell;
use record::run::Run;
use record::trial::Metric;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TwoRuns {
    pub format: u32,
    pub old: RunSide,
    pub new: RunSide,
    /// The share by which something may be slower without being a regression, if there is a threshold.
    pub threshold: Option<f64>,
    /// True if contenders are judged by their own figures, and not by their ratios to the baselines.
    pub absolute: bool,
    /// The worst first.
    pub findings: Vec<Finding>,
    pub cells: Vec<CellPair>,
    /// Cells of one run that the other does not have.
    pub only_old: Vec<String>,
    pub only_new: Vec<String>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSide {
    pub folder: String,
    pub study: String,
    pub seed: u64,
    pub blocks: u32,
}

/// The same cell in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellPair {
    pub contender: String,
    pub coordinates: String,
    pub old_cell: u32,
    pub new_cell: u32,
    pub metric: Metric,
    /// Valid trials.
    pub old_trials: u32,
    pub new_trials: u32,
    /// True if the run has a trial of this cell with wrong data; then there is no verdict.
    pub old_wrong_data: bool,
    pub new_wrong_data: bool,
    /// Whether the answer of the run about this cell may be used; `None` if there is none, as of a baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_stamp: Option<Stamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_stamp: Option<Stamp>,
    /// Measures that both runs have, in their order. Empty if either run has no valid trial.
    pub figures: Vec<ComparedFigure>,
    /// Measures with a threshold that cannot be compared, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<NotCompared>,
}

/// One measure of a cell in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedFigure {
    #[serde(flatten)]
    pub measure: Measure,
    /// The baseline of both runs, if the figure is a ratio to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<String>,
    /// True if it is throughput or a response time, or a ratio of one of these.
    pub is_headline: bool,
    /// True if it decides about the runs.
    pub judged: bool,
    /// Means over trials, or ratios over blocks.
    pub old: Estimate,
    pub new: Estimate,
    /// New compared with old.
    pub change: Contrast,
    pub verdict: RatioVerdict,
    pub regression: Regression,
    /// About how many blocks each run would need to show a regression or to rule it out, if neither has happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_needed: Option<u32>,
}

/// A figure that one or both of the runs lack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotCompared {
    pub measure: String,
    pub old: Option<Missing>,
    pub new: Option<Missing>,
}

/// Whether something became slower by more than the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regression {
    NotAsked,
    /// Even the nearer end of the interval is beyond the threshold.
    Found,
    /// The threshold lies within the interval: it may be a regression, but these runs do not show it.
    NotShown,
    /// The whole interval is on this side of the threshold.
    RuledOut,
    /// There is no interval, or the data is wrong.
    Unknown,
}

/// The result of two runs as a whole for regressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// There is no threshold, or no regression was found.
    Open,
    Regressed,
    /// No regression was found, but for some figures it is not ruled out either.
    NotRuledOut,
    /// No regression was found, but not everything could be checked, or nothing could be compared.
    Untold,
    /// A cell of the new run left wrong data behind.
    WrongData,
}

impl TwoRuns {
    pub fn gate(&self) -> Gate {
        let figures = || self.cells.iter().flat_map(|cell| &cell.figures);
        let any = |wanted: Regression| figures().any(|figure| figure.regression == wanted);
        let not_looked_at = any(Regression::Unknown)
            || !self.only_old.is_empty()
            || self
                .cells
                .iter()
                .any(|cell| cell.old_wrong_data || cell.missing.iter().any(|one| one.measure == THROUGHPUT));
        // A percentile of so few transactions may be unknown; then it is not ruled out that it became slower.
        let not_ruled_out = any(Regression::NotShown) || self.cells.iter().any(|cell| !cell.missing.is_empty());
        if self.cells.iter().any(|cell| cell.new_wrong_data) {
            Gate::WrongData
        } else if any(Regression::Found) {
            Gate::Regressed
        } else if figures().next().is_none() || self.threshold.is_some() && not_looked_at {
            Gate::Untold
        } else if self.threshold.is_some() && not_ruled_out {
            Gate::NotRuledOut
        } else {
            Gate::Open
        }
    }
}

/// How two runs are to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunComparison {
    pub threshold: Option<f64>,
    pub absolute: bool,
}

impl From<Option<f64>> for RunComparison {
    fn from(threshold: Option<f64>) -> Self {
        Self { threshold, absolute: false }
    }
}

/// Compares two runs, or says how they ask for different things.
pub fn compare(old: &Run, new: &Run, question: impl Into<RunComparison>) -> Result<TwoRuns, Vec<Difference>> {
    compare_with(old, new, question.into(), CATALOG)
}

/// The same with other measures than the catalog's.
pub fn compare_with(
    old: &Run,
    new: &Run,
    question: RunComparison,
    catalog: &[MeasureEntry],
) -> Result<TwoRuns, Vec<Difference>> {
    let matched = matched(old, new);
    let refusals = questions::differences(old, new, &matched);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let analyses = [old, new].map(|run| summary::analyse_with(run, catalog));
    let sides = [(old, &analyses[0].observations), (new, &analyses[1].observations)];
    let stamps = [0, 1].map(|side| answers::stamps(&analyses[side]));
    let alone = |these: &Run, those: &Run| {
        let cells = these.plan.cells.iter().filter(|cell| !those.plan.cells.iter().any(|other| is_same(cell, other)));
        cells.map(name).collect::<Vec<_>>()
    };
    Ok(TwoRuns {
        format: record::FORMAT,
        old: side(old),
        new: side(new),
        threshold: question.threshold,
        absolute: question.absolute,
        findings: surroundings::findings(sides[0], sides[1], &matched),
        cells: matched
            .iter()
            .map(|pair| {
                let stamps = [stamps[0].get(&pair.0.id).copied(), stamps[1].get(&pair.1.id).copied()];
                of_cell(sides, pair, stamps, baseline_of(&matched, pair, question), question)
            })
            .collect(),
        only_old: alone(old, new),
        only_new: alone(new, old),
    })
}

/// The same cell of the old and the new run.
pub type Matched<'a> = (&'a Cell, &'a Cell);

fn matched<'a>(old: &'a Run, new: &'a Run) -> Vec<Matched<'a>> {
    let partner = |cell: &'a Cell| Some((cell, new.plan.cells.iter().find(|other| is_same(cell, other))?));
    old.plan.cells.iter().filter_map(partner).collect()
}

fn is_same(cell: &Cell, other: &Cell) -> bool {
    (&cell.contender, &cell.scenario, &cell.sweep) == (&other.contender, &other.scenario, &other.sweep)
}

/// The name of a cell in messages.
pub fn name(cell: &Cell) -> String {
    match cell.coordinates().as_str() {
        "" => cell.contender.clone(),
        place => format!("{} at {place}", cell.contender),
    }
}

fn side(run: &Run) -> RunSide {
    let (study, seed, blocks) = (run.plan.study.clone(), run.plan.seed, run.plan.blocks);
    RunSide { folder: run.dir.display().to_string(), study, seed, blocks }
}

/// The baseline of the same scenario and swept values, if both runs have one and it is compared with others: those have it, and so has
/// the baseline itself.
fn baseline_of<'a>(matched: &[Matched<'a>], (cell, _): &Matched<'a>, question: RunComparison) -> Option<Matched<'a>> {
    let of_group = |other: &&Matched<'a>| (&other.0.scenario, &other.0.sweep) == (&cell.scenario, &cell.sweep);
    let group: Vec<&Matched<'a>> = matched.iter().filter(of_group).collect();
    let is_compared = !question.absolute && group.len() > 1;
    group.into_iter().find(|(before, after)| is_compared && before.baseline && after.baseline).copied()
}

fn of_cell(
    [(old, observed), (new, observed_now)]: [(&Run, &Observations); 2],
    &(before, after): &Matched<'_>,
    [old_stamp, new_stamp]: [Option<Stamp>; 2],
    baseline: Option<Matched<'_>>,
    question: RunComparison,
) -> CellPair {
    let count =
        |run: &Run, cell: &Cell| u32::try_from(validity::valid_trials(run, cell.id).count()).unwrap_or(u32::MAX);
    let wrong = |run: &Run, cell: &Cell| validity::trials_of(run, cell.id).any(validity::has_wrong_data);
    let (old_wrong_data, new_wrong_data) = (wrong(old, before), wrong(new, after));
    let metric = validity::valid_trials(old, before.id).find_map(throughput::metric).unwrap_or_default();
    let judged = compare::headline(&metric.counted);
    let is_baseline = baseline.is_some_and(|(base, _)| base.id == before.id);
    let pairings = baseline
        .filter(|_| !is_baseline)
        .map(|(base, base_now)| (&base.contender, [Pairing::of(old, base, before), Pairing::of(new, base_now, after)]));
    let wrong_data = old_wrong_data || new_wrong_data;
    let mut figures: Vec<ComparedFigure> = Vec::new();
    for measured in observed_now.measures() {
        let Some(older) = observed.measure(&measured.measure.id) else { continue };
        let is_headline = judged.contains(&measured.measure.id);
        let sides = pairings.as_ref().filter(|_| is_headline);
        let relative =
            sides.and_then(|(base, pairings)| Some(((*base).clone(), relative([older, measured], pairings)?)));
        let is_judged = is_headline && relative.is_none() && !is_baseline;
        let figure = |relative_to, judged, found| {
            figure(measured, relative_to, [is_headline, judged], found, question.threshold, wrong_data)
        };
        figures.extend(absolute((older, before), (measured, after)).map(|found| figure(None, is_judged, found)));
        figures.extend(relative.map(|(base, found)| figure(Some(base), true, found)));
    }
    // A kind of transaction that neither run executes has no response time that could be missing.
    let is_known =
        |run: &Observations, id: &str, cell: u32| run.measure(id).is_some_and(|one| one.of_cell(cell).count() > 0);
    let is_asked =
        |id: &str| id == THROUGHPUT || is_known(observed, id, before.id) || is_known(observed_now, id, after.id);
    let is_lacking = |id: &&String| is_asked(id) && !figures.iter().any(|figure| figure.measure.id == **id);
    let why = |id: &String| {
        let [old, new] = [(observed, before.id), (observed_now, after.id)].map(|(run, cell)| {
            let lacking = run.measure(id).and_then(|one| one.of_cell(cell).find_map(|one| one.why_none.clone()));
            run.level(id, cell).is_none().then(|| lacking.unwrap_or(Missing::NothingMeasured))
        });
        NotCompared { measure: id.clone(), old, new }
    };
    let missing = judged.iter().filter(is_lacking).map(why).collect();
    CellPair {
        contender: before.contender.clone(),
        coordinates: before.coordinates(),
        old_cell: before.id,
        new_cell: after.id,
        metric,
        old_trials: count(old, before),
        new_trials: count(new, after),
        old_wrong_data,
        new_wrong_data,
        old_stamp,
        new_stamp,
        figures,
        missing,
    }
}

type CellOfRun<'a> = (&'a MeasuredValues, &'a Cell);

/// A figure of both runs, its change, and how many blocks the smaller run has.
type InBoth = ([Estimate; 2], Contrast, usize);

/// A cell's own figures.
fn absolute((older, before): CellOfRun<'_>, (measured, after): CellOfRun<'_>) -> Option<InBoth> {
    let blocks = older.by_block(before.id)?.len().min(measured.by_block(after.id)?.len());
    let change = measured.unpaired(after.id, older, before.id)?;
    Some(([older.level(before.id)?.estimate, measured.level(after.id)?.estimate], change, blocks))
}

/// A cell's ratios to the baseline of each run.
fn relative([older, measured]: [&MeasuredValues; 2], [before, after]: &[Pairing<'_>; 2]) -> Option<InBoth> {
    let (old, new) = (older.paired(before)?, measured.paired(after)?);
    if [old.scale, new.scale] != [Scale::Ratio; 2] {
        return None;
    }
    let sample = |measured: &MeasuredValues, pairing: &Pairing<'_>, contrast: &Contrast| {
        let rounding = measured.rounding(&[pairing.baseline, pairing.contender]);
        (contrast.blocks.iter().map(|block| block.value).collect(), rounding)
    };
    let samples = [sample(older, before, &old), sample(measured, after, &new)];
    let change = contrast::unpaired(&measured.measure.id, Scale::Ratio, &samples)?;
    Some(([old.estimate, new.estimate], change, old.blocks.len().min(new.blocks.len())))
}

/// A verdict by the interval of a figure. `threshold` is that of a figure that decides.
fn figure(
    measured: &MeasuredValues,
    relative_to: Option<String>,
    [is_headline, judged]: [bool; 2],
    ([old, new], change, blocks): InBoth,
    threshold: Option<f64>,
    wrong_data: bool,
) -> ComparedFigure {
    let (measure, blocks) = (measured.measure.clone(), u32::try_from(blocks).unwrap_or(u32::MAX));
    let better = measure.better;
    let limit = threshold.filter(|_| judged).map(|threshold| limit(better, threshold));
    // A threshold is a share, so a difference cannot be compared with it.
    let is_comparable = change.scale == Scale::Ratio && !wrong_data;
    let slower = slower(better, &change.estimate.bounds).filter(|_| is_comparable);
    let regression = limit.map_or(Regression::NotAsked, |limit| regression(slower, limit));
    let is_open = regression == Regression::NotShown;
    let blocks_needed = slower.zip(limit).filter(|_| is_open).map(|(ends, limit)| blocks_needed(ends, limit, blocks));
    let verdict = if wrong_data { RatioVerdict::WrongData } else { change.position(better).into() };
    ComparedFigure { measure, relative_to, is_headline, judged, old, new, change, verdict, regression, blocks_needed }
}

/// The ends of the interval of a ratio, turned so that above one means slower; the nearer end comes first.
fn slower(better: Better, bounds: &Bounds) -> Option<(f64, f64)> {
    let (low, high) = bounds.known()?;
    Some(if better == Better::More { (1.0 / high, 1.0 / low) } else { (low, high) })
}

/// The slowdown that is allowed. A threshold of 3 % allows 0.97 of the throughput and 1.03 of the response time.
fn limit(better: Better, threshold: f64) -> f64 {
    if better == Better::More { 1.0 / (1.0 - threshold) } else { 1.0 + threshold }
}

/// An interval shrinks with the root of the number of blocks. With this many, its end would just reach the limit if its
/// middle stayed where it is.
fn blocks_needed((near, far): (f64, f64), limit: f64, blocks: u32) -> u32 {
    let (near, far, limit) = (near.ln(), far.ln(), limit.ln());
    let (half, away) = ((far - near) / 2.0, (limit - f64::midpoint(near, far)).abs());
    let needed = f64::from(blocks) * (half / away).powi(2);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Below `MOST_BLOCKS`.
    if needed < f64::from(MOST_BLOCKS) { (needed.ceil() as u32).max(blocks + 1) } else { MOST_BLOCKS }
}

/// More blocks than anybody runs: a figure that needs them cannot be decided.
pub const MOST_BLOCKS: u32 = 1_000;

fn regression(slower: Option<(f64, f64)>, limit: f64) -> Regression {
    match slower {
        None => Regression::Unknown,
        Some((near, _)) if near > limit => Regression::Found,
        Some((_, far)) if far <= limit => Regression::RuledOut,
        Some(_) => Regression::NotShown,
    }
}

#[cfg(test)]
mod tests;

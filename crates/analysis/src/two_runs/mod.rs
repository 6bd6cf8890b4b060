//! Two runs of the same study, cell by cell: did anything change, and by how much?
//!
//! Cells are matched by contender, scenario and swept values. Within a run contenders are compared in blocks that met the
//! same drift of the machine; two runs share nothing but the study, so their trials are two samples and the ratio is one of
//! means ([`crate::welch`]). What else is not the same in both is told first ([`surroundings`]), and runs that ask for
//! different things are not compared at all ([`questions`]).

mod keys;
pub mod questions;
pub mod surroundings;

use crate::cells;
use crate::compare::COMPARED_QUANTILES;
use crate::estimate::{Bounds, Estimate};
use crate::warnings::Warning;
use crate::{student, throughput, welch};
use record::intervals::Span;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::trial::Metric;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TwoRuns {
    pub format: u32,
    pub old: Side,
    pub new: Side,
    /// The share by which something may be slower without being a regression, if that was asked.
    pub threshold: Option<f64>,
    /// The worst first.
    pub warnings: Vec<Warning>,
    pub cells: Vec<CellPair>,
    /// Cells of one run that the other does not have.
    pub only_old: Vec<String>,
    pub only_new: Vec<String>,
}

/// Which run this is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
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
    /// Sound trials.
    pub old_trials: u32,
    pub new_trials: u32,
    /// Whether either run has a trial of this cell whose data is wrong; then there is no verdict.
    pub old_wrong_data: bool,
    pub new_wrong_data: bool,
    /// Throughput first, then response times. Empty if either run has no sound trial.
    pub figures: Vec<Figure>,
}

/// One figure of a cell in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    #[serde(flatten)]
    pub what: What,
    /// Geometric means over trials.
    pub old: Estimate,
    pub new: Estimate,
    /// New over old.
    pub ratio: Estimate,
    pub change: Change,
    pub regression: Regression,
    /// About how many blocks each run would need to show a regression or to rule it out, if neither is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_needed: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "figure", rename_all = "kebab-case")]
pub enum What {
    /// In the unit of the cell's metric; above one is faster.
    Throughput,
    /// Done − due in microseconds; above one is slower.
    Response { kind: String, quantile: f64 },
}

/// What the interval of a ratio allows to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Slower,
    Faster,
    /// The interval contains one.
    NoDifferenceSeen,
    /// There is no interval.
    TooFewTrials,
    WrongData,
}

/// Whether something became slower by more than the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regression {
    NotAsked,
    /// Even the near end of the interval is beyond the threshold.
    Found,
    /// The threshold lies within the interval: it may be one, but these runs do not show it.
    NotShown,
    /// The whole interval is on this side of the threshold.
    RuledOut,
    /// There is no interval, or the data is wrong.
    Unknown,
}

/// What the runs as a whole say about regressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Nothing was asked, or no regression was found.
    Open,
    Regressed,
    /// No regression was found, but for some figures it is not ruled out either.
    NotRuledOut,
    /// No regression was found, but not everything could be looked at.
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
            || self.cells.iter().any(|cell| cell.figures.is_empty() || cell.old_wrong_data);
        if self.cells.iter().any(|cell| cell.new_wrong_data) {
            Gate::WrongData
        } else if any(Regression::Found) {
            Gate::Regressed
        } else if self.threshold.is_some() && not_looked_at {
            Gate::Untold
        } else if any(Regression::NotShown) {
            Gate::NotRuledOut
        } else {
            Gate::Open
        }
    }
}

/// Compares two runs, or says in what they ask for different things, each a sentence.
pub fn compare(old: &Run, new: &Run, threshold: Option<f64>) -> Result<TwoRuns, Vec<String>> {
    let matched = matched(old, new);
    let refusals = questions::differences(old, new, &matched);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let alone = |these: &Run, those: &Run| {
        let cells = these.plan.cells.iter().filter(|cell| !those.plan.cells.iter().any(|other| is_same(cell, other)));
        cells.map(name).collect::<Vec<_>>()
    };
    Ok(TwoRuns {
        format: record::FORMAT,
        old: side(old),
        new: side(new),
        threshold,
        warnings: surroundings::warnings(old, new, &matched),
        cells: matched.iter().map(|pair| of_cell(old, new, pair, threshold)).collect(),
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

/// A cell as people call it.
pub fn name(cell: &Cell) -> String {
    match cell.coordinates().as_str() {
        "" => cell.contender.clone(),
        place => format!("{} at {place}", cell.contender),
    }
}

fn side(run: &Run) -> Side {
    let (study, seed, blocks) = (run.plan.study.clone(), run.plan.seed, run.plan.blocks);
    Side { folder: run.dir.display().to_string(), study, seed, blocks }
}

fn of_cell(old: &Run, new: &Run, &(before, after): &Matched<'_>, threshold: Option<f64>) -> CellPair {
    let old_trials: Vec<&StoredTrial> = cells::sound(old, before.id).collect();
    let new_trials: Vec<&StoredTrial> = cells::sound(new, after.id).collect();
    let wrong = |run: &Run, cell: &Cell| cells::trials_of(run, cell.id).any(cells::has_wrong_data);
    let (old_wrong_data, new_wrong_data) = (wrong(old, before), wrong(new, after));
    let metric = metric(&old_trials);
    let figure = |what: What| {
        let (first, second) = (readings(&old_trials, &what), readings(&new_trials, &what));
        figure(what, &first, &second, old_wrong_data || new_wrong_data, threshold)
    };
    let figures = figures_of(&metric).into_iter().filter_map(figure).collect();
    CellPair {
        contender: before.contender.clone(),
        coordinates: before.coordinates(),
        old_cell: before.id,
        new_cell: after.id,
        metric,
        old_trials: count(&old_trials),
        new_trials: count(&new_trials),
        old_wrong_data,
        new_wrong_data,
        figures,
    }
}

fn count(trials: &[&StoredTrial]) -> u32 {
    u32::try_from(trials.len()).unwrap_or(u32::MAX)
}

pub(crate) fn metric(trials: &[&StoredTrial]) -> Metric {
    trials.iter().find_map(|trial| throughput::metric(trial)).unwrap_or_default()
}

fn figures_of(metric: &Metric) -> Vec<What> {
    let of_kind = |kind: &String| COMPARED_QUANTILES.map(|quantile| What::Response { kind: kind.clone(), quantile });
    std::iter::once(What::Throughput).chain(metric.counted.iter().flat_map(of_kind)).collect()
}

fn readings(trials: &[&StoredTrial], what: &What) -> Vec<f64> {
    let reading = |trial: &&StoredTrial| match what {
        What::Throughput => throughput::figure(trial),
        What::Response { kind, quantile } => cells::quantile_of(trial, kind, Span::Response, *quantile),
    };
    trials.iter().filter_map(reading).collect()
}

fn figure(what: What, old: &[f64], new: &[f64], wrong_data: bool, threshold: Option<f64>) -> Option<Figure> {
    let ratio = welch::ratio(old, new)?;
    let slower = slower(&what, &ratio.bounds);
    let limit = threshold.map(|threshold| limit(&what, threshold));
    let (change, regression) = if wrong_data {
        (Change::WrongData, limit.map_or(Regression::NotAsked, |_| Regression::Unknown))
    } else {
        (change(slower), limit.map_or(Regression::NotAsked, |limit| regression(slower, limit)))
    };
    let blocks = u32::try_from(old.len().min(new.len())).unwrap_or(u32::MAX);
    let is_open = regression == Regression::NotShown;
    let blocks_needed = slower.zip(limit).filter(|_| is_open).map(|(ends, limit)| blocks_needed(ends, limit, blocks));
    Some(Figure {
        old: student::geometric_mean(old)?,
        new: student::geometric_mean(new)?,
        what,
        ratio,
        change,
        regression,
        blocks_needed,
    })
}

/// The ends of the interval of a ratio, turned so that above one is slower: near end first.
fn slower(what: &What, bounds: &Bounds) -> Option<(f64, f64)> {
    let (low, high) = bounds.known()?;
    Some(match what {
        What::Throughput => (1.0 / high, 1.0 / low),
        What::Response { .. } => (low, high),
    })
}

fn change(slower: Option<(f64, f64)>) -> Change {
    match slower {
        None => Change::TooFewTrials,
        Some((low, _)) if low > 1.0 => Change::Slower,
        Some((_, high)) if high < 1.0 => Change::Faster,
        Some(_) => Change::NoDifferenceSeen,
    }
}

/// How much slower may be. A threshold of 3 % allows 0.97 of the throughput and 1.03 of the response time.
fn limit(what: &What, threshold: f64) -> f64 {
    match what {
        What::Throughput => 1.0 / (1.0 - threshold),
        What::Response { .. } => 1.0 + threshold,
    }
}

/// An interval shrinks with the root of the number of blocks. With so many its end would just reach the limit, were its middle to
/// stay where it is.
fn blocks_needed((near, far): (f64, f64), limit: f64, blocks: u32) -> u32 {
    let (near, far, limit) = (near.ln(), far.ln(), limit.ln());
    let (half, away) = ((far - near) / 2.0, (limit - f64::midpoint(near, far)).abs());
    let needed = f64::from(blocks) * (half / away).powi(2);
    if needed < f64::from(MOST_BLOCKS) { whole(needed.ceil()).max(blocks + 1) } else { MOST_BLOCKS }
}

/// More blocks than anybody runs: a figure that needs them cannot be decided.
pub const MOST_BLOCKS: u32 = 1_000;

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Below the most blocks.
fn whole(number: f64) -> u32 {
    number as u32
}

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

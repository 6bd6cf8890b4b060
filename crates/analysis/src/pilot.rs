//! An earlier run of the same contenders, the pilot, says something about a planned run: what the planned blocks
//! will show, and how many of them a given precision needs.
//!
//! All of it follows from the spread of the pilot's block ratios, which is poorly known from few blocks. So everything
//! is also given for both ends of the spread's interval. It is a plan and no promise: another day may be less quiet.

use crate::compare::{self, Comparison};
use crate::estimate::Estimate;
use crate::measures::THROUGHPUT_ONLY;
use crate::observations::Observations;
use crate::student::FEWEST_BLOCKS;
use crate::{groups, precision, spread, validity};
use record::plan::{Cell, Plan};
use record::run::Run;
use record::settings::key;
use record::trial::Outcome;
use serde::Serialize;

/// With fewer paired blocks, a pilot's spread is known only to within a factor of four or worse.
pub const FEWEST_PILOT_BLOCKS: usize = 5;

/// Keys in which a pilot may differ: shorter windows spread more, which deserves a note but no refusal.
const WINDOWS: [&str; 2] = [key::WARMUP, key::MEASURE];
/// Keys that decide which trials count, not what is measured in them.
const OTHER_LOAD: [&str; 2] = [key::MAX_OTHER_CPU, key::MAX_REPEATS];

/// At most this many differing keys are listed.
const MOST_LISTED: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PilotError {
    #[error("it has no {contender}{} to learn from; it has {}", at(.coordinates), .known.join(", "))]
    Missing { contender: String, coordinates: String, known: Vec<String> },
    #[error("it is of another study: for {contender}, {} differ from the plan's", .keys.join(", "))]
    Differs { contender: String, keys: Vec<String> },
    #[error(
        "only {blocks} of its blocks have valid trials of both {contender} and {baseline}{}; at least {FEWEST_PILOT_BLOCKS} \
         are needed to know how far blocks lie apart",
        at(.coordinates)
    )]
    TooFew { contender: String, baseline: String, coordinates: String, blocks: usize },
    #[error("the plan compares nothing")]
    NothingCompared,
}

fn at(coordinates: &str) -> String {
    if coordinates.is_empty() { String::new() } else { format!(" at {coordinates}") }
}

/// What the pilot says about a whole plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    pub blocks: u32,
    /// As a share of the ratio: 0.01 is ±1 %.
    pub wished_half_width: Option<f64>,
    /// How long a block of this plan takes, judging by the pilot's trials. A point value.
    pub block_ms: u64,
    /// True if the pilot's windows are as long as the plan's.
    pub same_windows: bool,
    pub comparisons: Vec<Forecast>,
}

/// One comparison of the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    pub coordinates: String,
    pub baseline: String,
    pub contender: String,
    pub pilot_blocks: usize,
    /// Standard deviation of the pilot's log ratios.
    pub spread: Estimate,
    /// The expected half width of the plan's 95 % confidence interval, as a share of the ratio; `None` if the plan has
    /// too few blocks for an interval.
    pub half_width: Option<Range>,
    /// The difference that the plan's blocks would find in four of five runs, as a share of the ratio.
    pub smallest_effect: Option<Range>,
    /// How many blocks the wish takes; `None` without a wish.
    pub blocks_needed: Option<BlocksNeeded>,
}

/// A figure at the pilot's spread and at both ends of the spread's interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtSpreads<T> {
    pub point: T,
    pub low: T,
    pub high: T,
}

pub type Range = AtSpreads<f64>;

/// Each is `None` if it would take more blocks than anybody would run.
pub type BlocksNeeded = AtSpreads<Option<u32>>;

/// Forecasts `plan` from `pilot`. `wished_half_width` is a share of the ratio.
pub fn outlook(plan: &Plan, pilot: &Run, wished_half_width: Option<f64>) -> Result<Outlook, PilotError> {
    let found = compare::all(pilot, &Observations::of_run(pilot, THROUGHPUT_ONLY));
    let mut comparisons = Vec::new();
    for group in groups::of_plan(plan) {
        for [baseline, contender] in group.with_baseline() {
            for cell in [baseline, contender] {
                same_settings(cell, same_cell(&pilot.plan, cell)?)?;
            }
            let same = |comparison: &&Comparison| {
                let names = (&comparison.baseline, &comparison.contender, &comparison.coordinates);
                names == (&baseline.contender, &contender.contender, &group.coordinates)
            };
            let missing = || missing(&pilot.plan, contender);
            comparisons.push(forecast(plan, found.iter().find(same).ok_or_else(missing)?, wished_half_width)?);
        }
    }
    if comparisons.is_empty() {
        return Err(PilotError::NothingCompared);
    }
    let same_windows =
        plan.cells.iter().all(|cell| window_ms(cell) == same_cell(&pilot.plan, cell).map_or(0, window_ms));
    Ok(Outlook { blocks: plan.blocks, wished_half_width, block_ms: block_ms(plan, pilot), same_windows, comparisons })
}

/// The cell of the pilot with the same contender and coordinates.
fn same_cell<'a>(pilot: &'a Plan, cell: &Cell) -> Result<&'a Cell, PilotError> {
    let is_same = |other: &&Cell| other.contender == cell.contender && other.coordinates() == cell.coordinates();
    pilot.cells.iter().find(is_same).ok_or_else(|| missing(pilot, cell))
}

fn missing(pilot: &Plan, cell: &Cell) -> PilotError {
    let known = pilot.cells.iter().map(|cell| format!("{}{}", cell.contender, at(&cell.coordinates()))).collect();
    PilotError::Missing { contender: cell.contender.clone(), coordinates: cell.coordinates(), known }
}

fn same_settings(cell: &Cell, other: &Cell) -> Result<(), PilotError> {
    let mut keys: Vec<String> = cell.settings.differing(&other.settings).into_iter().map(|one| one.key).collect();
    keys.retain(|key| !WINDOWS.iter().chain(&OTHER_LOAD).any(|free| free == key));
    let more = keys.len().saturating_sub(MOST_LISTED);
    keys.truncate(MOST_LISTED);
    keys.extend((more > 0).then(|| format!("and {more} more keys")));
    if keys.is_empty() { Ok(()) } else { Err(PilotError::Differs { contender: cell.contender.clone(), keys }) }
}

fn forecast(plan: &Plan, pilot: &Comparison, wished: Option<f64>) -> Result<Forecast, PilotError> {
    let ratios: Vec<f64> = pilot.throughput().iter().flat_map(|ratio| &ratio.blocks).map(|block| block.value).collect();
    let (Some(spread), true) = (spread::of_ratios(&ratios), ratios.len() >= FEWEST_PILOT_BLOCKS) else {
        let (contender, baseline) = (pilot.contender.clone(), pilot.baseline.clone());
        let (coordinates, blocks) = (pilot.coordinates.clone(), ratios.len());
        return Err(PilotError::TooFew { contender, baseline, coordinates, blocks });
    };
    // It has an interval, since a pilot has more blocks than an interval needs.
    const { assert!(FEWEST_PILOT_BLOCKS >= FEWEST_BLOCKS) };
    let (low, high) = spread.bounds.known().unwrap_or((spread.point, spread.point));
    let blocks = plan.blocks as usize;
    let range = |of: &dyn Fn(f64) -> Option<f64>| {
        let share = |spread| of(spread).map(f64::exp_m1);
        Some(AtSpreads { point: share(spread.point)?, low: share(low)?, high: share(high)? })
    };
    let needed = |spread: f64, half_width: f64| {
        let blocks = precision::blocks_needed(spread, half_width.ln_1p())?;
        // A run that may stop by itself does not stop before its least number of blocks.
        Some(blocks.max(plan.precision.map_or(0, |wish| wish.least_blocks)))
    };
    let blocks_needed = wished.map(|wished| AtSpreads {
        point: needed(spread.point, wished),
        low: needed(low, wished),
        high: needed(high, wished),
    });
    Ok(Forecast {
        coordinates: pilot.coordinates.clone(),
        baseline: pilot.baseline.clone(),
        contender: pilot.contender.clone(),
        pilot_blocks: ratios.len(),
        half_width: range(&|spread| precision::half_width_of(spread, blocks)),
        smallest_effect: range(&|spread| precision::smallest_effect(spread, blocks)),
        blocks_needed,
        spread,
    })
}

/// The sum over the plan's cells of the mean time that the pilot's trials took, with the plan's own windows.
fn block_ms(plan: &Plan, pilot: &Run) -> u64 {
    let of_cell = |cell: &Cell| {
        let Ok(same) = same_cell(&pilot.plan, cell) else { return 0 };
        let completed = validity::trials_of(pilot, same.id).filter(|trial| trial.record.outcome == Outcome::Completed);
        let lengths: Vec<u64> =
            completed.map(|trial| trial.record.phases.iter().map(|phase| phase.length_ms).sum()).collect();
        let mean = lengths.iter().sum::<u64>() / (lengths.len() as u64).max(1);
        mean.saturating_add(window_ms(cell)).saturating_sub(window_ms(same))
    };
    plan.cells.iter().map(of_cell).fold(0, u64::saturating_add)
}

fn window_ms(cell: &Cell) -> u64 {
    let load = cell.settings.load();
    load.warmup_ms.saturating_add(load.measure_ms)
}

#[cfg(test)]
mod tests;

//! How even throughput was, second by second, and how many transactions took very long: each contender, and against
//! the baseline.
//!
//! Two databases of equal throughput are not equal if one stops for a second now and then. All figures are of the measured
//! window of sound trials. Each trial gives one number, compared block by block; only the bands are read from the seconds
//! of all trials together, since single windows have too few seconds for them.

use crate::bootstrap::{self, FEWEST_BLOCKS};
use crate::cells::{self, Group};
use crate::cycle::{self, Cycle};
use crate::estimate::{Bounds, Estimate};
use crate::latency::{Counts, Resampling};
use crate::{student, throughput};
use record::intervals::Span;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The bands of one-second throughput.
pub const BANDS: [f64; 5] = [0.01, 0.05, 0.50, 0.95, 0.99];

/// A second with less than this share of the median is low.
const LOW: f64 = 0.5;

/// A transaction is slow if its response took longer.
const SLOW_US: u64 = 1_000_000;

/// Shares of the median are kept to millionths, so that they can be counted.
const MILLIONTHS: f64 = 1e6;

/// With fewer seconds beyond a band it is one accident's rather than an estimate.
const FEWEST_BEYOND: f64 = 5.0;

/// Trials agree on a period if theirs are within this share of their median.
const PERIODS_APART: f64 = 0.1;

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Raggedness {
    pub cell: u32,
    pub contender: String,
    pub baseline: bool,
    pub coordinates: String,
    pub trials: Vec<TrialRaggedness>,
    pub figures: Vec<Figure>,
    /// Shares of the median second; the one at 0.5 is one by definition.
    pub bands: Vec<Band>,
    pub cycle: CellCycle,
}

/// One trial; plain readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRaggedness {
    pub trial: u32,
    pub block: u32,
    pub seconds: usize,
    /// In the metric's unit.
    pub median: f64,
    /// Standard deviation of the seconds over their mean; `None` if nothing was done.
    pub variation: Option<f64>,
    /// The longest time in one piece in which no second reached half the median.
    pub longest_low_s: usize,
    pub zero_s: usize,
    /// Of all kinds of transaction.
    pub transactions: u64,
    pub slow: u64,
    pub cycle: Cycle,
}

/// One number of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub name: Name,
    pub value: Estimate,
    /// Against the baseline, over the blocks that both have.
    pub against: Option<Against>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    Variation,
    LongestLow,
    ZeroSeconds,
    Slow,
    SlowShare,
}

/// A contender against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "kebab-case")]
pub enum Against {
    Ratio(Estimate),
    /// Contender less baseline: for what may be nothing.
    Difference(Estimate),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Band {
    pub quantile: f64,
    pub value: Estimate,
    /// Contender less baseline.
    pub difference: Option<Estimate>,
}

/// Whether trials of a cell show the same cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellCycle {
    /// Trials whose window was long enough to look.
    pub looked_at: usize,
    /// Trials that show a cycle, whatever its period.
    pub found_in: usize,
    /// Where more than half of the trials agree on it.
    pub period_s: Option<Estimate>,
    /// Over the baseline's, where that has one too.
    pub ratio: Option<Estimate>,
}

pub fn all(run: &Run) -> Vec<Raggedness> {
    cells::groups(&run.plan).iter().flat_map(|group| of_group(run, group)).collect()
}

/// What a cell's sound trials gave.
struct Course<'a> {
    cell: &'a Cell,
    trials: Vec<TrialRaggedness>,
    /// For each block the seconds as shares of their trial's median.
    shares: BTreeMap<u32, Counts>,
}

fn of_group(run: &Run, group: &Group<'_>) -> Vec<Raggedness> {
    let courses: Vec<Course<'_>> = group.cells.iter().map(|cell| course(run, cell)).collect();
    let baseline = courses.iter().find(|course| course.cell.baseline);
    let of = |course: &Course<'_>| {
        let base = baseline.filter(|base| base.cell.id != course.cell.id);
        Raggedness {
            cell: course.cell.id,
            contender: course.cell.contender.clone(),
            baseline: course.cell.baseline,
            coordinates: group.coordinates.clone(),
            trials: course.trials.clone(),
            figures: figures(course, base, run.plan.seed),
            bands: bands(course, base, run.plan.seed),
            cycle: cell_cycle(course, base),
        }
    };
    courses.iter().map(of).collect()
}

fn course<'a>(run: &Run, cell: &'a Cell) -> Course<'a> {
    let (mut trials, mut shares) = (Vec::new(), BTreeMap::<u32, Counts>::new());
    let mut stored: Vec<&StoredTrial> = cells::sound(run, cell.id).collect();
    stored.sort_by_key(|trial| (trial.record.block, trial.record.id));
    for trial in stored {
        let seconds = measured_seconds(trial);
        let Some(read) = of_trial(trial, &seconds) else { continue };
        if read.median > 0.0 {
            let own = shares_of(&seconds, read.median);
            let merged = shares.get(&read.block).map_or_else(|| own.clone(), |known| Counts::merged([known, &own]));
            shares.insert(read.block, merged);
        }
        trials.push(read);
    }
    Course { cell, trials, shares }
}

fn measured_seconds(trial: &StoredTrial) -> Vec<f64> {
    let seconds = throughput::of_trial(trial).seconds.into_iter();
    seconds.filter(|second| second.measured).map(|second| second.rate).collect()
}

fn of_trial(trial: &StoredTrial, seconds: &[f64]) -> Option<TrialRaggedness> {
    let median = median(seconds)?;
    let (transactions, slow) = slow(trial);
    Some(TrialRaggedness {
        trial: trial.record.id,
        block: trial.record.block,
        seconds: seconds.len(),
        median,
        variation: variation(seconds),
        longest_low_s: longest_run(seconds, |rate| rate < LOW * median),
        zero_s: seconds.iter().filter(|rate| **rate <= 0.0).count(),
        transactions,
        slow,
        cycle: cycle::find(seconds),
    })
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len().is_multiple_of(2) { upper.midpoint(sorted[sorted.len() / 2 - 1]) } else { upper })
}

/// The coefficient of variation.
fn variation(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    student::spread(values).filter(|_| mean > 0.0).map(|spread| spread / mean)
}

/// The most values in a row that are as asked.
fn longest_run(values: &[f64], is: impl Fn(f64) -> bool) -> usize {
    values.split(|value| !is(*value)).map(<[f64]>::len).max().unwrap_or(0)
}

/// How many transactions of all kinds finished in the measured window, and how many of them were slow.
fn slow(trial: &StoredTrial) -> (u64, u64) {
    let intervals = trial.measured.iter().flat_map(|measured| &measured.intervals);
    let parts = intervals.filter(|interval| interval.measured).flat_map(|interval| &interval.kinds);
    let counts = parts.filter(|part| part.span == Span::Response).flat_map(|part| &part.counts);
    counts.fold((0, 0), |(all, slow), &(value_us, count)| {
        let count = u64::from(count);
        (all + count, slow + if value_us > SLOW_US { count } else { 0 })
    })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Neither negative nor near the end of what fits.
fn shares_of(seconds: &[f64], median: f64) -> Counts {
    Counts::of(seconds.iter().map(|rate| ((rate / median * MILLIONTHS).round() as u64, 1)))
}

type Number = fn(&TrialRaggedness) -> Option<f64>;

/// Counts, as numbers that a contender may have none of.
const COUNTED: [(Name, Number); 4] = [
    (Name::LongestLow, |trial| Some(trial.longest_low_s as f64)),
    (Name::ZeroSeconds, |trial| Some(trial.zero_s as f64)),
    (Name::Slow, |trial| Some(trial.slow as f64)),
    (Name::SlowShare, |trial| (trial.transactions > 0).then(|| trial.slow as f64 / trial.transactions as f64)),
];

fn figures(course: &Course<'_>, base: Option<&Course<'_>>, seed: u64) -> Vec<Figure> {
    let mut figures = Vec::new();
    let number: Number = |trial| trial.variation;
    if let Some(value) = student::geometric_mean(&values(course, number)) {
        let against = base.and_then(|base| ratio(course, base, number)).map(Against::Ratio);
        figures.push(Figure { name: Name::Variation, value, against });
    }
    for (name, number) in COUNTED {
        let Some(value) = counted(&values(course, number), seed) else { continue };
        let against = base.and_then(|base| difference(course, base, number)).map(Against::Difference);
        figures.push(Figure { name, value, against });
    }
    figures
}

/// A number of each block; where a block has several trials, their mean.
fn by_block(course: &Course<'_>, number: impl Fn(&TrialRaggedness) -> Option<f64>) -> BTreeMap<u32, f64> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in &course.trials {
        if let Some(value) = number(trial) {
            blocks.entry(trial.block).or_default().push(value);
        }
    }
    blocks.into_iter().map(|(block, values)| (block, values.iter().sum::<f64>() / values.len() as f64)).collect()
}

fn values(course: &Course<'_>, number: impl Fn(&TrialRaggedness) -> Option<f64>) -> Vec<f64> {
    by_block(course, number).into_values().collect()
}

/// Contender and baseline of each block that has both.
fn pairs(
    course: &Course<'_>,
    base: &Course<'_>,
    number: impl Fn(&TrialRaggedness) -> Option<f64> + Copy,
) -> Vec<(f64, f64)> {
    let base = by_block(base, number);
    by_block(course, number).into_iter().filter_map(|(block, value)| Some((value, *base.get(&block)?))).collect()
}

fn ratio(
    course: &Course<'_>,
    base: &Course<'_>,
    number: impl Fn(&TrialRaggedness) -> Option<f64> + Copy,
) -> Option<Estimate> {
    let ratios: Vec<f64> = pairs(course, base, number).into_iter().map(|(one, other)| one / other).collect();
    student::geometric_mean(&ratios)
}

fn difference(course: &Course<'_>, base: &Course<'_>, number: Number) -> Option<Estimate> {
    let pairs = pairs(course, base, number);
    let mut differences: Vec<f64> = pairs.iter().map(|(one, other)| one - other).collect();
    differences.sort_unstable_by(f64::total_cmp);
    let point = differences.iter().sum::<f64>() / differences.len() as f64;
    let nothing = pairs.iter().all(|(one, other)| *one == 0.0 && *other == 0.0);
    let bounds = if nothing { seen_in_no_block(pairs.len()) } else { student::bounds_of_mean(&differences) };
    let method = "mean difference over blocks; Student's t".to_owned();
    (!differences.is_empty()).then_some(Estimate { point, bounds, method })
}

/// The mean of counts.
fn counted(values: &[f64], seed: u64) -> Option<Estimate> {
    let estimate = bootstrap::mean(values, seed)?;
    let nothing = values.iter().all(|value| *value == 0.0);
    Some(if nothing { Estimate { bounds: seen_in_no_block(values.len()), ..estimate } } else { estimate })
}

/// Nothing seen does not mean that there is nothing: blocks that are all alike would give an interval without width.
fn seen_in_no_block(blocks: usize) -> Bounds {
    if blocks < FEWEST_BLOCKS {
        return bootstrap::too_few(blocks);
    }
    Bounds::Unknown { why: "seen in no block".to_owned() }
}

fn bands(course: &Course<'_>, base: Option<&Course<'_>>, seed: u64) -> Vec<Band> {
    let own: Vec<&Counts> = course.shares.values().collect();
    let all = Counts::merged(own.iter().copied());
    let resampling = Resampling::new(&all, own.iter().copied());
    let paired = base.map(|base| Paired::new(course, base));
    let band = |quantile: f64| {
        let beyond = beyond(all.total(), quantile);
        if beyond < 1.0 {
            return None;
        }
        let share = |drawn: &[usize]| resampling.quantile(drawn, quantile) / MILLIONTHS;
        let bounds = if beyond < FEWEST_BEYOND { too_few_beyond() } else { bootstrap::bounds(own.len(), seed, share) };
        let point = all.quantile(quantile)? as f64 / MILLIONTHS;
        let method = "of all trials' seconds together; BCa bootstrap over blocks".to_owned();
        let difference = paired.as_ref().and_then(|paired| paired.difference(quantile, seed));
        Some(Band { quantile, value: Estimate { point, bounds, method }, difference })
    };
    BANDS.into_iter().filter_map(band).collect()
}

/// How many seconds lie beyond a band, on the side away from the median.
fn beyond(seconds: u64, quantile: f64) -> f64 {
    // Rounded, since one minus a quantile is not exact.
    (seconds as f64 * quantile.min(1.0 - quantile) * 1e6).round() / 1e6
}

fn too_few_beyond() -> Bounds {
    Bounds::Unknown { why: format!("fewer than {FEWEST_BEYOND} seconds lie beyond it") }
}

/// The seconds of both sides, of the blocks that both have.
struct Paired {
    contender: (Counts, Resampling),
    baseline: (Counts, Resampling),
    blocks: usize,
}

impl Paired {
    fn new(course: &Course<'_>, base: &Course<'_>) -> Self {
        let both: Vec<(&Counts, &Counts)> =
            course.shares.iter().filter_map(|(block, own)| Some((own, base.shares.get(block)?))).collect();
        let side = |counts: Vec<&Counts>| {
            let all = Counts::merged(counts.iter().copied());
            let resampling = Resampling::new(&all, counts);
            (all, resampling)
        };
        let (contender, baseline): (Vec<&Counts>, Vec<&Counts>) = both.into_iter().unzip();
        Self { blocks: contender.len(), contender: side(contender), baseline: side(baseline) }
    }

    fn difference(&self, quantile: f64, seed: u64) -> Option<Estimate> {
        let point =
            (self.contender.0.quantile(quantile)? as f64 - self.baseline.0.quantile(quantile)? as f64) / MILLIONTHS;
        let beyond = beyond(self.contender.0.total().min(self.baseline.0.total()), quantile);
        let difference = |drawn: &[usize]| {
            (self.contender.1.quantile(drawn, quantile) - self.baseline.1.quantile(drawn, quantile)) / MILLIONTHS
        };
        let bounds =
            if beyond < FEWEST_BEYOND { too_few_beyond() } else { bootstrap::bounds(self.blocks, seed, difference) };
        let method = "of all trials' seconds together; BCa bootstrap over blocks".to_owned();
        (beyond >= 1.0).then_some(Estimate { point, bounds, method })
    }
}

fn cell_cycle(course: &Course<'_>, base: Option<&Course<'_>>) -> CellCycle {
    let looked_at = course.trials.iter().filter(|trial| trial.cycle != Cycle::TooShort).count();
    let own = agreed(course);
    let period = |course: &Course<'_>| {
        let range = agreed(course)?;
        Some(move |trial: &TrialRaggedness| trial.cycle.period_s().filter(|period| range.contains(period)))
    };
    CellCycle {
        looked_at,
        found_in: course.trials.iter().filter(|trial| trial.cycle.period_s().is_some()).count(),
        period_s: own.and_then(|_| student::geometric_mean(&values(course, period(course)?))),
        ratio: base.and_then(|base| {
            let (own, theirs) = (by_block(course, period(course)?), by_block(base, period(base)?));
            let ratios = own.iter().filter_map(|(block, period)| Some(period / theirs.get(block)?));
            student::geometric_mean(&ratios.collect::<Vec<_>>())
        }),
    }
}

/// The range of periods that more than half of the trials looked at agree on.
fn agreed(course: &Course<'_>) -> Option<std::ops::RangeInclusive<f64>> {
    let looked_at = course.trials.iter().filter(|trial| trial.cycle != Cycle::TooShort).count();
    let periods: Vec<f64> = course.trials.iter().filter_map(|trial| trial.cycle.period_s()).collect();
    let middle = median(&periods)?;
    let range = middle * (1.0 - PERIODS_APART)..=middle * (1.0 + PERIODS_APART);
    let agreeing = periods.iter().filter(|period| range.contains(period)).count();
    (2 * agreeing > looked_at).then_some(range)
}

#[cfg(test)]
mod tests;

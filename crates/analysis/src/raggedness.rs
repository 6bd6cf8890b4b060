//! How even throughput was, second by second, and how many transactions took very long: each contender, and against
//! the baseline.
//!
//! Two databases of equal throughput are not equal if one stops for a second now and then. All figures are of the measured
//! window of sound trials. Each trial gives one number, compared block by block; only the bands are read from the seconds
//! of all trials together, since single windows have too few seconds for them.

use crate::cells::{self, Group};
use crate::cycle::{self, Cycle};
use crate::estimate::{Bounds, Estimate};
use crate::latency::Counts;
use crate::student::{self, FEWEST_BLOCKS};
use crate::throughput;
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
    /// Of each trial in which something was done, with its block, the seconds as shares of its median.
    shares: Vec<(u32, Counts)>,
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
            figures: figures(course, base),
            bands: bands(course, base),
            cycle: cell_cycle(course, base),
        }
    };
    courses.iter().map(of).collect()
}

fn course<'a>(run: &Run, cell: &'a Cell) -> Course<'a> {
    let (mut trials, mut shares) = (Vec::new(), Vec::new());
    let mut stored: Vec<&StoredTrial> = cells::sound(run, cell.id).collect();
    stored.sort_by_key(|trial| (trial.record.block, trial.record.id));
    for trial in stored {
        let seconds = measured_seconds(trial);
        let Some(read) = of_trial(trial, &seconds) else { continue };
        if read.median > 0.0 {
            shares.push((read.block, shares_of(&seconds, read.median)));
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

fn figures(course: &Course<'_>, base: Option<&Course<'_>>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let number: Number = |trial| trial.variation;
    if let Some(value) = student::geometric_mean(&values(course, number)) {
        let against = base.and_then(|base| ratio(course, base, number)).map(Against::Ratio);
        figures.push(Figure { name: Name::Variation, value, against });
    }
    for (name, number) in COUNTED {
        let Some(value) = counted(values(course, number)) else { continue };
        let against = base.and_then(|base| difference(course, base, number)).map(Against::Difference);
        figures.push(Figure { name, value, against });
    }
    figures
}

/// A number of each block; where a block has several trials, their mean.
fn by_block(course: &Course<'_>, number: impl Fn(&TrialRaggedness) -> Option<f64>) -> BTreeMap<u32, f64> {
    means(course.trials.iter().filter_map(|trial| Some((trial.block, number(trial)?))))
}

fn means(values: impl Iterator<Item = (u32, f64)>) -> BTreeMap<u32, f64> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, value) in values {
        blocks.entry(block).or_default().push(value);
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
    let nothing = pairs.iter().all(|(one, other)| *one == 0.0 && *other == 0.0);
    let estimate = student::mean(pairs.iter().map(|(one, other)| one - other).collect())?;
    Some(if nothing { seen_in_no_block(estimate, pairs.len()) } else { estimate })
}

/// The mean of counts.
fn counted(values: Vec<f64>) -> Option<Estimate> {
    let (blocks, nothing) = (values.len(), values.iter().all(|value| *value == 0.0));
    let estimate = student::mean_amount(values)?;
    Some(if nothing { seen_in_no_block(estimate, blocks) } else { estimate })
}

/// Nothing seen does not mean that there is nothing: blocks that are all alike would give an interval without width.
fn seen_in_no_block(estimate: Estimate, blocks: usize) -> Estimate {
    if blocks < FEWEST_BLOCKS {
        return estimate;
    }
    Estimate { bounds: Bounds::Unknown { why: "seen in no block".to_owned() }, ..estimate }
}

fn bands(course: &Course<'_>, base: Option<&Course<'_>>) -> Vec<Band> {
    let band = |quantile: f64| {
        let own = band_by_block(course, quantile);
        let value = resolved(student::mean_amount(own.values().copied().collect()), &[course], quantile)?;
        let against = |base: &Course<'_>| {
            let theirs = band_by_block(base, quantile);
            let differences = own.iter().filter_map(|(block, own)| Some(own - theirs.get(block)?)).collect();
            resolved(student::mean(differences), &[course, base], quantile)
        };
        Some(Band { quantile, value, difference: base.and_then(against) })
    };
    BANDS.into_iter().filter_map(band).collect()
}

fn band_by_block(course: &Course<'_>, quantile: f64) -> BTreeMap<u32, f64> {
    let of_trial = |(block, shares): &(u32, Counts)| Some((*block, shares.quantile(quantile)? as f64 / MILLIONTHS));
    means(course.shares.iter().filter_map(of_trial))
}

/// Nothing if in some trial no second lies beyond the band.
fn resolved(estimate: Option<Estimate>, courses: &[&Course<'_>], quantile: f64) -> Option<Estimate> {
    let mut trials = courses.iter().flat_map(|course| &course.shares);
    estimate.filter(|_| trials.all(|(_, shares)| beyond(shares.total(), quantile) >= 1.0))
}

/// How many seconds lie beyond a band, on the side away from the median.
fn beyond(seconds: u64, quantile: f64) -> f64 {
    // Rounded, since one minus a quantile is not exact.
    (seconds as f64 * quantile.min(1.0 - quantile) * 1e6).round() / 1e6
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

//! What host and machine counted in each trial's measured window: one worth for each telemetry column.
//!
//! Counts are differenced over exactly the window, with linear interpolation between the samples around its ends;
//! readings of the moment are averaged. What was not sampled, was reset or ran backwards has no worth, which never
//! means zero. What the numbers of two contenders say together is in [`crate::explanation`].

pub mod column;
pub mod places;
pub mod shares;
mod together;
pub mod unit;
pub mod window;

use crate::latency;
use crate::missing::Missing;
use crate::validity;
use column::{rates, worth};
use record::intervals::Span;
use record::looks::Reading;
use record::run::{Run, StoredTrial};
use record::telemetry::{Behaviour, Series, Side};
use record::trial::KindTotals;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use unit::CountedUnit;
use window::SideWindow;

const MICROS_PER_MILLI: f64 = 1e3;

/// A valid trial, with what was counted around its transactions.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedTrial {
    pub cell: u32,
    pub block: u32,
    /// Of all kinds, committed or rolled back on purpose.
    pub transactions: f64,
    pub host: Result<SideCounts, Missing>,
    pub machine: Result<SideCounts, Missing>,
    /// Mean over the window, of all kinds; `None` if nothing was timed.
    pub response_ms: Option<f64>,
    /// Waits for row locks, per transaction, where the database adds them up: from the two looks within the window.
    pub lock_ms: Option<f64>,
    /// Where several machines ran side by side: each measured machine by itself, with its number. The other fields are
    /// then of all of them together. What is counted on the host as a whole is only in those.
    pub machines: Vec<(u32, CountedTrial)>,
}

/// One side's worths over the window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideCounts {
    /// The length of the window by the side's own clock.
    pub seconds: f64,
    /// The number of samples in the window.
    pub samples: usize,
    pub columns: BTreeMap<String, Counted>,
    pub unavailable: Vec<Unseen>,
}

/// A probe that saw nothing, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Unseen {
    /// `None` for what is counted only of one machine's CPUs.
    pub probe: Option<String>,
    pub why: Missing,
}

/// A column's worth over the window, in its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    pub unit: CountedUnit,
    pub behaviour: Behaviour,
    pub worth: Option<f64>,
    /// For counts: the rate per second between one sample of the window and the next.
    pub rates: Vec<CountedRate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CountedRate {
    /// The middle between the two samples, in seconds since the window began.
    pub at_s: f64,
    pub per_second: f64,
}

/// Every valid trial that has telemetry, by number.
pub fn of_run(run: &Run) -> BTreeMap<u32, CountedTrial> {
    let is_sampled = |trial: &StoredTrial| trial.each_machine().iter().any(|machine| !machine.telemetry.is_empty());
    let valid = run.trials.iter().filter(|trial| validity::is_valid(trial) && is_sampled(trial));
    valid.filter_map(|trial| Some((trial.record.id, of_trial(trial)?))).collect()
}

/// `None` if nothing was driven or nothing finished: then there is no window, or no transaction to divide by.
pub fn of_trial(trial: &StoredTrial) -> Option<CountedTrial> {
    let driver = trial.record.driver.as_ref()?;
    let transactions = driver.transactions().map(KindTotals::finished).sum::<u64>() as f64;
    (transactions > 0.0).then(|| CountedTrial {
        cell: trial.record.cell,
        block: trial.record.block,
        transactions,
        host: side(trial, Side::Host),
        machine: side(trial, Side::Machine).map(SideCounts::of_shape),
        response_ms: latency::of_parts(trial.transactions(), Span::Response)
            .mean()
            .map(|mean_us| mean_us / MICROS_PER_MILLI),
        lock_ms: lock_ms(trial, transactions),
        machines: machines(trial),
    })
}

/// Empty for a trial of one machine.
fn machines(trial: &StoredTrial) -> Vec<(u32, CountedTrial)> {
    let several = trial.measured_machines().filter(|_| !trial.machines.is_empty());
    several.filter_map(|(number, machine)| Some((number, of_trial(machine)?))).collect()
}

impl CountedTrial {
    pub fn side(&self, side: Side) -> Option<&SideCounts> {
        match side {
            Side::Host => self.host.as_ref().ok(),
            Side::Machine => self.machine.as_ref().ok(),
        }
    }
}

fn side(trial: &StoredTrial, side: Side) -> Result<SideCounts, Missing> {
    if trial.machines.is_empty() { of_side(trial, side) } else { together::side_of_all(trial, side) }
}

fn of_side(trial: &StoredTrial, side: Side) -> Result<SideCounts, Missing> {
    let series = trial.telemetry.iter().find(|series| series.side == side);
    let series = series.ok_or(Missing::NotSampled { side: Some(side) })?;
    Ok(counts(series, &window::parts_of_side(&trial.record, side)?))
}

/// Of all parts of a window.
fn counts(series: &Series, parts: &[SideWindow]) -> SideCounts {
    let column = |(place, column): (usize, &record::telemetry::Column)| {
        let points = series.samples.iter().filter_map(|sample| Some((sample.at_ns, (*sample.values.get(place)?)?)));
        let points: Vec<(u64, u64)> = points.collect();
        let factor = unit::factor(&column.unit);
        let counted = Counted {
            unit: CountedUnit::named(&column.unit),
            behaviour: column.behaviour,
            worth: worth(column.behaviour, &points, parts).map(|worth| worth * factor),
            rates: if column.behaviour == Behaviour::Counts { rates(&points, parts, factor) } else { Vec::new() },
        };
        (column.name.clone(), counted)
    };
    let unavailable = series.probes.iter().filter_map(|probe| match &probe.columns {
        Reading::Known(_) => None,
        Reading::Unavailable(why) => {
            Some(Unseen { probe: Some(probe.name.clone()), why: Missing::Unavailable { why: why.clone() } })
        }
    });
    SideCounts {
        seconds: parts.iter().map(SideWindow::seconds).sum(),
        samples: series.samples.iter().filter(|sample| parts.iter().any(|part| part.holds(sample.at_ns))).count(),
        columns: series.columns.iter().enumerate().map(column).collect(),
        unavailable: unavailable.collect(),
    }
}

/// MariaDB's name for this counter. PostgreSQL and SQLite do not add up their waits for locks.
const LOCK_TIME_MS: &str = "innodb_row_lock_time";

fn lock_ms(trial: &StoredTrial, transactions: f64) -> Option<f64> {
    let (looks, driver) = (trial.looks.as_ref()?, trial.record.driver.as_ref()?);
    let (start, end) = (looks.start.counters.get(LOCK_TIME_MS)?, looks.end.counters.get(LOCK_TIME_MS)?);
    let window_ns = driver.measured_ms as f64 * 1e6;
    // The time between the looks is a little shorter than the window.
    let waited_ms = end.checked_sub(*start)? as f64 * window_ns / looks.span_ns() as f64;
    (looks.span_ns() > 0).then_some(waited_ms / transactions)
}

#[cfg(test)]
mod tests;

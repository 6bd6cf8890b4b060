//! What host and machine counted in each trial's measured window: one worth for each column of the telemetry.
//!
//! Counts are differenced over exactly the window, linearly between the samples around its ends; readings of the moment
//! are averaged. What was not sampled, was reset or ran backwards has no worth, which is never the same as nothing. What
//! the numbers of two contenders say together is in [`crate::explanation`].

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
use record::looks::{Looks, Reading};
use record::run::{Run, StoredTrial};
use record::telemetry::{Behaviour, Series, Side};
use record::trial::KindTotals;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use unit::Unit;
use window::SideWindow;

const MICROS_PER_MILLI: f64 = 1e3;

/// A valid trial with what was counted around its transactions.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedTrial {
    pub cell: u32,
    pub block: u32,
    /// Of all kinds: committed, or rolled back on purpose.
    pub transactions: f64,
    pub host: Result<SideCounts, Missing>,
    pub machine: Result<SideCounts, Missing>,
    /// Mean over the window, of all kinds; none if nothing was timed.
    pub response_ms: Option<f64>,
    pub database: DatabaseWaits,
    /// Where several machines ran side by side, each of the measured ones by itself, with its number; the rest is then of all of
    /// them together. What is of the host as a whole is in the rest only.
    pub machines: Vec<(u32, CountedTrial)>,
}

/// One side's worths over the window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideCounts {
    /// Length of the window by the side's own clock.
    pub seconds: f64,
    /// How many samples lie in the window.
    pub samples: usize,
    pub columns: BTreeMap<String, Counted>,
    pub unavailable: Vec<Unseen>,
}

/// What saw nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Unseen {
    /// `None` of what is counted of the CPUs of a machine alone.
    pub probe: Option<String>,
    pub why: Missing,
}

/// A column's worth over the window, in its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    pub unit: Unit,
    pub behaviour: Behaviour,
    pub worth: Option<f64>,
    /// Of what counts: how much of it for each second, between one sample of the window and the next.
    pub rates: Vec<Rate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The middle between the two samples, in seconds since the window began.
    pub at_s: f64,
    pub per_second: f64,
}

/// Waits that databases count themselves, by the two looks within the window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DatabaseWaits {
    /// For locks of rows, for each transaction.
    pub lock_ms: Option<f64>,
}

/// Every valid trial that has telemetry, by its number.
pub fn of_run(run: &Run) -> BTreeMap<u32, CountedTrial> {
    let is_sampled = |trial: &StoredTrial| trial.each_machine().iter().any(|machine| !machine.telemetry.is_empty());
    let valid = run.trials.iter().filter(|trial| validity::is_valid(trial) && is_sampled(trial));
    valid.filter_map(|trial| Some((trial.record.id, of_trial(trial)?))).collect()
}

/// `None` if nothing was driven or nothing finished, for then there is no window or nothing to divide by.
pub fn of_trial(trial: &StoredTrial) -> Option<CountedTrial> {
    let driver = trial.record.driver.as_ref()?;
    let transactions = driver.transactions().map(KindTotals::finished).sum::<u64>() as f64;
    (transactions > 0.0).then(|| CountedTrial {
        cell: trial.record.cell,
        block: trial.record.block,
        transactions,
        host: side(trial, Side::Host),
        machine: side(trial, Side::Machine).map(SideCounts::of_shape),
        response_ms: mean_response_ms(trial),
        database: database_waits(trial, transactions),
        machines: machines(trial),
    })
}

/// None of a trial of one machine.
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
    let window = window::of_side(&trial.record, side)?;
    Ok(counts(series, &window))
}

fn counts(series: &Series, window: &SideWindow) -> SideCounts {
    let column = |(place, column): (usize, &record::telemetry::Column)| {
        let points = series.samples.iter().filter_map(|sample| Some((sample.at_ns, (*sample.values.get(place)?)?)));
        let points: Vec<(u64, u64)> = points.collect();
        let factor = unit::factor(&column.unit);
        let counted = Counted {
            unit: Unit::named(&column.unit),
            behaviour: column.behaviour,
            worth: worth(column.behaviour, &points, window).map(|worth| worth * factor),
            rates: if column.behaviour == Behaviour::Counts { rates(&points, window, factor) } else { Vec::new() },
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
        seconds: window.seconds(),
        samples: series.samples.iter().filter(|sample| window.holds(sample.at_ns)).count(),
        columns: series.columns.iter().enumerate().map(column).collect(),
        unavailable: unavailable.collect(),
    }
}

/// Of all kinds together.
fn mean_response_ms(trial: &StoredTrial) -> Option<f64> {
    latency::of_parts(trial.transactions(), Span::Response).mean().map(|mean_us| mean_us / MICROS_PER_MILLI)
}

/// By the name under which MariaDB counts it. PostgreSQL and SQLite do not add up their waits for locks.
const LOCK_TIME_MS: &str = "innodb_row_lock_time";

fn database_waits(trial: &StoredTrial, transactions: f64) -> DatabaseWaits {
    let waited_ms = |looks: &Looks| {
        let (start, end) = (looks.start.counters.get(LOCK_TIME_MS)?, looks.end.counters.get(LOCK_TIME_MS)?);
        let window_ns = trial.record.driver.as_ref()?.measured_ms as f64 * 1e6;
        // Between the looks lies a little less than the window.
        (looks.span_ns() > 0).then_some(end.checked_sub(*start)? as f64 * window_ns / looks.span_ns() as f64)
    };
    DatabaseWaits { lock_ms: trial.looks.as_ref().and_then(waited_ms).map(|waited_ms| waited_ms / transactions) }
}

#[cfg(test)]
mod tests;

//! How far apart on the host's clock the measured windows of a trial's machines began and ended.

use super::Consolidation;
use crate::counted::window;
use crate::findings::{Finding, What};
use crate::missing::Missing;
use record::clock::{AFTER_DRIVING, BEFORE_DRIVING};
use record::run::StoredTrial;
use record::telemetry::Side;
use record::trial::{DriverFacts, TrialRecord};
use serde::{Deserialize, Serialize};

/// Windows further apart than this did not measure the same time.
pub const LARGEST_MS: f64 = 50.0;

const NANOS_PER_MILLI: f64 = 1e6;

/// The skew of one trial, as point values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSkew {
    pub trial: u32,
    #[serde(flatten)]
    pub apart: StartsApart,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "skew", rename_all = "kebab-case")]
pub enum StartsApart {
    Known {
        /// From the first window's beginning to the last one's, at most over all phases.
        start_ms: f64,
        /// The same for their ends; `None` if the load ends with its work, which takes each machine its own time.
        end_ms: Option<f64>,
        /// How wrong these may be, since machines' clocks are compared over a round trip.
        uncertain_ms: f64,
    },
    Unknown {
        why: Missing,
    },
}

impl TrialSkew {
    /// The larger of the two.
    pub fn worst_ms(&self) -> Option<f64> {
        let StartsApart::Known { start_ms, end_ms, .. } = self.apart else { return None };
        Some(end_ms.map_or(start_ms, |end_ms| start_ms.max(end_ms)))
    }
}

pub fn of_trial(trial: &StoredTrial) -> TrialSkew {
    TrialSkew { trial: trial.record.id, apart: apart(trial).unwrap_or_else(|why| StartsApart::Unknown { why }) }
}

fn apart(trial: &StoredTrial) -> Result<StartsApart, Missing> {
    let (mut machines, mut uncertain_ns, mut ends_with_its_work) = (Vec::new(), 0, false);
    for (number, machine) in trial.measured_machines() {
        let parts = window::parts_of_side(&machine.record, Side::Host).map_err(|why| why.of_machine(number))?;
        uncertain_ns = uncertain_ns.max(round_trip_ns(&machine.record));
        ends_with_its_work |= machine.record.driver.as_ref().is_some_and(DriverFacts::ends_with_its_work);
        machines.push(parts);
    }
    let parts = machines.iter().map(Vec::len).max().unwrap_or(0);
    let starts = (0..parts)
        .filter_map(|number| spread(machines.iter().filter_map(|parts| parts.get(number)).map(|part| part.start_ns)));
    let ends = spread(machines.iter().filter_map(|parts| parts.last()).map(|part| part.end_ns));
    Ok(StartsApart::Known {
        start_ms: starts.reduce(f64::max).ok_or(Missing::NotDriven)?,
        end_ms: ends.filter(|_| !ends_with_its_work),
        uncertain_ms: uncertain_ns as f64 / NANOS_PER_MILLI,
    })
}

/// Milliseconds from the first of these moments to the last.
fn spread(moments: impl Iterator<Item = u64> + Clone) -> Option<f64> {
    let first = moments.clone().min()?;
    moments.max().map(|last| (last - first) as f64 / NANOS_PER_MILLI)
}

/// A window on the host's own clock is certain. Another is off by up to half a round trip, and two of them by a whole one.
pub fn round_trip_ns(record: &TrialRecord) -> u64 {
    let readings = record.machine.iter().flat_map(|machine| &machine.clock);
    let around = readings.filter(|reading| reading.at == BEFORE_DRIVING || reading.at == AFTER_DRIVING);
    around.filter(|_| !window::is_driven_outside(record)).map(|reading| reading.round_trip_ns).max().unwrap_or(0)
}

/// A finding on trials of a cell that did not measure all machines at the same time.
pub fn finding(one: &Consolidation) -> Option<Finding> {
    let far = |skew: &&TrialSkew| skew.worst_ms().is_some_and(|worst| worst > LARGEST_MS);
    let trials: Vec<u32> = one.skew.iter().filter(far).map(|skew| skew.trial).collect();
    let worst_ms = one.skew.iter().filter_map(TrialSkew::worst_ms).fold(0.0, f64::max);
    (!trials.is_empty()).then(|| {
        Finding::new(What::WindowsApart { worst_ms }).of(&one.contender).at(&one.coordinates).in_trials(trials)
    })
}

//! What each phase of a load yielded that ends with its work.

use super::{Better, MeasureReading, Scale, Unit};
use crate::missing::Missing;
use crate::phases::{self, PhaseFigures};
use crate::throughput;
use record::run::StoredTrial;

/// The families of these measures.
pub const RATE: &str = "phase.rate";
pub const LENGTH: &str = "phase.length";
/// Followed by a point and the name of the phase.
pub const TIME: &str = "phase.time";

/// Of several machines, that with the lowest figure.
pub fn readings(trial: &StoredTrial) -> Vec<MeasureReading> {
    let Some(machine) = throughput::slowest(trial) else { return Vec::new() };
    let Some(driver) = &machine.record.driver else { return Vec::new() };
    let unit = Unit::Own(driver.metric.unit.clone());
    match phases::of_machine(machine) {
        None => Vec::new(),
        Some(Ok(phases)) => phases.iter().flat_map(|phase| of_phase(phase, &unit)).collect(),
        Some(Err(why)) => driver.phases.iter().map(|phase| missing(&phase.name, &unit, &why)).collect(),
    }
}

fn of_phase(phase: &PhaseFigures, unit: &Unit) -> Vec<MeasureReading> {
    let PhaseFigures { name, rate, length_s, times } = phase;
    let time = |(kind, time_us): &(String, f64)| {
        MeasureReading::new(format!("{TIME}.{name}/{kind}"), Unit::Microseconds, Better::Less, Scale::Ratio, *time_us)
    };
    let rate =
        rate.map(|rate| MeasureReading::new(format!("{RATE}/{name}"), unit.clone(), Better::More, Scale::Ratio, rate));
    let length = MeasureReading::new(format!("{LENGTH}/{name}"), Unit::Seconds, Better::Less, Scale::Ratio, *length_s);
    rate.into_iter().chain([length]).chain(times.iter().map(time)).collect()
}

fn missing(name: &str, unit: &Unit, why: &Missing) -> MeasureReading {
    let reading = MeasureReading::new(format!("{RATE}/{name}"), unit.clone(), Better::More, Scale::Ratio, 0.0);
    MeasureReading { value: Err(why.clone()), ..reading }
}

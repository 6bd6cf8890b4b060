//! Counted transactions per unit of time.

use super::{Better, MeasureReading, Scale, Unit};
use crate::throughput;
use record::run::StoredTrial;

pub const THROUGHPUT: &str = "throughput";

/// Of several machines, the minimum ([`throughput::figure`]). A trial that counted nothing has no value: it allows no ratio.
pub fn readings(trial: &StoredTrial) -> Vec<MeasureReading> {
    let read = || {
        let unit = Unit::Own(throughput::metric(trial)?.unit);
        let value = throughput::figure(trial).filter(|value| *value > 0.0)?;
        Some(MeasureReading::new(THROUGHPUT, unit, Better::More, Scale::Ratio, value))
    };
    read().into_iter().collect()
}

//! Counted transactions per unit of time.

use super::{Better, Reading, Scale, Unit};
use crate::throughput;
use record::run::StoredTrial;

pub const THROUGHPUT: &str = "throughput";

/// Of several machines the least ([`throughput::figure`]). A trial that counted nothing has no value: no ratio can be made of it.
pub fn readings(trial: &StoredTrial) -> Vec<Reading> {
    let read = || {
        let unit = Unit::Own(throughput::metric(trial)?.unit);
        let value = throughput::figure(trial).filter(|value| *value > 0.0)?;
        Some(Reading::new(THROUGHPUT, unit, Better::More, Scale::Ratio, value))
    };
    read().into_iter().collect()
}

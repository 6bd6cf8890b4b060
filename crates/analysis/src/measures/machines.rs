//! What several machines side by side did together. Their throughput is that of the slowest; these say what it hides.

use super::{Better, MeasureReading, Scale, Unit};
use crate::consolidation::side_by_side;
use crate::throughput;
use record::run::StoredTrial;

pub const SUM: &str = "machines.sum";
pub const MEAN: &str = "machines.mean";
pub const APART: &str = "machines.largest_over_smallest";
/// Jain's index.
pub const FAIRNESS: &str = "machines.fairness";

/// The least possible value of a measure; an interval is cut there.
pub fn least(measure: &str) -> f64 {
    if measure == APART { 1.0 } else { 0.0 }
}

/// None of a single machine, and none where one of several did nothing.
pub fn readings(trial: &StoredTrial) -> Vec<MeasureReading> {
    let several = throughput::of_machines(trial).filter(|machines| machines.len() > 1);
    let rates = several.map(|machines| machines.into_iter().map(|(_, rate)| rate).collect::<Vec<f64>>());
    let Some(together) = rates.and_then(|rates| side_by_side::of(&rates)) else { return Vec::new() };
    let unit = || Unit::Own(trial.record.driver.as_ref().map(|driver| driver.metric.unit.clone()).unwrap_or_default());
    vec![
        MeasureReading::new(SUM, unit(), Better::More, Scale::Ratio, together.sum),
        MeasureReading::new(MEAN, unit(), Better::More, Scale::Ratio, together.mean),
        MeasureReading::new(APART, Unit::Count, Better::Less, Scale::Ratio, together.largest_over_smallest),
        MeasureReading::new(FAIRNESS, Unit::Share, Better::More, Scale::Proportion, together.fairness),
    ]
}

//! What each of several databases in one machine did, beside their total.

use crate::estimate::Estimate;
use crate::{student, throughput, validity};
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::trial::Metric;
use serde::{Deserialize, Serialize};

/// One database of the machines of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatabaseOfMany {
    pub cell: u32,
    pub contender: String,
    pub coordinates: String,
    /// Counted from 1.
    pub instance: u32,
    pub metric: Metric,
    pub throughput: Option<Estimate>,
    /// Its share of what all databases of the machine did.
    pub share: Option<Estimate>,
}

/// Those of cells with one machine that has several databases.
pub fn all(run: &Run) -> Vec<DatabaseOfMany> {
    let of_several = run.plan.cells.iter().filter(|cell| cell.instances() > 1 && cell.machines() == 1);
    of_several.flat_map(|cell| of_cell(run, cell)).collect()
}

fn of_cell(run: &Run, cell: &Cell) -> Vec<DatabaseOfMany> {
    let trials: Vec<(u32, Vec<f64>)> = validity::valid_trials(run, cell.id).filter_map(rates).collect();
    let metric =
        validity::valid_trials(run, cell.id).find_map(|trial| Some(trial.record.driver.as_ref()?.metric.clone()));
    let each = |place: usize, of: &dyn Fn(f64, &[f64]) -> f64| -> Vec<f64> {
        let values = trials.iter().filter_map(|(block, rates)| Some((*block, of(*rates.get(place)?, rates))));
        student::by_block(values).into_values().collect()
    };
    let of_instance = |instance: u16| {
        let place = usize::from(instance) - 1;
        DatabaseOfMany {
            cell: cell.id,
            contender: cell.contender.clone(),
            coordinates: cell.coordinates(),
            instance: instance.into(),
            metric: metric.clone().unwrap_or_default(),
            throughput: student::geometric_mean(&each(place, &|own, _| own)),
            share: student::mean(each(place, &|own, all| own / all.iter().sum::<f64>()))
                .map(|share| share.within(0.0, 1.0)),
        }
    };
    (1..=cell.instances()).map(of_instance).collect()
}

/// The block of a trial, and what each of its databases did.
fn rates(trial: &StoredTrial) -> Option<(u32, Vec<f64>)> {
    let rate = throughput::of_machine;
    let rates = trial.instances.iter().map(rate).collect::<Option<Vec<f64>>>()?;
    Some((trial.record.block, rates)).filter(|(_, rates)| !rates.is_empty())
}

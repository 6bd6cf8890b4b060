//! Rules on waiting for memory and on pressure in general.

use super::{Reason, Said};
use crate::counted::CountedTrial;
use crate::explanation::evidence::{BOTH, Evidence, Who, nearest_end};
use record::telemetry::Side;

const WAITED: f64 = 0.01;
const PAGES_PER_SECOND: f64 = 1.0;
const APART: f64 = 0.05;

fn share(trial: &CountedTrial, name: &str) -> Option<f64> {
    trial.side(Side::Machine)?.share(name)
}

pub fn pressure(evidence: &Evidence<'_>) -> Vec<Said> {
    let of = |who: Who| {
        let waited = evidence.value(who, &|trial| share(trial, "pressure.memory.some"))?;
        let is_so = waited.bounds.known().is_some_and(|(low, _)| low > WAITED);
        is_so.then(|| Ok(Reason::MemoryPressure { who: evidence.name(who).to_owned(), share: waited }))
    };
    BOTH.into_iter().filter_map(of).collect()
}

fn swapped(trial: &CountedTrial) -> Option<f64> {
    let machine = trial.side(Side::Machine)?;
    Some(machine.per_second("faults.swapped_in")? + machine.per_second("faults.swapped_out")?)
}

pub fn swapping(evidence: &Evidence<'_>) -> Vec<Said> {
    let of = |who: Who| {
        let pages = evidence.value(who, &swapped)?;
        let is_so = pages.bounds.known().is_some_and(|(low, _)| low > PAGES_PER_SECOND);
        is_so.then(|| Ok(Reason::Swapping { who: evidence.name(who).to_owned(), per_second: pages }))
    };
    BOTH.into_iter().filter_map(of).collect()
}

pub fn storage_pressure(evidence: &Evidence<'_>) -> Vec<Said> {
    let Some(pair) = evidence.pair(&|trial| share(trial, "pressure.io.some")) else { return Vec::new() };
    let is_so = nearest_end(&pair.difference.estimate, 0.0).is_some_and(|end| end.abs() > APART);
    let said = Ok(Reason::StoragePressure { pair: evidence.both(pair.baseline, pair.contender) });
    if is_so { vec![said] } else { Vec::new() }
}

//! What each size of a curve kept busy: CPUs, disk and load engine. A curve that bends because the load engine or the disk is at
//! its limit says nothing about the platform's CPUs.

use super::Scaling;
use crate::cells::CellResult;
use crate::estimate::Estimate;
use crate::explanation::Explanation;
use serde::{Deserialize, Serialize};

/// CPUs that are busy for so many per cent of the time, or more, are saturated.
const CPUS_SATURATED: f64 = 95.0;
/// A thread of the load engine that works for such a share of the time, or more, is.
const ENGINE_SATURATED: f64 = 0.9;

/// Of one point of a curve, by the machine's own counters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    pub cell: u32,
    /// Per cent of the time.
    pub cpus: Option<Estimate>,
    pub ms_of_a_read: Option<Estimate>,
    pub ms_of_a_write: Option<Estimate>,
    /// The share of the time that the load engine's busiest thread worked, in the worst trial.
    pub load_engine: Option<f64>,
    pub saturated: Saturated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Saturated {
    LoadEngine,
    Cpus,
    Neither,
    Unknown,
}

/// Each point of all curves once; none if no counters were compared.
pub fn all(curves: &[Scaling], cells: &[CellResult], explanations: &[Explanation]) -> Vec<Busy> {
    if explanations.iter().all(|one| one.profiles.is_empty()) {
        return Vec::new();
    }
    let mut points: Vec<u32> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.cell).collect();
    points.sort_unstable();
    points.dedup();
    let known = points.into_iter().filter_map(|point| cells.iter().find(|cell| cell.cell == point));
    known.map(|cell| of_cell(cell, explanations)).collect()
}

fn of_cell(cell: &CellResult, explanations: &[Explanation]) -> Busy {
    let figure = |profile: &str, name: &str| counted(cell, explanations, profile, name);
    let cpus = figure("system", "cpu.busy");
    let load_engine = cell.driver.as_ref().map(|driver| driver.busiest_shard);
    Busy {
        cell: cell.cell,
        saturated: saturated(cpus.as_ref(), load_engine),
        cpus,
        ms_of_a_read: figure("storage", "disk.ms_of_a_read"),
        ms_of_a_write: figure("storage", "disk.ms_of_a_write"),
        load_engine,
    }
}

fn saturated(cpus: Option<&Estimate>, load_engine: Option<f64>) -> Saturated {
    match cpus {
        _ if load_engine.is_some_and(|share| share >= ENGINE_SATURATED) => Saturated::LoadEngine,
        Some(busy) if busy.point >= CPUS_SATURATED => Saturated::Cpus,
        Some(_) => Saturated::Neither,
        None => Saturated::Unknown,
    }
}

/// From the comparison that has it, as baseline or as contender.
fn counted(cell: &CellResult, explanations: &[Explanation], profile: &str, name: &str) -> Option<Estimate> {
    let mut here = explanations.iter().filter(|one| one.coordinates == cell.coordinates);
    here.find_map(|one| {
        let mut rows = one.profiles.iter().filter(|table| table.profile == profile).flat_map(|table| &table.rows);
        let row = rows.find(|row| row.name == name)?;
        if cell.contender == one.contender {
            row.contender.clone()
        } else {
            row.baseline.clone().filter(|_| cell.contender == one.baseline)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::analyse;
    use record::synthetic;

    #[test]
    fn the_load_engine_is_named_before_the_cpus() {
        let analysis = analyse(&synthetic::run(3));
        let measured = analysis.cells[0].throughput().unwrap();
        let cpus = |point: f64| Some(Estimate { point, ..measured.clone() });
        let of = |cpus: Option<Estimate>, engine| saturated(cpus.as_ref(), Some(engine));
        assert_eq!(of(cpus(99.0), 0.95), Saturated::LoadEngine);
        assert_eq!(of(cpus(95.0), 0.5), Saturated::Cpus);
        assert_eq!(of(cpus(94.0), 0.5), Saturated::Neither);
        assert_eq!(of(None, 0.5), Saturated::Unknown);
    }
}

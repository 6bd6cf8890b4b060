//! How throughput grows with a machine's vCPUs, the number of clients, or whatever number a study varies.
//!
//! Cells of one contender that differ only in this size make a curve; if anything else changed, that could be the
//! cause. Ratios are within a block. Laws are fitted over vCPUs and clients only, through sizes whose vCPUs have a core
//! each. Larger sizes that share cores are shown, but are not part of the law.

pub mod busy;
pub mod fit;
pub mod law;
pub mod threads;

use crate::contrast::Contrast;
use crate::estimate::Estimate;
use crate::gathered::by_first;
use crate::measures::throughput::THROUGHPUT;
use crate::observations::{MeasuredValues, Observations};
use crate::pairing::Pairing;
use crate::throughput;
use crate::topology::{Topology, VcpuPlace};
use crate::validity;
use law::{AmdahlsLaw, UniversalLaw};
use record::plan::{Cell, Plan};
use record::run::{Run, StoredTrial};
use record::settings::key;
use record::trial::Metric;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The curve of one contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    pub contender: String,
    pub baseline: bool,
    /// The study's key that grows, such as `machine.vcpus`.
    pub axis: String,
    /// Scenario and swept values that all its points share; empty if there are none.
    pub held: String,
    pub metric: Metric,
    /// From the smallest size to the largest.
    pub points: Vec<ScalingPoint>,
    /// The growth from each size to the next.
    pub steps: Vec<ScalingStep>,
    /// Limits that the curve crosses, and what is unknown about them.
    pub remarks: Vec<Remark>,
    pub universal: Option<UniversalLaw>,
    pub amdahl: Option<AmdahlsLaw>,
}

/// Keys of which more may do more work. Only these have an efficiency and a law.
const RESOURCES: [&str; 2] = [key::VCPUS, key::CLIENTS];

pub fn is_resource(axis: &str) -> bool {
    RESOURCES.contains(&axis)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScalingPoint {
    pub cell: u32,
    pub size: f64,
    pub throughput: Option<Estimate>,
    /// Relative to the smallest size; there it is 1 by definition.
    pub growth: Option<Contrast>,
    /// Growth over the growth that there would be if every unit did as much as those of the smallest size.
    pub efficiency: Option<Contrast>,
    /// Where the vCPUs ran.
    pub place: VcpuPlace,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScalingStep {
    pub from: f64,
    pub to: f64,
    pub growth: Option<Contrast>,
    /// The same growth, converted to one doubling.
    pub per_doubling: Option<Contrast>,
    /// Limits crossed in this step: vCPUs begin to share cores, or spread over more memory nodes.
    pub crosses: Vec<Crossing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "crosses", rename_all = "kebab-case")]
pub enum Crossing {
    SharedCores { vcpus: f64, cores: usize },
    MemoryNodes { from: usize, to: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "remark", rename_all = "kebab-case")]
pub enum Remark {
    Crossed {
        from: f64,
        to: f64,
        what: Crossing,
    },
    CoresSharedAtEverySize,
    /// These sizes are not part of the fitted law.
    CoresSharedAtSomeSizes,
    CoresUnknown,
    NodesUnknown,
    HostIsGuest,
}

/// All curves of a run; contenders under the same conditions follow each other.
pub fn all(run: &Run, observations: &Observations) -> Vec<Scaling> {
    let Some(throughput) = observations.measure(THROUGHPUT) else { return Vec::new() };
    let of_axis = |axis: &str| {
        let families = families(run, axis).into_iter();
        let mut curves: Vec<Scaling> =
            families.map(|cells| of_cells(run, throughput, axis, &cells, &Topology::under(run, cells[0]))).collect();
        curves.sort_by(|one, other| one.held.cmp(&other.held));
        curves
    };
    axes(&run.plan).into_iter().flat_map(of_axis).collect()
}

/// The axes: resources, which may also change from scenario to scenario, and everything else that is swept.
fn axes(plan: &Plan) -> Vec<&str> {
    let swept: BTreeSet<&str> = plan.cells.iter().flat_map(|cell| cell.sweep.keys()).map(String::as_str).collect();
    RESOURCES.into_iter().chain(swept.into_iter().filter(|axis| !is_resource(axis))).collect()
}

fn size(cell: &Cell, axis: &str) -> Option<f64> {
    cell.settings.number(axis).filter(|size| *size > 0.0)
}

/// Cells of one contender that differ only in size, sorted by size; only if there are several sizes.
fn families<'a>(run: &'a Run, axis: &str) -> Vec<Vec<&'a Cell>> {
    let plain = |cell: &Cell| (cell.contender.clone(), cell.settings.without(axis));
    let sized = run.plan.cells.iter().filter(|cell| size(cell, axis).is_some());
    let families = by_first(sized.map(|cell| (plain(cell), cell)));
    let mut families: Vec<Vec<&Cell>> = families.into_iter().map(|(_, cells)| cells).collect();
    for cells in &mut families {
        let of = |cell: &&Cell| size(cell, axis).unwrap_or_default();
        cells.sort_by(|one, other| of(one).total_cmp(&of(other)));
        cells.dedup_by(|one, other| of(one).total_cmp(&of(other)).is_eq());
    }
    families.retain(|cells| cells.len() > 1);
    families
}

impl ScalingPoint {
    fn shares_cores(&self) -> bool {
        self.place.shares_cores(self.size) == Some(true)
    }
}

fn of_cells(run: &Run, throughput: &MeasuredValues, axis: &str, cells: &[&Cell], topology: &Topology) -> Scaling {
    let points: Vec<ScalingPoint> =
        cells.iter().filter_map(|cell| point(run, throughput, axis, [cells[0], cell], topology)).collect();
    let mut trials = cells.iter().flat_map(|cell| validity::valid_trials(run, cell.id));
    // Over machines, each size is a minimum of a different number of them.
    let plain = |trial: &StoredTrial| Some(trial.record.driver.as_ref()?.metric.clone());
    let metric = trials.find_map(if axis == key::COUNT { plain } else { throughput::metric });
    let steps = cells.windows(2).zip(points.windows(2));
    let steps: Vec<ScalingStep> = steps
        .map(|(cells, points)| step(growth(run, throughput, [cells[0], cells[1]]), [&points[0], &points[1]], axis))
        .collect();
    let fitted: Vec<&ScalingPoint> = if axis == key::VCPUS { on_own_cores(&points) } else { points.iter().collect() };
    let rows = complete_blocks(throughput, &fitted);
    let sizes: Vec<f64> = fitted.iter().map(|point| point.size).collect();
    Scaling {
        contender: cells[0].contender.clone(),
        baseline: cells[0].baseline,
        axis: axis.to_owned(),
        held: held(axis, cells),
        metric: metric.unwrap_or_default(),
        remarks: if axis == key::VCPUS { remarks(&points, &steps, &fitted, topology) } else { Vec::new() },
        points,
        steps,
        universal: if is_resource(axis) { law::universal(&sizes, &rows) } else { None },
        amdahl: if is_resource(axis) { law::amdahl(&sizes, &rows) } else { None },
    }
}

/// Where the vCPUs of a cell's machines ran.
fn place(run: &Run, cell: &Cell, topology: &Topology) -> Option<VcpuPlace> {
    let machine = validity::trials_of(run, cell.id).find_map(|trial| trial.record.machine.as_ref());
    Some(topology.place(cell.settings.machine().vcpus?, machine))
}

/// What all cells of a curve share, in the words of the plan.
fn held(axis: &str, cells: &[&Cell]) -> String {
    let mut shared = cells[0].clone();
    shared.sweep.remove(axis);
    if cells.iter().any(|cell| cell.scenario != shared.scenario) {
        shared.scenario = None;
    }
    shared.coordinates()
}

fn point(
    run: &Run,
    throughput: &MeasuredValues,
    axis: &str,
    [smallest, cell]: [&Cell; 2],
    topology: &Topology,
) -> Option<ScalingPoint> {
    let growth = growth(run, throughput, [smallest, cell]);
    let units = size(cell, axis)? / size(smallest, axis)?;
    Some(ScalingPoint {
        cell: cell.id,
        size: size(cell, axis)?,
        throughput: throughput.level(cell.id).map(|level| level.estimate),
        efficiency: growth.as_ref().filter(|_| is_resource(axis)).map(|growth| growth.scaled(1.0 / units, 1.0)),
        growth,
        place: if axis == key::VCPUS { place(run, cell, topology)? } else { VcpuPlace::default() },
    })
}

fn step(growth: Option<Contrast>, [from, to]: [&ScalingPoint; 2], axis: &str) -> ScalingStep {
    let doublings = doublings(from.size, to.size);
    ScalingStep {
        from: from.size,
        to: to.size,
        per_doubling: growth.as_ref().map(|growth| growth.scaled(1.0, 1.0 / doublings)),
        growth,
        crosses: if axis == key::VCPUS { crossings(from, to) } else { Vec::new() },
    }
}

fn growth(run: &Run, throughput: &MeasuredValues, [from, to]: [&Cell; 2]) -> Option<Contrast> {
    throughput.paired(&Pairing::of(run, from, to))
}

/// The number of doublings between two sizes; it may be a fraction.
fn doublings(from: f64, to: f64) -> f64 {
    (to / from).log2()
}

/// Throughput of each size, for each block that has all of them.
fn complete_blocks(throughput: &MeasuredValues, points: &[&ScalingPoint]) -> Vec<Vec<f64>> {
    let of_size = |point: &&ScalingPoint| throughput.by_block(point.cell).unwrap_or_default();
    let sizes: Vec<BTreeMap<u32, f64>> = points.iter().map(of_size).collect();
    let Some(first) = sizes.first() else { return Vec::new() };
    let of_block = |block: &u32| sizes.iter().map(|values| values.get(block).copied()).collect();
    first.keys().filter_map(of_block).collect()
}

/// The sizes to which a law is fitted: up to where vCPUs begin to share cores. If they share cores everywhere, all sizes.
fn on_own_cores(points: &[ScalingPoint]) -> Vec<&ScalingPoint> {
    let all_share = points.iter().all(ScalingPoint::shares_cores);
    points.iter().filter(|point| all_share || !point.shares_cores()).collect()
}

fn crossings(from: &ScalingPoint, to: &ScalingPoint) -> Vec<Crossing> {
    let cores = to.place.cores.filter(|_| to.shares_cores() && !from.shares_cores());
    let shared = cores.map(|cores| Crossing::SharedCores { vcpus: to.size, cores });
    let nodes = from.place.nodes.zip(to.place.nodes).filter(|(from, to)| from != to);
    shared.into_iter().chain(nodes.map(|(from, to)| Crossing::MemoryNodes { from, to })).collect()
}

fn remarks(
    points: &[ScalingPoint],
    steps: &[ScalingStep],
    fitted: &[&ScalingPoint],
    topology: &Topology,
) -> Vec<Remark> {
    let crossed = steps.iter().flat_map(|ScalingStep { from, to, crosses, .. }| {
        crosses.iter().map(|what| Remark::Crossed { from: *from, to: *to, what: *what })
    });
    let all_share = points.iter().all(ScalingPoint::shares_cores);
    let others = [
        (all_share, Remark::CoresSharedAtEverySize),
        (!all_share && fitted.len() < points.len(), Remark::CoresSharedAtSomeSizes),
        (points.iter().any(|point| point.place.cores.is_none()), Remark::CoresUnknown),
        (points.iter().any(|point| point.place.nodes.is_none()), Remark::NodesUnknown),
        (topology.is_guest, Remark::HostIsGuest),
    ];
    crossed.chain(others.into_iter().filter(|(is_so, _)| *is_so).map(|(_, remark)| remark)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_may_be_a_part_of_a_doubling_or_several() {
        assert!((doublings(2.0, 4.0) - 1.0).abs() < 1e-12 && (doublings(1.0, 4.0) - 2.0).abs() < 1e-12);
        // `(299933 / 205642) ** (1 / math.log2(45 / 30))`, from 30 to 45 vCPUs of a published study.
        assert!(((299_933.0_f64 / 205_642.0).ln() / doublings(30.0, 45.0) - 1.906_383_0_f64.ln()).abs() < 1e-6);
    }
}

//! How throughput grows with a machine's vCPUs, or with the number of clients.
//!
//! Cells of one contender that differ in nothing but this size make a curve: where anything else changes with it, that
//! may be what made the difference. Ratios are of the same block. A law is fitted through sizes whose vCPUs have a core
//! each; where the larger ones share cores they are shown, and stay out of the law.

pub mod fit;
pub mod law;

use crate::contrast::Contrast;
use crate::estimate::Estimate;
use crate::measures::throughput::THROUGHPUT;
use crate::observations::{self, Observations};
use crate::throughput;
use crate::topology::{Place, Topology};
use crate::validity;
use law::{AmdahlsLaw, Measured, UniversalLaw};
use record::plan::Cell;
use record::run::Run;
use record::settings::key;
use record::trial::Metric;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The curve of one contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    pub contender: String,
    pub baseline: bool,
    pub resource: Resource,
    /// Scenario and swept values that all its points share; empty if there are none.
    pub held: String,
    pub metric: Metric,
    /// From the smallest size to the largest.
    pub points: Vec<Point>,
    /// From each size to the next.
    pub steps: Vec<Step>,
    /// Borders that the curve crosses, and what is not known of them.
    pub remarks: Vec<Remark>,
    pub universal: Option<UniversalLaw>,
    pub amdahl: Option<AmdahlsLaw>,
}

/// What grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    Vcpus,
    Clients,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub cell: u32,
    pub size: u32,
    pub throughput: Option<Estimate>,
    /// Over the smallest size; one by definition there.
    pub growth: Option<Contrast>,
    /// Growth over what it would be if every unit did as much as those of the smallest size.
    pub efficiency: Option<Contrast>,
    /// Where the vCPUs ran.
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub from: u32,
    pub to: u32,
    pub growth: Option<Contrast>,
    /// The same growth, for as much of a doubling as the step is.
    pub per_doubling: Option<Contrast>,
    /// Whether the vCPUs begin to share cores, or spread over more memory nodes.
    pub crosses: Vec<Crossing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "crosses", rename_all = "kebab-case")]
pub enum Crossing {
    SharedCores { vcpus: u32, cores: usize },
    MemoryNodes { from: usize, to: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "remark", rename_all = "kebab-case")]
pub enum Remark {
    Crossed {
        from: u32,
        to: u32,
        what: Crossing,
    },
    CoresSharedAtEverySize,
    /// Those sizes are not part of the fitted law.
    CoresSharedAtSomeSizes,
    CoresUnknown,
    NodesUnknown,
    HostIsGuest,
}

impl Resource {
    pub const ALL: [Self; 2] = [Self::Vcpus, Self::Clients];

    /// The study's key of it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Vcpus => key::VCPUS,
            Self::Clients => key::CLIENTS,
        }
    }

    fn size(self, cell: &Cell) -> Option<u32> {
        let size = match self {
            Self::Vcpus => cell.settings.machine().vcpus,
            Self::Clients => cell.settings.load().clients,
        };
        size.filter(|size| *size > 0)
    }
}

/// All curves of a run, contenders of equal circumstances one after another.
pub fn all(run: &Run, observations: &Observations) -> Vec<Scaling> {
    let Some(throughput) = observations.measure(THROUGHPUT) else { return Vec::new() };
    let topology = Topology::of(&run.host);
    let curves = Resource::ALL.into_iter().flat_map(|resource| {
        families(run, resource).into_iter().map(move |cells| (resource, cells)).collect::<Vec<_>>()
    });
    let mut scalings: Vec<Scaling> =
        curves.map(|(resource, cells)| of_cells(run, throughput, resource, &cells, &topology)).collect();
    scalings.sort_by(|one, other| (one.resource, &one.held).cmp(&(other.resource, &other.held)));
    scalings
}

/// Cells of one contender that differ in nothing but the size, by size; only where there are several sizes.
fn families(run: &Run, resource: Resource) -> Vec<Vec<&Cell>> {
    let of_size = |cell: &&Cell| resource.size(cell).is_some();
    let plain = |cell: &Cell| (cell.contender.clone(), cell.settings.without(resource.key()));
    let mut families: Vec<Vec<&Cell>> = Vec::new();
    for cell in run.plan.cells.iter().filter(of_size) {
        match families.iter_mut().find(|cells| plain(cells[0]) == plain(cell)) {
            Some(cells) => cells.push(cell),
            None => families.push(vec![cell]),
        }
    }
    for cells in &mut families {
        cells.sort_by_key(|cell| resource.size(cell));
        cells.dedup_by_key(|cell| resource.size(cell));
    }
    families.retain(|cells| cells.len() > 1);
    families
}

/// One size with what was measured of it.
struct Sized<'a> {
    cell: &'a Cell,
    size: u32,
    place: Place,
}

fn of_cells(
    run: &Run,
    throughput: &observations::Measured,
    resource: Resource,
    cells: &[&Cell],
    topology: &Topology,
) -> Scaling {
    let all_sizes: Vec<Sized<'_>> = cells.iter().filter_map(|cell| sized(run, resource, cell, topology)).collect();
    let metric = cells.iter().flat_map(|cell| validity::valid_trials(run, cell.id)).find_map(throughput::metric);
    let steps: Vec<Step> = all_sizes.windows(2).map(|pair| step(throughput, &pair[0], &pair[1], resource)).collect();
    let fitted: Vec<&Sized<'_>> =
        if resource == Resource::Vcpus { on_own_cores(&all_sizes) } else { all_sizes.iter().collect() };
    let rows = complete_blocks(throughput, &fitted);
    let sizes: Vec<u32> = fitted.iter().map(|point| point.size).collect();
    let measured = Measured { sizes: &sizes, blocks: &rows };
    Scaling {
        contender: cells[0].contender.clone(),
        baseline: cells[0].baseline,
        resource,
        held: held(resource, cells),
        metric: metric.unwrap_or_default(),
        points: all_sizes.iter().map(|point| self::point(throughput, &all_sizes[0], point)).collect(),
        remarks: if resource == Resource::Vcpus { remarks(&all_sizes, &fitted, topology) } else { Vec::new() },
        steps,
        universal: measured.universal(),
        amdahl: measured.amdahl(),
    }
}

fn sized<'a>(run: &Run, resource: Resource, cell: &'a Cell, topology: &Topology) -> Option<Sized<'a>> {
    let size = resource.size(cell)?;
    let machine = validity::trials_of(run, cell.id).find_map(|trial| trial.record.machine.as_ref());
    let place = if resource == Resource::Vcpus { topology.place(size, machine) } else { Place::default() };
    Some(Sized { cell, size, place })
}

/// What all cells of a curve share, in the words of the plan.
fn held(resource: Resource, cells: &[&Cell]) -> String {
    let mut shared = cells[0].clone();
    shared.sweep.remove(resource.key());
    if cells.iter().any(|cell| cell.scenario != shared.scenario) {
        shared.scenario = None;
    }
    shared.coordinates()
}

fn point(throughput: &observations::Measured, smallest: &Sized<'_>, point: &Sized<'_>) -> Point {
    let units = f64::from(point.size) / f64::from(smallest.size);
    let growth = growth(throughput, smallest, point);
    Point {
        cell: point.cell.id,
        size: point.size,
        throughput: throughput.level(point.cell.id).map(|level| level.estimate),
        efficiency: growth.as_ref().map(|growth| growth.scaled(1.0 / units, 1.0)),
        growth,
        place: point.place,
    }
}

fn step(throughput: &observations::Measured, from: &Sized<'_>, to: &Sized<'_>, resource: Resource) -> Step {
    let growth = growth(throughput, from, to);
    let doublings = doublings(from.size, to.size);
    Step {
        from: from.size,
        to: to.size,
        per_doubling: growth.as_ref().map(|growth| growth.scaled(1.0, 1.0 / doublings)),
        growth,
        crosses: if resource == Resource::Vcpus { crossings(from, to) } else { Vec::new() },
    }
}

fn growth(throughput: &observations::Measured, from: &Sized<'_>, to: &Sized<'_>) -> Option<Contrast> {
    throughput.paired(from.cell.id, to.cell.id, |_| true)
}

/// How many doublings lie between two sizes: a part of one, or several.
fn doublings(from: u32, to: u32) -> f64 {
    (f64::from(to) / f64::from(from)).log2()
}

/// Throughput of each size, for each block that has them all.
fn complete_blocks(throughput: &observations::Measured, points: &[&Sized<'_>]) -> Vec<Vec<f64>> {
    let of_size = |point: &&Sized<'_>| throughput.by_block(point.cell.id).unwrap_or_default();
    let sizes: Vec<BTreeMap<u32, f64>> = points.iter().map(of_size).collect();
    let Some(first) = sizes.first() else { return Vec::new() };
    let of_block = |block: &u32| sizes.iter().map(|values| values.get(block).copied()).collect();
    first.keys().filter_map(of_block).collect()
}

/// The sizes that a law is fitted through: up to where vCPUs begin to share cores. Where they all do, all.
fn on_own_cores<'a, 'b>(sized: &'b [Sized<'a>]) -> Vec<&'b Sized<'a>> {
    let shares = |point: &Sized<'_>| point.place.shares_cores(point.size) == Some(true);
    let all_share = sized.iter().all(shares);
    sized.iter().filter(|point| all_share || !shares(point)).collect()
}

fn crossings(from: &Sized<'_>, to: &Sized<'_>) -> Vec<Crossing> {
    let mut crossed = Vec::new();
    let shares = |point: &Sized<'_>| point.place.shares_cores(point.size);
    if let (false, Some(true), Some(cores)) = (shares(from) == Some(true), shares(to), to.place.cores) {
        crossed.push(Crossing::SharedCores { vcpus: to.size, cores });
    }
    if let (Some(before), Some(after)) = (from.place.nodes, to.place.nodes)
        && before != after
    {
        crossed.push(Crossing::MemoryNodes { from: before, to: after });
    }
    crossed
}

fn remarks(sized: &[Sized<'_>], fitted: &[&Sized<'_>], topology: &Topology) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for pair in sized.windows(2) {
        let (from, to) = (pair[0].size, pair[1].size);
        remarks.extend(crossings(&pair[0], &pair[1]).into_iter().map(|what| Remark::Crossed { from, to, what }));
    }
    let shares = |point: &&Sized<'_>| point.place.shares_cores(point.size) == Some(true);
    if sized.iter().all(|point| shares(&point)) {
        remarks.push(Remark::CoresSharedAtEverySize);
    } else if fitted.len() < sized.len() {
        remarks.push(Remark::CoresSharedAtSomeSizes);
    }
    if sized.iter().any(|point| point.place.cores.is_none()) {
        remarks.push(Remark::CoresUnknown);
    }
    if sized.iter().any(|point| point.place.nodes.is_none()) {
        remarks.push(Remark::NodesUnknown);
    }
    if topology.is_guest {
        remarks.push(Remark::HostIsGuest);
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_may_be_a_part_of_a_doubling_or_several() {
        assert!((doublings(2, 4) - 1.0).abs() < 1e-12 && (doublings(1, 4) - 2.0).abs() < 1e-12);
        // `(299933 / 205642) ** (1 / math.log2(45 / 30))`, from 30 to 45 vCPUs of a published study.
        assert!(((299_933.0_f64 / 205_642.0).ln() / doublings(30, 45) - 1.906_383_0_f64.ln()).abs() < 1e-6);
    }
}

//! What one machine achieves alone, and what a host gives to one machine: the one-machine cells that others are compared with.

use crate::estimate::Estimate;
use crate::measures::Scale;
use crate::measures::machines::SUM;
use crate::measures::throughput::THROUGHPUT;
use crate::observations::{MeasuredValues, Observations};
use crate::pairing::Pairing;
use crate::validity;
use record::plan::{Cell, Plan};
use record::run::Run;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Memory is divided among machines in whole pages or MiB, so the parts may be up to this share less than the whole.
const MEMORY_ALIKE: f64 = 0.02;

/// A cell of one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AloneCell {
    pub cell: u32,
    pub contender: String,
    pub coordinates: String,
}

impl AloneCell {
    pub fn of(cell: &Cell) -> Self {
        Self { cell: cell.id, contender: cell.contender.clone(), coordinates: cell.coordinates() }
    }
}

/// What all machines achieve together, divided by what one machine achieves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Efficiency {
    pub reference: AloneCell,
    /// True if that one machine has as many vCPUs and as much memory as all of these together.
    pub same_total: bool,
    pub value: Estimate,
}

/// The tables of a cell's settings that decide what its clients do, the last one how many.
const WORK: [&str; 2] = ["engine", "workload"];
const WORK_AND_LOAD: [&str; 3] = ["engine", "workload", "load"];

/// The cell in which one machine of the same contender, size and load runs alone.
pub fn of_one<'a>(plan: &'a Plan, cell: &Cell) -> Option<&'a Cell> {
    let is_such = |one: &&Cell| one.contender == cell.contender && size(one) == size(cell);
    of_single_machines(plan, cell, &WORK_AND_LOAD).find(is_such)
}

/// The cell in which one machine of the baseline runs alone under the same load: with all CPUs and memory of these together, or else as
/// large as each of them, or else the first.
pub fn of_baseline<'a>(plan: &'a Plan, cell: &Cell) -> Option<&'a Cell> {
    let found = of_single_machines(plan, cell, &WORK_AND_LOAD).filter(|one| one.baseline && !cell.baseline);
    found.min_by_key(|one| (!has_same_total(one, cell), size(one) != size(cell)))
}

/// Those with the same values in these tables.
fn of_single_machines<'a>(plan: &'a Plan, cell: &Cell, tables: &[&str]) -> impl Iterator<Item = &'a Cell> {
    plan.cells.iter().filter(move |one| one.machines() == 1 && is_same(one, cell, tables))
}

fn is_same(one: &Cell, other: &Cell, tables: &[&str]) -> bool {
    tables.iter().all(|table| one.settings.tables().get(*table) == other.settings.tables().get(*table))
}

/// vCPUs and memory of each machine.
fn size(cell: &Cell) -> (Option<u32>, Option<u64>) {
    let machine = cell.settings.machine();
    (machine.vcpus, machine.memory_bytes)
}

/// Values of several machines by block over what one does. They are paired like every ratio of two cells, over the blocks in which
/// each of the machines did something.
pub fn over(
    run: &Run,
    observations: &Observations,
    [one, several]: [&Cell; 2],
    own: impl FnOnce(&MeasuredValues) -> Option<BTreeMap<u32, f64>>,
) -> Option<Estimate> {
    let throughput = observations.measure(THROUGHPUT)?;
    let slowest = throughput.by_block(several.id)?;
    let mut own = own(throughput)?;
    own.retain(|block, _| slowest.contains_key(block));
    let (pairing, base) = (Pairing::planned(&run.plan, one, several), throughput.by_block(one.id)?);
    Some(throughput.paired_on(Scale::Ratio, &pairing, [&base, &own])?.estimate)
}

/// The sum of all machines over one machine: the baseline's with the same vCPUs and memory in total, otherwise the same
/// contender's. `None` if the study has neither.
pub fn efficiency(run: &Run, observations: &Observations, cell: &Cell) -> Option<Efficiency> {
    let is_valid = |one: &&Cell| validity::valid_trials(run, one.id).next().is_some();
    let candidates = || of_single_machines(&run.plan, cell, &WORK).filter(is_valid);
    let whole = candidates().filter(|one| one.baseline && has_same_total(one, cell));
    let own = candidates().filter(|one| one.contender == cell.contender);
    // The cell with the same load comes first, then the same size; among equals, the first of the plan.
    let nearest = |one: &&Cell| (!is_same(one, cell, &["load"]), !has_same_total(one, cell), size(one) != size(cell));
    let reference = whole.min_by_key(nearest).or_else(|| own.min_by_key(nearest))?;
    Some(Efficiency {
        reference: AloneCell::of(reference),
        same_total: has_same_total(reference, cell),
        value: over(run, observations, [reference, cell], |_| observations.measure(SUM)?.by_block(cell.id))?,
    })
}

fn has_same_total(one: &Cell, several: &Cell) -> bool {
    let count = several.machines();
    let ((vcpus, memory), (each_vcpus, each_memory)) = (size(one), size(several));
    let near =
        |whole: u64, each: u64| whole.abs_diff(each.saturating_mul(count.into())) as f64 <= MEMORY_ALIKE * whole as f64;
    vcpus.is_some()
        && vcpus == each_vcpus.map(|each| each.saturating_mul(count))
        && memory.zip(each_memory).is_some_and(|(whole, each)| near(whole, each))
}

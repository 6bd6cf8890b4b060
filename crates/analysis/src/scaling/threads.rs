//! What second hardware threads add: the same number of cores with one vCPU each, and with two.
//!
//! No curve is fitted across that step, since a second thread is not a second core. So its gain is an estimate of its own.

use super::place;
use crate::contrast::Contrast;
use crate::measures::throughput::THROUGHPUT;
use crate::observations::Observations;
use crate::pairing::Pairing;
use crate::topology::Topology;
use record::plan::Cell;
use record::run::Run;
use record::settings::key;
use serde::{Deserialize, Serialize};

/// One contender on the same number of cores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadGain {
    pub contender: String,
    pub cores: usize,
    /// The cell with a vCPU for each core, and the one with a vCPU for each of their threads.
    pub one_each: u32,
    pub two_each: u32,
    /// Throughput of the second, of that of the first.
    pub gain: Option<Contrast>,
}

pub fn gains(run: &Run, observations: &Observations) -> Vec<ThreadGain> {
    let Some(throughput) = observations.measure(THROUGHPUT) else { return Vec::new() };
    let placed: Vec<(&Cell, usize, usize)> = run.plan.cells.iter().filter_map(|cell| on_cores(run, cell)).collect();
    let mut gains = Vec::new();
    for (one, vcpus, cores) in placed.iter().filter(|(_, vcpus, cores)| vcpus == cores) {
        let doubled = placed.iter().filter(|(_, both, on)| *both == 2 * vcpus && on == cores);
        for (two, ..) in doubled.filter(|(two, ..)| are_alike(one, two)) {
            gains.push(ThreadGain {
                contender: one.contender.clone(),
                cores: *cores,
                one_each: one.id,
                two_each: two.id,
                gain: throughput.paired(&Pairing::of(run, one, two)),
            });
        }
    }
    gains
}

/// The cell, its vCPUs, and the cores that they were held to.
fn on_cores<'a>(run: &Run, cell: &'a Cell) -> Option<(&'a Cell, usize, usize)> {
    let topology = Some(Topology::under(run, cell)).filter(Topology::has_second_threads)?;
    Some((cell, usize::try_from(cell.settings.machine().vcpus?).ok()?, place(run, cell, &topology)?.cores?))
}

/// Whether two cells differ in nothing but the vCPUs and where they run.
fn are_alike(one: &Cell, other: &Cell) -> bool {
    let plain = |cell: &Cell| {
        let mut tables = cell.settings.without(key::VCPUS);
        if let Some(machine) = tables.get_mut("machine").and_then(|table| table.as_object_mut()) {
            machine.shift_remove("pinning");
            machine.shift_remove("cpus");
        }
        tables
    };
    one.contender == other.contender && plain(one) == plain(other)
}

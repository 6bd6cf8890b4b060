//! Where each machine ran and when it was started, by the record: one level of each label for each machine of
//! each trial.

use super::{LabelAttribution, LabelKind, Untold};
use crate::consolidation::TrialReadings;
use crate::machines::known;
use crate::topology::{Topology, cpus_in};
use record::facts::{HOST_CPUS, PLACE, START_ORDER};
use record::run::StoredTrial;
use record::trial::MachineFacts;
use std::collections::{BTreeMap, BTreeSet};

/// One machine of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineReading {
    pub trial: u32,
    pub block: u32,
    pub machine: u32,
    pub rate: f64,
    pub place: Option<MachinePlace>,
    /// Its position in the start order.
    pub start: Option<u32>,
}

/// Where a machine ran.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MachinePlace {
    /// Its CPUs; places are sorted by them.
    cpus: Vec<usize>,
    /// "cpus/0-1", or "place/1" if the record does not name CPUs.
    pub name: String,
    /// The memory node of its CPUs, if it is known and there are several nodes.
    pub node: Option<String>,
}

/// A label, and the level of each reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub kind: LabelKind,
    pub levels: Vec<String>,
    pub level_of: Vec<usize>,
    /// The node of each place, if there are several nodes and all are known.
    pub nodes: Vec<String>,
}

impl Label {
    pub fn has_nodes_of_several_places(&self) -> bool {
        self.nodes.iter().collect::<BTreeSet<_>>().len() < self.nodes.len()
    }
}

/// Every machine of the trials that have scores, ordered by block, trial and number.
pub fn readings<'a>(
    scores: &[TrialReadings],
    trials: impl Iterator<Item = &'a StoredTrial>,
    host: &Topology,
) -> Vec<MachineReading> {
    let trials: BTreeMap<u32, &StoredTrial> = trials.map(|trial| (trial.record.id, trial)).collect();
    let of_trial = |scored: &TrialReadings| {
        let machines = trials.get(&scored.trial).into_iter().flat_map(|trial| trial.measured_machines());
        let facts: BTreeMap<u32, &MachineFacts> =
            machines.filter_map(|(number, machine)| Some((number, machine.record.machine.as_ref()?))).collect();
        let reading = |(machine, rate): &(u32, f64)| MachineReading {
            trial: scored.trial,
            block: scored.block,
            machine: *machine,
            rate: *rate,
            place: facts.get(machine).and_then(|facts| place(facts, host)),
            start: facts.get(machine).and_then(|facts| known(facts.decided.get(START_ORDER)?)?.parse().ok()),
        };
        scored.machines.iter().map(reading).collect::<Vec<_>>()
    };
    let mut readings: Vec<MachineReading> = scores.iter().flat_map(of_trial).collect();
    readings.sort_by_key(|reading| (reading.block, reading.trial, reading.machine));
    readings
}

/// A place is its CPUs, not its number: places that share CPUs are one place, and all are one if machines may run anywhere.
fn place(facts: &MachineFacts, host: &Topology) -> Option<MachinePlace> {
    let of_number = |number: usize| MachinePlace { cpus: vec![number], name: format!("place/{number}"), node: None };
    let decided = |name: &str| facts.decided.get(name).and_then(known);
    let number = || decided(PLACE)?.parse().ok().map(of_number);
    decided(HOST_CPUS).and_then(|cpus| MachinePlace::of_cpus(cpus, host)).or_else(number)
}

impl MachinePlace {
    pub fn of_cpus(text: &str, host: &Topology) -> Option<Self> {
        let cpus = cpus_in(text)?;
        let name = format!("cpus/{text}");
        let node = host.node_of(&cpus).map(|node| format!("node/{node}"));
        Some(Self { cpus: cpus.into_iter().collect(), name, node })
    }
}

/// Leaves out trials that lack a label which others have, since its effect could not be separated for their machines.
pub fn complete(readings: Vec<MachineReading>) -> Vec<MachineReading> {
    let has_places = readings.iter().any(|reading| reading.place.is_some());
    let has_starts = readings.iter().any(|reading| reading.start.is_some());
    let lacks =
        |reading: &MachineReading| (has_places && reading.place.is_none()) || (has_starts && reading.start.is_none());
    let incomplete: Vec<u32> = readings.iter().filter(|reading| lacks(reading)).map(|reading| reading.trial).collect();
    readings.into_iter().filter(|reading| !incomplete.contains(&reading.trial)).collect()
}

/// The labels of the model that distinguish machines in these trials; for the others, why they do not.
pub fn labels(readings: &[MachineReading]) -> Vec<Result<Label, LabelAttribution>> {
    let places: Option<Vec<&MachinePlace>> = readings.iter().map(|reading| reading.place.as_ref()).collect();
    let starts: Option<Vec<u32>> = readings.iter().map(|reading| reading.start).collect();
    let machines = readings.iter().map(|reading| reading.machine).collect();
    let nodes = places.as_deref().map(nodes).unwrap_or_default();
    let of_places = label(LabelKind::Place, places, |place| place.name.clone());
    vec![
        label(LabelKind::Machine, Some(machines), u32::to_string),
        of_places.map(|places| Label { nodes, ..places }),
        label(LabelKind::StartOrder, starts, u32::to_string),
    ]
}

/// The node of each distinct place; empty unless there are several nodes.
fn nodes(places: &[&MachinePlace]) -> Vec<String> {
    let distinct: BTreeSet<&MachinePlace> = places.iter().copied().collect();
    let nodes: Option<Vec<String>> = distinct.into_iter().map(|place| place.node.clone()).collect();
    let nodes = nodes.unwrap_or_default();
    let are_several = nodes.iter().any(|node| *node != nodes[0]);
    if are_several { nodes } else { Vec::new() }
}

fn label<T: Ord>(
    kind: LabelKind,
    values: Option<Vec<T>>,
    name: impl Fn(&T) -> String,
) -> Result<Label, LabelAttribution> {
    let values = values.ok_or_else(|| LabelAttribution::untold(kind, Untold::NotRecorded))?;
    let distinct: BTreeSet<&T> = values.iter().collect();
    if distinct.len() < 2 {
        return Err(LabelAttribution::untold(kind, Untold::SameForAll));
    }
    let number: BTreeMap<&T, usize> = distinct.iter().copied().zip(0..).collect();
    let level_of = values.iter().map(|value| number[value]).collect();
    Ok(Label { kind, levels: distinct.into_iter().map(name).collect(), level_of, nodes: Vec::new() })
}

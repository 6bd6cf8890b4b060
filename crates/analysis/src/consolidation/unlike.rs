//! What the machines of a trial should share but do not. The worst-off one may then be a different kind of machine.
//!
//! Shapes are the cell's, so only what was read back can differ. Settings that say where a server lives (its port, its
//! folder) differ wherever machines share a system, and are ignored.

use super::Consolidation;
use crate::consistency::loaded_data::checksum;
use crate::findings::{Finding, OfMachines, Property, What, gathered};
use crate::gathered::by_key;
use crate::machines::known;
use crate::settings;
use record::facts::PROCESSOR;
use record::run::StoredTrial;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts that a machine reports about itself and that its shape decides.
const THREADS: &str = "cpu.threads";
const MEMORY: &str = "memory.total_bytes";
/// Kernels of equal guests keep a few pages more or less for themselves when they boot.
const MEMORY_TOLERANCE: f64 = 0.001;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlike {
    pub trial: u32,
    pub properties: Vec<Property>,
}

/// `None` if all machines are alike, or there is only one.
pub fn of_trial(trial: &StoredTrial) -> Option<Unlike> {
    let of_machine = |(number, machine): (u32, &StoredTrial)| {
        properties(machine).into_iter().map(move |(name, value)| (name, (value, number))).collect::<Vec<_>>()
    };
    let seen: BTreeMap<String, Vec<(String, u32)>> = by_key(trial.measured_machines().flat_map(of_machine));
    let property = |(name, values): (String, Vec<(String, u32)>)| {
        let values: BTreeMap<String, Vec<u32>> = by_key(values);
        let differ = values.len() > 1 && !(name == MEMORY && are_close(&values));
        let values = values.into_iter().map(|(value, machines)| OfMachines { value, machines }).collect();
        differ.then_some(Property { name, values })
    };
    let properties: Vec<Property> = seen.into_iter().filter_map(property).collect();
    (!properties.is_empty()).then_some(Unlike { trial: trial.record.id, properties })
}

fn are_close(values: &BTreeMap<String, Vec<u32>>) -> bool {
    let numbers: Option<Vec<u64>> = values.keys().map(|value| value.parse().ok()).collect();
    numbers.is_some_and(|numbers| {
        let most = numbers.iter().copied().max().unwrap_or(0);
        numbers.iter().all(|number| (most - number) as f64 <= MEMORY_TOLERANCE * most as f64)
    })
}

/// Everything that must be alike, by name. What is unknown about a machine is left out.
fn properties(machine: &StoredTrial) -> Vec<(String, String)> {
    let (facts, server) = (machine.record.machine.as_ref(), machine.record.server.as_ref());
    let inside = |name: &str| Some(known(facts?.inside.get(name)?)?.to_owned());
    // Work that ends takes each machine its own time.
    let driver = machine.record.driver.as_ref().filter(|driver| !driver.ends_with_its_work());
    let named = [
        ("platform", facts.map(|facts| facts.platform.clone())),
        ("image", facts.map(|facts| facts.image.clone())),
        (PROCESSOR, facts.and_then(|facts| Some(facts.decided.get(PROCESSOR)?.kind()))),
        (THREADS, inside(THREADS)),
        (MEMORY, inside(MEMORY)),
        ("engine", server.map(|server| server.engine.clone())),
        ("version", server.map(|server| server.version.clone())),
        ("profile", server.map(|server| server.profile.clone())),
        ("measured_ms", driver.map(|driver| driver.measured_ms.to_string())),
    ];
    let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let settings = server.into_iter().flat_map(|server| &server.effective);
    let settings = settings.filter(|(name, _)| !settings::PLACES.contains(&name.as_str()));
    let settings = settings.map(|(name, value)| (format!("setting/{name}"), value.clone()));
    let sums = machine.findings.iter().filter_map(checksum);
    let sums = sums.map(|(table, sum)| (format!("table/{table}"), sum.to_owned()));
    named.chain(settings).chain(sums).collect()
}

/// The same difference in several trials is reported once, with the trials.
pub fn findings(found: &[Consolidation]) -> Vec<Finding> {
    gathered(found.iter().flat_map(|one| {
        one.unlike.iter().map(move |unlike| {
            let what = What::MachinesUnlike { properties: unlike.properties.clone() };
            (Finding::new(what).of(&one.contender).at(&one.coordinates), unlike.trial)
        })
    }))
}

//! What the machines of a trial should share but do not. The worst-off one may then be a different kind of machine.
//!
//! Shapes are the cell's, so only what was read back can differ. Settings that say where a server lives (its port, its
//! folder) differ wherever machines share a system, and are ignored.

use super::Consolidation;
use crate::findings::{Finding, OfMachines, Property, What, gathered};
use crate::settings;
use record::check::{CheckResult, Verdict};
use record::facts::{Fact, PROCESSOR};
use record::run::StoredTrial;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts that a machine reports about itself and that its shape decides.
const SHAPE: [&str; 2] = ["cpu.threads", MEMORY];
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
    let mut seen: BTreeMap<String, BTreeMap<String, Vec<u32>>> = BTreeMap::new();
    for (number, machine) in trial.measured_machines() {
        for (name, value) in properties(machine) {
            seen.entry(name).or_default().entry(value).or_default().push(number);
        }
    }
    let differing =
        seen.into_iter().filter(|(name, values)| values.len() > 1 && !(name == MEMORY && are_close(values)));
    let property = |(name, values): (String, BTreeMap<String, Vec<u32>>)| {
        let values = values.into_iter().map(|(value, machines)| OfMachines { value, machines }).collect();
        Property { name, values }
    };
    let properties: Vec<Property> = differing.map(property).collect();
    (!properties.is_empty()).then_some(Unlike { trial: trial.record.id, properties })
}

fn are_close(values: &BTreeMap<String, Vec<u32>>) -> bool {
    let numbers: Option<Vec<u64>> = values.keys().map(|value| value.parse().ok()).collect();
    let Some((least, most)) = numbers.and_then(|all| Some((*all.iter().min()?, *all.iter().max()?))) else {
        return false;
    };
    (most - least) as f64 <= MEMORY_TOLERANCE * most as f64
}

/// Everything that must be alike, by name. What is unknown about a machine is left out.
fn properties(machine: &StoredTrial) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut add = |name: &str, value: String| found.push((name.to_owned(), value));
    if let Some(facts) = &machine.record.machine {
        add("platform", facts.platform.clone());
        add("image", facts.image.clone());
        if let Some(processor) = facts.decided.get(PROCESSOR) {
            add(PROCESSOR, processor.kind());
        }
        for name in SHAPE {
            if let Some(Fact::Known(text)) = facts.inside.get(name) {
                add(name, text.clone());
            }
        }
    }
    if let Some(server) = &machine.record.server {
        add("engine", server.engine.clone());
        add("version", server.version.clone());
        add("profile", server.profile.clone());
        for (name, value) in server.effective.iter().filter(|(name, _)| !settings::PLACES.contains(&name.as_str())) {
            add(&format!("setting/{name}"), value.clone());
        }
    }
    if let Some(driver) = &machine.record.driver {
        // Work that ends takes each machine its own time.
        if !driver.ends_with_its_work() {
            add("measured_ms", driver.measured_ms.to_string());
        }
    }
    for (table, sum) in machine.findings.iter().filter_map(checksum) {
        add(&format!("table/{table}"), sum.to_owned());
    }
    found
}

fn checksum(finding: &CheckResult) -> Option<(&str, &str)> {
    let table = finding.checksum_of()?;
    match &finding.verdict {
        Verdict::Holds { seen } => Some((table, seen.as_deref()?)),
        Verdict::Violated { seen } => Some((table, seen)),
        Verdict::Undecided { .. } => None,
    }
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

//! What machines were, as far as it decides what may be compared: their processor and the place of their data.

use crate::findings::{Finding, Shared, What};
use crate::groups;
use crate::validity;
use record::facts::{EMULATED, Fact, PROCESSOR};
use record::run::Run;
use record::trial::MachineFacts;
use std::collections::{BTreeMap, BTreeSet};

/// What a platform decided about the place of the data is kept under names that begin like these.
const STORAGE: [&str; 2] = ["storage", "data"];

/// What a machine sees of the place of its data that must be the same for all contenders.
const STORAGE_INSIDE: &str = "storage.file_system";

/// How a cell's machines ran their instructions, in a word or two; `None` if no machine was started.
pub fn processor(run: &Run, cell: u32) -> Option<String> {
    let machines = validity::trials_of(run, cell).filter_map(|trial| trial.record.machine.as_ref());
    let kinds: BTreeSet<String> =
        machines.filter_map(|machine| machine.decided.get(PROCESSOR)).map(Fact::kind).collect();
    (!kinds.is_empty()).then(|| kinds.into_iter().collect::<Vec<_>>().join(" | "))
}

/// Whether a machine was interpreted by software: nobody runs a database like that, so its speed is no platform's.
pub fn is_emulated(machine: &MachineFacts) -> bool {
    machine.decided.get(PROCESSOR).is_some_and(|processor| processor.kind() == EMULATED)
}

/// Why it was, with the word that leads to the reason: "emulated, because KVM does not work".
pub fn how_emulated(machine: &MachineFacts) -> Option<String> {
    is_emulated(machine).then(|| machine.decided[PROCESSOR].to_string())
}

/// Where contenders of a group kept their data in different places.
pub fn storage_differences(run: &Run, group: &groups::Group<'_>) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for cell in &group.cells {
        let machine = validity::trials_of(run, cell.id).find_map(|trial| trial.record.machine.as_ref());
        let decided = machine.into_iter().flat_map(|machine| &machine.decided);
        let decided = decided.filter(|(name, _)| STORAGE.iter().any(|opening| name.starts_with(opening)));
        let inside = machine.into_iter().flat_map(|machine| &machine.inside);
        for (name, fact) in decided.chain(inside.filter(|(name, _)| *name == STORAGE_INSIDE)) {
            seen.entry(name).or_default().entry(fact.kind()).or_default().push(cell.contender.clone());
        }
    }
    let differing = seen.into_iter().filter(|(_, kinds)| kinds.len() > 1);
    let finding = |(fact, kinds): (&str, BTreeMap<String, Vec<String>>)| {
        let values = kinds.into_iter().map(|(value, contenders)| Shared { value, contenders }).collect();
        Finding::new(What::StorageDiffers { fact: fact.to_owned(), values }).at(&group.coordinates)
    };
    differing.map(finding).collect()
}

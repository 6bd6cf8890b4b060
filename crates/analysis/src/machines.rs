//! The properties of machines that decide what may be compared: their processor and the place of their data.

use crate::findings::{Finding, InTrials, Shared, What};
use crate::groups;
use crate::treatment;
use crate::validity;
use record::facts::{EMULATED, Fact, PROCESSOR, RUNTIME, SYSTEM_CALLS};
use record::run::Run;
use record::trial::MachineFacts;
use std::collections::{BTreeMap, BTreeSet};

/// Prefixes of the facts about the place of the data that a platform decided.
const STORAGE: [&str; 2] = ["storage", "data"];

/// The one fact about the place of its data that a machine observes and that must be equal for all contenders.
const STORAGE_INSIDE: &str = "storage.file_system";

/// What a machine says of itself as long as it is the same one, whenever it is started.
const LASTING: [&str; 3] = ["cpu.model", "cpu.threads", "kernel.release"];

/// How a cell's machines ran their instructions, in a word or two; `None` if no machine was started.
pub fn processor(run: &Run, cell: u32) -> Option<String> {
    let machines = validity::trials_of(run, cell).filter_map(|trial| trial.record.machine.as_ref());
    let kinds: BTreeSet<String> =
        machines.filter_map(|machine| machine.decided.get(PROCESSOR)).map(Fact::kind).collect();
    (!kinds.is_empty()).then(|| kinds.into_iter().collect::<Vec<_>>().join(" | "))
}

/// What made a cell's containers, and what stands between them and the host's kernel: "runsc 1.0, system calls by gVisor".
pub fn runtime(run: &Run, cell: u32) -> Option<String> {
    let machines = validity::trials_of(run, cell).filter_map(|trial| trial.record.machine.as_ref());
    let told = machines.filter_map(|machine| {
        let runtime = machine.decided.get(RUNTIME)?.kind();
        let between = machine.decided.get(SYSTEM_CALLS).filter(|_| machine.has_a_kernel_between());
        Some(
            between.map_or_else(|| runtime.clone(), |answers| format!("{runtime}, system calls by {}", answers.kind())),
        )
    });
    let runtimes: BTreeSet<String> = told.collect();
    (!runtimes.is_empty()).then(|| runtimes.into_iter().collect::<Vec<_>>().join(" | "))
}

/// True if software interpreted the machine's instructions: nobody runs a database that way, so its speed is no platform's.
pub fn is_emulated(machine: &MachineFacts) -> bool {
    machine.decided.get(PROCESSOR).is_some_and(|processor| processor.kind() == EMULATED)
}

/// Why it was emulated, beginning with that word: "emulated, because KVM does not work".
pub fn how_emulated(machine: &MachineFacts) -> Option<String> {
    is_emulated(machine).then(|| machine.decided[PROCESSOR].to_string())
}

/// Findings where a contender's machines were not the same in all its trials, as on a host with a new kernel. Each host of several has
/// its own, and so has each of several machines.
pub fn changes(run: &Run) -> Vec<Finding> {
    let host = |trial: u32| run.plan.trials.iter().find(|planned| planned.id == trial)?.host.as_deref();
    let mut seen: BTreeMap<_, BTreeMap<String, Vec<u32>>> = BTreeMap::new();
    for trial in &run.trials {
        let (id, contender) = (trial.record.id, trial.record.contender.as_str());
        for (number, machine) in trial.each_machine().iter().enumerate() {
            let inside = machine.record.machine.iter().flat_map(|machine| &machine.inside);
            for (fact, value) in inside.filter(|(fact, _)| LASTING.contains(&fact.as_str())) {
                let Fact::Known(value) = value else { continue };
                let of_machine =
                    seen.entry((trial.record.cell, contender, host(id), number, fact.as_str())).or_default();
                of_machine.entry(value.clone()).or_default().push(id);
            }
        }
    }
    let changed = seen.into_iter().filter(|(_, values)| values.len() > 1);
    let mut findings: Vec<Finding> = Vec::new();
    for ((_, contender, _, _, fact), values) in changed {
        let values = values.into_iter().map(|(value, trials)| InTrials { value, trials }).collect();
        let finding = Finding::new(What::MachineChanged { fact: fact.to_owned(), values }).of(contender);
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings
}

/// Findings where contenders of a group kept their data in different places.
pub fn storage_differences(run: &Run, group: &groups::Group<'_>) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for cell in &group.cells {
        let machine = validity::trials_of(run, cell.id).find_map(|trial| trial.record.machine.as_ref());
        let decided = machine.into_iter().flat_map(|machine| &machine.decided);
        let decided = decided.filter(|(name, _)| STORAGE.iter().any(|opening| name.starts_with(opening)));
        // The file system that gVisor shows is its own way to the file system of the host, which `decided` tells.
        let seen_by_itself = machine.filter(|machine| !machine.has_a_kernel_between());
        let inside = seen_by_itself.into_iter().flat_map(|machine| &machine.inside);
        for (name, fact) in decided.chain(inside.filter(|(name, _)| *name == STORAGE_INSIDE)) {
            seen.entry(name).or_default().entry(fact.kind()).or_default().push(cell.contender.clone());
        }
    }
    let differing = seen.into_iter().filter(|(_, kinds)| kinds.len() > 1);
    let finding = |(fact, kinds): (&str, BTreeMap<String, Vec<String>>)| {
        let values = kinds.into_iter().map(|(value, contenders)| Shared { value, contenders }).collect();
        let values = treatment::without_placed(group, values);
        let differ = values.len() > 1;
        differ.then(|| Finding::new(What::StorageDiffers { fact: fact.to_owned(), values }).at(&group.coordinates))
    };
    differing.filter_map(finding).collect()
}

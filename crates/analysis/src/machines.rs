//! The kind of each machine, and whether it stayed the same.

use crate::findings::{Finding, InTrials, What};
use crate::validity;
use record::facts::{EMULATED, Fact, PROCESSOR, RUNTIME, SYSTEM_CALLS};
use record::run::Run;
use record::trial::MachineFacts;
use std::collections::{BTreeMap, BTreeSet};

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

//! The kind of each machine, and whether it stayed the same.

use crate::findings::{Finding, InTrials, What};
use crate::gathered::{by_key, distinct, text};
use crate::hosts::blocks;
use crate::validity;
use record::facts::{EMULATED, Fact, PROCESSOR, RUNTIME, SYSTEM_CALLS};
use record::run::Run;
use record::trial::MachineFacts;
use std::collections::BTreeMap;

/// What a machine says of itself as long as it is the same one, whenever it is started.
const LASTING: [&str; 3] = ["cpu.model", "cpu.threads", "kernel.release"];

/// The text of a fact that could be read.
pub(crate) fn known(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::Known(text) => Some(text),
        Fact::Unavailable(_) => None,
    }
}

/// All texts that a cell's machines say, each once; `None` if there is none.
fn said(run: &Run, cell: u32, of: impl Fn(&MachineFacts) -> Option<String>) -> Option<String> {
    let machines = validity::trials_of(run, cell).filter_map(|trial| trial.record.machine.as_ref());
    Some(text(machines.filter_map(of), " | ")).filter(|said| !said.is_empty())
}

/// How a cell's machines ran their instructions, in a word or two; `None` if no machine was started.
pub fn processor(run: &Run, cell: u32) -> Option<String> {
    said(run, cell, |machine| machine.decided.get(PROCESSOR).map(Fact::kind))
}

/// What made a cell's containers, and what stands between them and the host's kernel: "runsc 1.0, system calls by gVisor".
pub fn runtime(run: &Run, cell: u32) -> Option<String> {
    said(run, cell, |machine| {
        let runtime = machine.decided.get(RUNTIME)?.kind();
        let between = machine.decided.get(SYSTEM_CALLS).filter(|_| machine.has_a_kernel_between());
        let between = between.map(|answers| format!(", system calls by {}", answers.kind()));
        Some(runtime + &between.unwrap_or_default())
    })
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
    let mut seen = Vec::new();
    for trial in &run.trials {
        let (id, contender) = (trial.record.id, trial.record.contender.as_str());
        for (number, machine) in trial.each_machine().iter().enumerate() {
            let inside = machine.record.machine.iter().flat_map(|machine| &machine.inside);
            for (fact, value) in inside.filter(|(fact, _)| LASTING.contains(&fact.as_str())) {
                let same = (trial.record.cell, contender, blocks::of_trial(&run.plan, id), number, fact);
                seen.extend(known(value).map(|value| (same, (value.to_owned(), id))));
            }
        }
    }
    let finding = |((_, contender, _, _, fact), values): ((u32, &str, Option<&str>, usize, &String), Vec<_>)| {
        let values: BTreeMap<String, Vec<u32>> = by_key(values);
        let values: Vec<InTrials> = values.into_iter().map(|(value, trials)| InTrials { value, trials }).collect();
        let fact = fact.clone();
        (values.len() > 1).then(|| Finding::new(What::MachineChanged { fact, values }).of(contender))
    };
    distinct(by_key(seen).into_iter().filter_map(finding))
}

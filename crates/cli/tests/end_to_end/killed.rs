//! Machines side by side while something is killed: a guest, an agent, a server, the conductor. The result must be a
//! record that names the machine, other machines stopped in order, nothing left behind, and a run that can be finished.
//!
//! Every phase is struck where machines are bare processes, in `crates/trial/tests/conductor/struck.rs`. Here are servers and guests.

mod conductor;
mod machine;
mod terminal;

use crate::running::{Running, a_moment, below, command_line, send};
use crate::runs::{at_an_easy_pace, small};
use crate::setting::{NOT_USABLE, Place, none_failed, text};
use record::run::StoredTrial;
use record::trial::Outcome;
use rustix::process::Signal;
use std::process::Output;
use std::time::{Duration, Instant};

const NATIVE: &str = "{ kind = \"native\" }";
const TCG: &str = "{ kind = \"qemu\", accelerator = \"tcg\" }";
/// What a run says it starts must exist within this time.
const START_LIMIT: Duration = Duration::from_mins(2);

/// Trials of this many machines with one vCPU each, possibly more than this host has CPUs. They are so long that a machine finishes
/// some work whatever else this host does.
fn side_by_side(count: u32, engine: &str, platform: &str, blocks: u32) -> String {
    let machine = format!("count = {count}\noversubscribe = true\nvcpus = 1");
    let study = at_an_easy_pace(&small(engine, "384MiB", "")).replace("vcpus = 1", &machine);
    let study = study.replace("measure = \"1s\"", "measure = \"3s\"");
    study.replace("blocks = 1", &format!("blocks = {blocks}")).replace(NATIVE, platform)
}

/// What is struck in a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// QEMU, and the whole guest with it.
    Guest,
    /// Our own process in a native machine. A guest's agent cannot be reached from the host: the guest ends with it,
    /// which the host sees as a guest that ended.
    Agent,
    /// The server's first process in a native machine.
    Server,
    /// One of the server's processes for a session.
    Backend,
}

impl Victim {
    /// How its command line begins. The process that becomes it has these words elsewhere, and starts things that may fail.
    fn words(self) -> &'static str {
        match self {
            Self::Guest => "qemu-system",
            Self::Agent => "/run/bakeoff/agent\0agent\0",
            Self::Server => "/usr/lib/postgresql/",
            Self::Backend => "postgres: postgres",
        }
    }

    /// How many there are in total: the agent has one session, and the driver then has two.
    fn all(self) -> usize {
        if self == Self::Backend { 3 } else { 1 }
    }
}

/// The victim's process in one machine, once all are there. A process that was just forked still looks like its parent,
/// which is the first of them.
fn await_victim(running: &Running, trial: u32, machine: u32, victim: Victim) -> u32 {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        let mut found = of_machine(running, trial, machine);
        found.retain(|process| command_line(*process).starts_with(victim.words()));
        if found.len() >= victim.all() {
            return found[0];
        }
        assert!(Instant::now() < deadline, "no {victim:?} in machine {machine} of trial {trial}:\n{}", running.told);
        a_moment();
    }
}

/// All processes of one machine, parents before their children.
fn of_machine(running: &Running, trial: u32, machine: u32) -> Vec<u32> {
    let folder = format!("trial-{trial:04}/machine-{machine}/");
    let mut all = running.descendants().into_iter();
    let head = all.find(|process| command_line(*process).contains(&folder));
    head.map_or_else(Vec::new, |head| [vec![head], below(head)].concat())
}

/// Sends a signal to one process of a machine.
fn strike(running: &Running, (trial, machine): (u32, u32), victim: Victim, signal: Signal) {
    send(await_victim(running, trial, machine, victim), signal);
}

/// The run is finished: each trial and each of its machines has a result. On a machine that does other things besides, it may be no
/// measurement.
fn all_have_results(place: &Place, output: &Output, trials: usize, machines: usize) {
    assert!(matches!(output.status.code(), Some(0 | 4) | NOT_USABLE), "{}", text(&output.stderr));
    none_failed(place, trials);
    for trial in &place.record().trials {
        assert_eq!(trial.machines.len(), machines, "machines of trial {}", trial.record.id);
        for machine in &trial.machines {
            let outcome = &machine.record.outcome;
            assert!(matches!(outcome, Outcome::Completed | Outcome::Invalid { .. }), "{outcome:?}");
            assert!(machine.findings.len() >= 12, "only {} data checks", machine.findings.len());
            assert!(machine.findings.iter().all(|finding| !finding.is_violated()), "{:?}", machine.findings);
        }
    }
}

/// Why a trial failed; the reason must name one of these machines. If the trial is invalid, it is why that machine is: on a host
/// that does other things besides, the other machine may be, too.
fn failed_for(trial: &StoredTrial, machines: &[u32]) -> String {
    let why = match &trial.record.outcome {
        Outcome::Failed { why, .. } => why,
        Outcome::Invalid { .. } => {
            let struck = machines.iter().filter_map(|machine| trial.machines.get(*machine as usize - 1));
            let whys = struck.filter_map(|machine| match &machine.record.outcome {
                Outcome::Invalid { why } => Some(why.clone()),
                _ => None,
            });
            return whys.reduce(|all, why| all + &why).expect("no machine that was struck is invalid");
        }
        other => panic!("trial {}: {other:?}", trial.record.id),
    };
    let is_named = machines.iter().any(|machine| why.starts_with(&format!("machine {machine}: ")));
    assert!(is_named, "trial {}, not of {machines:?}: {why}", trial.record.id);
    why.clone()
}

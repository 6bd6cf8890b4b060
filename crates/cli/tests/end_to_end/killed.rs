//! Machines side by side of which something is killed: a guest, an agent, a server, the conductor. What must come of it is a
//! record that names the machine, others stopped in order, nothing left behind, and a run that can be finished.
//!
//! Points in time are drawn from fixed seeds and waited for by what the run says or has started. Sometimes the blow comes a moment
//! later than meant; then what is asked of the outcome holds all the same.

mod conductor;
mod frozen;
mod machine;
mod terminal;

use crate::running::{Running, below, command_line, send};
use crate::runs::study;
use crate::setting::Place;
use record::run::StoredTrial;
use record::trial::Outcome;
use rustix::process::Signal;
use std::time::{Duration, Instant};

const NATIVE: &str = "{ kind = \"native\" }";
const TCG: &str = "{ kind = \"qemu\", accelerator = \"tcg\" }";
/// What a run starts is there within this of its saying so.
const START_LIMIT: Duration = Duration::from_mins(2);

/// Short trials of so many machines of one vCPU each, which may be more than this host has CPUs. An emulated one gets longer, so
/// that it gets something done whatever else this host does.
fn side_by_side(count: u32, engine: &str, platform: &str, blocks: u32) -> String {
    let machine = format!("count = {count}\noversubscribe = true\nvcpus = 1");
    let measure = if platform == TCG { "measure = \"5s\"" } else { "measure = \"1s\"" };
    let short = study(engine, "384MiB", "").replace("vcpus = 1", &machine);
    let short = short.replace("warmup = \"1s\"", "warmup = \"0s\"").replace("measure = \"3s\"", measure);
    short.replace("blocks = 2", &format!("blocks = {blocks}")).replace("{ kind = \"native\" }", platform)
}

/// Who is struck in a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// QEMU, and with it all of a guest.
    Guest,
    /// Our own process in a native machine. That of a guest cannot be reached from the host: the guest ends with it, and for the host
    /// that is a guest that ended.
    Agent,
    /// The server's first process in a native machine.
    Server,
    /// One of its processes for a session.
    Backend,
}

impl Victim {
    /// What its command line begins with. What becomes an agent or a guest mentions them before, and starts things that may fail.
    fn words(self) -> &'static str {
        match self {
            Self::Guest => "qemu-system",
            Self::Agent => "/run/bakeoff/agent\0agent\0",
            Self::Server => "/usr/lib/postgresql/",
            Self::Backend => "postgres: postgres",
        }
    }

    /// How many there are when all are: the agent has a session of its own, and then the driver two and one in the background.
    fn all(self) -> usize {
        if self == Self::Backend { 4 } else { 1 }
    }
}

/// The process of one machine that is the victim, as soon as all are there. A process that was forked a moment ago still looks like
/// its parent, which is the first of them.
fn await_victim(running: &Running, trial: u32, machine: u32, victim: Victim) -> u32 {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        let mut found = of_machine(running, trial, machine);
        found.retain(|process| command_line(*process).starts_with(victim.words()));
        if found.len() >= victim.all() {
            return found[0];
        }
        assert!(Instant::now() < deadline, "no {victim:?} in machine {machine} of trial {trial}:\n{}", running.told);
        std::thread::yield_now();
    }
}

/// All processes of one machine, parents before their children.
fn of_machine(running: &Running, trial: u32, machine: u32) -> Vec<u32> {
    let folder = format!("trial-{trial:04}/machine-{machine}/");
    let mut all = running.descendants().into_iter();
    let head = all.find(|process| command_line(*process).contains(&folder));
    head.map_or_else(Vec::new, |head| [vec![head], below(head)].concat())
}

/// Strikes one process of a machine.
fn strike(running: &Running, (trial, machine): (u32, u32), victim: Victim, signal: Signal) {
    send(await_victim(running, trial, machine, victim), signal);
}

/// Numbers that look random and are the same every time, so that a failure can be looked at again.
fn scattered(number: u64, below: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) % below
}

/// The run is finished: each trial and each of its machines came to a result.
fn all_completed(place: &Place, trials: usize, machines: usize) {
    let run = place.record();
    assert_eq!(run.trials.len(), trials);
    for trial in &run.trials {
        assert_eq!(trial.record.outcome, Outcome::Completed, "trial {}", trial.record.id);
        assert_eq!(trial.machines.len(), machines, "machines of trial {}", trial.record.id);
        for machine in &trial.machines {
            assert_eq!(machine.record.outcome, Outcome::Completed);
            assert!(machine.findings.len() >= 12, "only {} data checks", machine.findings.len());
            assert!(machine.findings.iter().all(|finding| !finding.is_violated()), "{:?}", machine.findings);
        }
    }
}

/// Why a trial came to nothing. It is told of one of these machines.
fn failed_for(trial: &StoredTrial, machines: &[u32]) -> String {
    let (Outcome::Failed { why, .. } | Outcome::Invalid { why }) = &trial.record.outcome else {
        panic!("trial {}: {:?}", trial.record.id, trial.record.outcome);
    };
    let is_named = machines.iter().any(|machine| why.starts_with(&format!("machine {machine}: ")));
    assert!(is_named, "trial {}, not of {machines:?}: {why}", trial.record.id);
    why.clone()
}

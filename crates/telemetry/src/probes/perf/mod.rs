//! Counters of the processor by the kernel's perf events: instructions, cycles, misses of the TLB, loads from memory nodes.
//!
//! They are counted in two ways. `perf` counts everything that runs on the shape's CPUs, from either side, so that a native
//! machine and a guest can be compared. `perf.vcpus` counts the threads of a guest's vCPUs from the host. It counts
//! separately the time in which they ran the guest and that in which the host worked for them. Each event is a probe of its
//! own, because processors offer different ones. `estimated` estimates counts with gaps.

mod estimated;
mod events;
mod refusal;

use super::{Opening, ProbeReading};
use crate::counter::Counter;
use crate::cpu;
use crate::targets::Targets;
use crate::tree::Tree;
use events::{Counting, Mode, OF_CPUS, OF_VCPUS, PerfEvent, Whose};
use refusal::Needs;
use rustix::process::{Resource, getrlimit};

const DEVICES: &str = "/sys/bus/event_source/devices";
const ONLINE: &str = "/sys/devices/system/cpu/online";
/// Names under which processors' counters are registered; hybrid processors have one for each kind of core.
const NAMES: [&str; 4] = ["cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3"];
/// Each event on each CPU or thread is an open file. Events get no more than these, however many this process may have.
const MOST_FILES: u64 = 8_192;
const REMEDY: &str = "a host shows them, a guest if it was given virtual ones (QEMU's -cpu host,pmu=on)";
/// The beginning of the labels of vCPUs' threads.
const VCPU: &str = "vcpu.";

/// One event, counted in one or more modes.
type Modes = Vec<(Mode, Counting)>;

/// One probe for each event, or a single one with the reason why there is none.
pub fn openings(tree: &Tree, targets: &Targets) -> Vec<Opening> {
    if let Err(why) = processor(tree) {
        return vec![unavailable("perf", why, REMEDY)];
    }
    let vcpus = targets.threads.iter().filter(|target| target.label.starts_with(VCPU));
    let vcpus: Vec<Whose> = vcpus.map(|target| Whose::Thread(target.thread)).collect();
    // The other half is for all other files.
    let room = most_files() / 2;
    let room_of_each = if vcpus.is_empty() { room } else { room / 2 };
    let mut found = match cpus(tree, targets) {
        Ok(cpus) => family("perf", OF_CPUS, &[Mode::All], &cpus, Needs::AllOfCpus, room_of_each),
        Err(why) => vec![unavailable("perf", why, "")],
    };
    if !vcpus.is_empty() {
        found.extend(family(
            "perf.vcpus",
            OF_VCPUS,
            &[Mode::Guest, Mode::Host],
            &vcpus,
            Needs::OwnThreads,
            room_of_each,
        ));
    }
    found
}

/// How many files this process may open without raising the limit.
fn most_files() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(MOST_FILES);
    usize::try_from(limit.min(MOST_FILES)).unwrap_or(usize::MAX)
}

/// The name of the device that counts, or the reason why there is none.
fn processor(tree: &Tree) -> Result<String, String> {
    let found = tree.names(DEVICES).into_iter().find(|name| NAMES.contains(&name.as_str()));
    let found = found.ok_or_else(|| format!("{DEVICES} shows no counters of the processor"))?;
    if tree.is_live() { Ok(found) } else { Err("only files of that system are here, not its processor".to_owned()) }
}

fn cpus(tree: &Tree, targets: &Targets) -> Result<Vec<Whose>, String> {
    let cpus = match &targets.cpus {
        Some(cpus) => cpus.clone(),
        None => cpu::listed(&tree.value(ONLINE)?)?,
    };
    Ok(cpus.into_iter().map(Whose::Cpu).collect())
}

/// All events of one way of counting. If none can be opened, all for the same reason, it is reported once.
fn family(
    prefix: &str,
    events: &[PerfEvent],
    modes: &[Mode],
    whose: &[Whose],
    needs: Needs,
    mut room: usize,
) -> Vec<Opening> {
    let mut opened: Vec<(String, Result<Modes, String>)> = Vec::new();
    let files = modes.len() * whose.len();
    for event in events {
        let counting = fits(files, room).and_then(|()| open(event, modes, whose, needs));
        room -= if counting.is_ok() { files } else { 0 };
        opened.push((format!("{prefix}.{}", event.name), counting));
    }
    let mut reasons: Vec<&String> = opened.iter().filter_map(|(_, counting)| counting.as_ref().err()).collect();
    let all_are_refused = reasons.len() == opened.len();
    reasons.dedup();
    if let ([why], true) = (reasons.as_slice(), all_are_refused) {
        return vec![unavailable(prefix, (*why).clone(), "")];
    }
    let opening = |(name, counting)| match counting {
        Ok(counting) => reading(name, counting),
        Err(why) => unavailable(name, why, ""),
    };
    opened.into_iter().map(opening).collect()
}

fn fits(files: usize, room: usize) -> Result<(), String> {
    (files <= room).then_some(()).ok_or_else(|| {
        format!("it would take {files} open files, and {room} are left for it; a higher limit (ulimit -n) or fewer CPUs would help")
    })
}

fn open(event: &PerfEvent, modes: &[Mode], whose: &[Whose], needs: Needs) -> Result<Modes, String> {
    let counting = modes.iter().map(|mode| Ok((*mode, Counting::open(event, whose, *mode)?)));
    counting.collect::<std::io::Result<_>>().map_err(|error| refusal::why(&error, needs, refusal::paranoid()))
}

fn unavailable(name: impl Into<String>, why: String, remedy: &'static str) -> Opening {
    Opening::new(name, "perf_event_open", remedy, move |_| Err(why.clone()))
}

fn reading(name: String, mut counting: Modes) -> Opening {
    Opening::new(name.clone(), "perf_event_open", "", move |_| {
        let read = counting.iter_mut().map(|(mode, counting)| columns(&format!("{name}{}", mode.suffix()), counting));
        Ok(read.collect::<Result<Vec<_>, _>>()?.concat())
    })
}

fn columns(name: &str, counting: &mut Counting) -> ProbeReading {
    let found = counting.read().map_err(|error| format!("the kernel does not report {name} any more: {error}"))?;
    let count = found.estimate.map(|count| Counter::counts(name, "", count));
    let counted = Counter::stands(format!("{name}.counted"), "permille", found.counted_permille);
    Ok(count.into_iter().chain([counted]).collect())
}

#[cfg(test)]
mod tests;

//! What a system is, as seen from inside it, and what it counts while a trial runs.
//!
//! [`fingerprint`] and similar functions describe a system: processor, hypervisor, memory, kernel, limits and
//! storage. [`Sampler`] opens probes of all counters of the kernel, for the system and for the [`Targets`] in it, and
//! reads them all as one sample. [`Sampling`] does so once a second in a thread of its own. [`qmp`] turns QEMU's
//! answers into counters.
//!
//! The same code describes the host and, run by the agent, each guest, so that a report can compare the two. It reads
//! `/proc`, `/sys` and `/etc/os-release`, opens perf events and starts no program, because a guest may contain
//! nothing but our binary. Every fact is either read or unavailable for a stated reason; nothing is guessed. Parsers
//! are pure functions of text and are tested on recorded trees. This crate does not decide when to sample, and does
//! not know what the counts mean.

mod block_device;
mod cgroup;
mod counter;
mod cpu;
mod cpu_time;
mod device;
mod files;
mod host_state;
mod hypervisor;
mod journal;
mod kernel;
mod kvm;
mod late;
mod latest;
mod layers;
mod limits;
mod memory;
pub mod mounts;
mod power;
mod probes;
mod processes;
pub mod qmp;
mod sample_buffer;
mod sampler;
mod sampling;
mod services;
mod storage;
mod targets;
mod throttling;
mod tree;

use record::facts::{Fact, Facts};
pub use record::telemetry::Series;
use record::telemetry::{Probe, Side};
use std::collections::BTreeSet;
use std::path::Path;
use tree::{Tree, TreeReading};

pub use cgroup::Hierarchy;
pub use counter::{Counter, part};
pub use cpu_time::cpu_time;
pub use device::device_counts;
pub use host_state::host_state;
pub use late::{LateSample, late_series};
pub use latest::{Latest, LatestSample};
pub use processes::process_stat;
pub use sampler::{QueryProbe, Sampler};
pub use sampling::{Grid, Sampling};
pub use storage::storage;
pub use targets::{DiskLocation, DiskTarget, FamilyTarget, Interfaces, ProcessTarget, Targets, ThreadTarget, own_cpus};
pub use throttling::{OUR_GROUPS, Throttling};

/// Describes the system whose root folder is `root`: "/" for the one we run on, another folder for a recorded tree.
///
/// On the system we run on, it also asks the processor for the name of its hypervisor.
pub fn fingerprint(root: &Path) -> Facts {
    let tree = Tree::new(root);
    let signature = if tree.is_live() { hypervisor::processor_signature() } else { None };
    let mut facts = Facts::new();
    facts.extend(named(cpu::facts(&tree)));
    facts.extend(named(hypervisor::facts(&tree, signature.as_deref())));
    facts.extend(named(kvm::facts(&tree, hypervisor::kvm_offer(signature.as_deref()))));
    facts.extend(named(power::facts(&tree)));
    facts.extend(named(memory::facts(&tree)));
    facts.extend(named(kernel::facts(&tree)));
    facts.extend(named(services::facts(&tree)));
    facts.extend(named(cgroup::facts(&tree)));
    facts.extend(named(limits::facts(&tree)));
    facts
}

/// The hypervisor that the system we run on is a guest of.
pub fn hypervisor() -> Option<String> {
    let facts = hypervisor::facts(&Tree::new(Path::new("/")), hypervisor::processor_signature().as_deref());
    let known = |name| facts.iter().find(|(of, _)| *of == name).and_then(|(_, reading)| reading.as_deref().ok());
    let is_guest = known("virtualization.guest") == Some("yes");
    is_guest.then(|| known("virtualization.vendor").unwrap_or("a hypervisor that does not name itself").to_owned())
}

/// Describes the system we run on, and the storage under `path` (a data disk, a cache) in it.
pub fn describe(path: &Path) -> Facts {
    let root = Path::new("/");
    let mut facts = fingerprint(root);
    facts.extend(storage(root, path));
    facts
}

/// Tries every probe of the system we run on, with the storage under `path` and our own process as targets. Each says
/// whether it is available, and why not. Probes that need a running guest's QEMU are not included.
pub fn probes_here(path: &Path) -> Vec<Probe> {
    let process = std::process::id();
    let own = |label: &str| ProcessTarget { label: label.to_owned(), process };
    let targets = Targets {
        without_system: false,
        cpus: None,
        disks: vec![DiskTarget { label: "here".to_owned(), location: DiskLocation::Under(path.to_owned()) }],
        interfaces: Interfaces::AllButLoopback,
        threads: vec![ThreadTarget { label: "thread".to_owned(), process, thread: process }],
        families: vec![FamilyTarget {
            label: "family".to_owned(),
            process,
            without_threads: BTreeSet::new(),
            with_switches: true,
        }],
        pages: vec![own("own")],
        groups: vec![own("own")],
    };
    Sampler::open(Side::Host, Path::new("/"), &targets, Vec::new()).probes().to_vec()
}

/// Stable dotted names, each with what was read.
type Readings = Vec<(&'static str, TreeReading)>;

fn named(readings: Readings) -> impl Iterator<Item = (String, Fact)> {
    readings.into_iter().map(|(name, reading)| (name.to_owned(), fact(reading)))
}

fn fact(reading: TreeReading) -> Fact {
    match reading {
        Ok(text) => Fact::Known(text),
        Err(why) => Fact::Unavailable(why),
    }
}

//! What a system is, as seen from inside it: processor, hypervisor, memory, kernel, limits and storage.
//!
//! The same code describes the host and, run by the agent, each guest, so that a report can put the two side by side. It
//! reads `/proc`, `/sys` and `/etc/os-release` and starts no program, because a guest may hold nothing but our binary.
//! Every fact is either read or unavailable for a stated reason; nothing is guessed. Parsers are pure functions of text
//! and are tested on recorded trees. Sampling over time is not done here: what a device has counted is read when asked for.

mod cgroup;
mod cpu;
mod cpu_time;
mod device;
mod host_state;
mod hypervisor;
mod kernel;
mod memory;
mod mounts;
mod processes;
mod storage;
mod tree;

use record::facts::{Fact, Facts};
use std::path::Path;
use tree::{Reading, Tree};

pub use cpu_time::cpu_time;
pub use device::device_counts;
pub use host_state::host_state;
pub use storage::storage;

/// Describes the system whose root folder is `root`: "/" for the one we run on, another folder for a recorded tree.
///
/// Of the system we run on, the processor itself is asked as well for what its hypervisor calls itself.
pub fn fingerprint(root: &Path) -> Facts {
    let tree = Tree::new(root);
    let signature = if tree.is_live() { hypervisor::processor_signature() } else { None };
    let mut facts = Facts::new();
    facts.extend(named(cpu::facts(&tree)));
    facts.extend(named(hypervisor::facts(&tree, signature.as_deref())));
    facts.extend(named(memory::facts(&tree)));
    facts.extend(named(kernel::facts(&tree)));
    facts.extend(named(cgroup::facts(&tree)));
    facts
}

/// The system we run on, and what lies under `path` (a data disk, a cache) in it.
pub fn describe(path: &Path) -> Facts {
    let root = Path::new("/");
    let mut facts = fingerprint(root);
    facts.extend(storage(root, path));
    facts
}

/// Stable dotted names with what was read under each.
type Readings = Vec<(&'static str, Reading)>;

fn named(readings: Readings) -> impl Iterator<Item = (String, Fact)> {
    readings.into_iter().map(|(name, reading)| (name.to_owned(), fact(reading)))
}

fn fact(reading: Reading) -> Fact {
    match reading {
        Ok(text) => Fact::Known(text),
        Err(why) => Fact::Unavailable(why),
    }
}

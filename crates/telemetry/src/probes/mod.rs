//! The probes: one file for each subject, with parsers that are pure functions of the kernel's texts.
//!
//! A probe has a name, a source, and a function that reads all of its counters anew. What it finds when it is opened
//! becomes its columns. If it finds nothing it is unavailable, with the reason and a remedy.

pub mod cgroup;
mod cpu;
mod disk;
mod energy;
mod families;
mod faults;
pub(crate) mod fields;
mod frequency;
mod huge_pages;
mod interrupts;
mod memory;
mod network;
mod numa;
mod pages;
mod perf;
pub(crate) mod pressure;
mod run_queue;
mod softirqs;
mod switches;
mod threads;
mod throttling;

use crate::counter::Counter;
use crate::files::Files;
use crate::targets::Targets;
use crate::tree::Tree;

/// All counters of a probe, read anew.
pub type ProbeReading = Result<Vec<Counter>, String>;

/// The function that reads a probe.
pub type Read = Box<dyn FnMut(&mut Files) -> ProbeReading + Send>;

/// A probe that has not been read yet.
pub struct Opening {
    pub name: String,
    /// The files or the program that it reads.
    pub source: String,
    pub read: Read,
    /// What would make it available if it is not.
    pub remedy: &'static str,
    /// Whether reading takes so long that it would be noticed, so that it is only read at the window's ends.
    pub is_costly: bool,
}

impl Opening {
    fn new(
        name: impl Into<String>,
        source: impl Into<String>,
        remedy: &'static str,
        read: impl FnMut(&mut Files) -> ProbeReading + Send + 'static,
    ) -> Self {
        Self { name: name.into(), source: source.into(), read: Box::new(read), remedy, is_costly: false }
    }
}

/// All probes of the kernel's files, including those of the targets.
pub fn openings(tree: &Tree, targets: &Targets) -> Vec<Opening> {
    let mut all = if targets.without_system { Vec::new() } else { of_system(tree, targets) };
    all.extend(targets.disks.iter().map(|disk| disk::opening(tree, disk)));
    all.extend(targets.threads.iter().map(threads::opening));
    all.extend(targets.families.iter().map(families::opening));
    all.extend(targets.pages.iter().map(pages::opening));
    all.extend(targets.groups.iter().map(|group| cgroup::opening(tree, group)));
    all
}

fn of_system(tree: &Tree, targets: &Targets) -> Vec<Opening> {
    // CPUs that are all of the system's are not counted twice.
    let shape = targets.cpus.as_ref().filter(|cpus| !cpu::are_all(tree, cpus));
    let mut all = vec![
        cpu::opening(shape),
        interrupts::opening(shape),
        softirqs::opening(shape),
        fields::opening("switches", "/proc/stat", switches::FIELDS),
        run_queue::opening(shape),
        fields::opening("memory", "/proc/meminfo", memory::FIELDS),
        huge_pages::opening(),
        fields::opening("faults", "/proc/vmstat", faults::FIELDS),
        pressure::opening(),
        network::opening(tree, &targets.interfaces),
        numa::opening(tree),
        frequency::opening(tree),
        frequency::governor(tree),
        throttling::opening(tree),
        energy::opening(tree),
    ];
    all.extend(perf::openings(tree, targets));
    all
}

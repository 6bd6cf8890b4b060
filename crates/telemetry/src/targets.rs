//! What a sampler observes besides the system as a whole: CPUs, disks, threads, processes, groups.
//!
//! Labels become the first part of the columns' names. So readers of the record find `vcpu.0` or `disk.data` on every
//! host, whatever its devices and threads are called.

use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What to observe. Threads are known from starting machines and servers; nothing is searched for by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Targets {
    /// Leaves out the system as a whole, because another sampler covers it.
    pub without_system: bool,
    /// The CPUs of the shape, which get columns of their own unless they are all of the system's.
    pub cpus: Option<BTreeSet<u32>>,
    pub disks: Vec<DiskTarget>,
    pub interfaces: Interfaces,
    pub threads: Vec<ThreadTarget>,
    pub families: Vec<FamilyTarget>,
    /// Processes whose mapped pages are counted, which is costly: see [`crate::Sampler::sample_all`].
    pub pages: Vec<ProcessTarget>,
    /// Processes whose control groups are asked how often they were throttled.
    pub groups: Vec<ProcessTarget>,
}

/// A block device, named `disk.LABEL`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskTarget {
    pub label: String,
    pub location: DiskLocation,
}

/// How to find a block device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskLocation {
    /// The device of the file system that this path is on.
    Under(PathBuf),
    /// The device with this name in `/sys/class/block`.
    Device(String),
}

impl DiskLocation {
    /// The device at this path, or the one under the file there.
    pub fn of(path: &Path, is_device: bool) -> Self {
        if !is_device {
            return Self::Under(path.to_owned());
        }
        // Devices have many names, most of which are links.
        let device = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self::Device(device.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }
}

/// The network interfaces to count.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interfaces {
    /// All interfaces except `lo` that exist when the sampler is opened.
    #[default]
    AllButLoopback,
    Named(Vec<String>),
}

/// One thread, named `LABEL`: `vcpu.0`, `io.disk`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTarget {
    pub label: String,
    pub process: u32,
    pub thread: u32,
}

/// A process with all its descendants, named `LABEL`: `server`, `emulator`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilyTarget {
    pub label: String,
    pub process: u32,
    /// Threads that are left out here, because they have columns of their own.
    pub without_threads: BTreeSet<u32>,
    /// Whether to read migrations and switches too. This doubles the cost, so it suits a few dozen threads, not hundreds.
    pub with_switches: bool,
}

/// One process, with the label of its columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessTarget {
    pub label: String,
    pub process: u32,
}

/// The CPUs that this thread may use; `None` if the kernel does not say.
pub fn own_cpus() -> Option<BTreeSet<u32>> {
    let allowed = sched_getaffinity(None).ok()?;
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    Some(cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

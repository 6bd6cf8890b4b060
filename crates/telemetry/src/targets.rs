//! What a sampler looks at beside the system as a whole: CPUs, disks, threads, processes, groups.
//!
//! Labels become the first part of the columns' names, so those who read the record find `vcpu.0` or `disk.data` on every
//! host, whatever its devices and threads are called.

use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What to look at. The threads are known from starting machines and servers; nothing is searched for by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Targets {
    /// Leaves out the system as a whole, because another sampler has that.
    pub without_system: bool,
    /// CPUs that a shape uses, which are told apart from the whole system's unless they are all of them.
    pub cpus: Option<BTreeSet<u32>>,
    pub disks: Vec<DiskTarget>,
    pub interfaces: Interfaces,
    pub threads: Vec<ThreadTarget>,
    pub families: Vec<FamilyTarget>,
    /// Processes whose mapped pages are counted, which is costly: see [`crate::Sampler::sample_all`].
    pub pages: Vec<ProcessTarget>,
    /// Processes whose control groups are asked how often they were held back.
    pub groups: Vec<ProcessTarget>,
}

/// A block device, as `disk.LABEL`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskTarget {
    pub label: String,
    pub location: DiskLocation,
}

/// How a block device is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskLocation {
    /// The device of the file system that this path is on.
    Under(PathBuf),
    /// By its name in `/sys/class/block`.
    Device(String),
}

impl DiskLocation {
    /// The device that this path names, or the one that carries the file there.
    pub fn of(path: &Path, is_device: bool) -> Self {
        if !is_device {
            return Self::Under(path.to_owned());
        }
        // Devices have many names, of which most are links.
        let device = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self::Device(device.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }
}

/// Which network interfaces are counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interfaces {
    /// All that there are when the sampler is opened, but for `lo`.
    #[default]
    AllButLoopback,
    Named(Vec<String>),
}

/// One thread, as `LABEL`: `vcpu.0`, `io.disk`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTarget {
    pub label: String,
    pub process: u32,
    pub thread: u32,
}

/// A process with everything below it, as `LABEL`: `server`, `emulator`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilyTarget {
    pub label: String,
    pub process: u32,
    /// Threads that are not counted here, because they have columns of their own.
    pub without_threads: BTreeSet<u32>,
    /// Whether migrations and switches are read too, which doubles the cost: for a few dozen threads, not for hundreds.
    pub with_switches: bool,
}

/// One process, by the label of what is counted of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessTarget {
    pub label: String,
    pub process: u32,
}

/// The CPUs that this thread may use, as far as the kernel tells.
pub fn own_cpus() -> Option<BTreeSet<u32>> {
    let allowed = sched_getaffinity(None).ok()?;
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    Some(cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

//! Control groups that hold a machine to its memory, its CPU time and its memory nodes, where they can be had.
//!
//! Two versions of the interface are in use, sometimes side by side: one tree for everything (v2), or one per resource
//! (v1). A group is made below or beside our own, in a place where we may write and the resource is accounted for. Memory
//! that is swapped out would escape a memory limit, so swap is forbidden too where the kernel has a setting for it.

mod leaf;
pub(crate) mod removal;

use crate::scratch::{ScratchError, record_cgroup};
pub use leaf::{is_one_tree, settle};
use removal::remove;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use telemetry::{Hierarchy, OUR_GROUPS};

/// The kernel's default, which other tools that limit CPU time keep too. A group that has used up its quota waits for
/// the end of the period.
const PERIOD: Duration = Duration::from_millis(100);
/// The reason if there is not even a place to try.
const NO_PLACE: &str = "no place for a control group was found";
/// The smallest quota that the kernel accepts.
const LEAST_QUOTA: Duration = Duration::from_millis(1);

/// A limit that processes are to be held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    MemoryBytes(u64),
    /// Of all threads together.
    CpuTime(CpuQuota),
    /// Memory comes from these nodes alone.
    MemoryNodes(Vec<u32>),
}

/// The groups of one machine: one in a tree for everything, or one in each tree that a limit needs. Dropping them kills
/// the processes in them and removes them.
#[derive(Debug)]
pub struct Cgroups {
    groups: Vec<Cgroup>,
}

/// CPU time that all threads of a group together get in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuQuota {
    pub quota: Duration,
    pub period: Duration,
}

impl CpuQuota {
    /// As much as this many CPUs have; 0.5 is half a CPU.
    pub fn of_cpus(cpus: f64) -> Self {
        let quota = Duration::try_from_secs_f64(cpus * PERIOD.as_secs_f64()).unwrap_or(LEAST_QUOTA);
        Self { quota: quota.max(LEAST_QUOTA), period: PERIOD }
    }
}

impl fmt::Display for CpuQuota {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} µs in every {} µs", self.quota.as_micros(), self.period.as_micros())
    }
}

/// Each limit as the kernel has it, or why it has none.
pub type HeldLimit = Vec<Result<String, String>>;

impl Cgroups {
    /// Groups that hold processes to these limits, and the limits as the kernel has them. Each tree has one group, in the
    /// nearest place where all its limits hold. If there is none, it is the nearest where most of them hold.
    pub fn hold(name: &str, scratch: &Path, limits: &[Limit]) -> (Self, HeldLimit) {
        let mut held: HeldLimit = limits.iter().map(|_| Err(NO_PLACE.to_owned())).collect();
        let mut trees: Vec<(Hierarchy, Vec<usize>)> = Vec::new();
        for (at, limit) in limits.iter().enumerate() {
            match Hierarchy::with(limit.controller()) {
                Err(why) => held[at] = Err(why),
                Ok(tree) => match trees.iter_mut().find(|(known, _)| *known == tree) {
                    Some((_, members)) => members.push(at),
                    None => trees.push((tree, vec![at])),
                },
            }
        }
        let mut groups = Vec::new();
        for (tree, members) in trees {
            let limits: Vec<&Limit> = members.iter().map(|at| &limits[*at]).collect();
            let (group, values) = Cgroup::in_best_place(&tree, name, scratch, &limits);
            groups.extend(group);
            for (at, value) in members.into_iter().zip(values) {
                held[at] = value;
            }
        }
        (Self { groups }, held)
    }

    /// Folders of the groups. A process must join all of them to be limited.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.groups.iter().map(|group| group.path.clone()).collect()
    }
}

impl Limit {
    fn controller(&self) -> &'static str {
        match self {
            Self::MemoryBytes(_) => "memory",
            Self::CpuTime(_) => "cpu",
            Self::MemoryNodes(_) => "cpuset",
        }
    }

    /// Sets it; returns the kernel's value.
    fn set(&self, group: &Cgroup) -> io::Result<String> {
        match self {
            Self::MemoryBytes(bytes) => {
                let (limit, swap, no_swap) = if group.is_unified {
                    ("memory.max", "memory.swap.max", 0)
                } else {
                    ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", *bytes)
                };
                group.write(limit, &bytes.to_string())?;
                if group.path.join(swap).exists() {
                    group.write(swap, &no_swap.to_string())?;
                }
                Ok(format!("{} bytes", group.read(limit)?))
            }
            Self::CpuTime(time) => {
                let (quota, period) = (time.quota.as_micros(), time.period.as_micros());
                let text = if group.is_unified {
                    group.write("cpu.max", &format!("{quota} {period}"))?;
                    group.read("cpu.max")?
                } else {
                    group.write("cpu.cfs_period_us", &period.to_string())?;
                    group.write("cpu.cfs_quota_us", &quota.to_string())?;
                    format!("{} {}", group.read("cpu.cfs_quota_us")?, group.read("cpu.cfs_period_us")?)
                };
                let micros = |word: &str| word.parse().ok().map(Duration::from_micros);
                let held = text.split_once(' ').and_then(|(quota, period)| Some((micros(quota)?, micros(period)?)));
                let (quota, period) = held.ok_or_else(|| io::Error::other(format!("the limit reads {text}")))?;
                Ok(CpuQuota { quota, period }.to_string())
            }
            Self::MemoryNodes(nodes) => {
                if !group.is_unified {
                    // No process can join a group without CPUs, so it gets the parent's: CPUs are not limited here.
                    let parent = parent_of(&group.path);
                    group.write("cpuset.cpus", fs::read_to_string(parent.join("cpuset.cpus"))?.trim())?;
                }
                group.write("cpuset.mems", &nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(","))?;
                group.read("cpuset.mems")
            }
        }
    }
}

/// Places to try, nearest first. In version 2 a group with processes of its own cannot pass controllers on, so ours is left out.
fn parents(tree: &Hierarchy) -> Vec<PathBuf> {
    let places = tree.own.ancestors().skip(usize::from(tree.is_unified)).map(|place| tree.mounted_at.join(place));
    places.filter(|place| place.is_dir()).collect()
}

#[derive(Debug)]
struct Cgroup {
    path: PathBuf,
    is_unified: bool,
}

impl Cgroup {
    fn in_best_place(tree: &Hierarchy, name: &str, scratch: &Path, limits: &[&Limit]) -> (Option<Self>, HeldLimit) {
        let mut best: (Option<Self>, HeldLimit) = (None, limits.iter().map(|_| Err(NO_PLACE.to_owned())).collect());
        for parent in parents(tree) {
            let path = parent.join(format!("{OUR_GROUPS}{}-{name}", std::process::id()));
            let tried = Self::with(path, tree.is_unified, scratch, limits);
            let count = |held: &HeldLimit| held.iter().filter(|value| value.is_ok()).count();
            // Where nothing holds anywhere, the reason of the outermost place remains.
            if count(&tried.1) > count(&best.1) || count(&best.1) == 0 {
                best = tried;
            }
            if count(&best.1) == limits.len() {
                break;
            }
        }
        best
    }

    /// A group and its limits. There is none if no limit can be set.
    fn with(path: PathBuf, is_unified: bool, scratch: &Path, limits: &[&Limit]) -> (Option<Self>, HeldLimit) {
        let possible: Vec<Result<(), String>> = limits
            .iter()
            .map(|limit| if is_unified { is_passed_on(limit.controller(), parent_of(&path)) } else { Ok(()) })
            .collect();
        if possible.iter().all(Result::is_err) {
            return (None, possible.into_iter().map(|known| known.map(|()| String::new())).collect());
        }
        let group = match Self::make(path, is_unified, scratch) {
            Ok(group) => group,
            Err(why) => return (None, limits.iter().map(|_| Err(why.clone())).collect()),
        };
        let set = |limit: &Limit| limit.set(&group).map_err(|error| group.failing(&error));
        let held: HeldLimit =
            possible.into_iter().zip(limits).map(|(is, limit)| is.and_then(|()| set(limit))).collect();
        let group = held.iter().any(Result::is_ok).then_some(group);
        (group, held)
    }

    fn make(path: PathBuf, is_unified: bool, scratch: &Path) -> Result<Self, String> {
        record_cgroup(scratch, &path).map_err(|error: ScratchError| error.to_string())?;
        fs::create_dir(&path).map_err(|error| format!("a group in {}: {error}", parent_of(&path).display()))?;
        Ok(Self { path, is_unified })
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let failing = |error: io::Error| io::Error::new(error.kind(), format!("{file}: {error}"));
        fs::write(self.path.join(file), text).map_err(failing)
    }

    fn read(&self, file: &str) -> io::Result<String> {
        Ok(fs::read_to_string(self.path.join(file))?.trim().to_owned())
    }

    /// Without the group's own name, which another trial's has not: the same reason is the same text.
    fn failing(&self, error: &io::Error) -> String {
        format!("a group in {}: {error}", parent_of(&self.path).display())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It is in the ledger, so the next sweep finds it if it cannot be removed now.
        let _ = remove(&self.path);
    }
}

fn parent_of(group: &Path) -> &Path {
    group.parent().unwrap_or(Path::new("/"))
}

/// In the unified tree, a group has only those controllers that its parent passes on.
fn is_passed_on(controller: &str, parent: &Path) -> Result<(), String> {
    let file = parent.join("cgroup.subtree_control");
    let passed_on = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let why = || format!("{} does not pass the {controller} controller on", parent.display());
    passed_on.split_ascii_whitespace().any(|word| word == controller).then_some(()).ok_or_else(why)
}

#[cfg(test)]
mod tests;

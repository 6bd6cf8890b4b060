//! Control groups that hold a machine to its memory, its CPU time and its memory nodes, where they can be had.
//!
//! Two versions of the interface are in use, sometimes side by side: one tree for everything (v2), or one per resource
//! (v1). A group is made below or beside our own, in a place where we may write and the resource is accounted for. Memory
//! that is swapped out would escape a memory limit, so swap is forbidden too where the kernel has a setting for it.

mod hierarchy;
pub(crate) mod removal;

use crate::scratch::{ScratchError, record_cgroup};
use hierarchy::Hierarchy;
use removal::remove;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use telemetry::OUR_GROUPS;

/// The kernel's default, which other tools that limit CPU time keep too. A group that has used up its quota waits for
/// the end of the period.
const PERIOD: Duration = Duration::from_millis(100);
/// The smallest quota that the kernel accepts.
const LEAST_QUOTA: Duration = Duration::from_millis(1);

/// The groups of one machine: one in a tree for everything, or one in each tree that a limit needs. Dropping them kills
/// the processes in them and removes them.
#[derive(Debug)]
pub struct Cgroups {
    name: String,
    /// The scratch folder whose ledger names them.
    scratch: PathBuf,
    groups: Vec<Cgroup>,
}

/// CPU time that all threads of a group together get in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTime {
    pub quota: Duration,
    pub period: Duration,
}

impl CpuTime {
    /// As much as this many CPUs have; 0.5 is half a CPU.
    pub fn of_cpus(cpus: f64) -> Self {
        let quota = Duration::try_from_secs_f64(cpus * PERIOD.as_secs_f64()).unwrap_or(LEAST_QUOTA);
        Self { quota: quota.max(LEAST_QUOTA), period: PERIOD }
    }
}

impl fmt::Display for CpuTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} µs in every {} µs", self.quota.as_micros(), self.period.as_micros())
    }
}

impl Cgroups {
    /// Makes no group yet: each limit makes those that it needs.
    pub fn new(name: &str, scratch: &Path) -> Self {
        Self { name: name.to_owned(), scratch: scratch.to_owned(), groups: Vec::new() }
    }

    /// Folders of the groups. A process must join all of them to be limited.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.groups.iter().map(|group| group.path.clone()).collect()
    }

    /// Limits the memory of processes that join. Returns the limit as the kernel rounded it to whole pages, or why
    /// there is none.
    pub fn hold_memory(&mut self, bytes: u64) -> Result<u64, String> {
        let group = self.hold("memory", |group| {
            let (limit, swap, no_swap) = if group.is_unified {
                ("memory.max", "memory.swap.max", 0)
            } else {
                ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes)
            };
            group.write(limit, &bytes.to_string())?;
            if group.path.join(swap).exists() { group.write(swap, &no_swap.to_string()) } else { Ok(()) }
        })?;
        let limit = group.read(if group.is_unified { "memory.max" } else { "memory.limit_in_bytes" })?;
        limit.parse().map_err(|_| format!("the limit reads {limit}"))
    }

    /// Limits the CPU time of all threads of processes that join. Returns the limit as the kernel has it.
    pub fn hold_cpu_time(&mut self, time: CpuTime) -> Result<CpuTime, String> {
        let (quota_us, period_us) = (time.quota.as_micros(), time.period.as_micros());
        let group = self.hold("cpu", |group| {
            if group.is_unified {
                return group.write("cpu.max", &format!("{quota_us} {period_us}"));
            }
            group.write("cpu.cfs_period_us", &period_us.to_string())?;
            group.write("cpu.cfs_quota_us", &quota_us.to_string())
        })?;
        let text = if group.is_unified {
            group.read("cpu.max")?
        } else {
            format!("{} {}", group.read("cpu.cfs_quota_us")?, group.read("cpu.cfs_period_us")?)
        };
        let micros = |word: &str| word.parse().ok().map(Duration::from_micros);
        let held = text.split_once(' ').and_then(|(quota, period)| Some((micros(quota)?, micros(period)?)));
        let (quota, period) = held.ok_or_else(|| format!("the limit reads {text}"))?;
        Ok(CpuTime { quota, period })
    }

    /// Restricts processes that join to memory of these nodes. Returns the nodes as the kernel has them ("0-1").
    pub fn hold_memory_nodes(&mut self, nodes: &[u32]) -> Result<String, String> {
        let nodes = nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let group = self.hold("cpuset", |group| {
            if !group.is_unified {
                // No process can join a group without CPUs, so it gets the parent's: CPUs are not limited here.
                let parent = group.path.parent().unwrap_or(Path::new("/"));
                group.write("cpuset.cpus", fs::read_to_string(parent.join("cpuset.cpus"))?.trim())?;
            }
            group.write("cpuset.mems", &nodes)
        })?;
        group.read("cpuset.mems")
    }

    /// The group that `write` has limited: the existing one in that tree, or a new one.
    fn hold(&mut self, controller: &str, write: impl Fn(&Cgroup) -> io::Result<()>) -> Result<&Cgroup, String> {
        let hierarchy = Hierarchy::with(controller)?;
        let there = self.groups.iter().position(|group| group.path.starts_with(&hierarchy.mounted_at));
        let at = there.unwrap_or(self.groups.len());
        if let Some(group) = self.groups.get(at) {
            if group.is_unified {
                is_passed_on(controller, &group.path)?;
            }
            write(group).map_err(|error| group.failing(&error))?;
        } else {
            self.groups.push(self.make_in(&hierarchy, controller, write)?);
        }
        Ok(&self.groups[at])
    }

    /// Makes a group in the first place where that and writing the limit succeed.
    fn make_in(
        &self,
        hierarchy: &Hierarchy,
        controller: &str,
        write: impl Fn(&Cgroup) -> io::Result<()>,
    ) -> Result<Cgroup, String> {
        let mut why = "no place for one was found".to_owned();
        for parent in hierarchy.parents() {
            let path = parent.join(format!("{OUR_GROUPS}{}-{}", std::process::id(), self.name));
            let made = Cgroup::make(path, hierarchy.is_unified, controller, &self.scratch);
            match made.and_then(|group| write(&group).map_err(|error| group.failing(&error)).map(|()| group)) {
                Ok(group) => return Ok(group),
                Err(error) => why = error,
            }
        }
        Err(why)
    }
}

#[derive(Debug)]
struct Cgroup {
    path: PathBuf,
    is_unified: bool,
}

impl Cgroup {
    fn make(path: PathBuf, is_unified: bool, controller: &str, scratch: &Path) -> Result<Self, String> {
        if is_unified {
            is_passed_on(controller, &path)?;
        }
        record_cgroup(scratch, &path).map_err(|error: ScratchError| error.to_string())?;
        fs::create_dir(&path).map_err(|error| format!("a group in {}: {error}", parent_of(&path).display()))?;
        Ok(Self { path, is_unified })
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let failing = |error: io::Error| io::Error::new(error.kind(), format!("{file}: {error}"));
        fs::write(self.path.join(file), text).map_err(failing)
    }

    fn read(&self, file: &str) -> Result<String, String> {
        let text = fs::read_to_string(self.path.join(file)).map_err(|error| self.failing(&error))?;
        Ok(text.trim().to_owned())
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
fn is_passed_on(controller: &str, group: &Path) -> Result<(), String> {
    let parent = parent_of(group);
    let file = parent.join("cgroup.subtree_control");
    let passed_on = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let why = || format!("{} does not pass the {controller} controller on", parent.display());
    passed_on.split_ascii_whitespace().any(|word| word == controller).then_some(()).ok_or_else(why)
}

#[cfg(test)]
mod tests;

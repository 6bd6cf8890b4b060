//! What was read from a host or a guest: plain facts, or the reason why one could not be read.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A fact as it was read, or why it could not be. It is never guessed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    Known(String),
    Unavailable(String),
}

impl Fact {
    pub fn known(text: impl Into<String>) -> Self {
        Self::Known(text.into())
    }

    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::Unavailable(why.into())
    }

    /// The part of a known fact before its first comma, which can be compared. The rest is detail of one platform,
    /// for example how an image file is mounted.
    pub fn kind(&self) -> String {
        match self {
            Self::Known(text) => text.split(',').next().unwrap_or_default().to_owned(),
            Self::Unavailable(_) => self.to_string(),
        }
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(text) => formatter.write_str(text),
            Self::Unavailable(why) => write!(formatter, "unavailable, because {why}"),
        }
    }
}

/// Decided by every platform: how the machine's processor instructions run. Before the first comma is one of a few
/// words ([`HOSTS_OWN`], "virtual", [`EMULATED`]), after it the reason.
pub const PROCESSOR: &str = "processor";

/// The [`PROCESSOR`] of a machine that is not a guest: it shares the host's kernel, whose counts cover all such machines.
pub const HOSTS_OWN: &str = "the host's own";

/// The [`PROCESSOR`] of a machine that software interprets, which costs a multiple of what a hypervisor does.
pub const EMULATED: &str = "emulated";

/// Decided by machines that boot no kernel: what answers the system calls of their programs. Before the first comma is
/// [`HOSTS_KERNEL`], or the name of what stands before it.
pub const SYSTEM_CALLS: &str = "system calls";

/// The [`SYSTEM_CALLS`] of a machine without anything in between.
pub const HOSTS_KERNEL: &str = "the host's kernel";

/// Decided by containers: name and version of the program that made them, then after a comma its path.
pub const RUNTIME: &str = "runtime";

/// Decided by every platform: whether the host's page cache holds the data again, below the cache of the machine's own
/// file system. If it does, the machine has more memory than its shape says. "no" or "yes", perhaps with a reason.
pub const DATA_CACHED_TWICE: &str = "data cached twice";

/// Decided by every platform: the number of the machine's place on the host, and the host's CPUs that its vCPUs may use ("0,1").
pub const PLACE: &str = "place";
pub const HOST_CPUS: &str = "host CPUs";

/// Decided by machines on the host's kernel: the most memory that they may have. A guest's memory is its own.
pub const MEMORY_LIMIT: &str = "memory limit";

/// Decided by machines whose CPU time bakeoff limits, as the kernel or the hypervisor has the limit.
pub const CPU_QUOTA: &str = "CPU quota";

/// Decided for each of several machines side by side: its position in the start order, counted from 1.
pub const START_ORDER: &str = "start order";

/// Named facts about one system, as seen from inside it (`host.json`, and `guest` in `trial.json`).
/// Keys are dotted and stable (`cpu.model`, `memory.total_bytes`, `kernel.release`).
pub type Facts = BTreeMap<String, Fact>;

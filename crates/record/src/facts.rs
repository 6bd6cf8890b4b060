//! What was read from a host or a guest: plain facts, or the reason why there is none.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A fact as read, or why it could not be had. Never guessed.
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

    /// What comes before the first comma of a known fact: what can be compared. The rest is detail of one platform, for
    /// example how an image file is mounted.
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

/// Decided by every platform: how the machine's processor instructions run. What comes before the first comma is one of a
/// few words ([`HOSTS_OWN`], "virtual", [`EMULATED`]), what comes after it the reason.
pub const PROCESSOR: &str = "processor";

/// The [`PROCESSOR`] of a machine that is no guest: it runs on the host's kernel, and what that counts is of all such machines.
pub const HOSTS_OWN: &str = "the host's own";

/// The [`PROCESSOR`] of a machine that is interpreted by software, which costs a multiple of what a hypervisor does.
pub const EMULATED: &str = "emulated";

/// Decided by every platform: whether the host's page cache holds the data again, below the cache of the machine's own
/// file system. A machine for which it does has more memory than its shape says. "no" or "yes", and perhaps a reason.
pub const DATA_CACHED_TWICE: &str = "data cached twice";

/// Decided by every platform: the number of the machine's place on the host, and the host's CPUs that its vCPUs may use ("0,1").
pub const PLACE: &str = "place";
pub const HOST_CPUS: &str = "host CPUs";

/// Decided of each of several machines side by side: as which number it was started, counted from 1.
pub const START_ORDER: &str = "start order";

/// Named facts about one system, as seen from inside it (`host.json`, and `guest` in `trial.json`).
/// Keys are dotted and stable (`cpu.model`, `memory.total_bytes`, `kernel.release`).
pub type Facts = BTreeMap<String, Fact>;

//! What our binary does on the other host, and the messages about it.

mod keep;
mod run;

use crate::order::MachineOrder;
use images::Image;
use machines::machine::{Decisions, MachineError};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};

pub use keep::{keep, machine};
pub use run::run;

/// Names in the folder of a run.
pub const BINARY: &str = "bakeoff";
pub const TREE: &str = "tree";
pub const DATA: &str = "data";
pub const LEASES: &str = "leases";
pub const MACHINES: &str = "machines";

/// A request to the keeper. Paths are below the folder of the run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// Copies a folder to a place that may be taken by an earlier copy.
    Copy {
        from: PathBuf,
        to: PathBuf,
    },
    /// Copies the data of the first database into a folder of its own for each further one.
    CopyWithin {
        data: PathBuf,
        folders: Vec<String>,
    },
    Remove {
        folder: PathBuf,
    },
    /// Asks whether there is that much room and some to spare; without a number, whether work can go on.
    Room {
        bytes: Option<u64>,
    },
}

/// The keeper's first message, and its answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeeperMessage {
    Ready(HostReady),
    Done,
    NoSpace { needed_bytes: u64, free_bytes: u64 },
    Failed { why: String },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostReady {
    /// The folder of the run there.
    pub folder: PathBuf,
    /// The address there at which ssh came in.
    pub address: Option<IpAddr>,
    /// The address that ssh came from.
    pub from: Option<IpAddr>,
    /// An identity that only this machine has, as long as it runs.
    pub machine: String,
    /// What was done with leftovers of earlier runs.
    pub notes: Vec<String>,
}

/// What a machine there has.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ThereShape {
    pub vcpus: u32,
    pub memory_bytes: u64,
}

/// The order for one machine there.
#[derive(Debug, Serialize, Deserialize)]
pub struct ThereOrder {
    pub name: String,
    /// `None` for a load generator, which may use all that the host has.
    pub shape: Option<ThereShape>,
    pub cpu_quota: Option<f64>,
    /// Below the folder of the run. It is made if it does not exist.
    pub data: PathBuf,
    /// Its tree is the one there; `None` for the host's own files.
    pub image: Option<Image>,
    /// True if the server is not confined to the machine, because it runs there already.
    pub is_whole_host: bool,
}

impl ThereOrder {
    pub fn of(order: &MachineOrder, data: &Path, is_whole_host: bool) -> Self {
        let MachineOrder { name, vcpus, memory_bytes, cpu_quota, image, .. } = order.clone();
        let shape = Some(ThereShape { vcpus, memory_bytes });
        Self { name, shape, cpu_quota, data: data.to_owned(), image, is_whole_host }
    }

    /// An agent that only drives load. Its folder of data stays empty.
    pub fn of_load(name: &str) -> Self {
        let data = Path::new(MACHINES).join(name).join(DATA);
        Self { name: name.to_owned(), shape: None, cpu_quota: None, data, image: None, is_whole_host: true }
    }
}

/// What a machine there says before its agent's frames.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begun {
    Started { decided: Decisions, command_line: Vec<String> },
    Unavailable { why: String },
    Failed { why: String },
}

impl From<MachineError> for Begun {
    fn from(error: MachineError) -> Self {
        match error {
            MachineError::Unavailable { why } => Self::Unavailable { why },
            other => Self::Failed { why: other.to_string() },
        }
    }
}

/// A path below the folder of a run; fails if it would lead out of it.
fn below(folder: &Path, path: &Path) -> Result<PathBuf, String> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_plain { Ok(folder.join(path)) } else { Err(format!("{} is not below {}", path.display(), folder.display())) }
}

#[cfg(test)]
mod tests {
    use super::below;
    use std::path::Path;

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let folder = Path::new("/mnt/run");
        assert_eq!(below(folder, Path::new("data/a")), Ok(folder.join("data/a")));
        for path in ["/etc", "../other", "data/../../x"] {
            assert!(below(folder, Path::new(path)).is_err(), "{path}");
        }
    }
}

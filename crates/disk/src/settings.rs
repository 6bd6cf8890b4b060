//! Settings that the process of a disk is started with.

use crate::log::DEFAULT_LOG_BYTES;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultSettings {
    /// The file on the host whose content the disk has. It is written to.
    pub backing: PathBuf,
    /// An empty file, in whose place the disk is.
    pub mount: PathBuf,
    /// Where the log is made.
    pub log: PathBuf,
    /// Where the socket is made through which it gets orders.
    pub control: PathBuf,
    /// What the backing file is a copy of: a hash or a name, kept in the log.
    pub base: String,
    pub most_log_bytes: u64,
    /// Whether a flush also flushes the backing file, so that it takes as long as on the host's own disk.
    pub flushes_backing: bool,
}

impl FaultSettings {
    /// With everything in one folder, under its own name.
    pub fn in_folder(folder: &Path, base: &str) -> Self {
        Self {
            backing: folder.join("backing"),
            mount: folder.join("disk"),
            log: folder.join("log"),
            control: folder.join("control"),
            base: base.to_owned(),
            most_log_bytes: DEFAULT_LOG_BYTES,
            flushes_backing: false,
        }
    }

    /// The word for the command line of the disk's process. `None` if a path is not text.
    pub fn to_word(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    pub fn from_word(word: &str) -> Result<Self, String> {
        serde_json::from_str(word).map_err(|error| format!("these are no settings of a disk: {error}"))
    }
}

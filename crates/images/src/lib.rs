//! Images: recipes (data) become a root tree, a kernel and a disk, without root and from Debian's packages alone.
//!
//! The tree serves the native platform, the disk made from it serves virtual machines, so binaries are the same. Images
//! are cached by the hash of the recipe and of what went in. Data disks (the loaded database) are made and cloned here too.

pub mod data;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A built image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Name of the recipe.
    pub name: String,
    /// Hash of the recipe and of what went in.
    pub id: String,
    /// The root tree for native machines.
    pub tree: PathBuf,
    /// The ext4 root disk for VMs, read-only; `None` if the agent is the whole user space.
    pub root_disk: Option<PathBuf>,
    pub kernel: Kernel,
    /// Installed packages with versions.
    pub packages: Vec<String>,
}

/// A kernel and the modules that a guest needs before it can mount anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    pub release: String,
    pub file: PathBuf,
    /// `lib/modules/<release>` of the unpacked package.
    pub modules: PathBuf,
}

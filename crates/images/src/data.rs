//! Data disks: made once from a loaded folder, cloned for each trial.

use std::path::{Path, PathBuf};

/// What holds a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataDisk {
    /// An ext4 image file.
    Image(PathBuf),
    /// A block device that was given an ext4 image.
    Device(PathBuf),
    /// A plain folder: only natively, while loading, or where loop mounts are not allowed.
    Folder(PathBuf),
}

impl DataDisk {
    pub fn path(&self) -> &Path {
        match self {
            Self::Image(path) | Self::Device(path) | Self::Folder(path) => path,
        }
    }
}

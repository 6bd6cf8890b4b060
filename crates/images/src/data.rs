//! Data disks: made once from a loaded folder, cloned for each trial.

use std::path::PathBuf;

/// A disk that holds a database: an ext4 image file, or a block device that was given one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataDisk {
    pub path: PathBuf,
    pub is_device: bool,
}

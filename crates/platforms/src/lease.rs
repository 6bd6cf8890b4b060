//! A machine's own copy of the loaded data. It outlives the machine, so a machine that was cut can be started again on
//! the data it left.

use images::data::{DataDisk, DataError};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The source of a machine's data, and where they go.
#[derive(Debug, Clone, Copy)]
pub struct LeaseOrder<'a> {
    /// The loaded data, in the form that the platform takes; never written to.
    pub loaded: &'a Path,
    /// A block device for the copy, instead of a file.
    pub device: Option<&'a Path>,
    /// The machine's folder on this host.
    pub scratch: &'a Path,
}

pub struct Lease {
    disk: DataDisk,
    /// Removes a copy that is not in the machine's folder.
    removal: Option<Box<dyn FnOnce() + Send>>,
}

impl Lease {
    /// A disk of this host: an image file in the machine's folder, or the device. It replaces an earlier lease in that folder.
    pub fn of_a_disk(order: &LeaseOrder<'_>) -> Result<Self, DataError> {
        if let Some(device) = order.device {
            images::data::write_to_device(order.loaded, device)?;
            return Ok(DataDisk::Device(device.to_owned()).into());
        }
        let path = order.scratch.join("data.img");
        is_gone(fs::remove_file(&path), &path)?;
        images::data::clone(order.loaded, &path)?;
        Ok(DataDisk::Image(path).into())
    }

    /// A folder of this host.
    pub fn of_a_folder(order: &LeaseOrder<'_>) -> Result<Self, DataError> {
        let path = order.scratch.join("data");
        is_gone(fs::remove_dir_all(&path), &path)?;
        images::data::clone_folder(order.loaded, &path)?;
        Ok(DataDisk::Folder(path).into())
    }

    /// The loaded data themselves, for a machine that does not use them.
    pub fn of_nothing(order: &LeaseOrder<'_>) -> Self {
        DataDisk::Folder(order.loaded.to_owned()).into()
    }

    /// A folder of another host, with what removes it.
    pub fn elsewhere(folder: PathBuf, removal: impl FnOnce() + Send + 'static) -> Self {
        Self { disk: DataDisk::Folder(folder), removal: Some(Box::new(removal)) }
    }

    pub fn data(&self) -> &DataDisk {
        &self.disk
    }
}

impl From<DataDisk> for Lease {
    fn from(disk: DataDisk) -> Self {
        Self { disk, removal: None }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(remove) = self.removal.take() {
            remove();
        }
    }
}

/// Fails unless the copy of an earlier start was removed or never existed.
fn is_gone(removed: io::Result<()>, path: &Path) -> Result<(), DataError> {
    match removed {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(DataError::Io { what: "remove the earlier copy", path: path.to_owned(), cause })
        }
        _ => Ok(()),
    }
}

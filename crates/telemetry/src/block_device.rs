//! A block device in the kernel's folders.

use crate::mounts::Mount;
use crate::tree::{Tree, TreeReading};

/// The kernel counts sizes of block devices in sectors of this many bytes, whatever the device's own sectors are.
pub const SECTOR_BYTES: u64 = 512;

/// A block device by the name of the whole disk, and of the partition if the file system is on one.
#[derive(Debug, PartialEq, Eq)]
pub struct BlockDevice {
    whole: String,
    partition: Option<String>,
}

impl BlockDevice {
    pub fn under(tree: &Tree, mount: &Mount) -> Result<Self, String> {
        Self::by_number(tree, &mount.device)
            .or_else(|| Self::by_mapped_name(tree, mount.source.strip_prefix("/dev/mapper/")?))
            .or_else(|| Self::by_name(tree, mount.source.strip_prefix("/dev/")?))
            .ok_or_else(|| {
                format!("{} from {:?} has no block device that is visible here", mount.file_system, mount.source)
            })
    }

    fn by_number(tree: &Tree, number: &str) -> Option<Self> {
        let is_it = |folder: &str| tree.value(&format!("{folder}/dev")).is_ok_and(|theirs| theirs == number);
        Self::find(tree, |folder, _| is_it(folder))
    }

    /// File systems over several devices (btrfs) have a number of their own but name one device as their source.
    fn by_name(tree: &Tree, wanted: &str) -> Option<Self> {
        Self::find(tree, |_, name| name == wanted)
    }

    /// So do those on a device of the device mapper (LUKS, LVM), by the mapper's name of it.
    fn by_mapped_name(tree: &Tree, wanted: &str) -> Option<Self> {
        Self::find(tree, |folder, _| tree.value(&format!("{folder}/dm/name")).is_ok_and(|name| name == wanted))
    }

    fn find(tree: &Tree, is_it: impl Fn(&str, &str) -> bool) -> Option<Self> {
        for whole in tree.names("/sys/block") {
            let folder = format!("/sys/block/{whole}");
            if is_it(&folder, &whole) {
                return Some(Self { whole, partition: None });
            }
            // Partitions are folders within that of the disk, and their names begin with its name.
            let inside = tree.names(&folder).into_iter().filter(|name| name.starts_with(&whole));
            let partition = inside.into_iter().find(|name| is_it(&format!("{folder}/{name}"), name));
            if partition.is_some() {
                return Some(Self { whole, partition });
            }
        }
        None
    }

    pub fn whole(&self) -> &str {
        &self.whole
    }

    /// Name of the partition if there is one, else of the whole disk.
    pub fn own_name(&self) -> &str {
        self.partition.as_deref().unwrap_or(&self.whole)
    }

    pub fn describe(&self) -> String {
        match &self.partition {
            Some(partition) => format!("{partition}, a partition of {}", self.whole),
            None => self.whole.clone(),
        }
    }

    pub fn queue(&self, name: &str) -> String {
        format!("/sys/block/{}/queue/{name}", self.whole)
    }

    /// The kernel's file with the device's counters.
    pub fn stat(&self) -> String {
        format!("{}/stat", self.folder())
    }

    /// The kernel's folder of the disk, or of the partition.
    fn folder(&self) -> String {
        let below = self.partition.as_ref().map_or(String::new(), |partition| format!("/{partition}"));
        format!("/sys/block/{}{below}", self.whole)
    }

    pub fn bytes(&self, tree: &Tree) -> TreeReading {
        let sectors = tree.value(&format!("{}/size", self.folder()))?;
        let bytes = sectors.parse::<u64>().ok().and_then(|sectors| sectors.checked_mul(SECTOR_BYTES));
        bytes.map(|bytes| bytes.to_string()).ok_or_else(|| format!("the kernel gives its size as {sectors:?}"))
    }

    /// The devices (device mapper, RAID) or the file (loop) that the disk consists of.
    pub fn carried_by(&self, tree: &Tree) -> String {
        let folder = format!("/sys/block/{}", self.whole);
        if let Ok(file) = tree.value(&format!("{folder}/loop/backing_file")) {
            return format!("the file {file}");
        }
        let devices = tree.names(&format!("{folder}/slaves"));
        if devices.is_empty() { "itself".to_owned() } else { devices.join(" and ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts;
    use std::fs::{create_dir_all, write};

    /// Btrfs has a device number that no block device has.
    #[test]
    fn a_file_system_is_found_by_number_or_by_either_name_of_its_device() {
        let root = tempfile::tempdir().unwrap();
        let devices = [("dm-0/dev", "253:0"), ("dm-0/dm/name", "luks-1"), ("sda/dev", "8:0"), ("sda/sda1/dev", "8:1")];
        for (path, text) in devices {
            let path = root.path().join("sys/block").join(path);
            create_dir_all(path.parent().unwrap()).and_then(|()| write(path, text)).unwrap();
        }
        let tree = Tree::new(root.path());
        let under = |number: &str, source: &str| {
            let line = format!("27 1 {number} / / rw - btrfs {source} rw");
            BlockDevice::under(&tree, &mounts::parse(&line)[0]).map(|disk| disk.describe())
        };
        assert_eq!(under("8:1", "/dev/root").as_deref(), Ok("sda1, a partition of sda"));
        assert_eq!(under("0:33", "/dev/sda1").as_deref(), Ok("sda1, a partition of sda"));
        assert_eq!(under("0:33", "/dev/mapper/luks-1").as_deref(), Ok("dm-0"));
        let unknown = under("0:33", "tank/db").unwrap_err();
        assert!(unknown.contains("tank/db"), "{unknown}");
    }
}

//! The kernel's counts for the block device under a path, at this moment.
//!
//! They cover everybody who uses the device, or the partition if the file system is on one.

use crate::block_device::{BlockDevice, SECTOR_BYTES};
use crate::mounts;
use crate::tree::Tree;
use record::looks::DeviceCounts;
use std::path::Path;

/// Fields of a `stat` file that every kernel has.
const FIELDS: usize = 11;
/// Index of the number of flushes, which kernels count since 5.5.
const FLUSHES: usize = 15;

/// Reads the counters of the device under `path` in the system whose root folder is `root`; the error says why there are none.
pub fn device_counts(root: &Path, path: &Path) -> Result<DeviceCounts, String> {
    let tree = Tree::new(root);
    let path = tree.resolve(path);
    let mounts = mounts::parse(&tree.text("/proc/self/mountinfo")?);
    let mount = mounts::covering(&mounts, &path).ok_or_else(|| format!("no mount covers {}", path.display()))?;
    let disk = BlockDevice::under(&tree, mount)?;
    counts(&disk.describe(), &tree.value(&disk.stat())?)
}

fn counts(device: &str, stat: &str) -> Result<DeviceCounts, String> {
    let fields: Vec<u64> = stat.split_whitespace().map_while(|field| field.parse().ok()).collect();
    if fields.len() < FIELDS {
        return Err(format!("the kernel's counters of {device} are {stat:?}"));
    }
    Ok(DeviceCounts {
        device: device.to_owned(),
        reads: fields[0],
        read_bytes: fields[2].saturating_mul(SECTOR_BYTES),
        read_ms: fields[3],
        writes: fields[4],
        write_bytes: fields[6].saturating_mul(SECTOR_BYTES),
        write_ms: fields[7],
        busy_ms: fields[9],
        flushes: fields.get(FLUSHES).copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_new_and_old_kernels() {
        let new = "17 2 808 5 40 9 1024 33 0 20 38 1 0 64 0 7 3";
        let found = counts("vda", new).unwrap();
        let expected = DeviceCounts {
            device: "vda".to_owned(),
            reads: 17,
            read_bytes: 808 * 512,
            read_ms: 5,
            writes: 40,
            write_bytes: 1024 * 512,
            write_ms: 33,
            busy_ms: 20,
            flushes: Some(7),
        };
        assert_eq!(found, expected);
        assert_eq!(counts("vda", "17 2 808 5 40 9 1024 33 0 20 38").unwrap().flushes, None);
        assert!(counts("vda", "17 2 808").unwrap_err().contains("vda"));
    }
}

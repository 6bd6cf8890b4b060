//! Finds disks by the label of their ext4 file system, so that neither their order nor their adapters' names matter.

use super::GuestError;
use super::waiting::{names_in, wait_for};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(super) const BLOCK_DEVICES: &str = "/sys/class/block";
/// Where ext4's superblock begins on a disk, and where in it the magic number and the label are.
const SUPERBLOCK: u64 = 1024;
const MAGIC_AT: u64 = SUPERBLOCK + 0x38;
const MAGIC: [u8; 2] = 0xEF53_u16.to_le_bytes();
const LABEL_AT: u64 = SUPERBLOCK + 0x78;
const LABEL_BYTES: usize = 16;

/// The device whose ext4 file system has this label.
pub(super) fn with_label(label: &str) -> Result<PathBuf, GuestError> {
    let devices = Path::new(BLOCK_DEVICES);
    let look = || {
        let entries = std::fs::read_dir(devices).ok()?.flatten();
        entries.map(|entry| Path::new("/dev").join(entry.file_name())).find(|device| has_label(device, label))
    };
    wait_for(&format!("disk with the label {label}"), look, || names_in(devices))
}

/// A device that cannot be read counts as one without a label.
fn has_label(device: &Path, label: &str) -> bool {
    File::open(device).is_ok_and(|device| label_of(&device).is_some_and(|found| found == label.as_bytes()))
}

fn label_of(device: &File) -> Option<Vec<u8>> {
    let mut magic = [0; 2];
    device.read_exact_at(&mut magic, MAGIC_AT).ok()?;
    let mut label = [0; LABEL_BYTES];
    device.read_exact_at(&mut label, LABEL_AT).ok()?;
    let length = label.iter().position(|byte| *byte == 0).unwrap_or(LABEL_BYTES);
    (magic == MAGIC).then(|| label[..length].to_vec())
}

#[cfg(test)]
mod tests {
    use super::has_label;
    use std::process::Command;

    #[test]
    fn mke2fs_and_we_agree_on_where_a_label_is() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        std::fs::File::create(&disk).unwrap().set_len(1 << 20).unwrap();
        assert!(!has_label(&disk, ""));
        for label in ["bakeoff-data", "sixteen-letters!"] {
            let made =
                Command::new("/usr/sbin/mke2fs").args(["-q", "-F", "-t", "ext4", "-L", label]).arg(&disk).status();
            assert!(made.unwrap().success());
            assert!(has_label(&disk, label));
            assert!(!has_label(&disk, "bakeoff"));
        }
    }
}

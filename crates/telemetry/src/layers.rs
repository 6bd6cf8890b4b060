//! The layers below a block device, down to the disks: logical volumes, RAID, encryption, files on other file systems.
//!
//! Each layer adds its own queue and its own handling of flushes, so a disk's description names all of them. The device
//! of a layer has no scheduler; the disks at the bottom have one.

use crate::block_device::BlockDevice;
use crate::memory::chosen_of;
use crate::mounts;
use crate::tree::{Tree, TreeReading};
use std::path::Path;

/// More than any real system has. Without a limit, following a cycle of links would never end.
const MOST_LAYERS: usize = 12;

/// The device with those below it: "dm-0 (LVM, pg-data) on md0 (raid1) on sda and sdb".
pub fn described(tree: &Tree, device: &str) -> String {
    one(tree, device, MOST_LAYERS)
}

/// Each disk at the bottom with the settings of its own queue: "nvme0n1: nvme, scheduler none, write back".
pub fn disks(tree: &Tree, device: &str) -> TreeReading {
    let mut found = Vec::new();
    bottom(tree, device, MOST_LAYERS, &mut found);
    if found.is_empty() {
        return Err(format!("what carries {device} is not visible here"));
    }
    let shown = found.iter().map(|disk| {
        let queue = |name: &str| format!("/sys/block/{disk}/queue/{name}");
        let scheduler = chosen_of(tree, &queue("scheduler")).ok().map(|chosen| format!("scheduler {chosen}"));
        let rotational =
            tree.value(&queue("rotational")).ok().filter(|flag| flag == "1").map(|_| "rotational".to_owned());
        let cache = tree.value(&queue("write_cache")).ok();
        let said: Vec<String> = [driver(tree, disk).ok(), scheduler, rotational, cache].into_iter().flatten().collect();
        if said.is_empty() { disk.clone() } else { format!("{disk}: {}", said.join(", ")) }
    });
    Ok(shown.collect::<Vec<_>>().join("; "))
}

/// The kernel's driver of a disk. An `nvme` disk has the link one folder further up.
pub fn driver(tree: &Tree, disk: &str) -> TreeReading {
    let folder = format!("/sys/block/{disk}/device");
    tree.link_name(&format!("{folder}/driver"))
        .or_else(|why| tree.link_name(&format!("{folder}/device/driver")).map_err(|_| why))
}

fn one(tree: &Tree, device: &str, layers: usize) -> String {
    let Some(layers) = layers.checked_sub(1) else { return device.to_owned() };
    let named = kind(tree, device).map_or_else(|| device.to_owned(), |kind| format!("{device} ({kind})"));
    let below: Vec<String> = below(tree, device).iter().map(|device| one(tree, device, layers)).collect();
    if below.is_empty() { named } else { format!("{named} on {}", below.join(" and ")) }
}

fn bottom(tree: &Tree, device: &str, layers: usize, found: &mut Vec<String>) {
    let below = below(tree, device);
    if let (Some(layers), false) = (layers.checked_sub(1), below.is_empty()) {
        for device in &below {
            bottom(tree, device, layers, found);
        }
    } else if kind(tree, device).is_none() && !found.iter().any(|known| known == device) {
        found.push(device.to_owned());
    }
}

/// The whole disks that a device consists of, or the one with the file behind it.
fn below(tree: &Tree, device: &str) -> Vec<String> {
    let parts = tree.names(&format!("/sys/block/{device}/slaves"));
    if !parts.is_empty() {
        return parts.into_iter().map(|part| whole(tree, part)).collect();
    }
    let Ok(file) = tree.value(&format!("/sys/block/{device}/loop/backing_file")) else { return Vec::new() };
    let mounts = tree.text("/proc/self/mountinfo").map(|text| mounts::parse(&text)).unwrap_or_default();
    let disk = mounts::covering(&mounts, Path::new(&file)).and_then(|mount| BlockDevice::under(tree, mount).ok());
    disk.into_iter().map(|disk| disk.whole().to_owned()).collect()
}

/// The disk that a partition belongs to.
fn whole(tree: &Tree, part: String) -> String {
    let is_disk = tree.exists(&format!("/sys/block/{part}"));
    let of = || tree.names("/sys/block").into_iter().find(|disk| tree.exists(&format!("/sys/block/{disk}/{part}")));
    if is_disk { part } else { of().unwrap_or(part) }
}

/// The kind of a device that is not itself a disk.
fn kind(tree: &Tree, device: &str) -> Option<String> {
    let value = |name: &str| tree.value(&format!("/sys/block/{device}/{name}")).ok();
    if let Some(level) = value("md/level") {
        return Some(level);
    }
    if let Some(file) = value("loop/backing_file") {
        return Some(format!("the file {file}"));
    }
    let name = value("dm/name")?;
    // The prefix of "LVM-…", "CRYPT-LUKS2-…" or "mpath-…", or nothing.
    let owner = value("dm/uuid").and_then(|uuid| uuid.split('-').next().map(ToOwned::to_owned));
    Some(owner.map_or_else(|| format!("device mapper, {name}"), |owner| format!("{owner}, {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    /// A file on LVM on a mirror of a partition and of a whole disk.
    #[test]
    fn layers_are_told_down_to_the_disks() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            create_dir_all(path.parent().unwrap()).and_then(|()| write(path, text)).unwrap();
        };
        file("proc/self/mountinfo", "27 1 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n");
        file("sys/block/loop0/loop/backing_file", "/var/data.img\n");
        file("sys/block/dm-0/dev", "253:0\n");
        file("sys/block/dm-0/dm/name", "vg-root\n");
        file("sys/block/dm-0/dm/uuid", "LVM-abc\n");
        file("sys/block/dm-0/slaves/md0", "");
        file("sys/block/md0/md/level", "raid1\n");
        file("sys/block/md0/slaves/sda1", "");
        file("sys/block/md0/slaves/nvme0n1", "");
        file("sys/block/sda/sda1/dev", "8:1\n");
        file("sys/block/sda/queue/scheduler", "[mq-deadline] none\n");
        file("sys/block/sda/queue/rotational", "1\n");
        file("sys/block/nvme0n1/queue/write_cache", "write back\n");
        create_dir_all(root.path().join("sys/block/nvme0n1/device/device")).unwrap();
        symlink("../../../../bus/pci/drivers/nvme", root.path().join("sys/block/nvme0n1/device/device/driver"))
            .unwrap();
        let tree = Tree::new(root.path());
        let expected = "loop0 (the file /var/data.img) on dm-0 (LVM, vg-root) on md0 (raid1) on nvme0n1 and sda";
        assert_eq!(described(&tree, "loop0"), expected);
        let expected = "nvme0n1: nvme, write back; sda: scheduler mq-deadline, rotational";
        assert_eq!(disks(&tree, "loop0").as_deref(), Ok(expected));
        assert!(driver(&tree, "sda").is_err());
    }

    #[test]
    fn a_circle_has_an_end_and_a_lost_file_a_reason() {
        let root = tempfile::tempdir().unwrap();
        create_dir_all(root.path().join("sys/block/dm-0/slaves/dm-0")).unwrap();
        create_dir_all(root.path().join("sys/block/loop0/loop")).unwrap();
        write(root.path().join("sys/block/loop0/loop/backing_file"), "/gone\n").unwrap();
        let tree = Tree::new(root.path());
        assert!(described(&tree, "dm-0").starts_with("dm-0 on dm-0 on"));
        assert!(disks(&tree, "loop0").unwrap_err().contains("not visible"));
    }
}

//! The storage under a path: file system, mount options, block device, its scheduler and the layers below it.
//!
//! Free space is a fact of a moment, not of a system, so it is not here.

use crate::memory::chosen_of;
use crate::mounts::{self, Mount};
use crate::tree::{Reading, Tree};
use crate::{Readings, journal, layers, named};
use record::facts::Facts;
use std::path::Path;

/// The kernel counts sizes of block devices in sectors of this many bytes, whatever the device's own sectors are.
pub const SECTOR_BYTES: u64 = 512;

/// Describes the storage under `path` in the system whose root folder is `root`. The path need not exist yet.
pub fn storage(root: &Path, path: &Path) -> Facts {
    let tree = Tree::new(root);
    named(facts(&tree, path)).collect()
}

fn facts(tree: &Tree, path: &Path) -> Readings {
    let path = tree.resolve(path);
    let mount = tree.text("/proc/self/mountinfo").and_then(|text| {
        let found = mounts::covering(&mounts::parse(&text), &path).cloned();
        found.ok_or_else(|| format!("no mount covers {}", path.display()))
    });
    let disk = mount.as_ref().map_err(Clone::clone).and_then(|mount| Disk::under(tree, mount));
    let of_mount = |of: fn(&Mount) -> String| mount.as_ref().map(of).map_err(Clone::clone);
    let of_disk = |of: &dyn Fn(&Disk) -> Reading| disk.as_ref().map_err(Clone::clone).and_then(of);
    let queue = |name: &'static str| of_disk(&|disk| tree.value(&disk.queue(name)));
    let mut facts = vec![
        ("storage.path", Ok(path.display().to_string())),
        ("storage.file_system", of_mount(|mount| mount.file_system.clone())),
        ("storage.mount_point", of_mount(|mount| mount.point.display().to_string())),
        ("storage.mount_options", of_mount(|mount| mount.options.join(","))),
        ("storage.source", of_mount(|mount| mount.source.clone())),
        ("storage.device", of_disk(&|disk| Ok(disk.describe()))),
        ("storage.device_bytes", of_disk(&|disk| disk.bytes(tree))),
        ("storage.model", of_disk(&|disk| tree.value(&format!("/sys/block/{}/device/model", disk.whole)))),
        ("storage.driver", of_disk(&|disk| layers::driver(tree, &disk.whole))),
        ("storage.layers", of_disk(&|disk| Ok(layers::described(tree, &disk.whole)))),
        ("storage.disks", of_disk(&|disk| layers::disks(tree, &disk.whole))),
        ("storage.carried_by", of_disk(&|disk| Ok(disk.carried_by(tree)))),
        ("storage.scheduler", of_disk(&|disk| chosen_of(tree, &disk.queue("scheduler")))),
        ("storage.rotational", queue("rotational").map(|flag| yes_or_no(&flag))),
        ("storage.write_cache", queue("write_cache")),
        ("storage.logical_block_bytes", queue("logical_block_size")),
        ("storage.physical_block_bytes", queue("physical_block_size")),
        ("storage.queue_requests", queue("nr_requests")),
        ("storage.read_ahead_kib", queue("read_ahead_kb")),
        ("storage.request_most_kib", queue("max_sectors_kb")),
        ("storage.write_throttling_us", queue("wbt_lat_usec")),
        ("storage.forced_unit_access", queue("fua").map(|flag| yes_or_no(&flag))),
    ];
    let own = of_disk(&|disk| Ok(disk.own_name().to_owned()));
    facts.extend(journal::facts(tree, mount.as_ref().map(|mount| mount.file_system.as_str()), own));
    facts
}

/// A block device by the name of the whole disk, and of the partition if the file system is on one.
#[derive(Debug, PartialEq, Eq)]
pub struct Disk {
    whole: String,
    partition: Option<String>,
}

impl Disk {
    pub fn under(tree: &Tree, mount: &Mount) -> Result<Self, String> {
        Self::by_number(tree, &mount.device)
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
    fn own_name(&self) -> &str {
        self.partition.as_deref().unwrap_or(&self.whole)
    }

    pub fn describe(&self) -> String {
        match &self.partition {
            Some(partition) => format!("{partition}, a partition of {}", self.whole),
            None => self.whole.clone(),
        }
    }

    fn queue(&self, name: &str) -> String {
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

    fn bytes(&self, tree: &Tree) -> Reading {
        let sectors = tree.value(&format!("{}/size", self.folder()))?;
        let bytes = sectors.parse::<u64>().ok().and_then(|sectors| sectors.checked_mul(SECTOR_BYTES));
        bytes.map(|bytes| bytes.to_string()).ok_or_else(|| format!("the kernel gives its size as {sectors:?}"))
    }

    /// The devices (device mapper, RAID) or the file (loop) that the disk consists of.
    fn carried_by(&self, tree: &Tree) -> String {
        let folder = format!("/sys/block/{}", self.whole);
        if let Ok(file) = tree.value(&format!("{folder}/loop/backing_file")) {
            return format!("the file {file}");
        }
        let devices = tree.names(&format!("{folder}/slaves"));
        if devices.is_empty() { "itself".to_owned() } else { devices.join(" and ") }
    }
}

fn yes_or_no(flag: &str) -> String {
    if flag == "0" { "no" } else { "yes" }.to_owned()
}

//! The storage under a path: file system, mount options, block device, its scheduler and the layers below it.
//!
//! Free space is a fact of a moment, not of a system, so it is not here.

use crate::block_device::BlockDevice;
use crate::memory::chosen_of;
use crate::mounts::{self, Mount};
use crate::tree::{Tree, TreeReading};
use crate::{Readings, journal, layers, named};
use record::facts::Facts;
use std::path::Path;

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
    let disk = mount.as_ref().map_err(Clone::clone).and_then(|mount| BlockDevice::under(tree, mount));
    let of_mount = |of: fn(&Mount) -> String| mount.as_ref().map(of).map_err(Clone::clone);
    let of_disk = |of: &dyn Fn(&BlockDevice) -> TreeReading| disk.as_ref().map_err(Clone::clone).and_then(of);
    let queue = |name: &'static str| of_disk(&|disk| tree.value(&disk.queue(name)));
    let mut facts = vec![
        ("storage.path", Ok(path.display().to_string())),
        ("storage.file_system", of_mount(|mount| mount.file_system.clone())),
        ("storage.mount_point", of_mount(|mount| mount.point.display().to_string())),
        ("storage.mount_options", of_mount(|mount| mount.options.join(","))),
        ("storage.source", of_mount(|mount| mount.source.clone())),
        ("storage.device", of_disk(&|disk| Ok(disk.describe()))),
        ("storage.device_bytes", of_disk(&|disk| disk.bytes(tree))),
        ("storage.model", of_disk(&|disk| tree.value(&format!("/sys/block/{}/device/model", disk.whole())))),
        ("storage.driver", of_disk(&|disk| layers::driver(tree, disk.whole()))),
        ("storage.layers", of_disk(&|disk| Ok(layers::described(tree, disk.whole())))),
        ("storage.disks", of_disk(&|disk| layers::disks(tree, disk.whole()))),
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

fn yes_or_no(flag: &str) -> String {
    if flag == "0" { "no" } else { "yes" }.to_owned()
}

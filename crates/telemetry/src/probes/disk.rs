//! One block device: operations, bytes, time, and operations in flight (`/sys/class/block/…/stat`).
//!
//! The counters cover everybody who uses the device. A flush without data counts as a write too, of 0 bytes, so
//! writes of data are at most `writes` and about `writes` less `flushes`.

use super::{Opening, ProbeReading};
use crate::block_device::{BlockDevice, SECTOR_BYTES};
use crate::counter::Counter;
use crate::mounts;
use crate::targets::{DiskLocation, DiskTarget};
use crate::tree::Tree;
use record::telemetry::Behaviour::{self, Counts, Stands};
use std::path::Path;

/// The kernel's fields in order. Every kernel has the first eleven; discards exist since 4.18, flushes since 5.5.
const FIELDS: [(&str, &str, Behaviour, u64); 17] = [
    ("reads", "", Counts, 1),
    ("reads_merged", "", Counts, 1),
    ("read_bytes", "bytes", Counts, SECTOR_BYTES),
    ("read_time", "ms", Counts, 1),
    ("writes", "", Counts, 1),
    ("writes_merged", "", Counts, 1),
    ("write_bytes", "bytes", Counts, SECTOR_BYTES),
    ("write_time", "ms", Counts, 1),
    ("in_flight", "operations", Stands, 1),
    ("busy", "ms", Counts, 1),
    ("queued_time", "ms", Counts, 1),
    ("discards", "", Counts, 1),
    ("discards_merged", "", Counts, 1),
    ("discard_bytes", "bytes", Counts, SECTOR_BYTES),
    ("discard_time", "ms", Counts, 1),
    ("flushes", "", Counts, 1),
    ("flush_time", "ms", Counts, 1),
];
/// Fields that every kernel has.
const FEWEST: usize = 11;

pub fn opening(tree: &Tree, target: &DiskTarget) -> Opening {
    let name = format!("disk.{}", target.label);
    let stat = match &target.location {
        DiskLocation::Under(path) => under(tree, path),
        DiskLocation::Device(device) => Ok(format!("/sys/class/block/{device}/stat")),
    };
    let source = stat.clone().unwrap_or_else(|_| "/sys/block".to_owned());
    let prefix = name.clone();
    let remedy = "put the data on a file system that lies on one block device that is visible here";
    Opening::new(name, source, remedy, move |files| {
        counters(&files.text(stat.as_ref().map_err(Clone::clone)?)?, &prefix)
    })
}

fn under(tree: &Tree, path: &Path) -> Result<String, String> {
    let path = tree.resolve(path);
    let mounts = mounts::parse(&tree.text("/proc/self/mountinfo")?);
    let mount = mounts::covering(&mounts, &path).ok_or_else(|| format!("no mount covers {}", path.display()))?;
    Ok(BlockDevice::under(tree, mount)?.stat())
}

fn counters(stat: &str, prefix: &str) -> ProbeReading {
    let values: Vec<u64> = stat.split_whitespace().map_while(|word| word.parse().ok()).collect();
    if values.len() < FEWEST {
        return Err(format!("the kernel's counters of {prefix} are {stat:?}"));
    }
    let counter = |((name, unit, behaviour, scale), value): (&(&str, &'static str, Behaviour, u64), u64)| Counter {
        name: format!("{prefix}.{name}"),
        unit: (*unit).into(),
        behaviour: *behaviour,
        value: value.saturating_mul(*scale),
    };
    Ok(FIELDS.iter().zip(values).map(counter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As recorded on Linux 6.18; tests cut it to the fields of Linux 4.18 and 4.4.
    const FIELDS_17: &str = " 7268411   398862 402728958  6406040 16165212  1720358 1077363112  8644060        3  1087528 15453147  1655742       54 902564288   189387  3451312   213658\n";

    fn shortened(fields: usize) -> String {
        FIELDS_17.split_whitespace().take(fields).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_new_kernel_counts_flushes() {
        let found = counters(FIELDS_17, "disk.data").unwrap();
        assert_eq!(found.len(), 17);
        assert_eq!(found[0], Counter::counts("disk.data.reads", "", 7_268_411));
        assert_eq!(found[6], Counter::counts("disk.data.write_bytes", "bytes", 1_077_363_112 * 512));
        assert_eq!(found[8], Counter::stands("disk.data.in_flight", "operations", 3));
        assert_eq!(found[15], Counter::counts("disk.data.flushes", "", 3_451_312));
    }

    #[test]
    fn older_kernels_have_fewer_columns() {
        assert_eq!(counters(&shortened(15), "disk.data").unwrap().last().unwrap().name, "disk.data.discard_time");
        assert_eq!(counters(&shortened(11), "disk.data").unwrap().last().unwrap().name, "disk.data.queued_time");
        assert!(counters(&shortened(4), "disk.data").unwrap_err().contains("disk.data"));
    }
}

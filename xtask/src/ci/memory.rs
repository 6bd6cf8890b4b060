//! A folder in memory for the temporary files of tests, which copy, change and remove hundreds of data folders: docs/tests.md says what
//! that saves.

use rustix::fs::{OFlags, StatVfsMountFlags};
use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::TempDir;

/// Names the folder for temporary files. A value that is set already is the choice of the user.
pub const VARIABLE: &str = "TMPDIR";
const SHARED_MEMORY: &str = "/dev/shm";
const PREFIX: &str = "bakeoff-tests-";
/// Half of it was used at most, on 2 CPUs.
const NEEDED_BYTES: u64 = 4 << 30;

/// A folder that is removed with what is in it, or `None` where there is no room or memory cannot stand in for a disk.
pub fn folder() -> Option<TempDir> {
    let memory = Path::new(SHARED_MEMORY);
    if std::env::var_os(VARIABLE).is_some() || !can_stand_in(memory) {
        return None;
    }
    remove_left(memory);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(memory).ok()?;
    // Servers with accounts of their own write there, too.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).ok()?;
    takes_direct_writes(folder.path()).then_some(folder)
}

fn can_stand_in(memory: &Path) -> bool {
    let Ok(mount) = rustix::fs::statvfs(memory) else { return false };
    let is_free = mount.f_bavail * mount.f_frsize >= NEEDED_BYTES && available_bytes() >= NEEDED_BYTES;
    is_free && !mount.f_flag.contains(StatVfsMountFlags::NOEXEC)
}

/// What programs may still use of this host's memory.
fn available_bytes() -> u64 {
    let table = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Databases and QEMU write past the page cache, which memory takes since Linux 6.6.
fn takes_direct_writes(folder: &Path) -> bool {
    let flags = OFlags::DIRECT.bits().cast_signed();
    OpenOptions::new().create(true).truncate(true).write(true).custom_flags(flags).open(folder.join("direct")).is_ok()
}

/// Removes the folders of test runs that were killed.
fn remove_left(memory: &Path) {
    for entry in std::fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if number.is_some_and(|number| !Path::new("/proc").join(number.to_string()).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

//! The end of a cgroup, and of the processes in it.

use crate::identity::Identity;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long killed processes may take to leave their cgroup.
const EMPTY_LIMIT: Duration = Duration::from_secs(5);
const EMPTY_POLL: Duration = Duration::from_millis(5);

/// Kills the processes in a cgroup of ours and removes it, and those that a container's runtime made below it. Returns whether it
/// existed.
pub(crate) fn remove(path: &Path) -> io::Result<bool> {
    remove_until(path, Instant::now() + EMPTY_LIMIT)
}

fn remove_until(path: &Path, deadline: Instant) -> io::Result<bool> {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_until(&entry.path(), deadline)?;
        }
    }
    loop {
        match fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {}
            removed => return removed.map(|()| true),
        }
        let members = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
        for pid in members.lines().filter_map(|line| line.parse().ok()) {
            if let Ok(member) = Identity::of(pid) {
                member.kill()?;
            }
        }
        std::thread::sleep(EMPTY_POLL);
    }
}

//! Waits for devices: a driver is loaded at once, but its devices appear a little later.

use super::GuestError;
use std::path::Path;
use std::time::{Duration, Instant};

/// Even an emulated controller on a busy host shows its disks within this time.
const LIMIT: Duration = Duration::from_secs(30);
/// A small part of a guest's boot time.
const POLL: Duration = Duration::from_millis(2);

/// Calls `look` until it finds something; for the error, `seen` returns what is there instead.
pub(super) fn wait_for<T>(
    what: &str,
    mut look: impl FnMut() -> Option<T>,
    seen: impl FnOnce() -> String,
) -> Result<T, GuestError> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if Instant::now() > deadline {
            return Err(GuestError::Missing { what: what.to_owned(), limit_s: LIMIT.as_secs(), seen: seen() });
        }
        std::thread::sleep(POLL);
    }
}

/// The names of a folder's entries, for an error.
pub(super) fn names_in(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    if names.is_empty() { format!("nothing in {}", folder.display()) } else { names.join(", ") }
}

//! Data disks while they are made: one bakeoff at a time makes each, and what a killed one has half made is removed.

use crate::conversation::AskError;
use crate::interrupts::Interrupts;
use crate::preparation::{PreparationError, failing};
use crate::site::Site;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Endings of what is beside a data disk's folder while it is made.
pub(crate) const BUILDING: &str = "building";
pub(crate) const LOCK: &str = "lock";
/// How long one bakeoff waits for another that loads the same data.
const LOCK_LIMIT: Duration = Duration::from_hours(4);
const LOCK_POLL: Duration = Duration::from_millis(200);

pub(crate) fn remove_if_there(path: &Path) -> Result<(), PreparationError> {
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failing("removing", path)(error)),
    }
}

/// Removes what runs that were killed have half made, and tells what it did.
pub fn sweep(site: &Site) -> Result<Vec<String>, PreparationError> {
    let data = site.cache.join("data");
    let entries = match fs::read_dir(&data) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failing("reading", &data))?,
    };
    let mut told = Vec::new();
    for entry in entries {
        let path = entry.map_err(failing("reading", &data))?.path();
        if path.extension().is_none_or(|extension| extension != BUILDING) {
            continue;
        }
        let lock = path.with_extension(LOCK);
        let lock = fs::File::create(&lock).map_err(failing("opening", &lock))?;
        if lock.try_lock().is_ok() {
            remove_if_there(&path)?;
            told.push(format!("removed {}, half made by a run that was killed", path.display()));
        }
    }
    Ok(told)
}

/// Held while a data disk is made; freed by the kernel if we are killed. Waits for another bakeoff that makes the same.
pub(crate) fn lock(path: &Path, interrupts: &Interrupts) -> Result<fs::File, PreparationError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failing("making", folder))?;
    }
    let file = fs::File::create(path).map_err(failing("making", path))?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if interrupts.now() => return Err(AskError::Interrupted.into()),
            Err(fs::TryLockError::WouldBlock) if begun.elapsed() < LOCK_LIMIT => std::thread::sleep(LOCK_POLL),
            Err(fs::TryLockError::WouldBlock) => return Err(PreparationError::Busy(path.to_owned())),
            Err(fs::TryLockError::Error(source)) => return Err(failing("locking", path)(source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use std::path::PathBuf;

    #[test]
    fn what_a_killed_run_has_half_made_is_removed_and_what_is_being_made_is_not() {
        let cache = tempfile::tempdir().unwrap();
        let (cache, scratch) = (cache.path().to_owned(), cache.path().join("scratch"));
        let site = Site {
            cache,
            scratch,
            agent: PathBuf::new(),
            cpus: vec![0],
            memory_bytes: 0,
            made_by: String::new(),
            platforms: |_| None,
            limits: Limits::default(),
        };
        assert_eq!(sweep(&site).unwrap(), Vec::<String>::new());
        let data = site.cache.join("data");
        for name in ["dead.building/folder", "busy.building/folder", "whole"] {
            fs::create_dir_all(data.join(name)).unwrap();
        }
        let _held = lock(&data.join("busy.lock"), &Interrupts::default()).unwrap();
        let told = sweep(&site).unwrap();
        assert_eq!(
            told,
            [format!("removed {}, half made by a run that was killed", data.join("dead.building").display())]
        );
        let is_there = ["dead.building", "busy.building", "whole"].map(|name| data.join(name).is_dir());
        assert_eq!(is_there, [false, true, true]);
    }
}

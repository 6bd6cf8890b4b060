//! The lock of a run's folder, which lets one process at a time work in it, and the folder in which a run begins unnamed.
//!
//! The kernel holds the lock, so it is free again whatever ends its holder. The file stays; only its lock has a meaning.
//! Readers need no lock: a report can be made while a run goes on.

use crate::error::{RecordError, failing};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const FILE: &str = "lock";
/// The names of folders that are not yet a run begin with this.
const BEGINNING: &str = ".beginning-";
/// How many names to try, in case a sweep takes a folder for a leftover before it is locked.
const ATTEMPTS: u32 = 20;

/// Takes the lock of a folder; if it is taken, the error names its holder.
pub(crate) fn take(folder: &Path) -> Result<File, RecordError> {
    if let Some(file) = try_take(folder)? {
        return Ok(file);
    }
    let lock = folder.join(FILE);
    let mut process = String::new();
    // A lock whose file cannot be read is still taken.
    let _ = File::open(&lock).and_then(|mut file| file.read_to_string(&mut process));
    Err(RecordError::InUse { path: folder.to_owned(), process: process.trim().parse().ok(), lock })
}

/// Whether a process works in a folder now. Readers that ask at the same time do not disturb each other.
pub(crate) fn is_taken(folder: &Path) -> bool {
    File::open(folder.join(FILE)).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn try_take(folder: &Path) -> Result<Option<File>, RecordError> {
    let path = folder.join(FILE);
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let mut file = opened.map_err(failing("opening", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(source)) => return Err(failing("locking", &path)(source)),
    }
    // Writing also sets the file's time, which shows since when the lock is held.
    let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    written.map_err(failing("writing", &path))?;
    Ok(Some(file))
}

/// Makes and locks a folder to begin a run in, beside its final place. Such folders of killed runs are removed.
pub(crate) fn begin_beside(runs: &Path) -> Result<(PathBuf, File), RecordError> {
    sweep(runs);
    let mut failed = None;
    for attempt in 0..ATTEMPTS {
        let path = runs.join(format!("{BEGINNING}{}-{attempt}", std::process::id()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made.map_err(failing("making", &path))?,
        }
        match try_take(&path) {
            // A sweep in between may have removed the folder that was locked.
            Ok(Some(lock)) if path.join(FILE).exists() => return Ok((path, lock)),
            Ok(_) => {}
            Err(error) => {
                // It is empty, if it is still there; the error is what to report.
                let _ = fs::remove_dir_all(&path);
                failed = Some(error);
            }
        }
    }
    Err(failed.unwrap_or_else(|| failing("beginning a run in", runs)(io::ErrorKind::AlreadyExists.into())))
}

/// Removes the folders of runs that were killed before they had a name. One that cannot be removed does not harm any
/// run, so that is not reported.
pub(crate) fn sweep(runs: &Path) {
    for entry in fs::read_dir(runs).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && entry.file_name().to_string_lossy().starts_with(BEGINNING) {
            let folder = entry.path();
            match File::open(folder.join(FILE)) {
                Ok(lock) if lock.try_lock().is_ok() => drop(fs::remove_dir_all(&folder)),
                // It is still empty, or somebody is working in it.
                _ => drop(fs::remove_dir(&folder)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_start_left_is_removed_and_what_is_being_begun_is_not() {
        let runs = tempfile::tempdir().unwrap();
        for name in [".beginning-1-0", ".beginning-2-0", "20260101T000000Z-whole"] {
            fs::create_dir(runs.path().join(name)).unwrap();
        }
        for file in [".beginning-1-0/lock", ".beginning-1-0/study.partial", "20260101T000000Z-whole/lock"] {
            fs::write(runs.path().join(file), "1").unwrap();
        }
        let (begun, _lock) = begin_beside(runs.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(runs.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        assert_eq!(left, [begun.clone(), runs.path().join("20260101T000000Z-whole")]);
        sweep(runs.path());
        assert!(begun.is_dir());
    }
}

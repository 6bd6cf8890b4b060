//! The scratch folder of a run, and what to do about one whose owner was killed.
//!
//! A scratch folder is locked for as long as its owner lives; the kernel frees the lock whatever ends the owner. In it,
//! in a ledger, stands everything outside of it that the run made: processes and cgroups. (Mounts live in mount
//! namespaces of their own and go with the processes.) [`sweep`] finds folders whose lock is free and undoes them.

use crate::process::Identity;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const LOCK_FILE: &str = "lock";
const LEDGER_FILE: &str = "ledger.jsonl";
/// How often a folder is made anew when a sweep took the unfinished one for a leftover.
const CREATE_ATTEMPTS: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    #[error("{doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is in use by another bakeoff", .0.display())]
    InUse(PathBuf),
}

fn failing(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ScratchError {
    let path = path.to_owned();
    move |source| ScratchError::Io { doing, path, source }
}

/// Something outside of the folder that must be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Made {
    Process(Identity),
    Cgroup(PathBuf),
}

/// The folder of a run. Dropping it undoes and removes everything in it.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    pub fn create(parent: &Path, name: &str) -> Result<Self, ScratchError> {
        fs::create_dir_all(parent).map_err(failing("making", parent))?;
        let path = parent.join(name);
        for _ in 0..CREATE_ATTEMPTS {
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match take_lock(&path)? {
                    // Ours from an earlier time, or one that nobody has locked yet.
                    Some(lock) => drop(undo(&path, &lock)?),
                    None => return Err(ScratchError::InUse(path)),
                },
                made => made.map_err(failing("making", &path))?,
            }
            if path.is_dir()
                && let Some(lock) = take_lock(&path)?
            {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(ScratchError::InUse(path))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in this one for a single machine.
    pub fn machine(&self, name: &str) -> Result<MachineScratch, ScratchError> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(failing("making", &path))?;
        Ok(MachineScratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be undone now is found by the next sweep.
        let _ = undo_made(&self.path);
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The folder of one machine inside the run's. Dropping it undoes and removes everything in it.
#[derive(Debug)]
pub struct MachineScratch {
    path: PathBuf,
}

impl MachineScratch {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for MachineScratch {
    fn drop(&mut self) {
        // What cannot be undone now is found by the next sweep.
        let _ = undo_made(&self.path);
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Writes down a process in the ledger of `folder`, a scratch folder or one in it.
pub fn record_process(folder: &Path, process: Identity) -> Result<(), ScratchError> {
    record(folder, &Made::Process(process))
}

/// Writes down a cgroup, before it is made.
pub fn record_cgroup(folder: &Path, cgroup: &Path) -> Result<(), ScratchError> {
    record(folder, &Made::Cgroup(cgroup.to_owned()))
}

fn record(folder: &Path, made: &Made) -> Result<(), ScratchError> {
    let path = folder.join(LEDGER_FILE);
    let mut line = serde_json::to_string(made).map_err(|error| failing("writing", &path)(error.into()))?;
    line.push('\n');
    let file = File::options().create(true).append(true).open(&path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(failing("writing", &path))
}

/// Undoes every scratch folder in `parent` whose owner is gone, and tells what it did.
pub fn sweep(parent: &Path) -> Result<Vec<String>, ScratchError> {
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failing("reading", parent))?,
    };
    let mut told = Vec::new();
    for entry in entries {
        let path = entry.map_err(failing("reading", parent))?.path();
        if path.is_dir()
            && let Some(lock) = take_lock(&path)?
        {
            told.extend(undo(&path, &lock)?);
        }
    }
    Ok(told)
}

/// The folder's lock, or `None` if somebody has it or the folder was removed meanwhile.
fn take_lock(folder: &Path) -> Result<Option<File>, ScratchError> {
    let path = folder.join(LOCK_FILE);
    let lock = match File::options().create(true).truncate(false).write(true).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        lock => lock.map_err(failing("opening", &path))?,
    };
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        locked => locked.map_err(|error| failing("locking", &path)(error.into()))?,
    }
    // A sweep may have removed the file between opening and locking: that lock guards nothing.
    let links = lock.metadata().map_err(failing("reading", &path))?.nlink();
    Ok((links > 0).then_some(lock))
}

/// Undoes a folder that we hold the lock of.
fn undo(folder: &Path, _lock: &File) -> Result<Vec<String>, ScratchError> {
    let mut told = undo_made(folder)?;
    fs::remove_dir_all(folder).map_err(failing("removing", folder))?;
    told.push(format!("removed {}, left over from a run that was killed", folder.display()));
    Ok(told)
}

/// Kills the recorded processes of a folder and of those below it, then removes the recorded cgroups.
fn undo_made(folder: &Path) -> Result<Vec<String>, ScratchError> {
    let made = ledgers_below(folder)?;
    let mut told = Vec::new();
    for made in &made {
        if let Made::Process(process) = made
            && process.kill().map_err(failing("killing a process recorded in", folder))?
        {
            told.push(format!("killed process {}, left over from {}", process.pid, folder.display()));
        }
    }
    for made in &made {
        if let Made::Cgroup(cgroup) = made
            && crate::cgroup::remove(cgroup).map_err(failing("removing the cgroup", cgroup))?
        {
            told.push(format!("removed the cgroup {}", cgroup.display()));
        }
    }
    Ok(told)
}

/// What is written down in a folder and in all folders below it, however deep: each of several machines has its own in the folder of
/// its trial.
fn ledgers_below(folder: &Path) -> Result<Vec<Made>, ScratchError> {
    let mut made = ledger(folder)?;
    for entry in fs::read_dir(folder).map_err(failing("reading", folder))? {
        let entry = entry.map_err(failing("reading", folder))?;
        // Not what a link leads to: that is none of ours.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            made.extend(ledgers_below(&entry.path())?);
        }
    }
    Ok(made)
}

/// What is written down; a half-written last line belongs to a process that was never started.
fn ledger(folder: &Path) -> Result<Vec<Made>, ScratchError> {
    let path = folder.join(LEDGER_FILE);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        text => {
            let text = text.map_err(failing("reading", &path))?;
            Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Scratch, ScratchError, record_cgroup, record_process, sweep, take_lock};
    use crate::process::{Launch, Process};
    use std::time::Duration;

    #[test]
    fn a_folder_in_use_is_neither_swept_nor_given_to_another() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(parent.path(), "run").unwrap();
        assert!(sweep(parent.path()).unwrap().is_empty());
        assert!(matches!(Scratch::create(parent.path(), "run"), Err(ScratchError::InUse(_))));
        let machine = scratch.machine("one").unwrap();
        let machine_path = machine.path().to_owned();
        drop(machine);
        assert!(!machine_path.exists());
        drop(scratch);
        assert!(!parent.path().join("run").exists());
        Scratch::create(parent.path(), "run").unwrap();
    }

    #[test]
    fn a_sweep_kills_what_the_ledger_names_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let machine = parent.path().join("run/trial/machine");
        std::fs::create_dir_all(&machine).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let cgroup = elsewhere.path().join("a-cgroup");
        std::fs::create_dir(&cgroup).unwrap();
        let mut named = Process::start(Launch::new(&["sleep", "1000"])).unwrap();
        let mut namesake = Process::start(Launch::new(&["sleep", "1000"])).unwrap();
        record_process(&machine, named.identity()).unwrap();
        let mut stale = namesake.identity();
        stale.start_ticks -= 1;
        record_process(&parent.path().join("run"), stale).unwrap();
        record_cgroup(&machine, &cgroup).unwrap();

        let told = sweep(parent.path()).unwrap();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with(&format!("killed process {}", named.identity().pid)));
        assert!(named.wait(Duration::from_mins(1)).unwrap().is_some());
        assert!(namesake.wait(Duration::ZERO).unwrap().is_none());
        assert!(!cgroup.exists());
        assert!(!parent.path().join("run").exists());
        assert!(sweep(parent.path()).unwrap().is_empty());
    }

    #[test]
    fn the_lock_of_a_removed_folder_guards_nothing() {
        let parent = tempfile::tempdir().unwrap();
        assert!(take_lock(&parent.path().join("absent")).unwrap().is_none());
    }
}

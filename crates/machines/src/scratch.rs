//! The scratch folder of a run, and how to clean up one whose owner was killed.
//!
//! A scratch folder is locked while its owner lives; the kernel frees the lock however the owner ends. A ledger in the
//! folder names everything that the run made outside it: processes, cgroups, and what another program keeps for it.
//! (Mounts live in mount namespaces of their own and end with the processes.) [`sweep`] finds folders whose lock is free
//! and undoes them.
//!
//! It shares the lock with [`crate::cached`] folders, but differs from them: nothing in it is kept, and it is locked as
//! long as it exists, not only while it is made.
//!
//! A ledger says what to kill. So it is believed only if nobody but us could have written it. Its processes count only
//! if they were started since the host booted.

use crate::cgroup::removal;
use crate::identity::{Identity, boot_id};
use crate::lock::{self, NO_LINK};
use crate::owned::{self, ForeignError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const LOCK_FILE: &str = "lock";
const LEDGER_FILE: &str = "ledger.jsonl";
/// How often making a folder is tried again because of what another bakeoff does at the same time.
const CREATE_ATTEMPTS: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    #[error("{doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is in use by another bakeoff", .0.display())]
    InUse(PathBuf),
    /// Only a sweep knows how to undo what another program keeps.
    #[error("{} is left over from a run that was killed, and what it names could not be undone yet", .0.display())]
    StillKept(PathBuf),
    #[error(transparent)]
    Foreign(#[from] ForeignError),
}

fn failing(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ScratchError {
    let path = path.to_owned();
    move |source| ScratchError::Io { doing, path, source }
}

/// Something outside the folder that must be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MadeOutside {
    Process {
        #[serde(flatten)]
        identity: Identity,
        boot: String,
    },
    Cgroup(PathBuf),
    Kept(Kept),
}

/// Something that another program keeps for us, such as a domain of libvirt. Only the platform that asked for it knows
/// how to undo it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Which platform's.
    pub platform: String,
    /// What the platform needs to find it again.
    pub what: Value,
}

/// Undoes what another program keeps. Returns a sentence on what it did, `None` if nothing was left, or why something may
/// be left. It must return within a limit, even if that program is gone.
pub type UndoKept<'a> = &'a dyn Fn(&Kept) -> Result<Option<String>, String>;

/// The folder of a run. Dropping it undoes what its ledgers name and removes the folder.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    pub fn create(parent: &Path, name: &str) -> Result<Self, ScratchError> {
        let path = parent.join(name);
        let (aside, lock) = made_aside(parent, name)?;
        // Another bakeoff may make one of this name at the same time, or sweep the one that is there.
        for _ in 0..CREATE_ATTEMPTS {
            match fs::rename(&aside, &path) {
                Ok(()) => return Ok(Self { path, _lock: lock }),
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(failing("making", &path)(error)),
            }
            if let Err(error) = clear(&path) {
                // Nothing is in it but its lock.
                let _ = fs::remove_dir_all(&aside);
                return Err(error);
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
        // The next sweep finds what cannot be undone now.
        let _ = undo_made(&self.path);
        let _ = remove(&self.path);
    }
}

/// A locked folder that has no name yet. It is locked before it gets one, so whoever finds a free lock at the name has
/// found a leftover.
fn made_aside(parent: &Path, name: &str) -> Result<(PathBuf, File), ScratchError> {
    for attempt in 0..CREATE_ATTEMPTS {
        let aside = parent.join(format!("{name}.{}-{attempt}", std::process::id()));
        let mut made = fs::create_dir_all(parent);
        whose(parent)?;
        made = made.and_then(|()| fs::create_dir(&aside));
        match made.and_then(|()| lock::take(&aside.join(LOCK_FILE))) {
            Ok(Some(lock)) => return Ok((aside, lock)),
            // A sweep took the lock, or it removed the folder before there was one, or a run that ended removed the
            // parent.
            Ok(None) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {}
            Err(error) => return Err(failing("making", &aside)(error)),
        }
    }
    Err(ScratchError::InUse(parent.join(name)))
}

fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

/// Makes room for a folder, unless one is there that is in use or not ours.
fn clear(path: &Path) -> Result<(), ScratchError> {
    whose(path)?;
    let Some(lock) = take_lock(path)? else {
        return if is_folder(path) { Err(ScratchError::InUse(path.to_owned())) } else { Ok(()) };
    };
    undo(path, &lock, &|_| Err(String::new()))?;
    if is_folder(path) { Err(ScratchError::StillKept(path.to_owned())) } else { Ok(()) }
}

/// The folder of one machine inside the run's. Dropping it undoes what its ledger names and removes the folder.
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
        // The next sweep finds what cannot be undone now.
        let _ = undo_made(&self.path);
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Writes a process into the ledger of `folder`, which is a scratch folder or one inside it.
pub fn record_process(folder: &Path, process: Identity) -> Result<(), ScratchError> {
    let boot = boot_id().map_err(failing("reading which boot of the host this is, for", folder))?;
    record(folder, &MadeOutside::Process { identity: process, boot })
}

/// Writes a cgroup into the ledger. Must be called before the cgroup is made.
pub fn record_cgroup(folder: &Path, cgroup: &Path) -> Result<(), ScratchError> {
    record(folder, &MadeOutside::Cgroup(cgroup.to_owned()))
}

/// Writes into the ledger what another program will keep for us. Must be called before it is asked to.
pub fn record_kept(folder: &Path, kept: Kept) -> Result<(), ScratchError> {
    record(folder, &MadeOutside::Kept(kept))
}

fn record(folder: &Path, made: &MadeOutside) -> Result<(), ScratchError> {
    let path = folder.join(LEDGER_FILE);
    let mut line = serde_json::to_string(made).map_err(|error| failing("writing", &path)(error.into()))?;
    line.push('\n');
    let file = File::options().create(true).append(true).custom_flags(NO_LINK).open(&path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(failing("writing", &path))
}

/// Undoes every scratch folder in `parent` whose owner is gone, and says what it did. A folder stays while something that
/// another program keeps for it cannot be undone.
pub fn sweep(parent: &Path, undo_kept: UndoKept<'_>) -> Result<Vec<String>, ScratchError> {
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failing("reading", parent))?,
    };
    whose(parent)?;
    let mut told = Vec::new();
    for entry in entries {
        let path = entry.map_err(failing("reading", parent))?.path();
        if !is_folder(&path) {
            continue;
        }
        if let Err(error) = whose(&path) {
            told.push(format!("left {} alone: {error}; or remove it", path.display()));
            continue;
        }
        if let Some(lock) = take_lock(&path)? {
            told.extend(undo(&path, &lock, undo_kept)?);
        }
    }
    Ok(told)
}

/// Whether it is a folder itself. The target of a link is not ours to touch.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Fails unless the folder is ours; a folder that was removed meanwhile passes.
fn whose(folder: &Path) -> Result<(), ForeignError> {
    match owned::require(folder) {
        Err(ForeignError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The lock of a leftover; `None` if the folder is in use, or is gone.
fn take_lock(folder: &Path) -> Result<Option<File>, ScratchError> {
    use io::ErrorKind::{DirectoryNotEmpty, NotFound};
    let path = folder.join(LOCK_FILE);
    let taken = match lock::take_made(&path) {
        // Whoever makes or removes a folder has nothing else in it without a lock.
        Err(error) if error.kind() == NotFound => match fs::remove_dir(folder) {
            Err(error) if error.kind() == DirectoryNotEmpty => lock::take(&path),
            Err(error) if error.kind() != NotFound => return Err(failing("removing", folder)(error)),
            _ => return Ok(None),
        },
        taken => taken,
    };
    match taken {
        Err(error) if error.kind() == NotFound => Ok(None),
        taken => taken.map_err(failing("locking", &path)),
    }
}

/// Removes a folder that we hold the lock of, and the lock last.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() != LOCK_FILE {
            let remove = if entry.file_type()?.is_dir() { fs::remove_dir_all } else { fs::remove_file };
            unless_gone(remove(entry.path()))?;
        }
    }
    unless_gone(fs::remove_file(folder.join(LOCK_FILE)))?;
    match fs::remove_dir(folder) {
        // A sweep has just taken a new lock, and removes it.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => unless_gone(removed),
    }
}

fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Undoes a folder whose lock we hold.
fn undo(folder: &Path, _lock: &File, undo_kept: UndoKept<'_>) -> Result<Vec<String>, ScratchError> {
    let mut told = Vec::new();
    let mut left = Vec::new();
    for made in ledgers_below(folder)? {
        let MadeOutside::Kept(kept) = made else { continue };
        match undo_kept(&kept) {
            Ok(done) => told.extend(done),
            Err(why) => left.push(format!("left {} alone: {why}; or remove it", folder.display())),
        }
    }
    told.extend(undo_made(folder)?);
    if !left.is_empty() {
        told.extend(left);
        return Ok(told);
    }
    remove(folder).map_err(failing("removing", folder))?;
    told.push(format!("removed {}, left over from a run that was killed", folder.display()));
    Ok(told)
}

/// Kills the recorded processes of a folder and of those below it, then removes the recorded cgroups.
fn undo_made(folder: &Path) -> Result<Vec<String>, ScratchError> {
    let made = ledgers_below(folder)?;
    let now = boot_id().map_err(failing("reading which boot of the host this is, for", folder))?;
    let mut told = Vec::new();
    for made in &made {
        if let MadeOutside::Process { identity, boot } = made
            // Processes of an earlier boot are gone; one with this id and start time is another process.
            && *boot == now
            && identity.kill().map_err(failing("killing a process recorded in", folder))?
        {
            told.push(format!("killed process {}, left over from {}", identity.pid, folder.display()));
        }
    }
    for made in &made {
        if let MadeOutside::Cgroup(cgroup) = made
            && removal::remove(cgroup).map_err(failing("removing the cgroup", cgroup))?
        {
            told.push(format!("removed the cgroup {}", cgroup.display()));
        }
    }
    Ok(told)
}

/// The ledgers of a folder and of all folders below it, however deep. When a trial has several machines, each has its
/// own folder inside the trial's.
fn ledgers_below(folder: &Path) -> Result<Vec<MadeOutside>, ScratchError> {
    let mut made = ledger(folder)?;
    for entry in fs::read_dir(folder).map_err(failing("reading", folder))? {
        let entry = entry.map_err(failing("reading", folder))?;
        let path = entry.path();
        if is_folder(&path) && owned::require(&path).is_ok() {
            made.extend(ledgers_below(&path)?);
        }
    }
    Ok(made)
}

/// Reads a ledger. A half-written last line is skipped: its process died with the writer, or its cgroup was never made.
/// A file that others can write counts as empty.
fn ledger(folder: &Path) -> Result<Vec<MadeOutside>, ScratchError> {
    let path = folder.join(LEDGER_FILE);
    let opened = File::options().read(true).custom_flags(NO_LINK).open(&path);
    let mut file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(failing("reading", &path))?,
    };
    let metadata = file.metadata().map_err(failing("reading", &path))?;
    if owned::judge(&path, &metadata).is_err() {
        return Ok(Vec::new());
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failing("reading", &path))?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

#[cfg(test)]
mod tests;

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
/// How often creating a folder is tried again because a sweep took the unfinished one for a leftover.
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
enum Made {
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
        fs::create_dir_all(parent).map_err(failing("making", parent))?;
        owned::require(parent)?;
        let path = parent.join(name);
        for _ in 0..CREATE_ATTEMPTS {
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    whose(&path)?;
                    match take_lock(&path)? {
                        // Left over from an earlier run of ours, or not locked yet by its maker.
                        Some(lock) => {
                            undo(&path, &lock, &|_| Err(String::new()))?;
                            if is_folder(&path) {
                                return Err(ScratchError::StillKept(path));
                            }
                        }
                        None => return Err(ScratchError::InUse(path)),
                    }
                }
                made => made.map_err(failing("making", &path))?,
            }
            if is_folder(&path)
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
        // The next sweep finds what cannot be undone now.
        let _ = undo_made(&self.path);
        let _ = fs::remove_dir_all(&self.path);
    }
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
    record(folder, &Made::Process { identity: process, boot })
}

/// Writes a cgroup into the ledger. Must be called before the cgroup is made.
pub fn record_cgroup(folder: &Path, cgroup: &Path) -> Result<(), ScratchError> {
    record(folder, &Made::Cgroup(cgroup.to_owned()))
}

/// Writes into the ledger what another program will keep for us. Must be called before it is asked to.
pub fn record_kept(folder: &Path, kept: Kept) -> Result<(), ScratchError> {
    record(folder, &Made::Kept(kept))
}

fn record(folder: &Path, made: &Made) -> Result<(), ScratchError> {
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
    owned::require(parent)?;
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

/// The folder's lock; `None` if it is taken or the folder was removed meanwhile.
fn take_lock(folder: &Path) -> Result<Option<File>, ScratchError> {
    let path = folder.join(LOCK_FILE);
    match lock::take(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        taken => taken.map_err(failing("locking", &path)),
    }
}

/// Undoes a folder whose lock we hold.
fn undo(folder: &Path, _lock: &File, undo_kept: UndoKept<'_>) -> Result<Vec<String>, ScratchError> {
    let mut told = Vec::new();
    let mut left = Vec::new();
    for made in ledgers_below(folder)? {
        let Made::Kept(kept) = made else { continue };
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
    fs::remove_dir_all(folder).map_err(failing("removing", folder))?;
    told.push(format!("removed {}, left over from a run that was killed", folder.display()));
    Ok(told)
}

/// Kills the recorded processes of a folder and of those below it, then removes the recorded cgroups.
fn undo_made(folder: &Path) -> Result<Vec<String>, ScratchError> {
    let made = ledgers_below(folder)?;
    let now = boot_id().map_err(failing("reading which boot of the host this is, for", folder))?;
    let mut told = Vec::new();
    for made in &made {
        if let Made::Process { identity, boot } = made
            // Processes of an earlier boot are gone; one with this id and start time is another process.
            && *boot == now
            && identity.kill().map_err(failing("killing a process recorded in", folder))?
        {
            told.push(format!("killed process {}, left over from {}", identity.pid, folder.display()));
        }
    }
    for made in &made {
        if let Made::Cgroup(cgroup) = made
            && removal::remove(cgroup).map_err(failing("removing the cgroup", cgroup))?
        {
            told.push(format!("removed the cgroup {}", cgroup.display()));
        }
    }
    Ok(told)
}

/// The ledgers of a folder and of all folders below it, however deep. When a trial has several machines, each has its
/// own folder inside the trial's.
fn ledgers_below(folder: &Path) -> Result<Vec<Made>, ScratchError> {
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
fn ledger(folder: &Path) -> Result<Vec<Made>, ScratchError> {
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
mod tests {
    use super::{
        Kept, LEDGER_FILE, Scratch, ScratchError, UndoKept, record_cgroup, record_kept, record_process, sweep,
        take_lock,
    };
    use crate::identity::boot_id;
    use crate::process::{Launch, Process};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::time::Duration;

    fn sleeping() -> Process {
        Process::start(Launch::new(&["sleep", "1000"])).unwrap()
    }

    const NOTHING_KEPT: UndoKept<'static> = &|_| Ok(None);

    fn runs_on(mut process: Process) -> bool {
        process.wait(Duration::ZERO).unwrap().is_none()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_in_use_is_neither_swept_nor_given_to_another() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(parent.path(), "run").unwrap();
        assert!(sweep(parent.path(), NOTHING_KEPT).unwrap().is_empty());
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

        let told = sweep(parent.path(), NOTHING_KEPT).unwrap();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with(&format!("killed process {}", named.identity().pid)));
        assert!(named.wait(Duration::from_mins(1)).unwrap().is_some());
        assert!(namesake.wait(Duration::ZERO).unwrap().is_none());
        assert!(!cgroup.exists());
        assert!(!parent.path().join("run").exists());
        assert!(sweep(parent.path(), NOTHING_KEPT).unwrap().is_empty());
    }

    #[test]
    fn what_another_program_keeps_is_undone_by_its_platform_or_tried_again() {
        let parent = tempfile::tempdir().unwrap();
        let machine = parent.path().join("run/machine");
        fs::create_dir_all(&machine).unwrap();
        let kept = Kept { platform: "elsewhere".to_owned(), what: serde_json::json!({ "name": "one" }) };
        record_kept(&machine, kept.clone()).unwrap();
        let told = sweep(parent.path(), &|_| Err("one may still run".to_owned())).unwrap();
        assert!(told.len() == 1 && told[0].contains("alone: one may still run"), "{told:?}");
        assert!(matches!(Scratch::create(parent.path(), "run"), Err(ScratchError::StillKept(_))));
        let told = sweep(parent.path(), &|found| Ok((*found == kept).then(|| "ended one".to_owned()))).unwrap();
        assert!(told.len() == 2 && told[0] == "ended one", "{told:?}");
        assert!(!parent.path().join("run").exists());
    }

    #[test]
    fn a_ledger_of_an_earlier_boot_or_of_none_kills_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        let process = sleeping();
        let identity = process.identity();
        let (pid, ticks) = (identity.pid, identity.start_ticks);
        for boot in [r#","boot":"1d0c5a6e-0000-0000-0000-000000000000""#, ""] {
            fs::create_dir(&folder).unwrap();
            let line = format!("{{\"process\":{{\"pid\":{pid},\"start_ticks\":{ticks}{boot}}}}}\n");
            fs::write(folder.join(LEDGER_FILE), line).unwrap();
            assert_eq!(sweep(parent.path(), NOTHING_KEPT).unwrap().len(), 1, "the folder itself is removed");
        }
        assert!(runs_on(process));
    }

    #[test]
    fn what_others_could_have_written_kills_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        let process = sleeping();
        fs::create_dir(&folder).unwrap();
        record_process(&folder, process.identity()).unwrap();
        let ledger = fs::read(folder.join(LEDGER_FILE)).unwrap();
        assert!(String::from_utf8_lossy(&ledger).contains(&boot_id().unwrap()));
        set_mode(&folder, 0o777);
        let told = sweep(parent.path(), NOTHING_KEPT).unwrap();
        assert!(told.len() == 1 && told[0].contains("alone") && told[0].contains("mode is 0777"), "{told:?}");
        assert!(matches!(Scratch::create(parent.path(), "run"), Err(ScratchError::Foreign(_))));
        set_mode(&folder, 0o700);
        set_mode(&folder.join(LEDGER_FILE), 0o666);
        assert_eq!(sweep(parent.path(), NOTHING_KEPT).unwrap().len(), 1, "the folder itself is removed");
        fs::create_dir_all(folder.join("machine")).unwrap();
        fs::write(folder.join("machine").join(LEDGER_FILE), &ledger).unwrap();
        set_mode(&folder.join("machine"), 0o770);
        assert_eq!(sweep(parent.path(), NOTHING_KEPT).unwrap().len(), 1, "the folder itself is removed");
        set_mode(parent.path(), 0o777);
        assert!(matches!(sweep(parent.path(), NOTHING_KEPT), Err(ScratchError::Foreign(_))));
        assert!(runs_on(process));
    }

    #[test]
    fn a_link_is_not_followed() {
        let (parent, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let process = sleeping();
        record_process(elsewhere.path(), process.identity()).unwrap();
        symlink(elsewhere.path(), parent.path().join("run")).unwrap();
        assert!(sweep(parent.path(), NOTHING_KEPT).unwrap().is_empty());
        assert!(!elsewhere.path().join("lock").exists());
        let folder = parent.path().join("another");
        fs::create_dir(&folder).unwrap();
        symlink(elsewhere.path().join(LEDGER_FILE), folder.join(LEDGER_FILE)).unwrap();
        assert!(sweep(parent.path(), NOTHING_KEPT).is_err(), "nothing of ours made that");
        assert!(runs_on(process));
    }

    #[test]
    fn the_lock_of_a_removed_folder_guards_nothing() {
        let parent = tempfile::tempdir().unwrap();
        assert!(take_lock(&parent.path().join("absent")).unwrap().is_none());
    }
}

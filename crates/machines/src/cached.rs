//! Folders of the cache: made once, kept, and shared by every bakeoff on this host.
//!
//! One process at a time makes each folder, under a lock that the kernel frees however its holder ends. A folder is
//! made aside, synced to disk and renamed into place, so it is never found incomplete. If a maker is killed, its
//! leftovers are removed by the next maker of the same folder, and by [`CachedFolder::sweep`]. The caller decides how
//! to distinguish a finished folder from one not made yet.

use crate::lock;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Endings of the names beside a folder's place while it is made.
const BUILDING: &str = ".building";
const LOCK: &str = ".lock";
/// In the folder aside: the future folder, and the old one that it replaces.
const BUILT: &str = "built";
const REPLACED: &str = "replaced";
const LOCK_POLL: Duration = Duration::from_millis(200);

#[derive(Debug, thiserror::Error)]
pub enum CachedError {
    #[error("{doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("another bakeoff has been making {} for more than {} minutes", .path.display(), .limit.as_secs() / 60)]
    Busy { path: PathBuf, limit: Duration },
    #[error("another bakeoff is making {}, and waiting for it was given up", .path.display())]
    GivenUp { path: PathBuf },
}

fn failing(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CachedError {
    let path = path.to_owned();
    move |source| CachedError::Io { doing, path, source }
}

/// A folder that only we may make now. Dropping it removes everything that is not kept, and frees the lock.
#[derive(Debug)]
pub struct CachedFolder {
    place: PathBuf,
    aside: PathBuf,
    _lock: File,
}

impl CachedFolder {
    /// Waits until nobody else is making the folder at this place; by then it may be finished. Waiting ends when
    /// `goes_on`, which is called repeatedly, returns false.
    pub fn lock(place: &Path, limit: Duration, goes_on: &mut dyn FnMut() -> bool) -> Result<Self, CachedError> {
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(failing("making", parent))?;
        }
        let path = with(place, LOCK);
        let deadline = Instant::now() + limit;
        let lock = loop {
            if let Some(lock) = lock::take(&path).map_err(failing("locking", &path))? {
                break lock;
            }
            if !goes_on() {
                return Err(CachedError::GivenUp { path: place.to_owned() });
            }
            if Instant::now() > deadline {
                return Err(CachedError::Busy { path: place.to_owned(), limit });
            }
            std::thread::sleep(LOCK_POLL);
        };
        let folder = Self { place: place.to_owned(), aside: with(place, BUILDING), _lock: lock };
        remove_if_there(&folder.aside)?;
        fs::create_dir(&folder.aside).map_err(failing("making", &folder.aside))?;
        Ok(folder)
    }

    /// Folder for files that are needed only while making it.
    pub fn work(&self) -> &Path {
        &self.aside
    }

    /// Path that becomes the folder. The caller must create it.
    pub fn built(&self) -> PathBuf {
        self.aside.join(BUILT)
    }

    /// Moves what was built into its place, in one step, and replaces a folder that is already there.
    pub fn keep(self) -> Result<(), CachedError> {
        let built = self.built();
        let opened = File::open(&built).map_err(failing("opening", &built))?;
        rustix::fs::syncfs(&opened).map_err(|error| failing("bringing to disk", &built)(error.into()))?;
        if self.place.exists() {
            let replaced = self.aside.join(REPLACED);
            fs::rename(&self.place, &replaced).map_err(failing("replacing", &self.place))?;
        }
        fs::rename(&built, &self.place).map_err(failing("moving into place", &self.place))?;
        let parent = self.place.parent().unwrap_or(Path::new("."));
        File::open(parent).and_then(|parent| parent.sync_all()).map_err(failing("bringing to disk", parent))
    }

    /// Removes what killed makers have left in this folder of the cache, and says what it removed.
    pub fn sweep(parent: &Path) -> Result<Vec<String>, CachedError> {
        let entries = match fs::read_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failing("reading", parent))?,
        };
        let mut told = Vec::new();
        for entry in entries {
            let path = entry.map_err(failing("reading", parent))?.path();
            let name = path.to_string_lossy();
            let Some(place) = name.strip_suffix(BUILDING).or_else(|| name.strip_suffix(LOCK)).map(Path::new) else {
                continue;
            };
            let (aside, path) = (with(place, BUILDING), with(place, LOCK));
            let Some(lock) = lock::take(&path).map_err(failing("locking", &path))? else { continue };
            if aside.exists() {
                told.push(format!("removed {}, half made by a run that was killed", aside.display()));
            }
            remove_if_there(&aside)?;
            drop(Self { place: place.to_owned(), aside, _lock: lock });
        }
        Ok(told)
    }
}

impl Drop for CachedFolder {
    fn drop(&mut self) {
        // The next sweep finds whatever cannot be removed now. The lock file is removed last, while the lock is held: a
        // process that waits for it then makes a new one.
        let _ = fs::remove_dir_all(&self.aside);
        let _ = fs::remove_file(with(&self.place, LOCK));
    }
}

/// A path beside a folder's place. Names may contain dots, so `with_extension`, which could replace a part, is not used.
fn with(place: &Path, ending: &str) -> PathBuf {
    let mut path = place.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

fn remove_if_there(path: &Path) -> Result<(), CachedError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failing("removing", path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const LONG: Duration = Duration::from_mins(1);

    fn lock(place: &Path) -> CachedFolder {
        CachedFolder::lock(place, LONG, &mut || panic!("nobody else makes it")).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn make(place: &Path, content: &str) {
        let folder = lock(place);
        fs::create_dir(folder.built()).unwrap();
        fs::write(folder.built().join("content"), content).unwrap();
        fs::write(folder.work().join("needed only meanwhile"), "").unwrap();
        folder.keep().unwrap();
    }

    #[test]
    fn a_folder_is_there_whole_or_not_at_all_and_a_new_one_replaces_the_old() {
        let cache = tempfile::tempdir().unwrap();
        let place = cache.path().join("kernel-6.1");
        drop(lock(&place));
        assert!(names(cache.path()).is_empty());
        for content in ["old", "new"] {
            make(&place, content);
            assert_eq!(fs::read_to_string(place.join("content")).unwrap(), content);
            assert_eq!(names(cache.path()), ["kernel-6.1"]);
        }
        let unfinished = lock(&place);
        assert!(unfinished.keep().is_err(), "nothing was built");
        assert_eq!(names(cache.path()), ["kernel-6.1"]);
    }

    #[test]
    fn the_second_maker_waits_for_the_first() {
        let cache = tempfile::tempdir().unwrap();
        let place = cache.path().join("data");
        let first = lock(&place);
        let (tell, waits) = channel();
        let second = {
            let place = place.clone();
            std::thread::spawn(move || {
                CachedFolder::lock(&place, LONG, &mut || tell.send(()).is_ok()).map(|_| place.join("whole").exists())
            })
        };
        waits.recv_timeout(LONG).unwrap();
        fs::create_dir_all(first.built().join("whole")).unwrap();
        first.keep().unwrap();
        assert!(second.join().unwrap().unwrap(), "it finds what the first has made");
    }

    #[test]
    fn waiting_has_a_limit_and_is_given_up_when_told() {
        let cache = tempfile::tempdir().unwrap();
        let place = cache.path().join("data");
        let _first = lock(&place);
        let error = CachedFolder::lock(&place, Duration::ZERO, &mut || true).unwrap_err();
        assert!(matches!(error, CachedError::Busy { .. }), "{error}");
        let error = CachedFolder::lock(&place, LONG, &mut || false).unwrap_err();
        assert!(matches!(error, CachedError::GivenUp { .. }), "{error}");
    }

    #[test]
    fn a_lock_that_was_removed_by_its_holder_guards_nothing() {
        let cache = tempfile::tempdir().unwrap();
        let path = cache.path().join("data.lock");
        let waiting = File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        waiting.lock().unwrap();
        assert!(lock::take(&path).unwrap().is_some(), "that of a file that is gone is another");
    }

    #[test]
    fn what_a_killed_maker_left_is_removed_and_what_is_being_made_is_not() {
        let cache = tempfile::tempdir().unwrap();
        assert!(CachedFolder::sweep(&cache.path().join("absent")).unwrap().is_empty());
        let at = |name: &str| cache.path().join(name);
        make(&at("whole"), "");
        for name in ["dead.building/built/half", "again.building/built/half"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("dead.lock"), "").unwrap();
        fs::write(at("begun.lock"), "").unwrap();
        let busy = lock(&at("busy"));
        let again = lock(&at("again"));
        assert!(names(again.work()).is_empty(), "what was half made is made anew");
        drop(again);
        let told = CachedFolder::sweep(cache.path()).unwrap();
        assert_eq!(told, [format!("removed {}, half made by a run that was killed", at("dead.building").display())]);
        assert_eq!(names(cache.path()), ["busy.building", "busy.lock", "whole"]);
        drop(busy);
        assert_eq!(names(cache.path()), ["whole"]);
    }
}

//! Files that are never half written, and how they are synced to the disk: one by one, or a whole folder together.

use crate::error::{RecordError, failing};
use std::fs::{self, File};
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// How many files are synced at a time. A file system commits simultaneous requests together.
const AT_ONCE: usize = 8;

/// Writes a file so that it is either the old or the new one. The new one survives a power cut once this returns.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    put(path, bytes, File::sync_all)?;
    sync(above(path))
}

fn above(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Like [`write`], but a power cut may spoil the file until [`sync_all_in`] has returned.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    put(path, bytes, |_| Ok(()))
}

fn put(path: &Path, bytes: &[u8], bring: impl FnOnce(&File) -> io::Result<()>) -> Result<(), RecordError> {
    let partial = path.with_extension("partial");
    let written = (|| {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        bring(&file)?;
        fs::rename(&partial, path)
    })();
    written.map_err(|source| {
        // The old file, if any, is untouched; the partial one is useless.
        let _ = fs::remove_file(&partial);
        failing("writing", path)(source)
    })
}

/// Syncs everything in a folder, the folder itself, and its name in the one above it.
pub fn sync_all_in(folder: &Path) -> Result<(), RecordError> {
    let mut paths = all_in(folder).map_err(failing("listing", folder))?;
    paths.push(above(folder).to_owned());
    let share = paths.len().div_ceil(AT_ONCE).max(1);
    thread::scope(|scope| {
        let begin = |part| scope.spawn(move || <[PathBuf]>::iter(part).try_for_each(|path| sync(path)));
        let threads: Vec<_> = paths.chunks(share).map(begin).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// The folder, and everything below it.
fn all_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut paths, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { &mut folders } else { &mut paths }.push(entry.path());
        }
        paths.push(folder);
    }
    Ok(paths)
}

fn sync(path: &Path) -> Result<(), RecordError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failing("bringing to disk", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_a_folder_is_brought_to_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("machines/1/logs")).unwrap();
        let files = ["trial.json", "machines/1/trial.json", "machines/1/logs/console.txt"].map(at);
        for file in &files {
            write_unsynced(file, b"x").unwrap();
        }
        let mut expected = [&files[..], &["", "machines", "machines/1", "machines/1/logs"].map(at)].concat();
        let mut found = all_in(folder.path()).unwrap();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
        sync_all_in(folder.path()).unwrap();
        assert!(sync_all_in(&at("nowhere")).is_err());
    }
}

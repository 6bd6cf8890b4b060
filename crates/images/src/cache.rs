//! The cache: finished trees, kernels and initramfs archives. An entry gets there whole or not at all.
//!
//! Each entry is a [`CachedFolder`] with a manifest; a folder without one is not an entry. The caller chooses where the
//! cache is.

use crate::Image;
use crate::tool::ToolError;
use machines::cached::{CachedError, CachedFolder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Increased when the same recipe would give another result; older entries are then built again.
pub(crate) const BUILDER: u32 = 2;

/// How long one builder waits for another: longer than the slowest build may take.
const LOCK_LIMIT: Duration = Duration::from_mins(65);

/// Bytes of an identity: 128 bits, written as 32 hexadecimal digits.
const ID_BYTES: usize = 16;
/// Digits of a key that go into a folder's name.
const KEY_DIGITS: usize = 12;

const MANIFEST: &str = "manifest.json";

/// A folder that holds images.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// The kinds of entries; each kind has a folder of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    Tree,
    Kernel,
}

/// The description of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub name: String,
    /// Hash of what was asked for.
    pub key: String,
    /// Hash of what was asked for and what went in.
    pub id: String,
    /// `name=version`, sorted.
    pub packages: Vec<String>,
    pub size_bytes: u64,
    /// Seconds since 1970.
    pub built_unix_s: u64,
    pub builder: u32,
    /// Versions of the tools that built it.
    pub tools: Vec<String>,
    /// The release, if this is a kernel.
    pub release: Option<String>,
}

impl Manifest {
    /// The manifest of a finished entry; `None` if there is none at that place.
    pub fn read(place: &Path) -> Result<Option<Manifest>, CacheError> {
        let path = place.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(CacheError::io("read", &path)(cause)),
        };
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|error| CacheError::Damaged { path, problem: error.to_string() })
    }
}

/// One line of `bakeoff image list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedImage {
    pub kind: EntryKind,
    pub name: String,
    pub id: String,
    pub folder: PathBuf,
    /// Bytes on disk.
    pub size_bytes: u64,
    pub packages: usize,
    /// Seconds since 1970.
    pub built_unix_s: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("cannot {what} {}: {cause}", .path.display())]
    Io { what: &'static str, path: PathBuf, cause: io::Error },
    #[error("{} is not an image of this cache: {problem}", .path.display())]
    Damaged { path: PathBuf, problem: String },
    #[error(transparent)]
    Folder(#[from] CachedError),
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl CacheError {
    /// For `map_err`: adds what was tried, and on which path.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CacheError {
        let path = path.to_owned();
        move |cause| CacheError::Io { what, path, cause }
    }
}

impl EntryKind {
    fn folder(self) -> &'static str {
        match self {
            EntryKind::Tree => "trees",
            EntryKind::Kernel => "kernels",
        }
    }
}

impl Cache {
    /// Opens the cache in this folder, and makes the folder if it is not there.
    pub fn open(folder: &Path) -> Result<Cache, CacheError> {
        for part in ["trees", "kernels", "initramfs"] {
            let path = folder.join(part);
            fs::create_dir_all(&path).map_err(CacheError::io("create", &path))?;
        }
        let folder = folder.canonicalize().map_err(CacheError::io("find", folder))?;
        Ok(Cache { folder })
    }

    /// The cache that an image is in.
    pub fn of(image: &Image) -> Result<Cache, CacheError> {
        let folder = image.tree.ancestors().nth(3).filter(|folder| folder.join("trees").is_dir());
        let missing = || CacheError::Damaged { path: image.tree.clone(), problem: "it is in no cache".into() };
        Cache::open(folder.ok_or_else(missing)?)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn initramfs_folder(&self) -> PathBuf {
        self.folder.join("initramfs")
    }

    /// Where the entry with this key is, or will be.
    pub(crate) fn place(&self, kind: EntryKind, name: &str, key: &str) -> PathBuf {
        self.folder.join(kind.folder()).join(format!("{name}-{}", &key[..KEY_DIGITS.min(key.len())]))
    }
}

/// Removes what killed builders have left in the cache of this folder; returns what it did.
pub fn sweep(cache: &Path) -> Result<Vec<String>, CachedError> {
    let [trees, kernels] =
        [EntryKind::Tree, EntryKind::Kernel].map(|kind| CachedFolder::sweep(&cache.join(kind.folder())));
    Ok([trees?, kernels?].concat())
}

/// The result of looking up an entry.
pub(crate) enum Lookup {
    Found(Manifest),
    Missing(CachedFolder),
}

/// Returns the entry of this place, or the right to make it. Waits while another builder has that right, and reports
/// this once. With `force`, an existing entry is made anew.
pub(crate) fn look_up(place: &Path, force: bool, progress: &mut dyn FnMut(&str)) -> Result<Lookup, CacheError> {
    if let Some(manifest) = Manifest::read(place)?.filter(|_| !force) {
        return Ok(Lookup::Found(manifest));
    }
    let mut has_told = false;
    let folder = CachedFolder::lock(place, LOCK_LIMIT, &mut || {
        if !has_told {
            progress(&format!("waiting for another builder of {}", place.display()));
            has_told = true;
        }
        true
    })?;
    // Another builder may have made it meanwhile.
    Ok(Manifest::read(place)?.filter(|_| !force).map_or_else(|| Lookup::Missing(folder), Lookup::Found))
}

/// Makes a built folder an entry of the cache.
pub(crate) fn keep(folder: CachedFolder, manifest: &Manifest) -> Result<(), CacheError> {
    let path = folder.built().join(MANIFEST);
    let text = serde_json::to_string_pretty(manifest)
        .map_err(|error| CacheError::Damaged { path: path.clone(), problem: error.to_string() })?;
    fs::write(&path, text).map_err(CacheError::io("write", &path))?;
    Ok(folder.keep()?)
}

/// All finished trees and kernels, by kind and name.
pub fn list(cache: &Cache) -> Result<Vec<ListedImage>, CacheError> {
    let mut listed = Vec::new();
    for kind in [EntryKind::Tree, EntryKind::Kernel] {
        let folder = cache.folder.join(kind.folder());
        for entry in fs::read_dir(&folder).map_err(CacheError::io("list", &folder))? {
            let path = entry.map_err(CacheError::io("list", &folder))?.path();
            if !path.is_dir() {
                // The lock of an entry that is being made.
                continue;
            }
            let Some(Manifest { name, id, size_bytes, packages, built_unix_s, .. }) = Manifest::read(&path)? else {
                continue;
            };
            listed.push(ListedImage {
                kind,
                name,
                id,
                folder: path,
                size_bytes,
                packages: packages.len(),
                built_unix_s,
            });
        }
    }
    listed.sort_by(|a, b| (a.kind, &a.name, a.built_unix_s).cmp(&(b.kind, &b.name, b.built_unix_s)));
    Ok(listed)
}

/// One hash over several parts. Each part's length is hashed, too, so the boundaries between parts matter.
pub(crate) fn identity<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let bytes: [u8; 32] = hash.finalize().into();
    let (head, _) = bytes.split_at(ID_BYTES);
    format!("{:032x}", head.iter().fold(0_u128, |number, &byte| number << 8 | u128::from(byte)))
}

/// Bytes that a folder takes on disk; a file with several names counts once for each.
pub(crate) fn size_on_disk(folder: &Path) -> Result<u64, CacheError> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    walk(folder, &mut |_, metadata| bytes += metadata.blocks() * 512)?;
    Ok(bytes)
}

/// Visits every file and folder below `folder`, without following links.
pub(crate) fn walk(folder: &Path, visit: &mut dyn FnMut(&Path, &fs::Metadata)) -> Result<(), CacheError> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).map_err(CacheError::io("list", &folder))? {
            let entry = entry.map_err(CacheError::io("list", &folder))?;
            let path = entry.path();
            let metadata = entry.metadata().map_err(CacheError::io("look at", &path))?;
            visit(&path, &metadata);
            if metadata.is_dir() {
                waiting.push(path);
            }
        }
    }
    Ok(())
}

/// The current time in seconds since 1970; 0 if the clock shows an earlier time.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn manifest(name: &str) -> Manifest {
        Manifest {
            name: name.to_owned(),
            key: "0123456789abcdef".into(),
            id: identity([name.as_bytes()]),
            packages: vec!["a=1".into()],
            size_bytes: 1,
            built_unix_s: 2,
            builder: BUILDER,
            tools: Vec::new(),
            release: None,
        }
    }

    #[test]
    fn parts_of_an_identity_do_not_run_into_each_other() {
        assert_ne!(identity([&b"ab"[..], b"c"]), identity([&b"a"[..], b"bc"]));
        // Computed with coreutils: printf '\3\0\0\0\0\0\0\0abc' | sha256sum
        assert_eq!(identity([&b"abc"[..]]), "ce91dc5eec0139adf091900d225971d6");
    }

    fn make(folder: CachedFolder, content: &str) {
        fs::create_dir(folder.built()).unwrap();
        fs::write(folder.built().join("content"), content).unwrap();
        keep(folder, &manifest("micro")).unwrap();
    }

    #[test]
    fn the_second_builder_waits_says_so_and_takes_what_the_first_has_built() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let place = cache.place(EntryKind::Tree, "micro", &manifest("micro").key);
        assert!(place.ends_with("trees/micro-0123456789ab"));
        let Lookup::Missing(first) = look_up(&place, false, &mut |_| ()).unwrap() else { panic!("it is there") };
        assert!(list(&cache).unwrap().is_empty());
        let (tell, told) = channel();
        let second = {
            let place = place.clone();
            std::thread::spawn(move || {
                let entry = look_up(&place, false, &mut |line| tell.send(line.to_owned()).unwrap()).unwrap();
                matches!(entry, Lookup::Found(found) if found == manifest("micro"))
            })
        };
        let line = told.recv_timeout(Duration::from_mins(1)).unwrap();
        assert!(line.starts_with("waiting for another builder"), "{line}");
        make(first, "old");
        assert!(second.join().unwrap());
    }

    #[test]
    fn leftovers_of_a_dead_builder_are_swept_and_a_new_entry_replaces_the_old() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        fs::create_dir_all(folder.path().join("trees/micro-0.building/tree/etc")).unwrap();
        assert_eq!(sweep(folder.path()).unwrap().len(), 1);
        let place = cache.place(EntryKind::Tree, "micro", &manifest("micro").key);
        for content in ["old", "new"] {
            let Lookup::Missing(folder) = look_up(&place, true, &mut |_| ()).unwrap() else { panic!("forced") };
            make(folder, content);
        }
        assert_eq!(fs::read_to_string(place.join("content")).unwrap(), "new");
        let listed = list(&cache).unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!((listed[0].name.as_str(), listed[0].packages, listed[0].kind), ("micro", 1, EntryKind::Tree));
        assert_eq!(fs::read_dir(folder.path().join("trees")).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_manifest_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        fs::create_dir(folder.path().join("trees/micro-1")).unwrap();
        fs::write(folder.path().join("trees/micro-1/manifest.json"), "{").unwrap();
        let error = list(&cache).unwrap_err().to_string();
        assert!(error.contains("trees/micro-1/manifest.json is not an image of this cache"), "{error}");
    }
}

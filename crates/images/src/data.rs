//! Data disks: made once from a loaded folder, and cloned for each trial.
//!
//! A clone is as cold as its original: when a trial begins, both are on disk and not in the page cache. So no contender
//! finds the host's memory warmed by the previous one. Nothing here mounts a disk.

use crate::cache::{CacheError, walk};
use crate::rootdisk::Content;
use crate::sparse;
use crate::tool::{CP, MKE2FS, ToolError};
use machines::process::ProcessError;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::device::{require_idle, write_to_device};

/// For filling a filesystem or copying a folder of hundreds of gigabytes.
const COPY_LIMIT: Duration = Duration::from_hours(4);

/// Bytes of disk for each inode: databases keep few, large files.
const BYTES_PER_INODE: u64 = 1 << 20;
/// Inodes that even the smallest disk has, for the files that a database makes while it runs.
const FEWEST_INODES: u64 = 16_384;
/// Room for the filesystem's tables and journal: a 64th of the disk, plus this.
const FILESYSTEM_BYTES: u64 = 16 << 20;
/// Room that must remain on the host's disk; with less the disk counts as full.
const SPARE_BYTES: u64 = 64 << 20;

/// The longest label ext4 can hold.
const LABEL_BYTES: usize = 16;

/// A place that holds a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataDisk {
    /// An ext4 image file.
    Image(PathBuf),
    /// A block device onto which an ext4 image was written.
    Device(PathBuf),
    /// A plain folder: used only natively, and while the data is loaded.
    Folder(PathBuf),
}

/// How a clone was made. A reflink shares blocks with its original until they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloneMethod {
    Reflink,
    SparseCopy,
    /// File by file, into a folder.
    FolderCopy,
}

impl CloneMethod {
    pub fn name(self) -> &'static str {
        match self {
            CloneMethod::Reflink => "reflink",
            CloneMethod::SparseCopy => "sparse copy",
            CloneMethod::FolderCopy => "folder copy",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("{} holds {} MiB, which does not fit on a disk of {} MiB; `disk.size` must be larger", .folder.display(), mebibytes(*.content_bytes), mebibytes(*.disk_bytes))]
    DoesNotFit { folder: PathBuf, content_bytes: u64, disk_bytes: u64 },
    #[error("{} needs {} MiB, with some to spare, and only {} MiB are free there", .path.display(), mebibytes(*.needed_bytes), mebibytes(*.free_bytes))]
    NoSpace { path: PathBuf, needed_bytes: u64, free_bytes: u64 },
    #[error("the host's disk is full: {} MiB are left for {}", *.free_bytes >> 20, .folder.display())]
    Full { folder: PathBuf, free_bytes: u64 },
    #[error("the disk became full while {} was written", .path.display())]
    DiskFull { path: PathBuf },
    #[error("{} is there already", .path.display())]
    Exists { path: PathBuf },
    #[error("{} cannot be a data disk: {why}", .path.display())]
    Device { path: PathBuf, why: String },
    #[error("`{label}` is not a disk's label: at most {LABEL_BYTES} letters, digits, `-` and `_`")]
    Label { label: String },
    #[error("cannot {what} {}: {cause}", .path.display())]
    Io { what: &'static str, path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error(transparent)]
    Walk(#[from] CacheError),
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

impl DataError {
    /// Whether the host has no room, as opposed to the requested disk.
    pub fn is_full_host(&self) -> bool {
        matches!(self, DataError::NoSpace { .. } | DataError::Full { .. } | DataError::DiskFull { .. })
    }

    /// For `map_err`: adds what was tried, and on which path.
    pub(crate) fn io<Cause: Into<io::Error>>(what: &'static str, path: &Path) -> impl FnOnce(Cause) -> DataError {
        let path = path.to_owned();
        move |cause| match cause.into() {
            cause if cause.kind() == io::ErrorKind::StorageFull => DataError::DiskFull { path },
            cause if cause.kind() == io::ErrorKind::AlreadyExists => DataError::Exists { path },
            cause => DataError::Io { what, path, cause },
        }
    }
}

/// Makes an ext4 image of that size with the folder's files in it. The file is sparse: it takes the space of its content.
pub fn make_from_folder(folder: &Path, image: &Path, size_bytes: u64, label: &str) -> Result<DataDisk, DataError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if label.len() > LABEL_BYTES || !label.chars().all(is_plain) {
        return Err(DataError::Label { label: label.to_owned() });
    }
    let content = Content::of(folder)?;
    let overhead = filesystem_bytes(size_bytes);
    let too_large =
        || DataError::DoesNotFit { folder: folder.to_owned(), content_bytes: content.bytes, disk_bytes: size_bytes };
    if content.bytes + overhead > size_bytes {
        return Err(too_large());
    }
    require_space(image, content.bytes + overhead)?;
    let inodes = content.entries * 2 + FEWEST_INODES.max(size_bytes / BYTES_PER_INODE);
    let half_made = Unfinished::create(image)?;
    half_made.file.set_len(size_bytes).map_err(DataError::io("size", image))?;
    let made = MKE2FS
        .call()?
        .args(["-q", "-F", "-t", "ext4", "-b", "4096", "-m", "0", "-L", label, "-N", inodes.to_string().as_str()])
        // Everything is initialised now, so that no guest does this in the background while it is measured.
        .args(["-E", "lazy_itable_init=0,lazy_journal_init=0,packed_meta_blocks=1"])
        .args([Path::new("-d"), folder, image])
        .run(COPY_LIMIT, &mut |_| ());
    made.map_err(|error| match &error {
        ProcessError::Failed { tail, .. } if tail.contains("No space left on device") => {
            DataError::DiskFull { path: image.to_owned() }
        }
        ProcessError::Failed { tail, .. } if tail.contains("Could not allocate") => too_large(),
        _ => ToolError::from(error).into(),
    })?;
    half_made.file.sync_all().map_err(DataError::io("bring to disk", image))?;
    forget(&half_made.file).map_err(DataError::io("drop from the cache", image))?;
    half_made.keep();
    Ok(DataDisk::Image(image.to_owned()))
}

/// The most that a filesystem's tables and journal take on a disk of that size.
pub fn filesystem_bytes(size_bytes: u64) -> u64 {
    size_bytes / 64 + FILESYSTEM_BYTES
}

/// Makes a private copy of an image file, in the cheapest way the filesystem supports.
pub fn clone(from: &Path, to: &Path) -> Result<CloneMethod, DataError> {
    let (source, target, method) = copied(from, to)?;
    target.file.sync_all().map_err(DataError::io("bring to disk", to))?;
    for (file, path) in [(&source, from), (&target.file, to)] {
        forget(file).map_err(DataError::io("drop from the cache", path))?;
    }
    target.keep();
    Ok(method)
}

/// The same for a copy that no trial begins with: it is neither brought to disk nor dropped from the page cache.
pub fn copy(from: &Path, to: &Path) -> Result<CloneMethod, DataError> {
    let (_, target, method) = copied(from, to)?;
    target.keep();
    Ok(method)
}

fn copied(from: &Path, to: &Path) -> Result<(File, Unfinished, CloneMethod), DataError> {
    let source = File::open(from).map_err(DataError::io("open", from))?;
    let target = Unfinished::create(to)?;
    let method = if rustix::fs::ioctl_ficlone(&target.file, &source).is_ok() {
        CloneMethod::Reflink
    } else {
        require_space(to, allocated_bytes(from)?)?;
        sparse::copy(&source, &target.file).map_err(DataError::io("copy to", to))?;
        CloneMethod::SparseCopy
    };
    Ok((source, target, method))
}

/// Makes a private copy of a folder, with owners, modes and times, for hosts that cannot mount an image.
pub fn clone_folder(from: &Path, to: &Path) -> Result<CloneMethod, DataError> {
    if to.symlink_metadata().is_ok() {
        return Err(DataError::Exists { path: to.to_owned() });
    }
    require_space(to, Content::of(from)?.bytes)?;
    let copied = CP.call()?.args(["--archive", "--reflink=auto", "--sparse=auto", "--no-target-directory", "--"]);
    let copied = copied.args([from, to]).run(COPY_LIMIT, &mut |_| ()).map_err(ToolError::from);
    if let Err(error) = copied.map_err(DataError::from).and_then(|_| cool_folder(to)).and_then(|()| cool_folder(from)) {
        // The cause is returned, not a further error of the clean-up.
        let _ = fs::remove_dir_all(to);
        return Err(error);
    }
    Ok(CloneMethod::FolderCopy)
}

/// Syncs a folder to disk and drops its files from the page cache.
fn cool_folder(folder: &Path) -> Result<(), DataError> {
    let opened = File::open(folder).map_err(DataError::io("open", folder))?;
    rustix::fs::syncfs(&opened).map_err(DataError::io("bring to disk", folder))?;
    let mut files = Vec::new();
    walk(folder, &mut |path, metadata| {
        if metadata.is_file() {
            files.push(path.to_owned());
        }
    })?;
    for path in files {
        let file = File::open(&path).map_err(DataError::io("open", &path))?;
        forget(&file).map_err(DataError::io("drop from the cache", &path))?;
    }
    Ok(())
}

/// Drops a file's clean pages from the host's page cache.
pub(crate) fn forget(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Fails unless the filesystem on which `path` will be has that much room, and some to spare.
pub fn require_space(path: &Path, needed_bytes: u64) -> Result<(), DataError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (needed_bytes, free_bytes) = (needed_bytes + SPARE_BYTES, free_bytes(folder)?);
    if needed_bytes > free_bytes {
        return Err(DataError::NoSpace { path: path.to_owned(), needed_bytes, free_bytes });
    }
    Ok(())
}

fn free_bytes(folder: &Path) -> Result<u64, DataError> {
    let free = rustix::fs::statvfs(folder).map_err(DataError::io("look at", folder))?;
    Ok(free.f_bavail * free.f_frsize)
}

/// Fails if the filesystem of a folder has too little room left to work in.
pub fn require_room_in(folder: &Path) -> Result<(), DataError> {
    match free_bytes(folder)? {
        free_bytes if free_bytes < SPARE_BYTES => Err(DataError::Full { folder: folder.to_owned(), free_bytes }),
        _ => Ok(()),
    }
}

/// Whether clones of files in this folder share blocks with their originals; tried with a small file.
pub fn shares_blocks(folder: &Path) -> Result<bool, DataError> {
    let file = || tempfile::tempfile_in(folder).map_err(DataError::io("make a file in", folder));
    let (from, to) = (file()?, file()?);
    Ok(rustix::fs::ioctl_ficlone(&to, &from).is_ok())
}

/// The space that a file takes on its disk, without its holes.
pub fn allocated_bytes(path: &Path) -> Result<u64, DataError> {
    use std::os::unix::fs::MetadataExt;
    Ok(path.metadata().map_err(DataError::io("look at", path))?.blocks() * 512)
}

/// A new file that is removed again unless it is kept.
struct Unfinished {
    file: File,
    path: PathBuf,
    is_kept: bool,
}

impl Unfinished {
    fn create(path: &Path) -> Result<Self, DataError> {
        let file = File::options().read(true).write(true).create_new(true).open(path);
        let file = file.map_err(DataError::io("create", path))?;
        Ok(Unfinished { file, path: path.to_owned(), is_kept: false })
    }

    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_kept {
            // An error is being returned already, and nobody would get this one.
            let _ = fs::remove_file(&self.path);
        }
    }
}

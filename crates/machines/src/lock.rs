//! Locks on files. The kernel frees them however their holder ends.

use rustix::fs::OFlags;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A link in the place of one of our files would lead to somebody else's file.
pub(crate) const NO_LINK: i32 = OFlags::NOFOLLOW.bits().cast_signed();

/// Takes the lock of this file, which is created if missing. `None` if another process holds the lock, or has removed
/// the file meanwhile.
pub(crate) fn take(path: &Path) -> io::Result<Option<File>> {
    take_opened(File::options().create(true).truncate(false).write(true).custom_flags(NO_LINK).open(path)?)
}

/// The same for a file that must be there.
pub(crate) fn take_made(path: &Path) -> io::Result<Option<File>> {
    take_opened(File::options().write(true).custom_flags(NO_LINK).open(path)?)
}

fn take_opened(lock: File) -> io::Result<Option<File>> {
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    // Its holder may have removed the file between our opening and locking it. That lock would guard nothing.
    let links = lock.metadata()?.nlink();
    Ok((links > 0).then_some(lock))
}

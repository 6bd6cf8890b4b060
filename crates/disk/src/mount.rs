//! The kernel's side of the disk: its connection, its mount, and how to remove one that nobody serves any more.

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, unmount};
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use telemetry::mounts;

const CHANNEL: &str = "/dev/fuse";
/// What the kernel shows of our mounts. No other is ever removed.
const SOURCE: &str = "bakeoff";
const KIND: &str = "fuse.bakeoff";
/// Where connections can be ended by their number, if that file system is mounted.
const CONNECTIONS: &str = "/sys/fs/fuse/connections";
/// A mount over a mount is possible, but nobody makes so many.
const MOST_STACKED: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// This host or this user can have no such disk.
    #[error("{0}")]
    Unavailable(String),
    #[error("{} must be an empty file, in whose place the disk will be", .0.display())]
    Place(PathBuf),
    #[error("{doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("the mount at {} is still there after it was removed {MOST_STACKED} times", .0.display())]
    Stays(PathBuf),
}

fn failing<Cause: Into<io::Error>>(doing: &'static str, path: &Path) -> impl FnOnce(Cause) -> MountError {
    let path = path.to_owned();
    move |source| MountError::Io { doing, path, source: source.into() }
}

/// Opens a connection to the kernel, or says why there is none.
pub(crate) fn open_channel() -> Result<File, MountError> {
    let opened = File::options().read(true).write(true).open(CHANNEL);
    let channel = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => MountError::Unavailable(format!(
            "there is no {CHANNEL}: this kernel has no FUSE, or its module is not loaded (`modprobe fuse`)"
        )),
        _ => MountError::Unavailable(format!("{CHANNEL} cannot be opened: {error}")),
    })?;
    let is_device = channel.metadata().is_ok_and(|metadata| metadata.file_type().is_char_device());
    if is_device { Ok(channel) } else { Err(MountError::Unavailable(format!("{CHANNEL} is no device"))) }
}

/// A mount that goes when it is dropped.
#[derive(Debug)]
pub(crate) struct Mounted {
    path: PathBuf,
}

impl Mounted {
    /// Mounts a file that is served through `channel` over the empty file at `path`.
    pub fn over(path: &Path, channel: &File, owner: (u32, u32)) -> Result<Self, MountError> {
        let metadata = fs::symlink_metadata(path).map_err(failing("looking at", path))?;
        if !metadata.is_file() || metadata.len() > 0 {
            return Err(MountError::Place(path.to_owned()));
        }
        // A machine may run as root where we do not. Whose it is and its mode are the kernel's to check.
        let (descriptor, (user, group)) = (channel.as_raw_fd(), owner);
        let options =
            format!("fd={descriptor},rootmode=100600,user_id={user},group_id={group},allow_other,default_permissions");
        let options = CString::new(options).map_err(failing("mounting", path))?;
        let flags = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
        match rustix::mount::mount(SOURCE, path, KIND, flags, options.as_c_str()) {
            Ok(()) => Ok(Self { path: path.to_owned() }),
            Err(Errno::PERM | Errno::ACCESS) => Err(MountError::Unavailable(
                "this user may not mount (root may, unless the container forbids it)".to_owned(),
            )),
            Err(Errno::NODEV) => Err(MountError::Unavailable("this kernel has no FUSE".to_owned())),
            Err(error) => Err(failing("mounting", path)(error)),
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Where it is in use it stays until it no longer is. If it cannot be removed, the owner's ledger knows it.
        let _ = unmount(&self.path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

/// Ends the connection of a disk that may hang, and removes its mount. Says what it did; `None` if nothing was there.
///
/// It never asks the disk, and so it never waits for it. No mount of others is touched.
pub fn undo(mount: &Path) -> Result<Option<String>, MountError> {
    let path = in_its_folder(mount)?;
    let mut is_done = false;
    for _ in 0..MOST_STACKED {
        let Some(connection) = connection_at(&path)? else {
            return Ok(is_done.then(|| format!("removed the disk at {}", path.display())));
        };
        // Whoever waits for an answer gets an error now. This fails where that file system is not mounted, or for other users:
        // then they get it when the process of the disk ends.
        let _ = fs::write(Path::new(CONNECTIONS).join(connection).join("abort"), "1");
        unmount(&path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW).map_err(failing("unmounting", &path))?;
        is_done = true;
    }
    Err(MountError::Stays(path))
}

/// Its path without links. What is mounted there is not looked at, because that could wait for an answer.
fn in_its_folder(mount: &Path) -> Result<PathBuf, MountError> {
    let folder = mount.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(failing("looking at", folder))?;
    Ok(folder.join(mount.file_name().unwrap_or_default()))
}

/// The number of the connection behind our mount at this path.
fn connection_at(path: &Path) -> Result<Option<String>, MountError> {
    let table = Path::new("/proc/self/mountinfo");
    Ok(connection_in(&fs::read(table).map_err(failing("reading", table))?, path))
}

/// The minor number of the device of the mount of ours that lies above all others at this path.
fn connection_in(table: &[u8], path: &Path) -> Option<String> {
    let ours = mounts::parse(table).into_iter().rfind(|mount| mount.file_system == KIND && mount.point == path)?;
    Some(ours.device.split_once(':')?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    const TABLE: &[u8] = b"\
40 30 0:57 / /tmp/a\\040b/disk rw,nosuid,nodev,noexec shared:1 - fuse.bakeoff bakeoff rw,user_id=0
41 30 0:58 / /tmp/other rw - fuse.bakeoff bakeoff rw,user_id=0
42 30 0:59 / /tmp/a\\040b/disk rw - fuse.sshfs bakeoff rw
43 30 0:60 / /tmp/caf\xe9 rw - fuse.bakeoff bakeoff rw
";

    #[test]
    fn only_our_own_mount_is_found() {
        let find = |path: &[u8]| connection_in(TABLE, Path::new(OsStr::from_bytes(path)));
        assert_eq!(find(b"/tmp/a b/disk"), Some("57".to_owned()));
        assert_eq!(find(b"/tmp/other"), Some("58".to_owned()));
        assert_eq!(find(b"/tmp/caf\xe9"), Some("60".to_owned()));
        assert_eq!(find(b"/tmp"), None);
    }

    #[test]
    fn where_nothing_is_mounted_nothing_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(undo(&folder.path().join("disk")).unwrap(), None);
    }
}

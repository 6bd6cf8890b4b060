//! The mounts of a guest, which are the same as those of a native machine.

use super::disks::BLOCK_DEVICES;
use super::{GuestError, failing};
use machines::boot::{AGENT_FILE, DATA_OPTIONS, DataTuning, LOG_FOLDER, QUEUE_FILES, WRITABLE_FOLDERS};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_move, unmount};
use std::ffi::CString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Where the root disk is mounted before it becomes the root.
const NEW_ROOT: &str = "/newroot";
/// File systems in which the kernel shows itself and its devices.
const KERNEL_FOLDERS: &[(&str, &str)] = &[("/proc", "proc"), ("/sys", "sysfs"), ("/dev", "devtmpfs")];

pub(super) fn of_the_kernel() -> Result<(), GuestError> {
    for (folder, kind) in KERNEL_FOLDERS {
        attach(kind, Path::new(folder), kind, MountFlags::empty(), c"")?;
    }
    // For shared memory between a server's processes, and for terminals.
    attach("tmpfs", Path::new("/dev/shm"), "tmpfs", MountFlags::empty(), c"mode=1777")?;
    attach("devpts", Path::new("/dev/pts"), "devpts", MountFlags::empty(), c"mode=620,ptmxmode=666")
}

/// Makes the disk the root, read-only, with our binary in it. The kernel's folders move along.
pub(super) fn enter_root(disk: &Path, init: &Path) -> Result<(), GuestError> {
    let root = Path::new(NEW_ROOT);
    attach(disk, root, "ext4", MountFlags::RDONLY, c"")?;
    for (folder, _) in KERNEL_FOLDERS {
        let inside = below(root, folder);
        mount_move(*folder, &inside).map_err(failing(format!("moving {folder} to {}", inside.display())))?;
    }
    writable_folders(root)?;
    let agent = below(root, AGENT_FILE);
    File::create(&agent).map_err(failing(format!("making {}", agent.display())))?;
    mount_bind(init, &agent).map_err(failing(format!("mounting {} on {}", init.display(), agent.display())))?;
    rustix::process::chdir(root).map_err(failing("entering the new root"))?;
    mount_move(".", "/").map_err(failing("moving the new root to /"))?;
    rustix::process::chroot(".").map_err(failing("changing the root"))?;
    rustix::process::chdir("/").map_err(failing("entering /"))
}

/// Mounts empty folders in memory over those that must be writable, and makes our own folder.
pub(super) fn writable_folders(root: &Path) -> Result<(), GuestError> {
    for folder in WRITABLE_FOLDERS.iter().map(|folder| below(root, folder)).filter(|folder| folder.is_dir()) {
        attach("tmpfs", &folder, "tmpfs", MountFlags::empty(), c"mode=1777")?;
    }
    let logs = below(root, LOG_FOLDER);
    fs::create_dir_all(&logs).map_err(failing(format!("making {}", logs.display())))
}

pub(super) fn data(disk: &Path, folder: &Path, tuning: &DataTuning) -> Result<(), GuestError> {
    let queue = Path::new(BLOCK_DEVICES).join(disk.file_name().unwrap_or_default()).join("queue");
    for (name, text) in QUEUE_FILES.iter().zip(tuning.of_queue()).filter(|(_, text)| !text.is_empty()) {
        let file = queue.join(name);
        fs::write(&file, &text).map_err(failing(format!("writing {text} into {}", file.display())))?;
    }
    let more = &tuning.mount_options;
    let options = if more.is_empty() { DATA_OPTIONS.to_owned() } else { format!("{DATA_OPTIONS},{more}") };
    let options =
        CString::new(options).map_err(|error| failing("reading mount options")(std::io::Error::from(error)))?;
    attach(disk, folder, "ext4", MountFlags::NOATIME, &options)
}

pub(super) fn release(folder: &Path) -> rustix::io::Result<()> {
    unmount(folder, UnmountFlags::empty())
}

fn attach(
    source: impl AsRef<Path>,
    folder: &Path,
    kind: &str,
    flags: MountFlags,
    options: &std::ffi::CStr,
) -> Result<(), GuestError> {
    let source = source.as_ref();
    if !folder.is_dir() {
        fs::create_dir_all(folder).map_err(failing(format!("making {}", folder.display())))?;
    }
    let with = if options.is_empty() { String::new() } else { format!(" with {}", options.to_string_lossy()) };
    let mounting = failing(format!("mounting {} on {}{with}", source.display(), folder.display()));
    mount(source, folder, kind, flags, options).map_err(mounting)
}

/// An absolute path, moved below another root.
fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

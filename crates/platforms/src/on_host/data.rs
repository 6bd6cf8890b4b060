//! The data of a machine on the host's kernel: a folder of the host, or a disk that only this machine has mounted.

use super::error::{io_error, unavailable};
use crate::order::MachineOrder;
use images::data::DataDisk;
use machines::boot::{DATA_MOUNT_WORDS, DataTuning};
use machines::machine::MachineError;
use machines::process::{Launch, ProcessError};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Mounts the data disk, then executes the rest of the command line.
pub(crate) const ENTER: &str = include_str!("enter.sh");
/// The exit status of the script if the data disk cannot be mounted.
pub(crate) const NOT_MOUNTED_STATUS: i32 = 71;
/// Time to copy a database of hundreds of gigabytes.
const EXTRACT_LIMIT: Duration = Duration::from_hours(4);
const RELEASE_POLL: Duration = Duration::from_millis(10);

/// Where the data are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataPlace {
    /// A folder of the host.
    Folder(PathBuf),
    /// An image file or a block device, mounted on `folder`; the source of the mount is then written to `answer`.
    Disk { path: PathBuf, is_device: bool, tuning: DataTuning, folder: PathBuf, answer: PathBuf },
}

/// The reason of data that are no disk, without this trial's own paths: the same reason is the same text.
pub(crate) fn in_a_folder(order: &MachineOrder, why: &str) -> String {
    let why = why.replace(&format!("{}/", order.scratch.display()), "");
    format!("it lies in a plain folder of the host instead of an ext4 disk: {why}")
}

impl DataPlace {
    /// The data of an order. Only trying shows whether a disk may be mounted.
    pub(crate) fn of(order: &MachineOrder) -> Result<Self, MachineError> {
        let (path, is_device) = match &order.data {
            DataDisk::Folder(folder) => return Ok(Self::Folder(folder.clone())),
            DataDisk::Image(path) => (path.clone(), false),
            DataDisk::Device(path) => (path.clone(), true),
        };
        let folder = order.scratch.join("data");
        fs::create_dir_all(&folder).map_err(io_error("making the folder for the data disk"))?;
        let tuning = order.mounting.tuning.clone();
        Ok(Self::Disk { path, is_device, tuning, folder, answer: order.scratch.join("data-source") })
    }

    /// A copy of an image's content in a folder, for hosts where the image cannot be mounted, if the order allows that.
    pub(crate) fn extracted(&self, order: &MachineOrder, why: &str) -> Result<Self, MachineError> {
        match self {
            Self::Disk { path, is_device: false, tuning, .. }
                if !order.mounting.must && *tuning == DataTuning::default() =>
            {
                Ok(Self::Folder(extract(path, &order.scratch)?))
            }
            _ => Err(unavailable(format!("its data cannot be mounted: {why}"))),
        }
    }

    /// Where the host has them, once a disk is mounted.
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::Folder(folder) | Self::Disk { folder, .. } => folder,
        }
    }

    /// The words before a command line that mount a disk for it alone; they need a mount namespace of their own.
    pub(crate) fn mount_words(&self) -> Vec<String> {
        match self {
            Self::Folder(_) => Vec::new(),
            Self::Disk { path, is_device, tuning, folder, answer } => {
                let from = if *is_device { "" } else { "loop" };
                let given =
                    [from, DATA_MOUNT_WORDS, &tuning.mount_options].into_iter().filter(|words| !words.is_empty());
                let options = given.collect::<Vec<_>>().join(",");
                let script = ["sh", "-c", ENTER, "enter"].map(str::to_owned);
                let disk = [text(path), text(folder), options, text(answer)];
                script.into_iter().chain(disk).chain(tuning.of_queue()).collect()
            }
        }
    }

    /// The form of the data; for a device, with the source that was really mounted.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Folder(_) => "a plain folder of the host".to_owned(),
            Self::Disk { answer, is_device: true, .. } => {
                format!("ext4 on the block device {}", mounted_from(answer))
            }
            Self::Disk { .. } => "ext4 in an image file, loop-mounted".to_owned(),
        }
    }

    /// A loop device without direct I/O uses the host's page cache, below that of its own file system.
    pub(crate) fn cached_twice(&self) -> Result<String, String> {
        let Self::Disk { answer, is_device: false, .. } = self else { return Ok("no".to_owned()) };
        let device = mounted_from(answer);
        let file = format!("/sys/class/block/{}/loop/dio", device.trim_start_matches("/dev/"));
        match fs::read_to_string(&file).map(|direct| direct.trim() == "1") {
            Ok(is_direct) => Ok(cached_behind_a_loop(is_direct)),
            Err(error) => Err(format!("{file} cannot be read: {error}")),
        }
    }
}

/// Whether the data of a loop device are cached twice.
pub(crate) fn cached_behind_a_loop(is_direct: bool) -> String {
    let how =
        if is_direct { "no, the loop device has direct I/O" } else { "yes, the loop device could not have direct I/O" };
    how.to_owned()
}

/// Why a disk could not be mounted, by what was printed meanwhile. After its reason, mount may say where to look for more.
pub(crate) fn why_not_mounted(printed: &str) -> String {
    let reason = printed.lines().rfind(|line| line.starts_with("mount:")).or(printed.lines().last());
    reason.unwrap_or_default().to_owned()
}

/// A path as a word of a command line.
pub(crate) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The device that the machine reports as mounted.
fn mounted_from(answer: &Path) -> String {
    fs::read_to_string(answer).unwrap_or_default().trim().to_owned()
}

fn extract(image: &Path, scratch: &Path) -> Result<PathBuf, MachineError> {
    let folder = scratch.join("data");
    fs::create_dir_all(&folder).map_err(io_error("making the data folder"))?;
    let launch = Launch::new(&["/usr/sbin/debugfs", "-R", "rdump / ."]).args([image]).folder(&folder);
    let copying = "copying the data out of its image";
    let ended = launch.run(EXTRACT_LIMIT, &mut |_| ()).map_err(|error| match error {
        ProcessError::Missing { .. } => MachineError::MissingTool { program: "debugfs", package: "e2fsprogs" },
        error => io_error(copying)(io::Error::other(error)),
    })?;
    // debugfs succeeds even if it could not read the image; then only its messages say why.
    if fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_none()) {
        return Err(io_error(copying)(io::Error::other(ended.stderr)));
    }
    Ok(folder)
}

/// Waits until the data are no longer mounted. The kernel unmounts shortly after the last process ended, and releases a
/// loop device after that.
pub(crate) fn release(data: &DataDisk, limit: Duration) -> Result<(), MachineError> {
    let deadline = Instant::now() + limit;
    while let Some(why) = in_use(data).map_err(io_error("looking whether the data are still mounted"))? {
        if Instant::now() > deadline {
            return Err(io_error("waiting until the data are unmounted")(io::Error::other(why)));
        }
        std::thread::sleep(RELEASE_POLL);
    }
    Ok(())
}

/// What still uses the data; `None` if nothing does.
fn in_use(data: &DataDisk) -> io::Result<Option<String>> {
    use std::os::unix::fs::OpenOptionsExt;
    match data {
        DataDisk::Folder(_) => Ok(None),
        DataDisk::Device(device) => {
            let exclusive = rustix::fs::OFlags::EXCL.bits().cast_signed();
            match File::options().read(true).custom_flags(exclusive).open(device) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Ok(Some(error.to_string())),
                opened => opened.map(|_| None),
            }
        }
        DataDisk::Image(image) => {
            let image = image.canonicalize()?;
            let behind = |device: &Path| fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
            let mut devices = fs::read_dir("/sys/block")?.flatten().map(|device| device.path());
            let holder = devices.find(|device| Path::new(behind(device).trim_end()) == image);
            Ok(holder.map(|device| format!("{} holds {}", device.display(), image.display())))
        }
    }
}

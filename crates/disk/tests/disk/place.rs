//! A disk with its folder, and the waits of the tests.

use disk::cut::{Cut, Keep, build};
use disk::running::DiskError;
use disk::{DiskControl, DiskEvent, FaultSettings, LogEntry, LogReader, RunningDisk};
use rustix::mount::{UnmountFlags, unmount};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Nothing that works takes so long.
pub const LONG: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(2);

/// Says why a test is skipped. It fails if `REQUIRE` lists the missing part.
pub fn skip(part: &str, why: &str) {
    let is_required = std::env::var("REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == part));
    assert!(!is_required, "REQUIRE has {part}, and {why}");
    println!("SKIPPED: {why}");
}

/// This crate's example with that name. Tests selected by name (`--test disk`) use the examples as last built.
pub fn example(name: &str) -> String {
    let tests = std::env::current_exe().unwrap();
    let example = tests.parent().unwrap().with_file_name("examples").join(name);
    assert!(example.is_file(), "there is no {}; `cargo build -p disk --examples` makes it", example.display());
    example.to_str().unwrap().to_owned()
}

/// Waits until it is true.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    let (_kept, pause) = channel::<()>();
    while !condition() {
        assert!(Instant::now() < deadline, "{what} does not come");
        let _ = pause.recv_timeout(PAUSE);
    }
}

/// A folder with a base, and a disk that began as its copy.
pub struct Place {
    pub settings: FaultSettings,
    pub base: PathBuf,
    disk: Option<RunningDisk>,
    cuts: u32,
    folder: TempDir,
}

impl Place {
    /// `None` where there can be no such disk. `content` is written into the base.
    pub fn with(size_bytes: u64, change: impl FnOnce(&mut FaultSettings)) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("base");
        File::create(&base).unwrap().set_len(size_bytes).unwrap();
        Self::on(folder, base, change)
    }

    pub fn on(folder: TempDir, base: PathBuf, change: impl FnOnce(&mut FaultSettings)) -> Option<Self> {
        let mut settings = FaultSettings::in_folder(folder.path(), "base");
        change(&mut settings);
        images::data::copy(&base, &settings.backing).unwrap();
        File::create(&settings.mount).unwrap();
        match RunningDisk::start(&[&example("serve")], &settings, LONG) {
            Ok(disk) => Some(Self { settings, base, disk: Some(disk), cuts: 0, folder }),
            Err(DiskError::Unavailable { why }) => {
                skip("fuse", &why);
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub fn disk(&self) -> &RunningDisk {
        self.disk.as_ref().unwrap()
    }

    pub fn control(&self) -> DiskControl {
        self.disk().control(LONG).unwrap()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn open(&self) -> File {
        File::options().read(true).write(true).open(&self.settings.mount).unwrap()
    }

    /// Ends the disk, and looks for what may be left.
    pub fn end(&mut self) {
        let disk = self.disk.take().unwrap();
        let identity = disk.identity();
        disk.end(LONG).unwrap();
        assert!(!identity.is_alive());
        assert!(!is_mounted(&self.settings.mount));
        assert_eq!(self.settings.mount.metadata().unwrap().len(), 0, "the empty file is back");
    }

    /// Gives the disk away, for tests of its end.
    pub fn take(&mut self) -> RunningDisk {
        self.disk.take().unwrap()
    }

    pub fn entries(&self) -> Vec<LogEntry> {
        let mut reader = LogReader::open(&self.settings.log).unwrap();
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().unwrap() {
            entries.push(entry);
        }
        entries
    }

    pub fn events(&self) -> Vec<DiskEvent> {
        self.entries().into_iter().map(|entry| entry.event).collect()
    }

    /// A new file with the disk after a cut.
    pub fn cut(&mut self, position: u64, keep: Keep) -> PathBuf {
        self.cuts += 1;
        let to = self.folder().join(format!("cut-{}", self.cuts));
        build(&self.base, &self.settings.log, Cut { position, keep }, &to).unwrap();
        to
    }
}

pub fn is_mounted(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.lines().any(|line| line.split(' ').nth(4) == path.to_str())
}

/// Loop devices whose file has this in its name.
pub fn loop_devices_of(folder: &Path) -> Vec<String> {
    let named = folder.to_str().unwrap();
    let devices = fs::read_dir("/sys/block").unwrap().map(|entry| entry.unwrap().path().join("loop/backing_file"));
    devices.filter_map(|file| fs::read_to_string(file).ok()).filter(|file| file.contains(named)).collect()
}

/// A file system on a loop device, unmounted when dropped.
pub struct Mounted(PathBuf);

impl Mounted {
    /// `None` where this user may not mount.
    pub fn of(image: &Path, folder: PathBuf) -> Option<Self> {
        fs::create_dir(&folder).unwrap();
        let mounted = Command::new("mount").args(["-t", "ext4", "-o", "loop,noatime"]).args([image, &folder]).output();
        let mounted = mounted.unwrap();
        if !mounted.status.success() {
            assert!(
                !rustix::process::geteuid().is_root() || !has_loop(),
                "{}",
                String::from_utf8_lossy(&mounted.stderr)
            );
            skip("root", &format!("nothing can be mounted: {}", String::from_utf8_lossy(&mounted.stderr)));
            return None;
        }
        Some(Self(folder))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

fn has_loop() -> bool {
    Path::new("/dev/loop-control").exists()
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // It is in use for a moment if another test starts a program just then, which inherits our files until it begins.
        let unmount = |flags| unmount(&self.0, flags).is_ok();
        let deadline = Instant::now() + LONG;
        let (_kept, pause) = channel::<()>();
        while !unmount(UnmountFlags::empty()) {
            if Instant::now() > deadline {
                unmount(UnmountFlags::DETACH);
                assert!(std::thread::panicking(), "{} stays mounted", self.0.display());
                return;
            }
            let _ = pause.recv_timeout(PAUSE);
        }
    }
}

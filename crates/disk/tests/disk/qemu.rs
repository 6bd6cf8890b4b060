//! QEMU's driver of files on the disk, with direct I/O and each of its ways to wait for it.
//!
//! No guest is needed: QEMU's storage daemon shows what it opened as a file again, to which this test writes.

use crate::place::{LONG, Place, skip, until};
use disk::cut::Keep;
use machines::process::{Launch, Process, ProcessError};
use rustix::fs::fdatasync;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::Signal;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const SIZE: u64 = 1 << 20;
const DAEMON: &str = "qemu-storage-daemon";

/// What QEMU shows of the disk. Dropping it ends QEMU.
struct Shown {
    process: Process,
    path: PathBuf,
}

impl Shown {
    fn of(disk: &Path, aio: &str, path: PathBuf) -> Self {
        File::create(&path).unwrap();
        let file = format!("driver=file,node-name=disk,filename={},cache.direct=on,aio={aio}", disk.display());
        let export = format!("type=fuse,id=shown,node-name=disk,mountpoint={},writable=on", path.display());
        let process = Process::start(Launch::new(&[DAEMON, "--blockdev", &file, "--export", &export])).unwrap();
        let mut shown = Self { process, path };
        until("the file of QEMU", || {
            assert!(shown.process.wait(std::time::Duration::ZERO).unwrap().is_none(), "{DAEMON} does not take {file}");
            shown.path.metadata().is_ok_and(|metadata| metadata.len() == SIZE)
        });
        shown
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        // QEMU misses a request to end now and then. All that was written through it has reached the disk.
        let _ = self.process.end(Signal::KILL, LONG);
        let _ = unmount(&self.path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

#[test]
fn qemu_writes_and_flushes_directly_in_each_of_its_ways() {
    let version = Launch::new(&[DAEMON, "--version"]).run(LONG, &mut |_| ());
    if let Err(ProcessError::Missing { .. } | ProcessError::Failed { .. }) = version {
        return skip("qemu", "qemu-storage-daemon is not installed");
    }
    for (aio, byte) in [("threads", 1), ("native", 2), ("io_uring", 3)] {
        let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
        let shown = Shown::of(&place.settings.mount, aio, place.folder().join("shown"));
        let file = File::options().read(true).write(true).open(&shown.path).unwrap();
        file.write_all_at(&vec![byte; 65_536], 4096).unwrap();
        fdatasync(&file).unwrap();
        let flushed = place.control().mark("flushed").unwrap();
        file.write_all_at(&[byte; 4096], 0).unwrap();
        let mut found = vec![0; 65_536];
        file.read_exact_at(&mut found, 4096).unwrap();
        assert!(found.iter().all(|found| *found == byte), "{aio}");
        let kept = fs::read(place.cut(flushed, Keep::Durable)).unwrap();
        let is_written = |at: usize| (4096..4096 + 65_536).contains(&at);
        assert!((0..kept.len()).all(|at| kept[at] == if is_written(at) { byte } else { 0 }), "{aio}");
        drop(file);
        drop(shown);
        let position = place.control().position().unwrap();
        let live = fs::read(&place.settings.mount).unwrap();
        assert!(fs::read(place.cut(position, Keep::All)).unwrap() == live && live[0] == byte, "{aio}");
        place.end();
    }
}

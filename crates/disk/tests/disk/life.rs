//! The end of a disk, in all ways.

use crate::place::{LONG, Place, example, is_mounted, loop_devices_of, skip, until};
use disk::running::DiskError;
use disk::{FaultSettings, MountError, RunningDisk, undo};
use machines::process::{Launch, Process};
use machines::ready::becomes_ready;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use std::thread;

const SIZE: u64 = 1 << 20;

#[test]
fn a_frozen_disk_thaws_before_it_goes() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    place.control().freeze().unwrap();
    let file = place.open();
    let writer = thread::spawn(move || file.write_all_at(&[1; 512], 0).is_ok());
    place.end();
    // Whether its write was taken before the end is a matter of chance, but it has an answer.
    let _ = writer.join().unwrap();
}

#[test]
fn a_killed_disk_leaves_a_mount_that_can_be_undone() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    place.control().freeze().unwrap();
    let file = place.open();
    let disk = place.take();
    let mount = place.settings.mount.clone();
    assert!(disk.identity().kill().unwrap());
    assert!(is_mounted(&mount));
    assert!(file.write_all_at(&[1; 512], 0).is_err(), "nobody takes it, and nobody waits");
    let said = undo(&mount).unwrap();
    assert_eq!(said, Some(format!("removed the disk at {}", mount.display())));
    assert!(!is_mounted(&mount));
    assert_eq!(undo(&mount).unwrap(), None);
}

#[test]
fn a_mount_can_be_undone_while_its_disk_is_frozen() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    place.control().freeze().unwrap();
    let file = place.open();
    let (disk, mount) = (place.take(), place.settings.mount.clone());
    let writer = thread::spawn(move || file.write_all_at(&[1; 512], 0));
    undo(&mount).unwrap();
    assert!(!is_mounted(&mount));
    let identity = disk.identity();
    // Its connection may have been ended before, and then it has left by itself.
    drop(disk);
    assert!(!identity.is_alive());
    assert!(writer.join().unwrap().is_err());
}

#[test]
fn a_dropped_disk_is_gone() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let disk = place.take();
    let identity = disk.identity();
    drop(disk);
    assert!(!identity.is_alive());
    assert!(!is_mounted(&place.settings.mount));
}

#[test]
fn two_disks_do_not_mix() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let Some(mut other) = Place::with(2 * SIZE, |_| ()) else { return };
    place.open().write_all_at(&[1; 512], 0).unwrap();
    assert_eq!((place.control().position().unwrap(), other.control().position().unwrap()), (1, 0));
    place.end();
    assert_eq!(other.open().metadata().unwrap().len(), 2 * SIZE);
    other.end();
}

#[test]
fn what_it_needs_is_told_before_anything_is_mounted() {
    let folder = tempfile::tempdir().unwrap();
    let settings = FaultSettings::in_folder(folder.path(), "base");
    let why = |settings: &FaultSettings| match RunningDisk::start(&[&example("serve")], settings, LONG).unwrap_err() {
        DiskError::Failed { why } => why.replace(&folder.path().display().to_string(), ""),
        DiskError::Unavailable { why } => format!("SKIPPED: {why}"),
        error => panic!("{error}"),
    };
    assert_eq!(why(&settings), "opening /backing: No such file or directory (os error 2)");
    File::create(&settings.backing).unwrap();
    assert_eq!(why(&settings), "/backing is empty, and a disk has a size");
    fs::write(&settings.backing, [0; 4096]).unwrap();
    fs::write(&settings.mount, "not empty").unwrap();
    let said = why(&settings);
    match said.strip_prefix("SKIPPED: ") {
        Some(why) => skip("fuse", why),
        None => assert_eq!(said, "/disk must be an empty file, in whose place the disk will be"),
    }
    assert_eq!(fs::read(&settings.mount).unwrap(), b"not empty");
    let error = RunningDisk::start(&["true"], &settings, LONG).unwrap_err();
    assert!(matches!(error, DiskError::NotReady { .. }), "{error}");
}

#[test]
fn nothing_of_others_is_unmounted() {
    assert_eq!(undo(std::path::Path::new("/proc")).unwrap(), None);
    assert!(is_mounted(std::path::Path::new("/proc")));
    let error = undo(std::path::Path::new("/nonexistent/disk")).unwrap_err();
    assert!(matches!(error, MountError::Io { .. }), "{error}");
}

#[test]
fn a_killed_owner_of_a_frozen_disk_leaves_no_process_mount_or_loop_device() {
    let folder = tempfile::tempdir().unwrap();
    let settings = FaultSettings::in_folder(folder.path(), "base");
    let (empty, mounted) = (folder.path().join("empty"), folder.path().join("mounted"));
    for folder in [&empty, &mounted] {
        fs::create_dir(folder).unwrap();
    }
    images::data::make_from_folder(&empty, &settings.backing, 64 << 20, "disk").unwrap();
    File::create(&settings.mount).unwrap();
    let (serve, word) = (example("serve"), settings.to_word().unwrap());
    let launch = Launch::new(&[example("frozen"), serve, word, mounted.to_str().unwrap().to_owned()]);
    let mut owner = Process::start(launch.stdin(Stdio::piped()).stdout(Stdio::piped())).unwrap();
    let mut line = String::new();
    BufReader::new(owner.take_stdout().unwrap()).read_line(&mut line).unwrap();
    let line = line.trim_end();
    if let Some(why) = line.strip_prefix("no disk: ").or(line.strip_prefix("no mount: ")) {
        return skip(if line.starts_with("no disk") { "fuse" } else { "root" }, why);
    }
    let ids = line.strip_prefix("frozen ").unwrap_or_else(|| panic!("{line}")).split(' ');
    let ends: Vec<_> =
        ids.map(|id| pidfd_open(Pid::from_raw(id.parse().unwrap()).unwrap(), PidfdFlags::empty()).unwrap()).collect();
    assert!(is_mounted(&settings.mount) && !loop_devices_of(folder.path()).is_empty());
    owner.kill().unwrap();
    for end in ends {
        assert!(becomes_ready(&end, LONG).unwrap(), "a process is left");
    }
    assert_eq!(undo(&settings.mount).unwrap(), None, "it went by itself");
    assert!(!is_mounted(&settings.mount));
    until("the end of the loop device", || loop_devices_of(folder.path()).is_empty());
}

//! Data disks: made, checked by e2fsprogs, cloned, and refused.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

use images::data::{self, CloneMethod, DataDisk, DataError};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

const MEBIBYTE: u64 = 1 << 20;

/// A folder like a database's: with a large file, small ones, and a deep one.
fn loaded_folder(place: &Path) -> std::path::PathBuf {
    let folder = place.join("loaded");
    fs::create_dir_all(folder.join("base/1")).unwrap();
    let bytes: Vec<u8> = (0..3 * MEBIBYTE).map(|position| (position % 251) as u8).collect();
    fs::write(folder.join("base/1/table"), bytes).unwrap();
    for number in 0..200 {
        fs::write(folder.join(format!("small-{number}")), format!("{number}")).unwrap();
    }
    folder
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn a_disk_holds_the_folder_and_takes_its_space_only() {
    let place = tempfile::tempdir().unwrap();
    let folder = loaded_folder(place.path());
    let image = place.path().join("data.ext4");
    let disk = data::make_from_folder(&folder, &image, 20 << 30, "data").unwrap();
    assert_eq!(disk, DataDisk::Image(image.clone()));
    let metadata = image.metadata().unwrap();
    assert_eq!(metadata.len(), 20 << 30);
    assert!(metadata.blocks() * 512 < 400 * MEBIBYTE, "{} bytes on disk", metadata.blocks() * 512);
    let image = image.to_str().unwrap();
    run("/usr/sbin/e2fsck", &["-fn", image]);
    let copy = place.path().join("copy");
    run("/usr/sbin/debugfs", &["-R", &format!("dump /base/1/table {}", copy.display()), image]);
    assert!(fs::read(copy).unwrap() == fs::read(folder.join("base/1/table")).unwrap());
    let tables = run("/usr/sbin/dumpe2fs", &["-h", image]);
    let reserved = tables.lines().find(|line| line.starts_with("Reserved block count:")).unwrap();
    assert!(reserved.ends_with(" 0"), "{reserved}");
    assert!(tables.contains("Filesystem volume name:   data"), "{tables}");
}

#[test]
fn a_clone_is_equal_and_as_sparse() {
    let place = tempfile::tempdir().unwrap();
    let image = place.path().join("data.ext4");
    data::make_from_folder(&loaded_folder(place.path()), &image, 256 * MEBIBYTE, "data").unwrap();
    let clone = place.path().join("clone.ext4");
    let method = data::clone(&image, &clone).unwrap();
    assert!(matches!(method, CloneMethod::Reflink | CloneMethod::SparseCopy));
    assert!(fs::read(&image).unwrap() == fs::read(&clone).unwrap());
    let allocated = |path: &Path| path.metadata().unwrap().blocks();
    assert!(allocated(&clone) <= allocated(&image) + 64, "{} and {}", allocated(&clone), allocated(&image));
    let error = data::clone(&image, &clone).unwrap_err();
    assert!(matches!(error, DataError::Exists { .. }), "{error}");
    let copy = place.path().join("copy.ext4");
    assert_eq!(data::copy(&image, &copy).unwrap(), method);
    assert!(fs::read(&image).unwrap() == fs::read(&copy).unwrap());
    assert!(matches!(data::copy(&image, &copy).unwrap_err(), DataError::Exists { .. }));
}

#[test]
fn a_folder_is_cloned_with_modes_and_times() {
    let place = tempfile::tempdir().unwrap();
    let folder = loaded_folder(place.path());
    let clone = place.path().join("clone");
    assert_eq!(data::clone_folder(&folder, &clone).unwrap(), CloneMethod::FolderCopy);
    run("/usr/bin/diff", &["-r", folder.to_str().unwrap(), clone.to_str().unwrap()]);
    let of = |folder: &Path| folder.join("base/1/table").metadata().unwrap();
    assert_eq!((of(&folder).mode(), of(&folder).mtime()), (of(&clone).mode(), of(&clone).mtime()));
    assert!(matches!(data::clone_folder(&folder, &clone).unwrap_err(), DataError::Exists { .. }));
    assert!(clone.is_dir(), "what was there stays");
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = loaded_folder(place.path());
    let image = place.path().join("data.ext4");
    let error = data::make_from_folder(&folder, &image, 8 * MEBIBYTE, "data").unwrap_err();
    assert!(matches!(error, DataError::DoesNotFit { .. }), "{error}");
    // A sparse file that claims more than any disk has is refused before anything is written.
    let huge = place.path().join("huge");
    fs::create_dir(&huge).unwrap();
    File::create(huge.join("file")).unwrap().set_len(10 << 40).unwrap();
    let error = data::make_from_folder(&huge, &image, 12 << 40, "data").unwrap_err();
    assert!(matches!(error, DataError::NoSpace { .. }), "{error}");
    let error = data::make_from_folder(&folder, &image, 64 * MEBIBYTE, "far too long a label").unwrap_err();
    assert!(matches!(error, DataError::Label { .. }), "{error}");
    assert!(!image.exists());
}

#[test]
fn only_block_devices_are_written_to() {
    let place = tempfile::tempdir().unwrap();
    let image = place.path().join("data.ext4");
    fs::write(&image, [1; 4096]).unwrap();
    let file = place.path().join("file");
    fs::write(&file, "precious").unwrap();
    for target in [file.as_path(), Path::new("/dev/null"), place.path()] {
        let error = data::write_to_device(&image, target).unwrap_err();
        assert!(matches!(error, DataError::Device { .. }), "{error}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}

/// A loop device over a new file, detached when dropped; `None` where the host allows none.
struct LoopDevice(String);

impl LoopDevice {
    fn over(file: &Path) -> Option<Self> {
        let output = Command::new("/usr/sbin/losetup").args(["--find", "--show"]).arg(file).output().unwrap();
        let name = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        if !output.status.success() {
            let required = std::env::var("REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "root"));
            assert!(!required, "REQUIRE has root, and no loop device can be had");
            eprintln!("SKIPPED: no loop device can be had: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(LoopDevice(name))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        Command::new("/usr/sbin/losetup").args(["--detach", &self.0]).status().unwrap();
    }
}

#[test]
fn a_device_gets_the_image_and_zeros_in_its_holes() {
    let place = tempfile::tempdir().unwrap();
    let image = place.path().join("data.ext4");
    data::make_from_folder(&loaded_folder(place.path()), &image, 64 * MEBIBYTE, "data").unwrap();
    let backing = place.path().join("backing");
    fs::write(&backing, vec![0xAA; 65 << 20]).unwrap();
    let Some(device) = LoopDevice::over(&backing) else { return };
    let (disk, _) = data::write_to_device(&image, Path::new(&device.0)).unwrap();
    assert_eq!(disk, DataDisk::Device(device.0.as_str().into()));
    let written = fs::read(&backing).unwrap();
    assert!(written[..64 << 20] == fs::read(&image).unwrap());
    assert!(written[64 << 20..].iter().all(|&byte| byte == 0xAA), "what is beyond the image stays");
    let large = place.path().join("large");
    File::create(&large).unwrap().set_len(66 << 20).unwrap();
    let error = data::write_to_device(&large, Path::new(&device.0)).unwrap_err().to_string();
    assert!(error.contains("it has 68157440 bytes, the data disk 69206016"), "{error}");
}

#[test]
fn a_device_in_use_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let image = place.path().join("data.ext4");
    data::make_from_folder(&loaded_folder(place.path()), &image, 64 * MEBIBYTE, "data").unwrap();
    let Some(device) = LoopDevice::over(&image) else { return };
    let folder = place.path().join("mounted");
    fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    run("/usr/bin/mount", &["-o", "ro", &device.0, folder]);
    let error = data::write_to_device(&image, Path::new(&device.0));
    run("/usr/bin/umount", &[folder]);
    let error = error.unwrap_err().to_string();
    assert!(error.ends_with("cannot be a data disk: it is mounted or in use"), "{error}");
}

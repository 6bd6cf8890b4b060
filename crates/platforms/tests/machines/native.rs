//! The native platform.

use crate::place::{Place, example, facts, image, known, shut_down, skip, write_data};
use images::KernelChoice;
use images::data::DataDisk;
use machines::machine::MachineError;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_native_machine_has_its_data_and_its_limits() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    let mut machine = place.start("native", &json!({}));
    let inside = facts(machine.as_mut());
    assert_eq!(known(&inside, "storage.path"), "/data");
    match &machine.facts().decided["memory limit"] {
        Ok(_) => assert_eq!(known(&inside, "cgroup.memory_max_bytes"), place.order.memory_bytes.to_string()),
        Err(why) => skip("root", why),
    }
    let is_mounted = machine.facts().decided["data"].is_ok();
    match &machine.facts().decided["data"] {
        Ok(_) => {
            assert_eq!(known(&inside, "storage.file_system"), "ext4");
            assert!(known(&inside, "storage.mount_options").contains("noatime"));
        }
        Err(why) => skip("root", why),
    }
    write_data(machine.as_mut());
    shut_down(machine);
    if is_mounted {
        place.assert_data_was_written();
    }
}

#[test]
fn a_folder_is_written_to_as_it_is() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let mut place = Place::new(micro);
    let folder = place.folder.path().join("loaded");
    place.order.data = DataDisk::Folder(folder.clone());
    let mut machine = place.start("native", &json!({}));
    write_data(machine.as_mut());
    shut_down(machine);
    assert!(folder.join("sqlite/bakeoff.db").is_file());
}

#[test]
fn an_agent_that_hears_nothing_more_ends_by_itself() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    let machine = place.start("native", &json!({}));
    machine.stop(crate::place::ANSWER_LIMIT).unwrap();
}

#[test]
fn an_agent_that_cannot_run_is_told_with_its_last_words() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let mut place = Place::new(micro);
    place.order.agent = place.folder.path().join("agent");
    std::fs::write(&place.order.agent, "not a program").unwrap();
    let Err(error) = place.try_start("native", &json!({})) else { panic!("it started") };
    assert!(matches!(error, MachineError::Ended { .. }), "{error}");
    assert!(error.to_string().contains("/run/bakeoff/agent"), "{error}");
}

/// The output of the example `owner` when it starts this machine through `program`, with `before` ahead of its arguments.
fn said_by_an_owner(place: &Place, program: &str, before: &[String], path: Option<&Path>) -> String {
    let mut command = Command::new(program);
    command.args(before).args(["native", "{}", &serde_json::to_string(place.image()).unwrap()]);
    command.args([&place.order.agent, &place.disk, &place.folder.path().join("theirs")]).stdin(Stdio::null());
    command.envs(path.map(|path| ("PATH", path)));
    let output = command.output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A user who may not mount gets a folder, and the machine says so. The test runs as another user, because tests may
/// well run as root.
#[test]
fn without_the_right_to_mount_the_data_is_a_folder() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    if !rustix::process::geteuid().is_root() {
        return skip("root", "only root can become a user without rights; for all others the other tests show this");
    }
    let mut place = Place::new(micro);
    let owner = place.open_to_all();
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"].map(str::to_owned);
    let words = [&user[..], &[owner.display().to_string()]].concat();
    let said = said_by_an_owner(&place, "setpriv", &words, None);
    if said.contains("bwrap:") {
        return skip("root", &format!("users may not make namespaces here: {said}"));
    }
    assert!(said.contains("data: Err(\"it lies in a plain folder of the host"), "{said}");
    // The same reason is the same text in each trial.
    let of_this_trial = place.order.scratch.display().to_string();
    let why = said.lines().find(|line| line.contains("plain folder")).unwrap();
    assert!(!why.contains(&of_this_trial), "{why}");
}

/// Mounts a disk with blocks of 4 KiB, moves the data there, and starts the machine. Nobody else sees the mount.
const ON_LARGE_BLOCKS: &str = "set -eu; folder=$1; shift; truncate -s 2G \"$folder/large\"; \
    large=$(losetup --find --show --sector-size 4096 \"$folder/large\"); mkfs.ext4 -q \"$large\"; mkdir \"$folder/mounted\"; \
    mount \"$large\" \"$folder/mounted\"; losetup --detach \"$large\"; cp --sparse=always \"$6\" \"$folder/mounted/data.img\"; \
    exec \"$1\" \"$2\" \"$3\" \"$4\" \"$5\" \"$folder/mounted/data.img\" \"$7\"";

#[test]
fn on_a_disk_with_large_blocks_the_data_bypass_the_hosts_cache_all_the_same() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    if !rustix::process::geteuid().is_root() {
        return skip("root", "only root can mount a disk");
    }
    let mut place = Place::new(micro);
    let owner = place.open_to_all();
    let folder = place.folder.path().display().to_string();
    let words = ["--mount", "sh", "-c", ON_LARGE_BLOCKS, "large", &folder, &owner.display().to_string()];
    let said = said_by_an_owner(&place, "unshare", &words.map(str::to_owned), None);
    assert!(said.contains("data cached twice: Ok(\"no, the loop device has direct I/O\")"), "{said}");
    assert!(said.contains("data: Ok(\"ext4 in an image file, loop-mounted\")"), "{said}");
}

#[test]
fn root_without_bubblewrap_gets_a_chroot() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    if !rustix::process::geteuid().is_root() {
        return skip("root", "only root can change its root");
    }
    let place = Place::new(micro);
    let programs = place.folder.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for folder in ["/usr/bin", "/usr/sbin"] {
        for entry in std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != "bwrap") {
            // A program in both folders is the same one.
            let _ = std::os::unix::fs::symlink(entry.path(), programs.join(entry.file_name()));
        }
    }
    let said = said_by_an_owner(&place, &example("owner").display().to_string(), &[], Some(&programs));
    assert!(said.contains("greeted") && said.contains("confinement: Ok(\"chroot and namespaces"), "{said}");
    assert!(said.contains("loop-mounted"), "{said}");
}

//! After the owner of a machine is killed, nothing runs, and a sweep removes everything else.

use crate::oci::{RUNTIMES, has_runtime};
use crate::place::{Place, example, guest_image, image, until};
use images::{Image, KernelChoice};
use machines::identity::Identity;
use machines::scratch::sweep;
use platforms::leftovers::undo;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn kill_the_owner_of(kind: &str, settings: &str, image: Image) {
    let place = Place::new(image);
    let parent = place.folder.path().join("theirs");
    let mut owner = Command::new(example("owner"))
        .args([kind, settings, &serde_json::to_string(place.image()).unwrap()])
        .args([&place.order.agent, &place.disk, &parent])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("greeted"), "{said}");
    let tree = descendants(owner.id());
    assert!(!tree.is_empty());
    assert!(sweep(&parent, &undo).unwrap().is_empty(), "a living owner's folder was swept");

    owner.kill().unwrap();
    owner.wait().unwrap();
    until("a process outlives its owner", || tree.iter().all(|process| !process.is_alive()));
    let told = sweep(&parent, &undo).unwrap();
    println!("{told:?}");
    assert!(told.iter().any(|sentence| sentence.contains("owned")), "{told:?}");
    assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0);
    until("a loop device outlives its owner", || !is_behind_a_loop_device(&place.disk));
    assert!(cgroups_of(owner.id()).is_empty());
}

/// All descendants of this process.
fn descendants(of: u32) -> Vec<Identity> {
    let threads = std::fs::read_dir(format!("/proc/{of}/task")).unwrap();
    let children = threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap());
    let children: Vec<u32> =
        children.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>()).collect();
    children.into_iter().flat_map(|child| [vec![Identity::of(child).unwrap()], descendants(child)].concat()).collect()
}

fn is_behind_a_loop_device(disk: &Path) -> bool {
    let devices = std::fs::read_dir("/sys/block").unwrap().flatten();
    devices
        .map(|device| std::fs::read_to_string(device.path().join("loop/backing_file")).unwrap_or_default())
        .any(|file| Path::new(file.trim_end()) == disk)
}

/// The cgroups that a process of ours made, in the trees of both cgroup versions.
fn cgroups_of(pid: u32) -> Vec<String> {
    let output =
        Command::new("find").args(["/sys/fs/cgroup", "-type", "d", "-name", &format!("bakeoff-{pid}-*")]).output();
    String::from_utf8(output.unwrap().stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_killed_owner_of_a_native_machine_leaves_nothing() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    kill_the_owner_of("native", "{}", micro);
}

#[test]
fn a_killed_owner_of_a_guest_leaves_nothing() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    kill_the_owner_of("qemu", &Value::from_iter([("accelerator", "tcg")]).to_string(), micro);
}

#[test]
fn a_killed_owner_of_a_container_leaves_nothing() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    for runtime in RUNTIMES.into_iter().filter(|runtime| has_runtime(runtime)) {
        let settings = Value::from_iter([("runtime", runtime)]).to_string();
        kill_the_owner_of("oci", &settings, micro.clone());
    }
}

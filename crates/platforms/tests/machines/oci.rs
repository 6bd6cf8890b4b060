//! Containers by each runtime that is installed, and programs that are no runtime.

use crate::place::{
    ANSWER_LIMIT, Place, assert_nothing_is_left, facts, image, known, shut_down, skip, started, write_data,
};
use images::KernelChoice;
use machines::machine::MachineError;
use platforms::oci::command::RuntimeFamily;
use platforms::oci::runtime::Runtime;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The runtimes that have a package.
pub const RUNTIMES: [&str; 3] = ["runc", "crun", "runsc"];

/// Whether a runtime is installed. Skips what needs it if not.
pub fn has_runtime(runtime: &str) -> bool {
    Runtime::find(runtime).map_err(|error| skip("oci", &error.to_string())).is_ok()
}

fn each_installed() -> impl Iterator<Item = &'static str> {
    RUNTIMES.into_iter().filter(|runtime| has_runtime(runtime))
}

#[test]
fn a_container_has_its_data_and_its_limits() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    for runtime in each_installed() {
        let mut place = Place::new(micro.clone());
        place.order.cpu_quota = Some(0.5);
        let mut machine = place.start("oci", &json!({ "runtime": runtime }));
        let inside = facts(machine.as_mut());
        assert_eq!(known(&inside, "storage.path"), "/data");
        let decided = machine.facts().decided.clone();
        assert!(decided["runtime"].as_ref().unwrap().starts_with(runtime), "{decided:?}");
        let is_gvisor = runtime == "runsc";
        let answered = decided["system calls"].clone().unwrap();
        assert_eq!(answered.starts_with("gVisor, platform "), is_gvisor, "{answered}");
        for limit in ["memory limit", "CPU quota"] {
            if let Err(why) = &decided[limit] {
                skip("root", why);
            }
        }
        // All of its processes are in the groups that were made for it, and no runtime made others.
        let groups = format!("/bakeoff-{}-{}", std::process::id(), place.order.name);
        let process = started(&place.order.scratch).pop().unwrap().pid;
        for member in family(process) {
            let joined = std::fs::read_to_string(format!("/proc/{member}/cgroup")).unwrap_or_default();
            let names: Vec<&str> = joined.lines().filter(|line| line.contains("bakeoff-")).collect();
            assert!(names.iter().all(|line| line.ends_with(&groups)), "{joined}");
            assert_eq!(names.is_empty(), decided["memory limit"].is_err(), "{joined}");
        }
        if decided["memory limit"].is_ok() && !is_gvisor {
            assert_eq!(known(&inside, "cgroup.memory_max_bytes"), place.order.memory_bytes.to_string());
        }
        if decided["data"].is_ok() && !is_gvisor {
            assert_eq!(known(&inside, "storage.file_system"), "ext4");
        }
        write_data(machine.as_mut());
        shut_down(machine);
        assert_nothing_is_left(&place);
        if decided["data"].is_ok() {
            place.assert_data_was_written();
        }
    }
}

/// A process and all below it.
fn family(process: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    let children: Vec<u32> =
        children.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>()).collect();
    [vec![process], children.into_iter().flat_map(family).collect()].concat()
}

#[test]
fn a_container_that_hears_nothing_more_ends_by_itself() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    for runtime in each_installed() {
        let place = Place::new(micro.clone());
        place.start("oci", &json!({ "runtime": runtime })).stop(ANSWER_LIMIT).unwrap();
        assert_nothing_is_left(&place);
    }
}

#[test]
fn every_setting_of_gvisor_is_told_and_works() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let Ok(runtime) = Runtime::find("runsc") else { return skip("oci", "runsc is not installed") };
    let place = Place::new(micro);
    for (key, values, told) in [
        ("platform", vec![json!("ptrace"), json!("systrap")], "system calls"),
        ("network", vec![json!("none"), json!("host")], "network stack"),
        ("file_access", vec![json!("shared"), json!("exclusive")], "file access"),
        ("directfs", vec![json!(false), json!(true)], "directfs"),
    ] {
        for value in values {
            let table = json!({ "runtime": "runsc", "gvisor": { key: value } });
            match place.try_start("oci", &table) {
                Ok(mut machine) => {
                    println!("{key} = {value}: {:?}", machine.facts().decided[told]);
                    write_data(machine.as_mut());
                    shut_down(machine);
                }
                // What came later than this version is told as such.
                Err(MachineError::Unavailable { why }) => {
                    assert!(why.contains(&runtime.version) && why.contains("install a newer runsc"), "{why}");
                }
                Err(error) => panic!("{key} = {value}: {error}"),
            }
        }
    }
    assert_nothing_is_left(&place);
}

/// KVM may not be there, be there and hang, or work.
#[test]
fn gvisor_on_kvm_works_or_says_why_not() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    if !has_runtime("runsc") {
        return;
    }
    let place = Place::new(micro);
    let table = json!({ "runtime": "runsc", "gvisor": { "platform": "kvm" } });
    match place.try_start("oci", &table) {
        Ok(machine) => shut_down(machine),
        Err(MachineError::Unavailable { why }) => {
            assert!(why.contains("/dev/kvm"), "{why}");
            let again = place.try_start("oci", &table).err().unwrap().to_string();
            assert!(again.contains(&why), "{again}");
        }
        Err(error) => panic!("{error}"),
    }
    assert!(started(&place.order.scratch).iter().all(|process| !process.is_alive()));
    assert_nothing_is_left(&place);
}

/// A program of the test's, which is executable or not.
fn program(place: &Place, name: &str, script: &str, mode: u32) -> PathBuf {
    let path = place.folder.path().join(name);
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn what_is_no_runtime_is_a_reason_to_skip() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    let hangs = program(&place, "hangs", "#!/bin/sh\nexec sleep 1000\n", 0o755);
    let fails = program(&place, "fails", "#!/bin/sh\necho 'not today' >&2\nexit 3\n", 0o755);
    let closed = program(&place, "closed", "#!/bin/sh\n", 0o644);
    let text = program(&place, "text", "no program at all\n", 0o755);
    let old = "#!/bin/sh\n[ \"$1\" = flags ] && echo '  -platform string' || echo 'runsc version release-2019'\n";
    let old = program(&place, "old", old, 0o755);
    let path = |path: &PathBuf| path.display().to_string();
    for (runtime, expected) in [
        ("/nowhere/runc".to_owned(), "\"/nowhere/runc\" cannot be used: No such file"),
        (path(&place.folder.path().to_owned()), "is no file"),
        (path(&closed), "chmod +x"),
        ("/bin/true".to_owned(), "/bin/true is no OCI runtime: asked for its version, it prints \"true (GNU"),
        (path(&hangs), "was still running after 10 s"),
        (path(&fails), "--version ended (exit status: 3): not today"),
        (path(&text), "is no program that can be run"),
        (path(&old), "runsc release-2019 is too old"),
    ] {
        let Err(error) = place.try_start("oci", &json!({ "runtime": runtime })) else { panic!("{runtime} started") };
        assert!(matches!(error, MachineError::Unavailable { .. }), "{runtime}: {error}");
        assert!(error.to_string().contains(expected), "{runtime}: {error}");
    }
    let other = program(&place, "other", "#!/bin/sh\necho 'other version 1'\n", 0o755);
    let Err(error) = place.try_start("oci", &json!({ "runtime": other })) else { panic!("it started") };
    assert!(matches!(error, MachineError::Ended { .. }), "{error}");
    let table = json!({ "runtime": other, "gvisor": {} });
    let why = place.try_start("oci", &table).err().unwrap().to_string();
    assert!(why.contains("keys for gVisor") && why.ends_with("other is other 1"), "{why}");
    assert_nothing_is_left(&place);
}

#[test]
fn a_runtime_is_known_by_what_it_says_and_not_by_its_path() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let Ok(crun) = Runtime::find("crun") else { return skip("oci", "crun is not installed") };
    let place = Place::new(micro);
    let elsewhere = place.folder.path().join("another-name");
    std::os::unix::fs::symlink(&crun.program, &elsewhere).unwrap();
    let named = Runtime::find(&elsewhere.display().to_string()).unwrap();
    assert_eq!((named.family, &named.version), (RuntimeFamily::Crun, &crun.version));
    shut_down(place.start("oci", &json!({ "runtime": elsewhere })));
}

/// A user gets no limits where nobody granted any, and the machine says so. The test runs as another user, because tests
/// may well run as root.
#[test]
fn a_user_without_rights_gets_a_container_without_limits() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    if !rustix::process::geteuid().is_root() {
        return skip("root", "only root can become a user without rights; for all others the other tests show this");
    }
    for runtime in each_installed() {
        let mut place = Place::new(micro.clone());
        let owner = place.open_to_all();
        let mut command = Command::new("setpriv");
        command.current_dir(place.folder.path());
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(owner);
        let table: Value = json!({ "runtime": runtime });
        command.args(["oci", &table.to_string(), &serde_json::to_string(place.image()).unwrap()]);
        command.args([&place.order.agent, &place.disk, &place.folder.path().join("theirs")]).stdin(Stdio::null());
        let output = command.output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if said.contains("unshare:") {
            return skip("root", &format!("users may not make namespaces here: {said}"));
        }
        assert!(said.contains("greeted"), "{runtime}: {said}");
        assert!(said.contains("data: Err(\"it lies in a plain folder of the host"), "{runtime}: {said}");
        assert!(said.contains("memory limit: Err("), "{runtime}: {said}");
        assert_nothing_is_left(&place);
    }
}

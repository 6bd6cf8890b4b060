//! A machine on another host: what bad input gets, and what is left there.

use crate::host_here::{folder_of_run, folder_of_runs, sshd};
use crate::place::{Place, example, open, open_until_stopped, shut_down, skip, started, until};
use crate::sshd::{SSHD, Sshd};
use machines::interrupts::Interrupts;
use machines::machine::MachineError;
use machines::process::Launch;
use platforms::entry::PlatformEntry;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

fn host() -> &'static PlatformEntry {
    platforms::catalog::entry("host").unwrap()
}

/// Why it cannot be opened with these settings.
fn refused(table: &Value) -> String {
    let scratch = tempfile::tempdir().unwrap();
    match open(host(), table, None, &example("test_agent"), scratch.path()) {
        Ok(_) => panic!("{table}: opened"),
        Err(error) => error.to_string(),
    }
}

fn with(table: &Value, key: &str, value: impl Into<Value>) -> Value {
    let mut table = table.clone();
    table[key] = value.into();
    table
}

#[test]
fn a_host_that_cannot_be_used_says_why() {
    let Some(sshd) = sshd() else { return };
    let folder = tempfile::tempdir().unwrap();
    let table = sshd.table(folder.path(), "installed");
    let options = |more: &[&str]| {
        let config = sshd.file("ssh_config").display().to_string();
        with(&table, "ssh_options", [&["-F", &config], more].concat())
    };
    let told = refused(&with(&table, "host", "nowhere.invalid"));
    assert!(told.contains("ssh does not reach the host nowhere.invalid: "), "{told}");
    let told = refused(&options(&["-p", "1"]));
    assert!(told.contains("ssh does not reach the host here: ") && told.contains("refused"), "{told}");
    let told = refused(&options(&["-o", "PubkeyAuthentication=no"]));
    assert!(told.contains("ssh does not reach the host here: ") && told.contains("Permission denied"), "{told}");
    let told = refused(&with(&table, "folder", "/no/such"));
    assert!(told.contains("there is no usable folder /no/such on the host here: "), "{told}");
    // Another host key than the known one.
    let known = sshd.file("known_hosts");
    let (hosts, key) =
        (std::fs::read_to_string(&known).unwrap(), std::fs::read_to_string(sshd.file("key.pub")).unwrap());
    std::fs::write(&known, format!("{} {key}", hosts.split(' ').next().unwrap())).unwrap();
    let told = refused(&table);
    assert!(told.contains("its key is not the one that is known for this host"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left there");
}

/// A login that hangs takes nothing of our binary and says nothing. It ends when its connection does.
#[test]
fn a_host_that_is_deaf_keeps_nobody_who_wants_to_stop() {
    const DEAF: &str = "ForceCommand=while kill -0 $PPID; do sleep 0.2; done";
    if !Sshd::is_installed() {
        return skip("ssh", "there is no /usr/sbin/sshd");
    }
    let deaf = Sshd::started("here", &|config| Launch::new(&[SSHD, "-D", "-f", config, "-o", DEAF]));
    let (folder, scratch, interrupts) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Interrupts::default());
    let table = deaf.table(folder.path(), "installed");
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| {
            let agent = example("test_agent");
            let opened = open_until_stopped(host(), &table, None, &agent, scratch.path(), &interrupts);
            let Err(error) = opened else { panic!("it was opened") };
            error.to_string()
        });
        until("ssh was not started", || !started(scratch.path()).is_empty());
        (0..2).for_each(|_| interrupts.raise());
        let told = opening.join().unwrap();
        assert_eq!(told, "unavailable, because the run was stopped before the host here answered");
    });
    let left = started(scratch.path());
    until("ssh runs on", || left.iter().all(|process| !process.is_alive()));
}

#[test]
fn a_machine_larger_than_its_host_is_refused() {
    let Some(sshd) = sshd() else { return };
    let mut place = Place::on(host(), &sshd.table(Path::new("/"), "installed"), None);
    place.order.vcpus = 4_000;
    let Err(MachineError::Unavailable { why }) = place.try_start_on(host(), &json!({})) else { panic!("it started") };
    assert!(why.starts_with("the host has ") && why.ends_with(" CPUs for it, and the study asks for 4000"), "{why}");
    place.order.vcpus = 1;
    place.order.memory_bytes = 1 << 50;
    let Err(MachineError::Unavailable { why }) = place.try_start_on(host(), &json!({})) else { panic!("it started") };
    assert!(why.ends_with("MiB of memory, and the study asks for 1073741824 MiB"), "{why}");
}

#[test]
fn a_host_without_room_says_how_much_it_has() {
    let Some(sshd) = sshd() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mounted = |words: &[&str]| Command::new(words[0]).args(&words[1..]).arg(folder.path()).status().unwrap();
    if !mounted(&["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs"]).success() {
        return skip("root", "a small file system cannot be mounted");
    }
    let told = refused(&sshd.table(folder.path(), "installed"));
    assert!(!folder_of_runs(folder.path()).exists());
    assert!(mounted(&["umount"]).success());
    assert!(told.contains("got only a part of bakeoff's binary: ") && told.contains("No space left"), "{told}");
    let place = Place::on(host(), &sshd.table(Path::new("/"), "installed"), None);
    let told = place.require_space(1 << 60).unwrap_err().to_string();
    assert!(told.contains("the host here has ") && told.contains(" MiB free in "), "{told}");
}

/// Whatever the user's profile prints is not taken for a message. The server of these tests has such a profile.
#[test]
fn a_talkative_profile_does_no_harm() {
    let Some(sshd) = sshd() else { return };
    let table = sshd.table(Path::new("/"), "installed");
    let place = Place::on(host(), &table, None);
    shut_down(place.start_on(host(), &table));
    assert!(sshd.file("profile-was-read").exists(), "the profile was not read: is the shell another one than bash?");
}

#[test]
fn nothing_is_left_on_the_host_after_the_run_or_its_end_by_force() {
    let Some(sshd) = sshd() else { return };
    let table = sshd.table(Path::new("/"), "installed");
    let place = Place::on(host(), &table, None);
    let folder = place.folder.path().to_owned();
    let in_run = |name: &str| std::fs::read_dir(folder_of_run(&folder).join(name)).unwrap().count();
    shut_down(place.start_on(host(), &table));
    assert_eq!((in_run("machines"), in_run("leases")), (0, 1));
    let started = started(&place.order.scratch);
    assert!(started.iter().all(|process| !process.is_alive()));
    // The platform is closed before its machine is ended.
    let machine = place.start_on(host(), &table);
    drop(place);
    drop(machine);
    until("the folder of the run is left", || !folder_of_runs(&folder).exists());
}

#[test]
fn two_runs_of_one_name_are_told_apart() {
    let Some(sshd) = sshd() else { return };
    let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let table = sshd.table(folder.path(), "installed");
    let open = || open(host(), &table, None, &example("test_agent"), scratch.path());
    let first = open().unwrap();
    let Err(error) = open() else { panic!("both were opened") };
    assert!(error.to_string().contains("is in use by another bakeoff"), "{error}");
    let runs = folder_of_runs(folder.path());
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1, "only the first is left");
    drop(first);
    assert!(!runs.exists());
}

/// A keeper that was killed is cleaned up by the next run there.
#[test]
fn the_next_run_removes_what_a_killed_keeper_left() {
    let Some(sshd) = sshd() else { return };
    let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let table = sshd.table(folder.path(), "installed");
    let opened = open(host(), &table, None, &example("test_agent"), scratch.path()).unwrap();
    let runs = folder_of_runs(folder.path());
    let run = std::fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let keeper = run.join("bakeoff");
    let running = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.find(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == keeper))
    };
    let pid = running().unwrap();
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    until("the keeper lives on", || running().is_none());
    assert!(run.exists());
    let told = opened.require_space(Path::new("data"), 1).unwrap_err().to_string();
    assert!(told.contains("the connection to the host here broke: "), "{told}");
    drop(opened);
    let again = tempfile::tempdir().unwrap();
    let opened = open(host(), &table, None, &example("test_agent"), again.path()).unwrap();
    let notes = opened.notes().join("; ");
    assert!(notes.contains("on the host here: removed ") && notes.contains("left over"), "{notes}");
    assert!(!run.exists());
    drop(opened);
    assert!(!runs.exists());
}

//! Tests of scratch folders: what a sweep undoes, and what it leaves alone.

use super::{
    Kept, LEDGER_FILE, Scratch, ScratchError, UndoKept, record_cgroup, record_kept, record_process, sweep, take_lock,
};
use crate::identity::boot_id;
use crate::process::{Launch, Process};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

fn sleeping() -> Process {
    Process::start(Launch::new(&["sleep", "1000"])).unwrap()
}

const NOTHING_KEPT: UndoKept<'static> = &|_| Ok(None);

fn runs_on(mut process: Process) -> bool {
    process.wait(Duration::ZERO).unwrap().is_none()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_in_use_is_neither_swept_nor_given_to_another() {
    let parent = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(parent.path(), "run").unwrap();
    assert!(sweep(parent.path(), NOTHING_KEPT).unwrap().is_empty());
    assert!(matches!(Scratch::create(parent.path(), "run"), Err(ScratchError::InUse(_))));
    let machine = scratch.machine("one").unwrap();
    let machine_path = machine.path().to_owned();
    drop(machine);
    assert!(!machine_path.exists());
    drop(scratch);
    assert!(!parent.path().join("run").exists());
    Scratch::create(parent.path(), "run").unwrap();
}

#[test]
fn sweeps_of_other_runs_do_not_hinder_a_new_one() {
    let parent = tempfile::tempdir().unwrap();
    let made = |name: usize| {
        for round in 0..200 {
            let scratch = Scratch::create(parent.path(), &format!("{name}-{round}")).unwrap();
            sweep(parent.path(), NOTHING_KEPT).unwrap();
            assert!(scratch.path().join("lock").exists());
            drop(scratch);
            let _ = fs::remove_dir(parent.path());
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|name| drop(scope.spawn(move || made(name)))));
    assert!(!parent.path().exists(), "nothing is left in it");
}

#[test]
fn a_sweep_kills_what_the_ledger_names_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let machine = parent.path().join("run/trial/machine");
    std::fs::create_dir_all(&machine).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let cgroup = elsewhere.path().join("a-cgroup");
    std::fs::create_dir(&cgroup).unwrap();
    let mut named = Process::start(Launch::new(&["sleep", "1000"])).unwrap();
    let mut namesake = Process::start(Launch::new(&["sleep", "1000"])).unwrap();
    record_process(&machine, named.identity()).unwrap();
    let mut stale = namesake.identity();
    stale.start_ticks -= 1;
    record_process(&parent.path().join("run"), stale).unwrap();
    record_cgroup(&machine, &cgroup).unwrap();

    let told = sweep(parent.path(), NOTHING_KEPT).unwrap();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with(&format!("killed process {}", named.identity().pid)));
    assert!(named.wait(Duration::from_mins(1)).unwrap().is_some());
    assert!(namesake.wait(Duration::ZERO).unwrap().is_none());
    assert!(!cgroup.exists());
    assert!(!parent.path().join("run").exists());
    assert!(sweep(parent.path(), NOTHING_KEPT).unwrap().is_empty());
}

#[test]
fn what_another_program_keeps_is_undone_by_its_platform_or_tried_again() {
    let parent = tempfile::tempdir().unwrap();
    let machine = parent.path().join("run/machine");
    fs::create_dir_all(&machine).unwrap();
    let kept = Kept { platform: "elsewhere".to_owned(), what: serde_json::json!({ "name": "one" }) };
    record_kept(&machine, kept.clone()).unwrap();
    let told = sweep(parent.path(), &|_| Err("one may still run".to_owned())).unwrap();
    assert!(told.len() == 1 && told[0].contains("alone: one may still run"), "{told:?}");
    assert!(matches!(Scratch::create(parent.path(), "run"), Err(ScratchError::StillKept(_))));
    let told = sweep(parent.path(), &|found| Ok((*found == kept).then(|| "ended one".to_owned()))).unwrap();
    assert!(told.len() == 2 && told[0] == "ended one", "{told:?}");
    assert!(!parent.path().join("run").exists());
}

#[test]
fn a_ledger_of_an_earlier_boot_or_of_none_kills_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let process = sleeping();
    let identity = process.identity();
    let (pid, ticks) = (identity.pid, identity.start_ticks);
    for boot in [r#","boot":"1d0c5a6e-0000-0000-0000-000000000000""#, ""] {
        fs::create_dir(&folder).unwrap();
        let line = format!("{{\"process\":{{\"pid\":{pid},\"start_ticks\":{ticks}{boot}}}}}\n");
        fs::write(folder.join(LEDGER_FILE), line).unwrap();
        assert_eq!(sweep(parent.path(), NOTHING_KEPT).unwrap().len(), 1, "the folder itself is removed");
    }
    assert!(runs_on(process));
}

#[test]
fn what_others_could_have_written_kills_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let process = sleeping();
    fs::create_dir(&folder).unwrap();
    record_process(&folder, process.identity()).unwrap();
    let ledger = fs::read(folder.join(LEDGER_FILE)).unwrap();
    assert!(String::from_utf8_lossy(&ledger).contains(&boot_id().unwrap()));
    set_mode(&folder, 0o777);
    let told = sweep(parent.path(), NOTHING_KEPT).unwrap();
    assert!(told.len() == 1 && told[0].contains("alone") && told[0].contains("mode is 0777"), "{told:?}");
    assert!(matches!(Scratch::create(parent.path(), "run"), Err(ScratchError::Foreign(_))));
    set_mode(&folder, 0o700);
    set_mode(&folder.join(LEDGER_FILE), 0o666);
    assert_eq!(sweep(parent.path(), NOTHING_KEPT).unwrap().len(), 1, "the folder itself is removed");
    fs::create_dir_all(folder.join("machine")).unwrap();
    fs::write(folder.join("machine").join(LEDGER_FILE), &ledger).unwrap();
    set_mode(&folder.join("machine"), 0o770);
    assert_eq!(sweep(parent.path(), NOTHING_KEPT).unwrap().len(), 1, "the folder itself is removed");
    set_mode(parent.path(), 0o777);
    assert!(matches!(sweep(parent.path(), NOTHING_KEPT), Err(ScratchError::Foreign(_))));
    assert!(runs_on(process));
}

#[test]
fn a_link_is_not_followed() {
    let (parent, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let process = sleeping();
    record_process(elsewhere.path(), process.identity()).unwrap();
    symlink(elsewhere.path(), parent.path().join("run")).unwrap();
    assert!(sweep(parent.path(), NOTHING_KEPT).unwrap().is_empty());
    assert!(!elsewhere.path().join("lock").exists());
    let folder = parent.path().join("another");
    fs::create_dir(&folder).unwrap();
    symlink(elsewhere.path().join(LEDGER_FILE), folder.join(LEDGER_FILE)).unwrap();
    assert!(sweep(parent.path(), NOTHING_KEPT).is_err(), "nothing of ours made that");
    assert!(runs_on(process));
}

#[test]
fn the_lock_of_a_removed_folder_guards_nothing() {
    let parent = tempfile::tempdir().unwrap();
    assert!(take_lock(&parent.path().join("absent")).unwrap().is_none());
}

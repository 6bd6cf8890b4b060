//! The native platform.

use crate::place::{Place, example, facts, image, known, shut_down, skip, write_data};
use images::Flavour;
use images::data::DataDisk;
use machines::machine::MachineError;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

#[test]
fn a_native_machine_has_its_data_and_its_limits() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let mut machine = place.start("native", &json!({}));
    let inside = facts(machine.as_mut());
    assert_eq!(machine.data(), "/data");
    assert_eq!(known(&inside, "storage.path"), "/data");
    if machine.decided()["memory limit"].is_ok() {
        assert_eq!(known(&inside, "cgroup.memory_max_bytes"), place.order.memory_bytes.to_string());
    }
    let is_mounted = machine.decided()["data"].is_ok();
    if is_mounted {
        assert_eq!(known(&inside, "storage.file_system"), "ext4");
        assert!(known(&inside, "storage.mount_options").contains("noatime"));
    }
    write_data(machine.as_mut());
    shut_down(machine);
    if is_mounted {
        place.assert_data_was_written();
    }
}

#[test]
fn a_folder_is_written_to_as_it_is() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
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
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let machine = place.start("native", &json!({}));
    machine.stop(crate::place::ANSWER_LIMIT).unwrap();
}

#[test]
fn an_agent_that_cannot_run_is_told_with_its_last_words() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let mut place = Place::new(micro);
    place.order.agent = place.folder.path().join("agent");
    std::fs::write(&place.order.agent, "not a program").unwrap();
    let Err(error) = place.try_start("native", &json!({})) else { panic!("it started") };
    assert!(matches!(error, MachineError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("/run/bakeoff/agent"), "{error}");
}

/// Who may not mount gets a folder, and says so. Run as another user, because tests may well run as root.
#[test]
fn without_the_right_to_mount_the_data_is_a_folder() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    if !rustix::process::geteuid().is_root() {
        return skip("only root can become a user without rights; for all others the other tests show this");
    }
    let place = Place::new(micro);
    for path in [place.folder.path(), &place.disk] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let mut words = vec!["--reuid=65534".to_owned(), "--regid=65534".into(), "--clear-groups".into(), "--".into()];
    words.push(example("owner").display().to_string());
    words.extend(["native".to_owned(), "{}".to_owned(), serde_json::to_string(&place.order.image).unwrap()]);
    words.extend([&place.order.agent, &place.disk].map(|path| path.display().to_string()));
    words.push(place.folder.path().join("theirs").display().to_string());
    let output = Command::new("setpriv").args(words).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    if said.contains("bwrap:") {
        return skip(&format!("users may not make namespaces here: {said}"));
    }
    assert!(said.starts_with("greeted, data: Err(\"a plain folder of the host, because"), "{said}{complained}");
}

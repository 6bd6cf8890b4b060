//! What a real QEMU with a real guest may still do.

use crate::place::{Place, guest_image, shut_down};
use images::Flavour;
use machines::identity::Identity;
use machines::machine::MachineError;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

fn status(process: u32, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap_or_default();
    line.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_guests_qemu_is_filtered_has_no_rights_of_root_and_is_still_watched() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let mut machine = place.start("qemu", &json!({ "accelerator": "tcg", "disk": { "iothread": true } }));
    let targets = machine.watched().targets;
    let process = targets.pages[0].process;
    let program = std::fs::read_link(format!("/proc/{process}/exe")).unwrap();
    assert!(program.ends_with("qemu-system-x86_64"), "{}", program.display());
    assert_eq!(status(process, "Seccomp"), "2");
    if rustix::process::geteuid().is_root() {
        assert_eq!(status(process, "Uid"), "65533 65533 65533 65533");
        assert_eq!(status(process, "Gid"), "65533 65533 65533 65533");
        assert!(["", "65533"].contains(&&*status(process, "Groups")), "{}", status(process, "Groups"));
        assert_eq!(u64::from_str_radix(&status(process, "CapPrm"), 16), Ok(0));
        assert!(machine.decided()["user"].as_ref().unwrap().contains("65533"));
    }
    assert!(machine.decided()["sandbox"].is_ok(), "{:?}", machine.decided());
    let labels: Vec<&str> = targets.threads.iter().map(|thread| &*thread.label).collect();
    assert!(labels.contains(&"vcpu.0") && labels.contains(&"io.disk"), "{labels:?}");
    for thread in &targets.threads {
        let task = format!("/proc/{process}/task/{}", thread.thread);
        assert!(Path::new(&task).exists(), "{} is no thread of QEMU", thread.label);
    }
    shut_down(machine);
    assert!(Identity::of(process).is_err());
}

#[test]
fn how_a_qemu_ended_is_told_in_spite_of_what_is_around_it() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let mut machine = place.start("qemu", &json!({ "accelerator": "tcg" }));
    let process = machine.watched().targets.pages[0].process;
    assert!(Identity::of(process).unwrap().kill().unwrap());
    let Err(MachineError::Ended { status, console, .. }) = machine.stop(LIMIT) else { panic!("it did not end") };
    assert!(status.contains("SIGKILL"), "{status}");
    assert!(!console.contains("Killed"), "{console}");
}

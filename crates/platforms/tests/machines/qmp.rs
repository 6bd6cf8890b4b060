//! QEMU's control protocol, tested with a QEMU without a machine.

use crate::place::has_qemu;
use machines::process::{Launch, Process};
use platforms::qemu::monitor::Monitor as _;
use platforms::qemu::qmp::Qmp;
use serde_json::json;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[test]
fn a_real_qemu_tells_its_version_and_quits_when_told() {
    if !has_qemu() {
        return;
    }
    let (ours, theirs) = UnixStream::pair().unwrap();
    let words = ["qemu-system-x86_64", "-M", "none", "-nodefaults", "-display", "none"];
    let control = ["-chardev", "socket,id=qmp,fd=1", "-mon", "chardev=qmp,mode=control"];
    let launch = Launch::new(&[&words[..], &control[..]].concat()).stdout(OwnedFd::from(theirs));
    let mut process = Process::start(launch).unwrap();
    let mut qmp = Qmp::negotiate(ours).unwrap();
    let printed = platforms::qemu::accelerator::qemu_version().unwrap();
    assert!(printed.contains(qmp.version()), "{printed}");
    assert_eq!(qmp.execute("query-status", json!({})).unwrap()["running"], true);
    assert!(qmp.execute("no-such-command", json!({})).unwrap_err().to_string().contains("no-such-command"));
    qmp.execute("stop", json!({})).unwrap();
    qmp.execute("query-status", json!({})).unwrap();
    assert!(qmp.events().any(|event| event["event"] == "STOP"));
    qmp.execute("quit", json!({})).unwrap();
    assert!(process.wait(Duration::from_mins(1)).unwrap().unwrap().success());
}

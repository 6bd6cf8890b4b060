//! A drive that is asked to end: it reports what it has measured.

use crate::drive::{SMALL, drive, succeeded};
use crate::setting::text;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn an_interrupt_ends_the_run_and_reports_it() {
    ends_with_a_report(&[Signal::INT], None);
}

#[test]
fn a_terminal_that_closes_ends_the_run_unless_it_is_to_go_on() {
    ends_with_a_report(&[Signal::HUP], None);
    ends_with_a_report(&[Signal::HUP, Signal::INT], Some("nohup"));
}

/// Each signal is sent when an interval was shown. Only the last one ends the run.
fn ends_with_a_report(signals: &[Signal], by: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    succeeded(&drive(folder.path(), "sqlite:shop.db", &["--steps", "load"]));
    let arguments = [&["drive", "sysbench-oltp", "sqlite:shop.db", "--time", "10m", "--json"], &SMALL[..]].concat();
    let mut command = Command::new("env");
    command.args(by).arg(env!("CARGO_BIN_EXE_bakeoff")).args(&arguments).current_dir(folder.path());
    command.env("BAKEOFF_QUEUE", folder.path().file_name().expect("a temporary folder's name"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_interval = |line: &String| line.contains("\"interval\"");
    for signal in signals {
        assert!(lines.any(|line| is_interval(&line)), "no interval was shown");
        kill_process(Pid::from_child(&child), *signal).unwrap();
    }
    let last = lines.last().expect("a result");
    let output = child.wait_with_output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("stopping after what is under way") && told.contains("TPS"), "{told}");
    let result: Value = serde_json::from_str(&last).unwrap();
    assert_eq!((result["event"].as_str(), result["stopped"].as_bool()), (Some("result"), Some(true)));
}

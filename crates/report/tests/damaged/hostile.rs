//! Files made to take forever, to take all memory, or to reach the terminal of a reader.

use crate::{OnDisk, told};
use record::synthetic;
use serde_json::json;
use std::fmt::Write as _;
use std::fs::File;

#[test]
fn numbers_that_would_overflow_are_named_with_their_file() {
    for (pointer, words) in [
        ("/driver/measured_ms", "driver.measured_ms is 18446744073709551615"),
        ("/driver/window_start_ns", "driver.window_start_ns is 18446744073709551615"),
        ("/phases/0/length_ms", "phases[0].length_ms is 18446744073709551615"),
    ] {
        let disk = OnDisk::of(&synthetic::run(1));
        disk.set("trials/0001/trial.json", pointer, u64::MAX);
        disk.refused("trials/0001/trial.json", &[words]);
    }
    let disk = OnDisk::of(&synthetic::run(1));
    disk.set("trials/0002/trial.json", "/driver/metric/per_ms", 0);
    disk.refused("trials/0002/trial.json", &["driver.metric.per_ms is 0"]);
    let disk = OnDisk::of(&synthetic::run(1));
    disk.set("plan.json", "/blocks", u32::MAX);
    disk.refused("plan.json", &["blocks is 4294967295"]);
}

#[test]
fn a_log_of_a_million_seconds_is_refused() {
    let disk = OnDisk::of(&synthetic::run(1));
    let mut log = "#[Kinds: new-order]\n".to_owned();
    for second in 0..1_000_000 {
        let _ = writeln!(log, "#[Second: {second} 1 measured]");
    }
    disk.write("trials/0001/intervals.hlog", log);
    disk.refused("trials/0001/intervals.hlog", &["line 200002: more than 200000 seconds"]);
}

/// As many seconds as a log may have, in which nothing was done.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn the_longest_log_that_is_read_has_a_report() {
    let disk = OnDisk::of(&synthetic::run(1));
    let mut log = "#[Kinds: new-order,payment,order-status,delivery,stock-level]\n".to_owned();
    for second in 0..170_000 {
        let _ = writeln!(log, "#[Second: {second}000 1000 measured]");
    }
    disk.write("trials/0001/intervals.hlog", log);
    let (run, analysis) = disk.analysed();
    assert!(!run.trials[0].disagreements.is_empty() && !told(&run, &analysis)[0].is_empty());
}

#[test]
fn lines_without_an_end_and_files_without_one_are_refused() {
    for name in ["intervals.hlog", "telemetry-host.csv", "telemetry-machine.csv"] {
        let disk = OnDisk::of(&synthetic::run(1));
        let name = format!("trials/0001/{name}");
        disk.write(&name, "1".repeat(3 << 20));
        disk.refused(&name, &["line 1: longer than 1024 KiB"]);
    }
    for name in ["plan.json", "host.json", "trials/0001/trial.json", "trials/0001/findings.json"] {
        let disk = OnDisk::of(&synthetic::run(1));
        // A sparse file, which takes no room on the disk.
        File::create(disk.file(name)).unwrap().set_len(1 << 40).unwrap();
        disk.refused(name, &["larger than 64 MiB"]);
    }
}

#[test]
fn many_entries_of_what_is_compared_with_each_other_are_refused() {
    let disk = OnDisk::of(&synthetic::run(1));
    let finding = disk.json("trials/0001/findings.json")[0].clone();
    disk.write("trials/0001/findings.json", json!(vec![finding; 10_001]).to_string());
    disk.refused("trials/0001/findings.json", &["has 10001 entries"]);
    let kinds = disk.json("trials/0002/trial.json")["driver"]["kinds"][0].clone();
    disk.write("trials/0001/findings.json", "[]");
    disk.set("trials/0002/trial.json", "/driver/kinds", vec![kinds; 257]);
    disk.refused("trials/0002/trial.json", &["driver.kinds has 257 entries"]);
}

#[test]
fn events_that_no_server_has_are_refused_and_others_come_back_as_they_were_written() {
    let run = synthetic::waits::sampled(synthetic::run(1));
    let disk = OnDisk::of(&run);
    assert_eq!(disk.open().unwrap().trials[1].looks, run.trials[1].looks);
    let (file, seen) = ("trials/0002/counters.json", "/window/end/waits/known/seen");
    let one = disk.json(file).pointer(seen).unwrap()[0].clone();
    disk.set(file, &format!("{seen}/1/class"), "a".repeat(129));
    disk.refused(file, &["window.end.waits.known.seen[1].class has 129 bytes"]);
    disk.set(file, seen, vec![one; 513]);
    disk.refused(file, &["window.end.waits.known.seen has 513 entries"]);
    disk.set(file, "/window/end/waits", json!({ "unavailable": "a".repeat(2_000) }));
    disk.refused(file, &["window.end.waits.unavailable has 2000 bytes"]);
    let mut old = disk.json(file);
    old["window"]["end"].as_object_mut().unwrap().remove("waits");
    disk.write(file, old.to_string());
    assert_eq!(disk.open().unwrap().trials[1].looks.as_ref().unwrap().waits(), None);
}

/// Hostile text from a study, a server or a guest, in every place of a record that people read.
#[test]
fn texts_of_others_reach_readers_written_out() {
    let disk = OnDisk::of(&synthetic::run(2));
    let odd = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}<script>alert(1)</script>";
    disk.set("plan.json", "/question", format!("Is it {odd}\nWARNING: a line of its own?"));
    disk.set("plan.json", "/workloads/0/notice", odd);
    disk.set("host.json", "/cpu.model/known", odd);
    disk.set("trials/0001/trial.json", "/warnings", json!([odd]));
    disk.set("trials/0001/trial.json", "/machine/command_line/0", format!("bwrap\n```\n# {odd}"));
    disk.set("trials/0001/trial.json", "/server/version", odd);
    disk.set("trials/0001/findings.json", "/0/rule", odd);
    disk.set("trials/0001/findings.json", "/0/verdict", json!({ "verdict": "violated", "seen": odd }));
    let (run, analysis) = disk.analysed();
    let [html, markdown, json, terminal] = told(&run, &analysis);
    let acted_on = ['\x1b', '\x07', '\u{9b}', '\u{202e}'];
    for output in [&html, &markdown, &json, &terminal] {
        assert!(!output.contains(acted_on));
    }
    assert!(
        html.contains(r"\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}&lt;script&gt;") && !html.contains("<script>alert")
    );
    assert!(markdown.contains(r"\\x1b\]0;owned\\x07\\x1b\[2J"));
    let (_, code) = markdown.split_once("````sh\n").expect("a fence longer than the one in the text");
    assert!(code.split_once("\n````\n").unwrap().0.contains("bwrap\n```\n# \\x1b]0;owned"), "{code}");
    assert!(json.contains(r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e"));
    assert!(terminal.contains(r"\x1b]0;owned") && !terminal.lines().any(|line| line.starts_with("WARNING: a line")));
    let again: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(again["plan"]["question"], run.plan.question, "JSON says exactly what the record says");
}

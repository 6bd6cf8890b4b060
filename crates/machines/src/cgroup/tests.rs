//! Limits that real processes run into.

use super::{Cgroups, CpuQuota, Limit};
use crate::process::{Launch, Process};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LONG: Duration = Duration::from_mins(1);

/// Says why a test does not run. It fails instead if `REQUIRE` lists root.
fn skip(why: &str) {
    let is_required = std::env::var("REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "root"));
    assert!(!is_required, "REQUIRE has root, and no such cgroup can be had: {why}");
    println!("SKIPPED: no such cgroup can be had here: {why}");
}

/// A shell that joins the groups and then runs `then`.
fn member(groups: &Cgroups, then: &str) -> Process {
    let join = groups.paths().into_iter().map(|path| format!("echo $$ > {}/cgroup.procs; ", path.display()));
    let script = format!("{}{then}", join.collect::<String>());
    Process::start(Launch::new(&["sh", "-ec", &script])).unwrap()
}

fn wait_until(member: &mut Process, file: &Path, is_so: impl Fn(&str) -> bool) {
    while !is_so(&fs::read_to_string(file).unwrap()) {
        assert!(member.wait(Duration::from_millis(1)).unwrap().is_none(), "the member ended before");
    }
}

#[test]
fn a_cgroup_holds_its_members_and_takes_them_along() {
    let scratch = tempfile::tempdir().unwrap();
    let (groups, held) = Cgroups::hold("test-memory", scratch.path(), &[Limit::MemoryBytes(64 << 20)]);
    match &held[0] {
        Ok(held) => assert_eq!(held, "67108864 bytes"),
        Err(why) => return skip(why),
    }
    let mut member = member(&groups, "exec sleep 1000");
    let path = groups.paths().remove(0);
    wait_until(&mut member, &path.join("cgroup.procs"), |members| !members.is_empty());
    // As a container's runtime makes it.
    fs::create_dir(path.join("container")).unwrap();
    drop(groups);
    assert!(!path.exists());
    assert!(member.wait(LONG).unwrap().is_some());
}

#[test]
fn a_member_that_wants_more_cpu_time_is_held_back() {
    let scratch = tempfile::tempdir().unwrap();
    let (groups, held) = Cgroups::hold("test-time", scratch.path(), &[Limit::CpuTime(CpuQuota::of_cpus(0.2))]);
    match &held[0] {
        Ok(held) => assert_eq!(held, "20000 µs in every 100000 µs"),
        Err(why) => return skip(why),
    }
    let mut member = member(&groups, "while :; do :; done");
    let throttled = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("nr_throttled "));
        line.unwrap().parse::<u64>().unwrap()
    };
    // A process that never waits is throttled in each period.
    wait_until(&mut member, &groups.paths()[0].join("cpu.stat"), |text| throttled(text) >= 3);
}

#[test]
fn limits_of_several_kinds_hold_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let limits = [Limit::MemoryBytes(64 << 20), Limit::CpuTime(CpuQuota::of_cpus(1.5)), Limit::MemoryNodes(vec![0])];
    let (groups, held) = Cgroups::hold("test-several", scratch.path(), &limits);
    let expected = ["67108864 bytes", "150000 µs in every 100000 µs", "0"];
    for (held, expected) in held.iter().zip(expected) {
        match held {
            Ok(held) => assert_eq!(held, expected),
            Err(why) => skip(why),
        }
    }
    let paths = groups.paths();
    let mut member = member(&groups, "exec sleep 1000");
    for path in &paths {
        wait_until(&mut member, &path.join("cgroup.procs"), |members| !members.is_empty());
    }
    drop(groups);
    assert!(paths.iter().all(|path| !path.exists()), "{paths:?}");
}

#[test]
fn what_cannot_be_had_says_why() {
    let (groups, held) = Cgroups::hold("test-none", &PathBuf::from("/nonexistent"), &[Limit::MemoryBytes(64 << 20)]);
    assert!(held[0].as_ref().unwrap_err().len() > 10);
    assert!(groups.paths().is_empty());
    let scratch = tempfile::tempdir().unwrap();
    let (groups, held) = Cgroups::hold("test-nodes", scratch.path(), &[Limit::MemoryNodes(vec![999])]);
    assert!(held[0].is_err());
    assert!(groups.paths().is_empty());
    assert_eq!(CpuQuota::of_cpus(0.000_1).to_string(), "1000 µs in every 100000 µs");
}

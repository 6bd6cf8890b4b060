//! The lab's study: every door to a machine, as each kind of user.

use super::Kind;
use super::host::LabHost;
use anyhow::{Context, ensure};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

/// The study; `LIBVIRT` stands for the daemon that the user may ask.
const STUDY: &str = include_str!("matrix.toml");
/// Findings that a lab causes by what it is: an emulated host that others' work slows down, with a few short trials.
const ACCEPTED: [&str; 6] =
    ["too-few-blocks", "noted-by-trial", "other-load", "load-engine", "host-is-guest", "systems-differ"];
/// A user who is not root mounts no disk, and the page says so.
const ACCEPTED_OF_A_USER: [&str; 2] = ["storage-differs", "not-honoured"];
/// A trial may be invalid because the lab's own hypervisor took its CPU.
const TAKEN: &str = "the load generator stood still";
/// Properties that must be the same in all machines, by the names under which platforms read it back.
const EQUAL: [&str; 2] = ["host CPUs", "memory node"];
/// Finds what a run has left: processes, control groups, loop devices, mounts and scratch folders.
const LEFT: &str = "pgrep -a -f 'bakeoff|qemu-system' | grep -v pgrep; find /sys/fs/cgroup -name 'bakeoff-*'; losetup --list --noheadings; \
     grep bakeoff /proc/self/mountinfo; ls .cache/bakeoff/scratch; true";

/// Runs the study as this user, on a disk with room, and looks at its record; the record is fetched, whatever is found.
pub fn check(host: &LabHost, kind: Kind, user: &str) -> anyhow::Result<()> {
    let libvirt = if user == "root" { "qemu:///system" } else { "qemu:///session" };
    if user != "root" {
        // systemd starts that of the system when it is asked. A user's is started by the user, and ends with the last session.
        host.output("root", "loginctl enable-linger dba")?;
        host.output(user, "pgrep -u dba libvirtd || /usr/sbin/libvirtd --daemon")?;
    }
    let records = host.file(&format!("runs-{user}"));
    // A record of an earlier check would be taken for this.
    let _ = fs::remove_dir_all(&records);
    fs::create_dir_all(&records)?;
    let study = records.join("matrix.toml");
    fs::write(&study, STUDY.replace("LIBVIRT", libvirt))?;
    host.feed(user, "cd .cache && rm -rf matrix.toml runs && cat > matrix.toml", fs::File::open(&study)?.into())?;
    let planned = host.output(user, "cd .cache && bakeoff plan matrix.toml 2>&1")?;
    ensure!(!planned.contains("not held to"), "limits are missing before the run:\n{planned}");
    let ended = host.run(user, &["cd .cache && bakeoff run matrix.toml".to_owned()])?;
    let unpack = Command::new("tar").args(["x", "-C"]).arg(&records).stdin(Stdio::piped()).spawn()?;
    fetch(host, user, unpack)?;
    let run = fs::read_dir(records.join("runs"))?.next().context("there is no record")??.path();
    let problems = [of_trials(&run)?, of_findings(&run, user)?, left(host, user)?].concat();
    println!("{} as {user}: exit code {ended}; the record is {}", kind.name(), run.display());
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

fn fetch(host: &LabHost, user: &str, mut unpack: std::process::Child) -> anyhow::Result<()> {
    let into = unpack.stdin.take().context("its input is piped")?;
    host.send(user, "cd .cache && tar c runs", into.into())?;
    ensure!(unpack.wait()?.success(), "the record was not unpacked");
    Ok(())
}

/// Trials that did not complete, and machines that are not alike.
fn of_trials(run: &std::path::Path) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut first: Option<Vec<String>> = None;
    let mut trials: Vec<_> = fs::read_dir(run.join("trials"))?.collect::<Result<_, _>>()?;
    trials.sort_by_key(fs::DirEntry::file_name);
    for trial in trials {
        let text = fs::read(trial.path().join("trial.json"))?;
        let trial: Value = serde_json::from_slice(&text)?;
        let name = format!("trial {} ({})", trial["id"], trial["contender"].as_str().unwrap_or_default());
        let is_taken = || trial["outcome"]["why"].as_str().is_some_and(|why| why.starts_with(TAKEN));
        if trial["outcome"]["outcome"] != "completed" && !is_taken() {
            problems.push(format!("{name}: {}", trial["outcome"]));
            continue;
        }
        let decided = &trial["machine"]["decided"];
        let memory = ["memory limit", "memory"].map(|key| &decided[key]);
        let memory = memory.into_iter().find(|value| !value.is_null()).cloned().unwrap_or_default();
        // A guest's memory is also said to be in ordinary pages.
        let bytes = memory["known"].as_str().and_then(|text| text.split(' ').next()).unwrap_or("none").to_owned();
        let mut equal = vec![format!("memory: {bytes}")];
        equal.extend(EQUAL.map(|key| format!("{key}: {}", decided[key])));
        match &first {
            None => first = Some(equal),
            Some(first) if *first != equal => problems.push(format!("{name}: {equal:?}, not {first:?}")),
            Some(_) => {}
        }
    }
    Ok(problems)
}

/// Findings that no lab causes by itself.
fn of_findings(run: &std::path::Path, user: &str) -> anyhow::Result<Vec<String>> {
    let report: Value = serde_json::from_slice(&fs::read(run.join("report.json"))?)?;
    let findings = report["warnings"].as_array().context("a report has warnings")?;
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let accepted = ACCEPTED.iter().chain(ACCEPTED_OF_A_USER.iter().filter(|_| user != "root"));
    let accepted: Vec<&str> = accepted.copied().collect();
    let is_accepted =
        |finding: &&Value| accepted.contains(&text(finding, "code").as_str()) || text(finding, "text").contains(TAKEN);
    let unexplained = findings.iter().filter(|finding| !is_accepted(finding));
    Ok(unexplained.map(|finding| format!("{}: {}", text(finding, "code"), text(finding, "text"))).collect())
}

fn left(host: &LabHost, user: &str) -> anyhow::Result<Vec<String>> {
    let text = host.output(user, LEFT)?;
    Ok(text.lines().map(|line| format!("left: {line}")).collect())
}

//! The lab's study: every door to a machine, as each kind of user.

use super::LabKind;
use super::host::LabHost;
use anyhow::{Context, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The study; `LIBVIRT` stands for the daemon that the user may ask.
const STUDY: &str = include_str!("matrix.toml");
/// Each database, a profile that needs few flushes of an emulated disk, and how many blocks it is worth: the platforms are the same.
const DATABASES: [(&str, &str, u32); 2] = [("sqlite", "relaxed", 2), ("postgres", "sized", 1)];
/// Findings that a lab causes by what it is: an emulated host that others' work slows down, with a few short trials.
const ACCEPTED: [&str; 6] =
    ["too-few-blocks", "noted-by-trial", "other-load", "load-engine", "host-is-guest", "systems-differ"];
/// A user who is not root mounts no disk, and the page says so.
const ACCEPTED_OF_A_USER: [&str; 2] = ["storage-differs", "not-honoured"];
/// A trial may be invalid because the lab's own hypervisor took its CPU.
const TAKEN: &str = "the load generator stood still";
/// Properties that must be the same in all machines, by the names under which platforms read it back.
const EQUAL: [&str; 2] = ["host CPUs", "memory node"];
/// What `plan` says of a limit that it foresees to be missing.
const LACKS: [&str; 2] = ["memory limit as asked", "memory node as asked"];
/// The study without control groups, which root can hide, on two platforms of which only a guest holds its memory without them.
const UNLIMITED: &str = "--only native --only qemu";
const HIDDEN: &str = "mount -o remount,bind,ro /sys/fs/cgroup";
/// Enough for an interval, so that an answer is held against the missing limit and not against too few blocks.
const UNLIMITED_BLOCKS: u32 = 3;
/// Starts a run, kills its conductor in a measured window, and gives the rest the time to end.
const KILLED: &str = "cd .cache; bakeoff run --verbose sqlite.toml 2> killed.log & conductor=$!; \
     for second in $(seq 600); do grep -q ': measure' killed.log && break; sleep 1; done; kill -9 $conductor; sleep 20";
/// Finds what a run has left: processes, control groups, loop devices, mounts and scratch folders.
const LEFT: &str = "pgrep -a -f 'bakeoff|qemu-system' | grep -v pgrep; find /sys/fs/cgroup -name 'bakeoff-*'; losetup --list --noheadings; \
     grep bakeoff /proc/self/mountinfo; true";
/// What a conductor that is killed cannot remove, and the next one does.
const SCRATCH: &str = "ls .cache/bakeoff/scratch; true";

/// Runs the study as this user, on a disk with room, and looks at its record; the record is fetched, whatever is found.
pub fn check(host: &LabHost, kind: LabKind, user: &str) -> anyhow::Result<()> {
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
    let mut problems = Vec::new();
    let study = |(engine, profile, _): (&str, &str, u32), blocks: u32| {
        let text = STUDY.replace("LIBVIRT", libvirt).replace("ENGINE", engine).replace("PROFILE", profile);
        text.replace("BLOCKS", &blocks.to_string())
    };
    for database in DATABASES {
        let (engine, _, blocks) = database;
        let begun = Instant::now();
        give(host, user, &records.join(engine), &study(database, blocks))?;
        let planned = host.output(user, &format!("cd .cache && bakeoff plan {engine}.toml 2>&1"))?;
        let lacks = LACKS.iter().any(|lack| planned.contains(lack));
        ensure!(!lacks, "limits are missing before the run:\n{planned}");
        let ended = host.run(user, &[format!("cd .cache && bakeoff run {engine}.toml --runs runs-{engine}")])?;
        let run = fetch(host, user, &records, engine)?;
        problems.extend([of_trials(&run)?, of_findings(&run, user)?, left(host, user, &[LEFT, SCRATCH])?].concat());
        let minutes = begun.elapsed().as_secs_f64() / 60.0;
        println!("{minutes:.1} min, {} as {user}, {engine}: exit code {ended}; {}", kind.name(), run.display());
    }
    if user == "root" {
        give(host, user, &records.join("unlimited"), &study(DATABASES[0], UNLIMITED_BLOCKS))?;
        problems.extend(without_limits(host, &records)?);
    }
    host.output(user, KILLED)?;
    problems.extend(left(host, user, &[LEFT])?.into_iter().map(|left| format!("after kill -9: {left}")));
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

/// Keeps a study here and there, by the name of its records.
fn give(host: &LabHost, user: &str, records: &Path, study: &str) -> anyhow::Result<()> {
    let name = records.file_name().context("records have a name")?.to_string_lossy();
    let study_file = records.with_extension("toml");
    fs::write(&study_file, study)?;
    let keep = format!("cd .cache && rm -rf runs-{name} && cat > {name}.toml");
    host.feed(user, &keep, fs::File::open(&study_file)?.into())
}

/// A plan that does not foresee missing limits, and answers that do not count them.
fn without_limits(host: &LabHost, records: &Path) -> anyhow::Result<Vec<String>> {
    let apart = |command: &str| {
        format!("cd .cache && unshare --mount sh -c '{HIDDEN} && bakeoff {command} unlimited.toml {UNLIMITED}' 2>&1")
    };
    let planned = host.output("root", &apart("plan"))?;
    let mut problems = Vec::new();
    if !planned.contains(LACKS[0]) {
        problems.push(format!("without control groups, plan does not say what is missing:\n{planned}"));
    }
    let ended = host.run("root", &[apart("run --runs runs-unlimited")])?;
    let run = fetch(host, "root", records, "unlimited")?;
    println!("without control groups: exit code {ended}; {}", run.display());
    let report: Value = serde_json::from_slice(&fs::read(run.join("report.json"))?)?;
    let answers = report["answers"].as_array().context("a report has answers")?;
    let counts = |doubt: &Value| doubt["kind"] == "not-honoured" && doubt["stamp"] == "not-usable";
    let is_counted =
        |answer: &Value| answer["usable"]["doubts"].as_array().is_some_and(|doubts| doubts.iter().any(counts));
    if answers.is_empty() || !answers.iter().all(is_counted) {
        problems.push(format!("without control groups, not every answer counts it: {}", report["answers"]));
    }
    Ok(problems)
}

/// The record of the only run of that study.
fn fetch(host: &LabHost, user: &str, records: &Path, engine: &str) -> anyhow::Result<PathBuf> {
    let mut unpack = Command::new("tar").args(["x", "-C"]).arg(records).stdin(Stdio::piped()).spawn()?;
    let into = unpack.stdin.take().context("its input is piped")?;
    host.send(user, &format!("cd .cache && tar c runs-{engine}"), into.into())?;
    ensure!(unpack.wait()?.success(), "the record was not unpacked");
    let mut runs = fs::read_dir(records.join(format!("runs-{engine}")))?.filter_map(Result::ok).map(|run| run.path());
    runs.find(|path| path.join("plan.json").exists()).context("there is no record")
}

/// Trials that did not complete, and machines that are not alike.
fn of_trials(run: &Path) -> anyhow::Result<Vec<String>> {
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
fn of_findings(run: &Path, user: &str) -> anyhow::Result<Vec<String>> {
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

fn left(host: &LabHost, user: &str, questions: &[&str]) -> anyhow::Result<Vec<String>> {
    let text = host.output(user, &questions.join("; "))?;
    Ok(text.lines().map(|line| format!("left: {line}")).collect())
}

//! The load generator, or its machine, stands still: what it measures then is its own pause. And a server of several is killed.

use super::{Stopped, for_a_while, named};
use crate::drive::bakeoff;
use crate::leftovers::Leftovers;
use crate::running::{Running, below, send};
use crate::runs::{at_an_easy_pace, small};
use crate::setting::{Place, has_qemu, missing};
use record::trial::Outcome;
use rustix::process::Signal;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A stop that covers half of the window.
const STOP: Duration = Duration::from_secs(2);

/// One trial of one contender with a window of four seconds.
fn one_trial(platform: &str) -> Place {
    let study = small("sqlite", "384MiB", "").replace("measure = \"1s\"", "measure = \"4s\"");
    Place::new(&at_an_easy_pace(&study).replace("{ kind = \"native\" }", platform))
}

/// Stops the process with this name in the middle of the window; returns what became of the trial.
fn stopped_in_the_window(platform: &str, words: &str) -> String {
    let place = one_trial(platform);
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until(": measure");
    let victims = named(running.id(), words);
    assert!(!victims.is_empty(), "no {words}:\n{}", running.told);
    for_a_while(Duration::from_millis(500));
    let stopped = Stopped::all(victims);
    for_a_while(STOP);
    drop(stopped);
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let Outcome::Invalid { why } = &place.record().trials[0].record.outcome else {
        panic!("{:?}", place.record().trials[0].record.outcome);
    };
    why.clone()
}

#[test]
fn an_agent_that_stands_still_is_no_result() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let why = stopped_in_the_window("{ kind = \"native\" }", "/run/bakeoff/agent\0agent\0");
    assert!(why.starts_with("the load generator stood still for"), "{why}");
}

#[test]
fn a_guest_that_stands_still_is_no_result() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let why = stopped_in_the_window("{ kind = \"qemu\", accelerator = \"tcg\" }", "qemu-system");
    assert!(why.starts_with("the load generator stood still for"), "{why}");
}

#[test]
fn a_driver_that_stands_still_is_no_result() {
    let told = driven_while(|driver| {
        let stopped = Stopped::all(vec![driver]);
        for_a_while(Duration::from_secs(1));
        drop(stopped);
    });
    assert!(told.contains("invalid: the load generator stood still for"), "{told}");
}

/// As a limit of 50 ms in each 250 ms does. No single piece is long.
#[test]
fn a_driver_that_stands_still_in_pieces_is_no_result() {
    let told = driven_while(|driver| {
        for _ in 0..4 {
            let stopped = Stopped::all(vec![driver]);
            for_a_while(Duration::from_millis(200));
            drop(stopped);
            for_a_while(Duration::from_millis(50));
        }
    });
    assert!(is_no_result_by_pieces(&told), "{told}");
}

/// Pieces that follow each other closely on a busy host are a single long one.
fn is_no_result_by_pieces(output: &str) -> bool {
    let longest_ms =
        output.split_once("\"longest_ms\":").and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next());
    let is_long = longest_ms.and_then(|text| text.parse::<u32>().ok()).is_some_and(|longest_ms| longest_ms >= 500);
    let reason = if is_long { "" } else { "in pieces of less than half a second" };
    output.contains("invalid: the load generator stood still for") && output.contains(reason)
}

/// As a service with `CPUQuota=5%` does, or a container with a twentieth of a CPU.
#[test]
fn a_driver_that_a_cpu_limit_throttles_is_no_result() {
    let held = Held::new();
    if missing("root", held.is_some()) {
        return;
    }
    let held = held.expect("it is there");
    let told = driven(Some(&held), |_| ());
    assert!(told.contains("invalid: the load generator was throttled for"), "{told}");
    // A limit that holds only since then is unknown.
    let told = driven(None, |driver| held.take(driver));
    assert!(is_no_result_by_pieces(&told), "{told}");
}

/// A control group with a twentieth of a CPU, so little that a driver beside other tests uses it up, too. It is empty, and removed, when what it held has ended.
struct Held(PathBuf);

impl Held {
    /// `None` if we may not make one.
    fn new() -> Option<Self> {
        let name = format!("held-{}", std::process::id());
        let made = |parent: &str, limits: &[(&str, &str)]| {
            let group = Self(Path::new(parent).join(&name));
            std::fs::create_dir(&group.0).ok()?;
            // A folder that is no group has no such file, and gets none.
            let open = |file: &str| std::fs::File::options().write(true).open(group.0.join(file));
            limits
                .iter()
                .all(|(file, limit)| open(file).is_ok_and(|mut of| of.write_all(limit.as_bytes()).is_ok()))
                .then_some(group)
        };
        let version_1 =
            || made("/sys/fs/cgroup/cpu", &[("cpu.cfs_period_us", "300000"), ("cpu.cfs_quota_us", "15000")]);
        made("/sys/fs/cgroup", &[("cpu.max", "15000 300000")]).or_else(version_1)
    }

    fn take(&self, process: u32) {
        std::fs::write(self.processes(), process.to_string()).unwrap();
    }

    /// The command as a process of the group from its beginning.
    fn begin(&self, command: &Command) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.processes());
        shell.arg(command.get_program()).args(command.get_args());
        shell.env_clear().stdin(Stdio::null()).current_dir(command.get_current_dir().expect("it has a folder"));
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell
    }

    fn processes(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// What a drive of three seconds tells, to whose process something is done after the first.
fn driven_while(what_is_done: impl Fn(u32)) -> String {
    driven(None, what_is_done)
}

/// The same, perhaps in a control group from its beginning.
fn driven(held: Option<&Held>, what_is_done: impl Fn(u32)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let drive = |more: &[&str]| {
        let small = ["--set", "tables=1", "--set", "table_size=500", "--warmup", "0s", "--time", "3s"];
        bakeoff(folder.path(), &[&["drive", "sysbench-oltp", "sqlite:shop.db"], &small[..], more].concat())
    };
    assert!(drive(&["--steps", "load"]).output().unwrap().status.success());
    let command = drive(&["--json"]);
    let mut running = Running::of(match held {
        Some(held) => held.begin(&command),
        None => command,
    });
    running.until(" 1 s ");
    what_is_done(running.id());
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    told
}

/// The trial of a machine with two databases fails by the name of the one whose server is gone.
#[test]
fn a_server_of_two_that_is_killed_fails_the_trial_by_name() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let why = why_without_its_last_server("instances = 2", 2);
    assert!(why.starts_with("instance 2: "), "{why}");
    let why = why_without_its_last_server("instances = 2\nshared_server = true", 1);
    assert!(why.starts_with("PostgreSQL failed: "), "both were on it: {why}");
}

/// The reason of the failure if the last of a machine's servers is killed.
fn why_without_its_last_server(databases: &str, servers: usize) -> String {
    let study = small("postgres", "1GiB", "").replace("measure = \"1s\"", "measure = \"8s\"");
    let place = Place::new(&study.replace("kind = \"postgres\"", &format!("kind = \"postgres\"\n{databases}")));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until(": measure");
    let mut left = Leftovers::of(&place);
    left.watch(&running);
    let all = postmasters(running.id());
    assert_eq!(all.len(), servers, "{}", running.told);
    send(all[servers - 1], Signal::KILL);
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let trial = &place.record().trials[0].record;
    let Outcome::Failed { why, .. } = &trial.outcome else { panic!("{:?}", trial.outcome) };
    left.none();
    why.clone()
}

/// The servers below this process. A child of a server has the server's command line until it sets its own.
fn postmasters(parent: u32) -> Vec<u32> {
    let all = named(parent, "/usr/lib/postgresql/15/bin/postgres\0");
    let children: Vec<u32> = all.iter().flat_map(|server| below(*server)).collect();
    all.into_iter().filter(|process| !children.contains(process)).collect()
}

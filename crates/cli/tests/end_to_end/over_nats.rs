//! Other hosts that are reached over NATS. All of them are this one, and look like machines of their own.

use crate::lacking::path_without;
use crate::nats_server::NatsServer;
use crate::running::{Running, a_moment, command_line};
use crate::setting::{NOT_USABLE, Place, missing, none_failed, text};
use crate::several_hosts::{study, study_in_a_file};
use crate::sshd::Sshd;
use machines::process::{Launch, Process};
use record::trial::Outcome;
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_mins(2);
const AHEAD_S: i64 = 5_000;
const BAKEOFF: &str = env!("CARGO_BIN_EXE_bakeoff");

/// A server, and an agent for each name.
struct Fleet {
    server: NatsServer,
    agents: BTreeMap<String, Process>,
    /// Where its hosts keep their data, and nothing at the end.
    folder: tempfile::TempDir,
    /// What of bakeoff was in the folder for temporary files before.
    before: BTreeSet<PathBuf>,
}

/// What of bakeoff is in the folder for temporary files, which all hosts share.
fn temporary() -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("bakeoff"))
        .map(|entry| entry.path())
        .collect()
}

impl Fleet {
    /// `None` where this cannot be done, and the test is skipped.
    fn of(names: &[&str]) -> Option<Self> {
        if missing("nats", NatsServer::is_installed()) || missing("root", rustix::process::getuid().is_root()) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        // A server of the host's own has another account.
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut fleet = Self { server: NatsServer::start(), agents: BTreeMap::new(), folder, before: temporary() };
        for name in names {
            fleet.begin(name);
        }
        fleet.until(names.len());
        Some(fleet)
    }

    /// Starts an agent that seems to be on another machine. The clock of `y` is [`AHEAD_S`] ahead.
    fn begin(&mut self, name: &str) {
        let path = |ending: &str| self.folder.path().with_extension(format!("{name}.{ending}"));
        let boot = path("boot");
        std::fs::write(&boot, format!("{name}\n")).unwrap();
        let clock = if name == "y" {
            format!("unshare --time --monotonic {AHEAD_S} --fork --kill-child")
        } else {
            String::new()
        };
        let script = format!(
            "umask 077; mount --bind {} /proc/sys/kernel/random/boot_id && exec {clock} {BAKEOFF} fleet agent {} --name {name}",
            boot.display(),
            self.file()
        );
        let launch = Launch::new(&["unshare", "--mount", "sh", "-c", &script]).log(&path("log")).unwrap();
        self.agents.insert(name.to_owned(), Process::start(launch).unwrap());
    }

    fn until(&self, agents: usize) {
        let deadline = Instant::now() + LONG;
        while status(&self.file()).len() != agents {
            assert!(Instant::now() < deadline, "not {agents} agents: {:?}", status(&self.file()));
            a_moment();
        }
    }

    fn file(&self) -> String {
        self.server.file().display().to_string()
    }

    fn contender(&self, name: &str, hosts: &[&str]) -> String {
        format!(
            "[[contender]]\nname = \"{name}\"\nplatform = {{ kind = \"host\", server = \"installed\", hosts = {hosts:?}, folder = \"{}\" }}\n",
            self.folder.path().display()
        )
    }

    /// Nothing is left on any host: no file of a run, and no process of one.
    fn is_clean(&self) {
        let deadline = Instant::now() + LONG;
        let own = self.folder.path().display().to_string();
        let left = || {
            let files = std::fs::read_dir(self.folder.path()).unwrap().flatten();
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let running = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(command_line);
            let running = running.filter(|line| line.contains(&own) && !line.contains("unshare"));
            files.map(|entry| entry.path().display().to_string()).chain(running).collect::<Vec<String>>()
        };
        while !left().is_empty() {
            assert!(Instant::now() < deadline, "left: {:?}", left());
            a_moment();
        }
        assert_eq!(temporary(), self.before);
    }
}

/// The names of the agents that are there.
fn status(file: &str) -> Vec<String> {
    let output = std::process::Command::new(BAKEOFF).args(["fleet", "status", file, "--json"]).output().unwrap();
    let listed: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
    listed.iter().map(|agent| agent["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn two_hosts_are_measured_over_nats_with_load_from_two_others() {
    let Some(fleet) = Fleet::of(&["a", "b", "x", "y"]) else { return };
    let load = "placement = \"outside\"\nfrom = [\"x\", \"y\"]";
    let place = Place::new(&study(load, &fleet.contender("one", &["a", "b"])));
    // Nothing goes over ssh.
    let path = path_without("ssh", &place);
    let output = place.command(&["run", "study.toml", "--fleet", &fleet.file()]).env("PATH", path).output().unwrap();
    assert!(matches!(output.status.code(), Some(4) | NOT_USABLE), "{}", text(&output.stderr));
    none_failed(&place, 2);
    let run = place.record();
    for (trial, planned) in run.trials.iter().zip(&run.plan.trials) {
        assert!(trial.findings.len() >= 12 && trial.findings.iter().all(|finding| !finding.is_violated()));
        let machine = trial.record.machine.as_ref().unwrap();
        assert_eq!(machine.inside["system.boot_id"].to_string(), planned.host.clone().unwrap());
        let drove: Vec<&str> = trial.record.load_hosts.iter().map(|facts| facts.host.as_str()).collect();
        assert_eq!(drove, ["x", "y"]);
        let ahead =
            |host: usize| trial.record.load_hosts[host].clock.iter().map(|reading| reading.offset_ns / 1_000_000_000);
        assert!(
            ahead(0).all(|ahead_s| ahead_s == 0) && ahead(1).all(|ahead_s| (AHEAD_S - 1..=AHEAD_S).contains(&ahead_s))
        );
        let late_us = trial.record.load_hosts.iter().map(|facts| facts.late_us.unwrap());
        assert!(late_us.max().unwrap() < 60_000_000, "a start is told by the clock of the host that starts");
    }
    fleet.is_clean();
    let output = place.bakeoff(&["fleet", "down", &fleet.file()]);
    assert_eq!(text(&output.stderr).trim(), "4 agents have ended");
    assert_eq!(output.status.code(), Some(0));
    for (name, mut agent) in fleet.agents {
        assert!(agent.wait(LONG).unwrap().is_some_and(|status| status.success()), "{name}");
    }
}

/// Moments that differ from seed to seed.
fn moments(seed: u64) -> impl Iterator<Item = Duration> {
    let step =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(seed), step).skip(1).map(|state| Duration::from_millis((state >> 33) % 2000))
}

/// Waits for that long, as far as the run goes on.
fn after(running: &mut Running, moment: Duration) {
    running.until("trial ");
    let (_held, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(moment);
}

#[test]
fn a_server_that_is_killed_again_and_again_costs_no_trial() {
    let Some(mut fleet) = Fleet::of(&["a", "b"]) else { return };
    let contenders = fleet.contender("one", &["a", "b"]) + &fleet.contender("other", &["a", "b"]);
    let place = Place::new(&study_in_a_file(&contenders));
    let mut running = Running::begin(&place, &["run", "study.toml", "--fleet", &fleet.file()]);
    for moment in moments(24).take(3) {
        after(&mut running, moment);
        fleet.server.is_killed_for(moment / 2);
    }
    running.end();
    none_failed(&place, 4);
    fleet.is_clean();
}

/// For longer than an agent may be silent.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_server_that_is_gone_for_more_than_a_minute_costs_no_trial() {
    let Some(mut fleet) = Fleet::of(&["a", "x"]) else { return };
    let contenders = fleet.contender("one", &["a"]) + &fleet.contender("other", &["a"]);
    let place = Place::new(&study("placement = \"outside\"\nfrom = [\"x\"]", &contenders));
    let mut running = Running::begin(&place, &["run", "study.toml", "--fleet", &fleet.file()]);
    running.until(": measure");
    fleet.server.is_killed_for(Duration::from_secs(80));
    running.end();
    none_failed(&place, 4);
    fleet.is_clean();
}

#[test]
fn a_conductor_that_is_killed_leaves_nothing_and_its_run_is_finished_by_another() {
    let Some(fleet) = Fleet::of(&["a", "b"]) else { return };
    let place = Place::new(&study_in_a_file(&fleet.contender("one", &["a", "b"])));
    for moment in moments(7).take(2) {
        let resume: &[&str] = if place.begun_run().is_some() { &["--resume"] } else { &[] };
        let file = fleet.file();
        let words = [&["run", "study.toml", "--fleet", &file], resume].concat();
        let mut running = Running::begin(&place, &words);
        after(&mut running, moment);
        running.strike(Signal::KILL);
        running.end();
        fleet.is_clean();
    }
    let kept: BTreeMap<PathBuf, Vec<u8>> = finished(&place.run_folder());
    place.bakeoff(&["run", "study.toml", "--fleet", &fleet.file(), "--resume"]);
    none_failed(&place, 2);
    for (path, content) in kept {
        assert!(std::fs::read(&path).unwrap() == content, "{} has changed", path.display());
    }
    fleet.is_clean();
}

/// The files of trials that are complete.
fn finished(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let trials = std::fs::read_dir(run.join("trials")).into_iter().flatten().flatten();
    let files = trials.map(|trial| trial.path().join("trial.json")).filter(|file| file.exists());
    files.map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

#[test]
fn an_agent_that_is_killed_fails_its_trial_by_name_and_the_other_host_goes_on() {
    let Some(mut fleet) = Fleet::of(&["a", "b"]) else { return };
    let contenders = fleet.contender("one", &["a", "b"]) + &fleet.contender("other", &["a", "b"]);
    let place = Place::new(&study_in_a_file(&contenders));
    let mut running = Running::begin(&place, &["run", "study.toml", "--fleet", &fleet.file()]);
    running.until(" on b: measure");
    fleet.agents.get_mut("b").unwrap().kill().unwrap();
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let run = place.record();
    for (trial, planned) in run.trials.iter().zip(&run.plan.trials) {
        let outcome = &trial.record.outcome;
        match planned.host.as_deref() {
            Some("a") => assert!(!matches!(outcome, Outcome::Failed { .. }), "{outcome:?}"),
            // A trial that had not begun is skipped, because its host is not reached.
            _ => assert!(matches!(outcome, Outcome::Failed { .. } | Outcome::Skipped { .. }), "{outcome:?}"),
        }
    }
    assert!(told.contains("host b") || told.contains("agent on b"), "{told}");
    fleet.is_clean();
    fleet.begin("b");
    fleet.until(2);
    place.bakeoff(&["run", "study.toml", "--fleet", &fleet.file(), "--resume", "--retry-failed"]);
    none_failed(&place, 4);
}

#[test]
fn agents_are_started_over_ssh_listed_and_ended_and_leave_nothing() {
    if missing("nats", NatsServer::is_installed()) || missing("ssh", Sshd::is_installed()) {
        return;
    }
    let (server, sshd, place) = (NatsServer::start(), Sshd::start(), Place::new(""));
    let options = ["-F".to_owned(), sshd.file("ssh_config").display().to_string()];
    let placement =
        format!("[placement]\nkind = \"ssh\"\nhosts = [\"here\", \"nowhere.invalid\"]\nssh_options = {options:?}\n");
    let file = server.file().display().to_string();
    std::fs::write(&file, server.text(&placement)).unwrap();
    let output = place.bakeoff(&["fleet", "up", &file]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("nowhere.invalid: "), "{}", text(&output.stderr));
    std::fs::write(&file, server.text(&placement.replace("nowhere.invalid", "here-too"))).unwrap();
    let output = place.bakeoff(&["fleet", "up", &file]);
    assert_eq!(output.status.code(), Some(3));
    let told = "here-too: an agent of this fleet is on this machine already, under this name or another";
    assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    let listed = text(&place.bakeoff(&["fleet", "status", &file]).stdout);
    assert!(listed.ends_with("! no agent is on here-too\n"), "{listed}");
    std::fs::write(&file, server.text(&placement.replace(", \"nowhere.invalid\"", ""))).unwrap();
    // Another program, as after an upgrade.
    let mut other = std::fs::read(BAKEOFF).unwrap();
    other.push(0);
    let upgraded = place.folder.path().join("upgraded");
    std::fs::write(&upgraded, other).unwrap();
    std::fs::set_permissions(&upgraded, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = std::process::Command::new(&upgraded).args(["fleet", "up", &file]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let told = "agents of a different build are in the fleet: here; end them with `bakeoff fleet down ";
    assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    let output = place.bakeoff(&["fleet", "up", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the agent on here is there already\n1 agent is there"));
    let listed = text(&place.bakeoff(&["fleet", "status", &file]).stdout);
    assert!(listed.lines().any(|line| line.starts_with("here ")), "{listed}");
    assert_eq!(place.bakeoff(&["fleet", "down", &file]).status.code(), Some(0));
    let left = format!("/var/tmp/bakeoff-fleet-lab-{}", rustix::process::getuid().as_raw());
    let deadline = Instant::now() + LONG;
    while Path::new(&left).exists() {
        assert!(Instant::now() < deadline, "{left} is left");
        a_moment();
    }
}

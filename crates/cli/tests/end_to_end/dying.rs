//! What dies in the middle, or never lives: a guest, a server, bakeoff itself. A trial that tells why, the next trial, and
//! nothing left behind.

use crate::runs::study;
use crate::setting::{Place, cache, has_qemu, missing, processes_mentioning, text};
use record::trial::{Outcome, TrialRecord};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Stdio};

/// A kernel runs on this CPU; the first program that asks it for anything dies, and with it the guest.
const NO_SYSTEM_CALLS: &str = "[[contender]]\nname = \"broken\"\nplatform = { kind = \"qemu\", accelerator = \"tcg\", \
                               cpu = \"max,-syscall\" }\n";

fn outcome_of<'a>(place: &'a record::run::Run, contender: &str) -> Vec<&'a TrialRecord> {
    place.trials.iter().map(|trial| &trial.record).filter(|record| record.contender == contender).collect()
}

fn name_of(run: &Path) -> String {
    run.file_name().unwrap().to_string_lossy().into_owned()
}

/// A run whose words are waited for.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
    told: String,
}

impl Running {
    fn begin(place: &Place, arguments: &[&str]) -> Self {
        let mut child = place.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, lines, told: String::new() }
    }

    fn until(&mut self, words: &str) {
        while !self.told.contains(words) {
            let line = self.lines.next().unwrap_or_else(|| panic!("it never said {words:?} but\n{}", self.told));
            self.told.push_str(&line.unwrap());
            self.told.push('\n');
        }
    }

    /// Its exit code, and everything it said.
    fn end(mut self) -> (Option<i32>, String) {
        for line in self.lines.by_ref().map_while(Result::ok) {
            self.told.push_str(&line);
            self.told.push('\n');
        }
        (self.child.wait().unwrap().code(), self.told)
    }

    /// Every process below it.
    fn descendants(&self) -> Vec<u32> {
        let (mut found, mut next) = (Vec::new(), vec![self.child.id()]);
        while let Some(process) = next.pop() {
            let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
            let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
            let children: Vec<u32> = lists.flat_map(|list| numbers(&list)).collect();
            found.extend(&children);
            next.extend(children);
        }
        found
    }

    fn server(&self) -> Pid {
        let is_server = |process: &&u32| {
            let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            text(&line).contains("bin/postgres\0-D")
        };
        let descendants = self.descendants();
        let found = descendants.iter().find(is_server).expect("a server runs while it is measured");
        Pid::from_raw(i32::try_from(*found).unwrap()).unwrap()
    }
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

#[test]
fn a_guest_that_never_boots_fails_its_trial_with_its_last_words_and_the_run_goes_on() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&study("sqlite", "512MiB", NO_SYSTEM_CALLS).replace("blocks = 2", "blocks = 1"));
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("its console says: Kernel panic"), "{told}");
    let run = place.record();
    assert_eq!(outcome_of(&run, "native")[0].outcome, Outcome::Completed);
    let broken = outcome_of(&run, "broken")[0];
    let Outcome::Failed { phase, why } = &broken.outcome else { panic!("{:?}", broken.outcome) };
    assert_eq!(phase, "boot");
    assert!(why.contains("Attempted to kill init"), "{why}");
    let console = place.run_folder().join(format!("trials/{:04}/logs/console.txt", broken.id));
    assert!(std::fs::read_to_string(console).unwrap().contains("Kernel panic"));
    assert_eq!(processes_mentioning(&name_of(&place.run_folder())), Vec::<String>::new());
}

#[test]
fn a_server_that_dies_fails_its_trial_with_its_log_and_the_run_goes_on() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&study("postgres", "1GiB", ""));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until("trial 1/2, block 1, native: measure");
    kill_process(running.server(), Signal::KILL).unwrap();
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let run = place.record();
    let [first, second] = outcome_of(&run, "native")[..] else { panic!("{told}") };
    let Outcome::Failed { phase, why } = &first.outcome else { panic!("{:?}", first.outcome) };
    assert_eq!(phase, "measure");
    assert!(why.contains("PostgreSQL") && why.contains("SIGKILL"), "{why}");
    let log = std::fs::read_to_string(place.run_folder().join("trials/0001/logs/server.txt")).unwrap();
    assert!(log.contains("database system is ready"), "{log}");
    assert_eq!(second.outcome, Outcome::Completed);
}

/// What a run with this name has made outside of its folder: processes, loop devices, cgroups, scratch.
fn left_of(name: &str, owner: u32) -> Vec<String> {
    let mut left = processes_mentioning(name);
    let devices = std::fs::read_dir("/sys/block").unwrap().flatten().map(|device| device.path());
    let backing = devices.filter_map(|device| std::fs::read_to_string(device.join("loop/backing_file")).ok());
    left.extend(backing.filter(|file| file.contains(name)));
    let scratch = std::fs::read_dir(cache().join("scratch")).unwrap().flatten().map(|entry| entry.path());
    left.extend(scratch.filter(|path| path.to_string_lossy().contains(name)).map(|path| path.display().to_string()));
    left.extend(cgroups_of(owner).into_iter().map(|path| path.display().to_string()));
    left
}

fn cgroups_of(owner: u32) -> Vec<PathBuf> {
    let prefix = format!("bakeoff-{owner}-");
    let (mut found, mut next) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(folder) = next.pop() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for path in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
        {
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)) {
                found.push(path.clone());
            }
            next.push(path);
        }
    }
    found
}

/// One that has ended and was not waited for yet has no command line any more.
fn is_running(process: u32) -> bool {
    std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty())
}

#[test]
fn a_killed_run_leaves_no_server_and_the_next_start_removes_the_rest() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&study("postgres", "1GiB", "").replace("blocks = 2", "blocks = 1"));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until("native: measure");
    let (owner, started) = (running.child.id(), running.descendants());
    let name = name_of(&place.run_folder());
    assert!(!left_of(&name, owner).is_empty(), "a run in the middle of a trial has made something");
    kill_process(Pid::from_child(&running.child), Signal::KILL).unwrap();
    running.child.wait().unwrap();
    // The kernel delivers the parent-death signal; how soon is its affair, that it does is what is waited for.
    while started.iter().any(|process| is_running(*process)) {
        std::thread::yield_now();
    }
    let output = place.bakeoff(&["run", "study.toml", "--resume"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("left over from a run that was killed"), "{told}");
    assert_eq!(left_of(&name, owner), Vec::<String>::new());
    assert_eq!(place.record().trials[0].record.outcome, Outcome::Completed);
}

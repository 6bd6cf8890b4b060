//! A run in progress under a test, which waits for its output, and finds and signals what it started.

use crate::setting::{Place, text};
use machines::identity::Identity;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Lines, PipeReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A run whose output is awaited. It leads its own process group, like a command typed at a terminal.
pub struct Running {
    child: Child,
    lines: Lines<BufReader<PipeReader>>,
    pub told: String,
}

impl Running {
    pub fn begin(place: &Place, arguments: &[&str]) -> Self {
        Self::of(place.command(arguments))
    }

    pub fn of(mut command: Command) -> Self {
        // Both streams in the order of writing; dropping the command closes its own ends.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        command.stdout(writer.try_clone().expect("its other end")).stderr(writer);
        let child = command.process_group(0).spawn().expect("starting bakeoff");
        drop(command);
        Self { child, lines: BufReader::new(reader).lines(), told: String::new() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line, or `None` at the end of the output.
    pub fn next_line(&mut self) -> Option<String> {
        let line = self.lines.next()?.expect("a readable line");
        self.told.push_str(&line);
        self.told.push('\n');
        Some(line)
    }

    /// Waits for these words in the output from now on.
    pub fn until(&mut self, words: &str) {
        while let Some(line) = self.next_line() {
            if line.contains(words) {
                return;
            }
        }
        panic!("it never said {words:?} but\n{}", self.told);
    }

    /// Waits until this many lines were printed, or the output ends.
    pub fn until_lines(&mut self, lines: usize) {
        while self.told.lines().count() < lines && self.next_line().is_some() {}
    }

    /// Its exit code and its whole output.
    pub fn end(mut self) -> (Option<i32>, String) {
        while self.next_line().is_some() {}
        (self.child.wait().expect("its end").code(), self.told)
    }

    pub fn strike(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("sending the signal");
    }

    /// Does what Ctrl-C at a terminal does: the signal goes to the whole group.
    pub fn strike_group(&self, signal: Signal) {
        kill_process_group(Pid::from_child(&self.child), signal).expect("sending the signal");
    }

    /// Every process below it.
    pub fn descendants(&self) -> Vec<u32> {
        below(self.id())
    }

    /// The same processes, with start times that distinguish them from later ones with the same numbers.
    pub fn started(&self) -> BTreeSet<Started> {
        let known = self.descendants().into_iter().filter_map(|process| Identity::of(process).ok());
        known.map(|identity| Started { pid: identity.pid, start_ticks: identity.start_ticks }).collect()
    }
}

/// A process that a run started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Started {
    pub pid: u32,
    start_ticks: u64,
}

impl Started {
    /// A process that has ended but was not yet waited for has no command line.
    pub fn is_running(self) -> bool {
        let is_it = Identity { pid: self.pid, start_ticks: self.start_ticks }.is_alive();
        is_it && !command_line(self.pid).is_empty()
    }
}

/// The words of a process, each ended by a zero byte; empty if there is no such process.
pub fn command_line(process: u32) -> String {
    text(&std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default())
}

/// Every process below this one.
pub fn below(process: u32) -> Vec<u32> {
    let (mut found, mut next) = (Vec::new(), vec![process]);
    while let Some(process) = next.pop() {
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
        let children: Vec<u32> = lists.flat_map(|list| numbers(&list)).collect();
        found.extend(&children);
        next.extend(children);
    }
    found
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// How long to wait before looking again at other processes, of which no event tells. Looking all the time would take their CPU.
pub fn a_moment() {
    let (_nobody_speaks, silence) = channel::<()>();
    let _ = silence.recv_timeout(Duration::from_millis(20));
}

pub fn send(process: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(process).expect("a process number")).expect("not zero");
    // A process that ended meanwhile cannot be signalled, which the test then notices.
    let _ = kill_process(pid, signal);
}

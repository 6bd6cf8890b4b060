//! Programs that we start: each runs to its end within a limit, or as long as we live. None outlives us, however we
//! end.
//!
//! The kernel kills each started program when its parent is gone (`setpriv --pdeathsig`, from util-linux, which every
//! Debian has). To the kernel the parent is a *thread*. So one thread, which lives as long as this process, starts all
//! programs, and callers may be on any thread.
//!
//! Each leads a process group of its own. An interrupt typed at a terminal goes to the whole foreground group, and a
//! guest or a server would react in its own way. Only we receive it and decide.
//!
//! Not covered: programs of other users, and daemons that change their parent.

use crate::identity::{Identity, KILL_LIMIT, as_pid};
use crate::printed::Printed;
use crate::ready::becomes_ready;
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How many starts may queue. Each caller waits for its own, so this limits nothing in practice.
const QUEUED_STARTS: usize = 16;
/// Runs the given program, unless our process ended before `--pdeathsig` took effect: then nobody needs it. Writing
/// past a limit on file size gives the program an error to report instead of killing it.
const UNLESS_ORPHANED: &str = r#"trap '' XFSZ; [ "$PPID" = "$0" ] && exec "$@""#;
/// A process group of its own.
const OWN_GROUP: i32 = 0;
/// A shell's exit status when the program to run does not exist.
pub const NOT_FOUND_STATUS: i32 = 127;
/// How often an end is looked for where nothing reports it.
const END_POLL: Duration = Duration::from_millis(5);
/// How often the output of a program that is run to its end is read.
const PRINTED_POLL: Duration = Duration::from_millis(100);
/// How many lines of a failed program's output are shown.
const TAIL_LINES: usize = 20;

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("starting {program} through setpriv (from Debian's package util-linux): {source}")]
    Start { program: String, source: io::Error },
    #[error("{program} is not installed, or not on the search path")]
    Missing { program: String },
    #[error("watching process {pid}: {source}")]
    Watch { pid: u32, source: io::Error },
    #[error("{program} failed ({status}); its last words:\n{tail}")]
    Failed { program: String, status: ExitStatus, tail: String },
    #[error("{program} was stopped after {} s; its last words:\n{tail}", .limit.as_secs())]
    TooLong { program: String, limit: Duration, tail: String },
}

/// A program to start.
#[derive(Debug)]
pub struct Launch {
    /// Its name in errors.
    program: String,
    command: Command,
}

impl Launch {
    /// `words` begins with the program. Unless changed, it has no input and its output is discarded.
    pub fn new<Word: AsRef<OsStr>>(words: &[Word]) -> Self {
        let program = words.first().and_then(|program| Path::new(program).file_name()).unwrap_or_default();
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).args(unless_orphaned(std::process::id())).args(words);
        command.process_group(OWN_GROUP).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { program: program.to_string_lossy().into_owned(), command }
    }

    /// Sets the name for errors, if the first word only starts the actual program.
    #[must_use]
    pub fn named(mut self, program: &str) -> Self {
        program.clone_into(&mut self.program);
        self
    }

    #[must_use]
    pub fn args<Word: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = Word>) -> Self {
        self.command.args(words);
        self
    }

    /// Adds a variable to its environment, which is otherwise ours.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Replaces the environment by these variables. One must be `PATH`.
    #[must_use]
    pub fn environment(mut self, variables: &[(&str, &str)]) -> Self {
        self.command.env_clear().envs(variables.iter().copied());
        self
    }

    /// The account that it runs under. Only root may set it.
    #[must_use]
    pub fn account(mut self, user: u32, group: u32) -> Self {
        self.command.uid(user).gid(group);
        self
    }

    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    #[must_use]
    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.command.stdin(stdin);
        self
    }

    #[must_use]
    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    #[must_use]
    pub fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.command.stderr(stderr);
        self
    }

    /// Appends all its output to this file.
    pub fn log(self, path: &Path) -> io::Result<Self> {
        let log = File::options().create(true).append(true).open(path)?;
        Ok(self.stdout(log.try_clone()?).stderr(log))
    }

    /// Runs it to its end, and fails if that is not a success. `tell` gets each line of standard error as it comes.
    pub fn run(self, limit: Duration, tell: &mut dyn FnMut(&str)) -> Result<ProgramEnd, ProcessError> {
        let program = self.program.clone();
        let ended = self.run_to_any_end(limit, tell)?;
        if ended.status.success() {
            return Ok(ended);
        }
        Err(ProcessError::Failed { program, status: ended.status, tail: tail_of(&ended.stderr) })
    }

    /// Runs it to its end, successful or not, and kills it at the limit.
    pub fn run_to_any_end(self, limit: Duration, tell: &mut dyn FnMut(&str)) -> Result<ProgramEnd, ProcessError> {
        let program = self.program.clone();
        let start = |source| ProcessError::Start { program: program.clone(), source };
        let (mut stdout, out) = Printed::pipe().map_err(start)?;
        let (mut stderr, err) = Printed::pipe().map_err(start)?;
        let mut process = Process::start(self.stdout(out).stderr(err))?;
        let deadline = Instant::now() + limit;
        let status = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let status = process.wait(left.min(PRINTED_POLL))?;
            stderr.new_lines(tell);
            if status.is_some() || left.is_zero() {
                break status;
            }
        };
        let Some(status) = status else {
            process.kill()?;
            return Err(ProcessError::TooLong { program, limit, tail: tail_of(&stderr.to_the_end()) });
        };
        if status.code() == Some(NOT_FOUND_STATUS) {
            return Err(ProcessError::Missing { program });
        }
        let ended = ProgramEnd { status, stdout: stdout.to_the_end(), stderr: stderr.to_the_end() };
        stderr.new_lines(tell);
        Ok(ended)
    }
}

/// How a program ended and what it printed, of which beginning and end are kept.
#[derive(Debug)]
pub struct ProgramEnd {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

fn tail_of(printed: &str) -> String {
    let lines: Vec<String> = printed.lines().map(|line| format!("  {line}")).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

/// The words before a command line that must run only as a child of this process.
fn unless_orphaned(parent: u32) -> [String; 4] {
    ["sh".to_owned(), "-c".to_owned(), UNLESS_ORPHANED.to_owned(), parent.to_string()]
}

/// A running program of ours. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    identity: Identity,
    /// Becomes readable when the process has ended. `None` in a system without such descriptors, as gVisor of 2022 is.
    ended: Option<OwnedFd>,
}

impl Process {
    pub fn start(launch: Launch) -> Result<Self, ProcessError> {
        let Launch { program, command } = launch;
        let child = spawn(command).map_err(|source| ProcessError::Start { program, source })?;
        Self::watch(child)
    }

    fn watch(mut child: Child) -> Result<Self, ProcessError> {
        let pid = child.id();
        let watched = Identity::of(pid).and_then(|identity| {
            let pid = as_pid(pid).ok_or_else(|| io::Error::other("the id is out of range"))?;
            match pidfd_open(pid, PidfdFlags::empty()) {
                Err(Errno::NOSYS) => Ok((identity, None)),
                opened => Ok((identity, Some(opened?))),
            }
        });
        match watched {
            Ok((identity, ended)) => Ok(Self { child, identity, ended }),
            Err(source) => {
                // End a process that cannot be watched. The error reports the cause, even if ending it fails.
                let _ = child.kill();
                let _ = wait_without_descriptor(&mut child, KILL_LIMIT);
                Err(ProcessError::Watch { pid, source })
            }
        }
    }

    pub fn identity(&self) -> Identity {
        self.identity
    }

    pub fn take_stdin(&mut self) -> Option<std::process::ChildStdin> {
        self.child.stdin.take()
    }

    pub fn take_stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.child.stdout.take()
    }

    /// How it ended, or `None` if it is still running after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Result<Option<ExitStatus>, ProcessError> {
        let pid = self.identity.pid;
        let failing = |source| ProcessError::Watch { pid, source };
        if let Some(ended) = &self.ended {
            if !becomes_ready(ended, limit).map_err(failing)? {
                return Ok(None);
            }
            return self.child.wait().map(Some).map_err(failing);
        }
        wait_without_descriptor(&mut self.child, limit).map_err(failing)
    }

    pub fn signal(&self, signal: Signal) {
        // The descriptor is safe: a process id may pass to another process after this one ends. Sending fails only then.
        // Without one, a process that was not waited for still has its id.
        let _ = match (&self.ended, as_pid(self.identity.pid)) {
            (Some(ended), _) => pidfd_send_signal(ended, signal),
            (None, Some(pid)) if self.identity.is_alive() => kill_process(pid, signal),
            _ => Ok(()),
        };
    }

    /// Sends it `signal`, and kills it if it is still running after `limit`.
    pub fn end(&mut self, signal: Signal, limit: Duration) -> Result<ExitStatus, ProcessError> {
        self.signal(signal);
        match self.wait(limit)? {
            Some(status) => Ok(status),
            None => self.kill(),
        }
    }

    /// Kills it at once.
    pub fn kill(&mut self) -> Result<ExitStatus, ProcessError> {
        let pid = self.identity.pid;
        let failing = |source| ProcessError::Watch { pid, source };
        self.child.kill().map_err(failing)?;
        self.wait(KILL_LIMIT)?.ok_or_else(|| failing(io::Error::other("it outlives SIGKILL")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may already have ended, and nobody is left to hear of other errors.
        let _ = self.kill();
    }
}

fn wait_without_descriptor(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= deadline {
            return Ok(status);
        }
        std::thread::sleep(END_POLL);
    }
}

type Start = (Command, SyncSender<io::Result<Child>>);

/// Hands the command to the thread that starts everything.
fn spawn(command: Command) -> io::Result<Child> {
    static STARTER: OnceLock<SyncSender<Start>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (send, starts) = sync_channel::<Start>(QUEUED_STARTS);
        std::thread::spawn(move || {
            // The sender is never dropped, so this thread lives as long as the process.
            for (mut command, answer) in starts {
                // Sending fails only if the caller panicked; the child is then dropped and dies with us.
                let _ = answer.send(command.spawn());
            }
        });
        send
    });
    let (answer, outcome) = sync_channel(1);
    let gone = || io::Error::other("the thread that starts programs has ended");
    starter.send((command, answer)).map_err(|_| gone())?;
    outcome.recv().map_err(|_| gone())?
}

#[cfg(test)]
mod tests {
    use super::{Launch, Process, ProcessError, unless_orphaned};
    use rustix::process::{Signal, getpgid, getpgrp};
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn output_and_status_come_back_and_lines_are_told_as_they_come() {
        let script = "echo $PWD; echo one >&2; echo $WORD >&2; exit 3";
        let launch = || Launch::new(&["sh", "-c", script]).folder("/").env("WORD", "two");
        let mut told = Vec::new();
        let ended = launch().run_to_any_end(LONG, &mut |line| told.push(line.to_owned())).unwrap();
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str(), ended.status.code()), ("/", "one\ntwo", Some(3)));
        assert_eq!(told, ["one", "two"]);
        let error = launch().run(LONG, &mut |_| ()).unwrap_err().to_string();
        assert_eq!(error, "sh failed (exit status: 3); its last words:\n  one\n  two");
    }

    #[test]
    fn a_line_is_told_before_the_program_ends() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo begun >&2; until [ -e told ]; do sleep 0.01; done; echo ended >&2";
        let launch = Launch::new(&["sh", "-c", script]).folder(folder.path());
        let mut told = Vec::new();
        let tell = &mut |line: &str| {
            std::fs::write(folder.path().join("told"), "").unwrap();
            told.push(line.to_owned());
        };
        launch.run(LONG, tell).unwrap();
        assert_eq!(told, ["begun", "ended"]);
    }

    #[test]
    fn only_the_last_lines_of_a_failure_are_shown() {
        let launch = Launch::new(&["sh", "-c", "seq 1 100000 >&2; exit 1"]);
        let ProcessError::Failed { tail, .. } = launch.run(LONG, &mut |_| ()).unwrap_err() else {
            panic!("no failure")
        };
        assert_eq!(tail.lines().count(), super::TAIL_LINES);
        assert!(tail.ends_with("  100000"));
    }

    #[test]
    fn what_takes_too_long_is_ended_with_its_last_words() {
        let launch = Launch::new(&["sh", "-c", "echo begun >&2; exec sleep 1000"]);
        let error = launch.run(Duration::from_secs(1), &mut |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "sh was stopped after 1 s; its last words:\n  begun");
    }

    #[test]
    fn a_missing_program_is_told_by_name() {
        let error = Launch::new(&["/nonexistent/program"]).run(LONG, &mut |_| ()).unwrap_err();
        assert!(matches!(&error, ProcessError::Missing { program } if program == "program"), "{error}");
    }

    #[test]
    fn the_environment_is_what_was_given_and_the_log_is_added_to() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "earlier\n").unwrap();
        let launch = Launch::new(&["env"]).environment(&[("PATH", "/usr/bin:/bin"), ("ONLY", "this")]);
        let mut process = Process::start(launch.log(&log).unwrap()).unwrap();
        assert!(process.wait(LONG).unwrap().unwrap().success());
        let text = std::fs::read_to_string(&log).unwrap();
        // The shell in between sets `PWD`.
        let mut said: Vec<&str> = text.lines().filter(|line| !line.starts_with("PWD=")).collect();
        said.sort_unstable();
        assert_eq!(said, ["ONLY=this", "PATH=/usr/bin:/bin", "earlier"]);
    }

    #[test]
    fn a_program_is_asked_to_end_before_it_is_ended() {
        let ends = |script: &str| {
            let mut process = Process::start(Launch::new(&["sh", "-c", script]).stdout(Stdio::piped())).unwrap();
            // Its first byte shows that its signal handler is set.
            process.take_stdout().unwrap().read_exact(&mut [0]).unwrap();
            process
        };
        for tells_of_its_end in [true, false] {
            let mut willing = ends("trap 'exit 5' TERM; echo; while :; do sleep 0.01; done");
            let mut deaf = ends("trap '' TERM; echo; while :; do sleep 0.01; done");
            for process in [&mut willing, &mut deaf].into_iter().filter(|_| !tells_of_its_end) {
                process.ended = None;
            }
            assert_eq!(willing.end(Signal::TERM, LONG).unwrap().code(), Some(5));
            assert_eq!(deaf.end(Signal::TERM, Duration::from_millis(100)).unwrap().signal(), Some(9));
        }
    }

    #[test]
    fn a_program_outlives_the_thread_that_asked_for_it_but_not_its_owner() {
        let asked = std::thread::spawn(|| Process::start(Launch::new(&["sleep", "1000"])).unwrap());
        let mut process = asked.join().unwrap();
        let identity = process.identity();
        assert!(process.wait(Duration::ZERO).unwrap().is_none());
        assert!(identity.is_alive());
        drop(process);
        assert!(!identity.is_alive());
    }

    #[test]
    fn what_is_typed_at_our_terminal_does_not_reach_a_program() {
        let process = Process::start(Launch::new(&["sleep", "1000"])).unwrap();
        let pid = crate::identity::as_pid(process.identity().pid);
        assert_eq!(getpgid(pid).ok(), pid);
        assert_ne!(pid, Some(getpgrp()));
    }

    #[test]
    fn a_program_whose_parent_is_gone_before_it_begins_does_not_begin() {
        let said = |parent: u32| {
            let [shell, words @ ..] = unless_orphaned(parent);
            Command::new(shell).args(words).args(["echo", "begun"]).output().unwrap().stdout
        };
        assert_eq!(said(std::process::id()), b"begun\n");
        assert_eq!(said(1), b"");
    }

    #[test]
    fn a_file_that_may_not_grow_is_an_error_and_not_the_end_of_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let script = "ulimit -f 1; head -c 100000 /dev/zero > large; echo \"ended with $?\"";
        let ended = Launch::new(&["sh", "-c", script]).folder(folder.path()).run(LONG, &mut |_| ()).unwrap();
        assert_eq!(ended.stdout, "ended with 1");
    }
}

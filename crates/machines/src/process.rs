//! Processes that end when we end, however we end.
//!
//! A started program gets the kernel's promise to be killed when its parent is gone (`setpriv --pdeathsig`, from
//! util-linux, which every Debian has). The kernel means the parent *thread*, so all programs are started by one thread
//! that lives as long as this process: callers need not care on which thread they are. A process is known by its id
//! and its start time, because ids are used again.
//!
//! Each is the head of a process group of its own: an interrupt typed at a terminal goes to all of the foreground group, and
//! what a guest or a server makes of it is not what the user meant. We alone hear it and decide.
//!
//! Left out: programs of other users and daemons that change their parent.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Programs that may wait to be started; each caller waits for its own, so this bounds nothing in practice.
const QUEUED_STARTS: usize = 16;
/// The kernel ends a killed process within this, unless it hangs in a device.
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// Becomes the given program, unless its parent ended before it had the kernel's promise: then there is nobody it is for. A file
/// that may not grow further is an error for it to tell of, not its end.
const UNLESS_ORPHANED: &str = r#"trap '' XFSZ; [ "$PPID" = "$0" ] && exec "$@""#;
/// A process group of its own.
const OWN_GROUP: i32 = 0;

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("starting {program} through setpriv (from Debian's package util-linux): {source}")]
    Start { program: String, source: io::Error },
    #[error("watching process {pid}: {source}")]
    Watch { pid: u32, source: io::Error },
}

/// A process, told from any later one with the same id until the host boots again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub pid: u32,
    /// In the kernel's ticks since boot.
    pub start_ticks: u64,
}

impl Identity {
    /// The process that has this id now.
    pub fn of(pid: u32) -> io::Result<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let start_ticks =
            start_ticks(&stat).ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat reads {stat:?}")))?;
        Ok(Self { pid, start_ticks })
    }

    /// Whether this very process still exists (a zombie does).
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).is_ok_and(|now| now == *self)
    }

    /// Kills this very process and says whether there was one. The id cannot pass to another process in between: the
    /// descriptor holds on to whoever had it when the start time was compared.
    pub fn kill(&self) -> io::Result<bool> {
        let Some(pid) = as_pid(self.pid) else { return Ok(false) };
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(rustix::io::Errno::SRCH) => return Ok(false),
            other => other?,
        };
        if !self.is_alive() {
            return Ok(false);
        }
        match pidfd_send_signal(&descriptor, Signal::KILL) {
            Err(rustix::io::Errno::SRCH) => Ok(false),
            other => {
                other?;
                // Only our own children leave a status to be waited for; others are gone when the descriptor says so.
                becomes_ready(&descriptor, KILL_LIMIT)?;
                Ok(true)
            }
        }
    }
}

/// What the kernel names the time since it was booted. Start times of processes are told from it.
pub fn boot_id() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim_end().to_owned())
}

/// The 22nd field. The second one, the program's name, may hold spaces and parentheses.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// A program to start.
#[derive(Debug)]
pub struct Launch {
    arguments: Vec<OsString>,
    folder: Option<PathBuf>,
    stdin: Stdio,
    stdout: Stdio,
    stderr: Stdio,
}

impl Launch {
    /// `arguments` begins with the program. It reads nothing and its output is thrown away unless told otherwise.
    pub fn new<Argument: AsRef<OsStr>>(arguments: &[Argument]) -> Self {
        Self {
            arguments: arguments.iter().map(|argument| argument.as_ref().to_owned()).collect(),
            folder: None,
            stdin: Stdio::null(),
            stdout: Stdio::null(),
            stderr: Stdio::null(),
        }
    }

    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    #[must_use]
    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.stdin = stdin.into();
        self
    }

    #[must_use]
    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = stdout.into();
        self
    }

    #[must_use]
    pub fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.stderr = stderr.into();
        self
    }

    fn into_command(self) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).args(unless_orphaned(std::process::id())).args(self.arguments);
        command.process_group(OWN_GROUP).stdin(self.stdin).stdout(self.stdout).stderr(self.stderr);
        if let Some(folder) = self.folder {
            command.current_dir(folder);
        }
        command
    }
}

/// The words before a command line that is to be carried out only as a child of this process.
fn unless_orphaned(parent: u32) -> [String; 4] {
    ["sh".to_owned(), "-c".to_owned(), UNLESS_ORPHANED.to_owned(), parent.to_string()]
}

/// A running program of ours. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    identity: Identity,
    /// Becomes readable when the process has ended.
    ended: OwnedFd,
}

impl Process {
    pub fn start(launch: Launch) -> Result<Self, ProcessError> {
        let program = launch.arguments.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let child = spawn(launch.into_command()).map_err(|source| ProcessError::Start { program, source })?;
        Self::watch(child)
    }

    fn watch(mut child: Child) -> Result<Self, ProcessError> {
        let pid = child.id();
        let watched = Identity::of(pid).and_then(|identity| {
            let pid = as_pid(pid).ok_or_else(|| io::Error::other("the id is out of range"))?;
            Ok((identity, pidfd_open(pid, PidfdFlags::empty())?))
        });
        match watched {
            Ok((identity, ended)) => Ok(Self { child, identity, ended }),
            Err(source) => {
                // Not ours to keep if it cannot be watched; the cause is told, not the clean-up.
                let _ = child.kill();
                let _ = child.wait();
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
        if !becomes_ready(&self.ended, limit).map_err(failing)? {
            return Ok(None);
        }
        self.child.wait().map(Some).map_err(failing)
    }

    /// Ends it at once.
    pub fn kill(&mut self) -> Result<ExitStatus, ProcessError> {
        let pid = self.identity.pid;
        let failing = |source| ProcessError::Watch { pid, source };
        self.child.kill().map_err(failing)?;
        self.wait(KILL_LIMIT)?.ok_or_else(|| failing(io::Error::other("it outlives SIGKILL")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended and been waited for already; there is nobody left to tell of anything else.
        let _ = self.kill();
    }
}

fn as_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Waits until the descriptor of a process says that it has ended.
fn becomes_ready(descriptor: &OwnedFd, limit: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + limit;
    loop {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

type Start = (Command, SyncSender<io::Result<Child>>);

/// Hands the command to the thread that starts everything.
fn spawn(command: Command) -> io::Result<Child> {
    static STARTER: OnceLock<SyncSender<Start>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (send, starts) = sync_channel::<Start>(QUEUED_STARTS);
        std::thread::spawn(move || {
            // The sender is never dropped: this thread lives as long as the process does.
            for (mut command, answer) in starts {
                // Nobody is waiting only if the caller panicked; the child is then dropped and dies with us.
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
    use super::{Identity, Launch, Process, start_ticks, unless_orphaned};
    use rustix::process::{getpgid, getpgrp};
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) b) c) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4321 99 0";
        assert_eq!(start_ticks(stat), Some(4321));
    }

    #[test]
    fn output_and_status_come_back() {
        let launch = Launch::new(&["sh", "-c", "echo $PWD; exit 3"]).folder("/").stdout(Stdio::piped());
        let mut process = Process::start(launch).unwrap();
        let mut text = String::new();
        process.take_stdout().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "/\n");
        assert_eq!(process.wait(LONG).unwrap().unwrap().code(), Some(3));
    }

    #[test]
    fn a_missing_program_ends_with_the_status_of_setpriv() {
        let mut process = Process::start(Launch::new(&["/nonexistent/program"])).unwrap();
        assert_eq!(process.wait(LONG).unwrap().unwrap().code(), Some(127));
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
        let pid = super::as_pid(process.identity().pid);
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
        let launch = Launch::new(&["sh", "-c", script]).folder(folder.path()).stdout(Stdio::piped());
        let mut process = Process::start(launch).unwrap();
        let mut text = String::new();
        process.take_stdout().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "ended with 1\n");
    }

    #[test]
    fn only_the_process_with_the_same_start_time_is_killed() {
        let mut process = Process::start(Launch::new(&["sleep", "1000"])).unwrap();
        let identity = process.identity();
        let another = Identity { start_ticks: identity.start_ticks + 1, ..identity };
        assert!(!another.kill().unwrap());
        assert!(process.wait(Duration::ZERO).unwrap().is_none());
        assert!(identity.kill().unwrap());
        assert!(process.wait(LONG).unwrap().is_some());
    }
}

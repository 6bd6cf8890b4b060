//! Child processes with a limit on every wait, and their output in a log.

use crate::server::ServerError;
use machines::tail;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to end after it was told to end at once.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// A running child; dropping it kills it.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    /// The signal for "at once".
    abort: Signal,
    child: Child,
    /// Becomes readable when the child ends.
    ending: OwnedFd,
    log: PathBuf,
}

impl Process {
    /// Starts a command with its output appended to `log`. Dropping it sends `abort`, which should end it at once.
    pub fn start(name: &'static str, command: &mut Command, log: &Path, abort: Signal) -> Result<Self, ServerError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = File::options().create(true).append(true).open(log);
        let output = output.map_err(|source| failed(format!("opening {}", log.display()), source))?;
        let errors = output.try_clone().map_err(|source| failed(format!("opening {}", log.display()), source))?;
        let child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        let mut child = child.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ServerError::Missing { program: program.clone(), source },
            _ => failed(format!("starting {program}"), source),
        })?;
        match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(ending) => Ok(Self { name, abort, child, ending, log: log.to_owned() }),
            Err(error) => {
                // Without a descriptor there is no waiting with a limit. What is left of it costs a number until we end.
                let _ = child.kill();
                Err(failed(format!("watching {program}"), error.into()))
            }
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn log_tail(&self) -> String {
        tail::of_file(&self.log)
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, ServerError> {
        let name = self.name;
        self.child.try_wait().map_err(|source| failed(format!("looking after {name}"), source))
    }

    /// Waits for its end until `deadline`.
    pub fn wait(&mut self, deadline: Instant) -> Result<Option<ExitStatus>, ServerError> {
        loop {
            if let Some(status) = self.ended()? {
                return Ok(Some(status));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let limit =
                Timespec::try_from(left).map_err(|error| failed("waiting".to_owned(), io::Error::other(error)))?;
            match poll(&mut [PollFd::new(&self.ending, PollFlags::IN)], Some(&limit)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(failed(format!("waiting for {}", self.name), error.into())),
            }
        }
    }

    /// Waits for its end, which must come within `limit` and be a success.
    pub fn finish(&mut self, limit: Duration) -> Result<(), ServerError> {
        match self.wait(Instant::now() + limit)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.ended_with(status)),
            None => Err(self.too_slow(limit)),
        }
    }

    pub fn signal(&self, signal: Signal) {
        // By descriptor: the number may belong to another process once this one has ended. It fails only then.
        let _ = pidfd_send_signal(&self.ending, signal);
    }

    pub fn ended_with(&self, status: ExitStatus) -> ServerError {
        ServerError::Failed { doing: self.name.to_owned(), why: status.to_string(), log: self.log_tail() }
    }

    pub fn too_slow(&self, limit: Duration) -> ServerError {
        ServerError::TooSlow { doing: self.name.to_owned(), limit_s: limit.as_secs(), log: self.log_tail() }
    }
}

fn failed(doing: String, source: io::Error) -> ServerError {
    ServerError::Io { doing, source }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(self.abort);
        if !matches!(self.wait(Instant::now() + KILL_LIMIT), Ok(Some(_))) {
            let _ = self.child.kill();
            // One that even this does not end hangs in the kernel, and nobody need hang with it.
            let _ = self.wait(Instant::now() + KILL_LIMIT);
        }
    }
}

//! Programs of a server, each with a log. If one fails, the error includes the end of its log.

use crate::server::ServerError;
use machines::process::{Launch, Process, ProcessError};
use machines::tail;
use rustix::process::Signal;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

/// How long a process may take to end after it was asked to end at once.
const ABORT_LIMIT: Duration = Duration::from_secs(5);

/// A running program. Dropping it ends it at once.
#[derive(Debug)]
pub struct LoggedProcess {
    name: &'static str,
    /// The signal for "at once".
    abort: Signal,
    process: Process,
    log: PathBuf,
}

impl LoggedProcess {
    /// Starts a program with its output added to `log`. Dropping it sends `abort`, which should end it at once.
    pub fn start(name: &'static str, launch: Launch, log: &Path, abort: Signal) -> Result<Self, ServerError> {
        let launch = launch.log(log);
        let launch =
            launch.map_err(|source| ServerError::Io { doing: format!("opening {}", log.display()), source })?;
        let process = Process::start(launch).map_err(|error| failed(name, error))?;
        Ok(Self { name, abort, process, log: log.to_owned() })
    }

    pub fn id(&self) -> u32 {
        self.process.identity().pid
    }

    /// How it ended, or `None` if it is still running after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Result<Option<ExitStatus>, ServerError> {
        self.process.wait(limit).map_err(|error| failed(self.name, error))
    }

    /// Fails if it has ended.
    pub fn alive(&mut self) -> Result<(), ServerError> {
        self.wait(Duration::ZERO)?.map_or(Ok(()), |status| Err(self.ended_with(status)))
    }

    /// Waits for its end, and fails if that is no success or not within `limit`.
    pub fn finish(&mut self, limit: Duration) -> Result<(), ServerError> {
        match self.wait(limit)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.ended_with(status)),
            None => Err(self.too_slow(limit)),
        }
    }

    /// Asks it to end, and fails if that is no success or not within `limit`.
    pub fn stop(&mut self, signal: Signal, limit: Duration) -> Result<(), ServerError> {
        self.process.signal(signal);
        self.finish(limit)
    }

    fn ended_with(&self, status: ExitStatus) -> ServerError {
        ServerError::Failed { doing: self.name.to_owned(), why: status.to_string(), log: tail::of_file(&self.log) }
    }

    pub fn too_slow(&self, limit: Duration) -> ServerError {
        let log = tail::of_file(&self.log);
        ServerError::TooSlow { doing: self.name.to_owned(), limit_s: limit.as_secs(), log }
    }
}

fn failed(name: &str, error: ProcessError) -> ServerError {
    ServerError::Io { doing: name.to_owned(), source: io::Error::other(error) }
}

impl Drop for LoggedProcess {
    fn drop(&mut self) {
        // Nobody is left to hear of an error. A process that survives even a kill hangs in the kernel; we need not hang
        // with it.
        let _ = self.process.end(self.abort, ABORT_LIMIT);
    }
}

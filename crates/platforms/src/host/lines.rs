//! How programs on another host are started and spoken with: over ssh, or by somebody else who reaches it.

use super::command;
use super::settings::HostSettings;
use machines::process::{Launch, Process};
use machines::scratch;
use std::fmt;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

/// Runs scripts on other hosts, in place of ssh. A copy of this program is there already.
pub trait HostScripts: Send + Sync + fmt::Debug {
    /// Runs a script of `sh` on a host. What it prints as errors goes to `errors`.
    fn run(&self, host: &str, script: &str, errors: PipeWriter) -> io::Result<HostProgram>;

    /// For how long the way to a host may be gone without anything being lost.
    fn may_be_away(&self) -> Duration;
}

/// A program that was started on another host.
pub struct HostProgram {
    pub input: PipeWriter,
    pub output: PipeReader,
    pub far: Box<dyn Far>,
    /// For the record: how it was started.
    pub command_line: Vec<String>,
}

/// The program at the other end. It ends when its input does; dropping this gives it up.
pub trait Far: Send {
    /// How it ended, or `None` if it is still running after `limit`. A line that was lost has the status of an ssh that was.
    fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>>;
}

impl Far for Process {
    fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        Self::wait(self, limit).map_err(io::Error::other)
    }
}

/// `scratch` is the folder in which processes of this host are written down.
pub(super) fn over_ssh(
    settings: &HostSettings,
    script: &str,
    errors: PipeWriter,
    scratch: &Path,
) -> io::Result<HostProgram> {
    let command_line = command::ssh(settings, script);
    let launch = Launch::new(&command_line).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
    let mut process = Process::start(launch).map_err(io::Error::other)?;
    scratch::record_process(scratch, process.identity()).map_err(io::Error::other)?;
    let (Some(input), Some(output)) = (process.take_stdin(), process.take_stdout()) else {
        return Err(io::ErrorKind::NotConnected.into());
    };
    let (input, output) = (OwnedFd::from(input).into(), OwnedFd::from(output).into());
    Ok(HostProgram { input, output, far: Box::new(process), command_line })
}

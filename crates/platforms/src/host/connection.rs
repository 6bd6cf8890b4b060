//! A program of ours on another host, and how it is reached.

use super::command::{CUT_SHORT_STATUS, MARKER, NO_FOLDER_STATUS, OTHER_SYSTEM_STATUS, SSH_STATUS};
use super::lines::{self, Far, HostProgram, HostScripts};
use super::settings::HostSettings;
use crate::order::Launched;
use machines::frame::{read_frame, write_frame};
use machines::interrupts::Interrupts;
use machines::machine::MachineError;
use machines::printed::Printed;
use machines::ready::{UntilDeadline, WhileTaken};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An answer that needs no work.
pub(super) const PROMPT_LIMIT: Duration = Duration::from_mins(1);
/// The longest that a host takes nothing of what it is sent.
const TAKING_LIMIT: Duration = Duration::from_mins(2);
/// How soon a run that was stopped is noticed while a program there ends.
const GLANCE: Duration = Duration::from_millis(200);
/// More than any profile prints.
const LONGEST_PROFILE: usize = 64 << 10;

/// A connection whose other end has said that it begins.
pub(super) struct Connection {
    pub far: Box<dyn Far>,
    /// `None` once we have hung up.
    pub stdin: Option<WhileTaken>,
    pub stdout: PipeReader,
    pub stderr: Printed,
    pub command_line: Vec<String>,
    /// What the way to the host adds to every limit.
    pub may_be_away: Duration,
    interrupts: Interrupts,
}

/// A program of ours on the other host, and how it is reached.
#[derive(Debug, Clone)]
pub(super) struct HostWay {
    pub settings: HostSettings,
    /// Where processes of this host are written down.
    pub scratch: PathBuf,
    /// `None` for ssh.
    pub lines: Option<Arc<dyn HostScripts>>,
    /// A run that is stopped waits for no host.
    pub interrupts: Interrupts,
}

impl HostWay {
    /// Runs a script there, which takes this file on its standard input. `launched` is called when ssh runs.
    pub fn connect(
        &self,
        script: &str,
        input: Option<&File>,
        launched: Launched<'_>,
        limit: Duration,
    ) -> Result<Connection, MachineError> {
        let may_be_away = self.lines.as_ref().map_or(Duration::ZERO, |lines| lines.may_be_away());
        let deadline = Instant::now() + limit + may_be_away;
        let (stderr, printing) = Printed::pipe().map_err(failing("making a pipe"))?;
        let line = match &self.lines {
            Some(lines) => lines.run(self.settings.name(), script, printing).map_err(|error| {
                let why = format!("cannot reach the host {}: {error}", self.settings.name());
                MachineError::Unavailable { why }
            })?,
            None => {
                lines::over_ssh(&self.settings, script, printing, &self.scratch).map_err(failing("starting ssh"))?
            }
        };
        launched();
        let HostProgram { input: stdin, output: stdout, far, command_line } = line;
        let interrupts = self.interrupts.clone();
        let stdin = WhileTaken::new(stdin, TAKING_LIMIT + may_be_away, interrupts.clone());
        let mut stdin = stdin.map_err(failing("preparing a pipe"))?;
        let taken = input.map_or(Ok(0), |mut file| io::copy(&mut file, &mut stdin));
        let stdin = Some(stdin);
        let mut connection = Connection { far, stdin, stdout, stderr, command_line, may_be_away, interrupts };
        match taken {
            Err(error) if is_given_up(&error) => Err(connection.explained(&self.settings, &error, TAKING_LIMIT)),
            // If the other end did not take it all, the reason follows.
            _ => match connection.until_marker(deadline) {
                Ok(()) => Ok(connection),
                Err(error) => Err(connection.explained(&self.settings, &error, limit)),
            },
        }
    }
}

impl Connection {
    /// Reads what the user's profile prints, up to the marker.
    fn until_marker(&mut self, deadline: Instant) -> io::Result<()> {
        let mut line = Vec::new();
        let mut read = UntilDeadline { read: &mut self.stdout, deadline, interrupts: Some(&self.interrupts) };
        for _ in 0..LONGEST_PROFILE {
            let mut byte = [0];
            if read.read(&mut byte)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            match byte[0] {
                b'\n' if line.ends_with(MARKER.as_bytes()) => return Ok(()),
                b'\n' => line.clear(),
                byte => line.push(byte),
            }
        }
        Err(io::Error::new(ErrorKind::InvalidData, "its shell prints without end"))
    }

    pub fn write(&mut self, message: &impl Serialize) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(ErrorKind::NotConnected)?;
        write_frame(stdin, message)
    }

    /// Closes its input, and waits until the other end has ended.
    pub fn hang_up(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        self.stdin = None;
        let begun = Instant::now();
        loop {
            // A program that is to end needs a moment.
            let limit = if self.interrupts.now() { limit.min(PROMPT_LIMIT) } else { limit } + self.may_be_away;
            let left = limit.saturating_sub(begun.elapsed());
            let ended = self.far.wait(left.min(GLANCE))?;
            if ended.is_some() || left.is_zero() {
                return Ok(ended);
            }
        }
    }

    /// What it goes over: the first word of its command line.
    fn program(&self) -> &str {
        self.command_line.first().map_or("ssh", String::as_str)
    }

    pub fn read<T: DeserializeOwned>(&mut self, limit: Duration) -> io::Result<T> {
        let deadline = Instant::now() + limit + self.may_be_away;
        let mut read = UntilDeadline { read: &mut self.stdout, deadline, interrupts: Some(&self.interrupts) };
        read_frame(&mut read)?.ok_or(ErrorKind::UnexpectedEof.into())
    }

    /// Why the connection is of no use, in the words of what reaches the host or of the commands there.
    pub fn explained(&mut self, settings: &HostSettings, error: &io::Error, limit: Duration) -> MachineError {
        let host = settings.name();
        if error.kind() == ErrorKind::TimedOut {
            let (what, console) = (format!("the host {host}"), self.stderr.text());
            return MachineError::Silent { what, limit_s: (limit + self.may_be_away).as_secs(), console };
        }
        if is_given_up(error) {
            return MachineError::Unavailable { why: format!("{error} before the host {host} answered") };
        }
        let status = self.far.wait(PROMPT_LIMIT).ok().flatten();
        let printed = self.stderr.to_the_end();
        let last = printed.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed nothing").trim();
        let why = match status.and_then(|status| status.code()) {
            Some(SSH_STATUS) => format!("{} does not reach the host {host}: {}", self.program(), told_by_ssh(&printed)),
            Some(OTHER_SYSTEM_STATUS) => {
                format!("the host {host} runs {last}, and this bakeoff is for Linux x86_64")
            }
            Some(NO_FOLDER_STATUS) => {
                format!("there is no usable folder {} on the host {host}: {last}", settings.folder)
            }
            Some(CUT_SHORT_STATUS) => format!("the host {host} got only a part of bakeoff's binary: {last}"),
            _ => {
                let status = status.map_or_else(|| error.to_string(), |status| status.to_string());
                let what = format!("what was started on the host {host}");
                return MachineError::Ended { what, status, console: printed };
            }
        };
        MachineError::Unavailable { why }
    }
}

/// Whether waiting ended although the other end had neither answered nor ended.
fn is_given_up(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::ConnectionAborted)
}

/// The line of ssh that says most: after a changed host key, the last one only says that verification failed.
fn told_by_ssh(printed: &str) -> String {
    let is_told = |line: &&str| !line.trim().is_empty() && !line.starts_with("@@@");
    let last = printed.lines().rfind(is_told).unwrap_or("it printed nothing").trim();
    if printed.contains("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        return format!("its key is not the one that is known for this host ({last})");
    }
    last.to_owned()
}

pub(super) fn failing(doing: &'static str) -> impl FnOnce(io::Error) -> MachineError {
    move |source| MachineError::Io { doing: doing.to_owned(), source }
}

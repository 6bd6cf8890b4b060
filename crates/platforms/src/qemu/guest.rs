//! A running QEMU whose guest has greeted us. What it was asked for is decided elsewhere.

use super::command::{CommandOrder, PROGRAM, command_line};
use super::qmp::Qmp;
use machines::link::{AgentLink, LinkError};
use machines::machine::MachineError;
use machines::process::{Launch, Process};
use machines::{scratch, tail};
use std::fs::File;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a shell-like program answers with when the program it should start is not there.
const NOT_FOUND_STATUS: i32 = 127;
/// A QEMU that closed its connections ends within this.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

pub struct Guest {
    pub link: AgentLink,
    pub command_line: Vec<String>,
    process: Process,
    /// Our end of the agent's stream, kept to hang up.
    agent: UnixStream,
    logs: Logs,
}

/// A QEMU that runs; of its guest nothing is known yet.
pub struct LaunchedGuest {
    command_line: Vec<String>,
    process: Process,
    agent: UnixStream,
    control: UnixStream,
    logs: Logs,
}

/// What QEMU and the guest print.
struct Logs {
    what: String,
    console: PathBuf,
    stderr: PathBuf,
}

impl LaunchedGuest {
    /// Starts QEMU in `folder`.
    pub fn start(order: &CommandOrder, folder: &Path) -> Result<Self, MachineError> {
        let what = format!("the guest {}", order.name);
        let logs = Logs { what, console: order.console.clone(), stderr: folder.join(format!("{}.stderr", order.name)) };
        let command_line = command_line(order);
        let io = |doing: &str| logs.failing(doing);
        let (agent, agent_inside) = UnixStream::pair().map_err(io("making a socket"))?;
        let (control, control_inside) = UnixStream::pair().map_err(io("making a socket"))?;
        let launch = Launch::new(&command_line)
            .folder(folder)
            .stdin(OwnedFd::from(agent_inside))
            .stdout(OwnedFd::from(control_inside))
            .stderr(File::create(&logs.stderr).map_err(io("making a log"))?);
        let process = Process::start(launch).map_err(|error| io("starting QEMU")(std::io::Error::other(error)))?;
        scratch::record_process(folder, process.identity())
            .map_err(|error| io("writing down QEMU")(std::io::Error::other(error)))?;
        Ok(Self { command_line, process, agent, control, logs })
    }

    /// Waits until the agent inside greets. With it comes QEMU's own connection.
    pub fn greeted(self, limit: Duration) -> Result<(Guest, Qmp), MachineError> {
        let Self { command_line, mut process, agent, control, logs } = self;
        let io = |doing: &str| logs.failing(doing);
        let qmp = Qmp::negotiate(control)
            .map_err(|error| ended_or(&mut process, &logs, io("greeting QEMU")(std::io::Error::other(error))))?;
        let reader = agent.try_clone().map_err(io("sharing a socket"))?;
        let writer = agent.try_clone().map_err(io("sharing a socket"))?;
        let mut link = AgentLink::new(reader, writer);
        match link.greeting(limit) {
            Ok(_) => Ok((Guest { link, command_line, process, agent, logs }, qmp)),
            Err(LinkError::TooSlow(_)) => {
                Err(MachineError::Silent { what: logs.what.clone(), limit_s: limit.as_secs(), console: logs.tail() })
            }
            Err(error) if error.is_end() => Err(ended_or(&mut process, &logs, error.into())),
            Err(error) => Err(error.into()),
        }
    }
}

impl Guest {
    /// Starts QEMU in `folder` and waits until the agent inside greets.
    pub fn boot(order: &CommandOrder, folder: &Path, limit: Duration) -> Result<(Self, Qmp), MachineError> {
        LaunchedGuest::start(order, folder)?.greeted(limit)
    }

    pub fn pid(&self) -> u32 {
        self.process.identity().pid
    }

    pub fn console_tail(&self) -> String {
        self.logs.tail()
    }

    /// Hangs up, so that an agent that is still there ends and its guest powers off, and waits for QEMU to end.
    pub fn stop(mut self, limit: Duration) -> Result<(), MachineError> {
        // Already gone is as good.
        let _ = self.agent.shutdown(Shutdown::Both);
        let status = self.process.wait(limit).map_err(|error| MachineError::Io {
            doing: format!("waiting for the end of {}", self.logs.what),
            source: std::io::Error::other(error),
        })?;
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.logs.ended(&status.to_string())),
            None => {
                let what = format!("{}, asked to power off,", self.logs.what);
                Err(MachineError::Silent { what, limit_s: limit.as_secs(), console: self.logs.tail() })
            }
        }
    }
}

/// If QEMU ended, that explains more than the broken connection does.
fn ended_or(process: &mut Process, logs: &Logs, error: MachineError) -> MachineError {
    match process.wait(EXIT_LIMIT) {
        Ok(Some(status)) if status.code() == Some(NOT_FOUND_STATUS) => {
            MachineError::MissingTool { program: PROGRAM, package: "qemu-system-x86" }
        }
        Ok(Some(status)) => logs.ended(&status.to_string()),
        _ => error,
    }
}

impl Logs {
    fn failing(&self, doing: &str) -> impl FnOnce(std::io::Error) -> MachineError + use<> {
        let doing = format!("{doing} for {}", self.what);
        move |source| MachineError::Io { doing, source }
    }

    /// What QEMU said, then what the guest said.
    fn tail(&self) -> String {
        let texts = [&self.stderr, &self.console].map(|path| tail::of_file(path));
        texts.iter().filter(|text| !text.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn ended(&self, status: &str) -> MachineError {
        MachineError::Ended { what: self.what.clone(), status: status.to_owned(), console: self.tail() }
    }
}

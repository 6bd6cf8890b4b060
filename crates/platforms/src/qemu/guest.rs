//! A running QEMU whose guest has greeted us. Its configuration is decided elsewhere.

use super::command::{GuestOrder, command_line};
use super::isolation::{Isolation, SIGNALLED};
use super::qmp::Qmp;
use super::settings::PROGRAM;
use machines::identity::Identity;
use machines::link::{AgentLink, LinkError};
use machines::machine::MachineError;
use machines::printed::Printed;
use machines::process::{Launch, NOT_FOUND_STATUS, Process};
use machines::scratch;
use machines::transport::Transport;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

/// QEMU ends within this after it closed its connections.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

pub struct Guest {
    pub link: AgentLink,
    pub command_line: Vec<String>,
    /// QEMU's own process. It is not the started process if that one makes a namespace for it.
    emulator: Emulator,
    process: Process,
    /// Our end of the agent's stream, kept to close the connection.
    agent: UnixStream,
    logs: Logs,
}

/// A QEMU that runs; the state of its guest is not yet known.
pub struct LaunchedGuest {
    command_line: Vec<String>,
    /// The path of a kernel that the user named.
    own_kernel: Option<String>,
    isolation: Isolation,
    process: Process,
    agent: UnixStream,
    control: UnixStream,
    logs: Logs,
}

/// Kills QEMU and waits until its files are closed, before the started process is ended.
struct Emulator(Identity);

impl Drop for Emulator {
    fn drop(&mut self) {
        // It may have ended already. Also, everything in its namespace ends with the started process.
        let _ = self.0.kill();
    }
}

/// The output of QEMU and the guest.
struct Logs {
    what: String,
    console: Printed,
    stderr: Printed,
}

impl LaunchedGuest {
    /// Starts QEMU in `folder`.
    pub fn start(order: &GuestOrder, folder: &Path) -> Result<Self, MachineError> {
        let what = format!("the guest {}", order.name);
        let command_line = command_line(order);
        let io = |doing: &str| failing(&what, doing);
        let console = Printed::named_pipe(&order.console).map_err(io("making a console"))?;
        let (stderr, printing) = Printed::pipe().map_err(io("making a pipe"))?;
        let (agent, agent_inside) = UnixStream::pair().map_err(io("making a socket"))?;
        let (control, control_inside) = UnixStream::pair().map_err(io("making a socket"))?;
        let launch = Launch::new(&command_line)
            .folder(folder)
            .stdin(OwnedFd::from(agent_inside))
            .stdout(OwnedFd::from(control_inside))
            .stderr(printing);
        let process = Process::start(launch).map_err(|error| io("starting QEMU")(std::io::Error::other(error)))?;
        scratch::record_process(folder, process.identity())
            .map_err(|error| io("writing down QEMU")(std::io::Error::other(error)))?;
        Ok(Self {
            command_line,
            own_kernel: order.settings.kernel.clone(),
            isolation: order.isolation.clone(),
            process,
            agent,
            control,
            logs: Logs { what, console, stderr },
        })
    }

    /// Waits until the agent inside greets; also returns QEMU's own connection.
    pub fn greeted(self, limit: Duration) -> Result<(Guest, Qmp), MachineError> {
        let Self { command_line, own_kernel, isolation, mut process, agent, control, mut logs } = self;
        let what = logs.what.clone();
        if let Some(kernel) = own_kernel {
            logs.what = format!("{what} with the kernel {kernel}, which must have its drivers built in,");
        }
        let qmp = Qmp::negotiate(control).map_err(|error| {
            let error = failing(&logs.what, "greeting QEMU")(std::io::Error::other(error));
            ended_or(&mut process, &mut logs, error)
        })?;
        let emulator = isolation.emulator(process.identity().pid).and_then(Identity::of);
        let emulator = Emulator(emulator.map_err(failing(&logs.what, "finding QEMU's process"))?);
        let share = || agent.try_clone().map_err(failing(&logs.what, "sharing a socket"));
        let (reader, writer) = (share()?, share()?);
        match Transport::pipe(reader, writer).connect(limit) {
            Ok(link) => {
                logs.what = what;
                Ok((Guest { link, command_line, emulator, process, agent, logs }, qmp))
            }
            Err(LinkError::TooSlow(_)) => {
                Err(MachineError::Silent { what: logs.what.clone(), limit_s: limit.as_secs(), console: logs.text() })
            }
            Err(error) if error.is_end() => Err(ended_or(&mut process, &mut logs, error.into())),
            Err(error) => Err(error.into()),
        }
    }
}

impl Guest {
    /// Starts QEMU in `folder` and waits until the agent inside greets.
    pub fn boot(order: &GuestOrder, folder: &Path, limit: Duration) -> Result<(Self, Qmp), MachineError> {
        LaunchedGuest::start(order, folder)?.greeted(limit)
    }

    pub fn pid(&self) -> u32 {
        self.emulator.0.pid
    }

    pub fn console(&self) -> String {
        self.logs.text()
    }

    /// Kills QEMU, like a power cut. Its files are closed when this returns.
    pub fn cut(self) -> Result<(), MachineError> {
        let Self { emulator, mut process, logs, .. } = self;
        let doing = || format!("ending {}", logs.what);
        drop(emulator);
        process.kill().map_err(|error| MachineError::Io { doing: doing(), source: std::io::Error::other(error) })?;
        Ok(())
    }

    /// Closes the connection, so that an agent that still runs ends and its guest powers off. Then waits for QEMU to end.
    pub fn stop(mut self, limit: Duration) -> Result<(), MachineError> {
        // The agent may be gone already.
        let _ = self.agent.shutdown(Shutdown::Both);
        let status = self.process.wait(limit).map_err(|error| MachineError::Io {
            doing: format!("waiting for the end of {}", self.logs.what),
            source: std::io::Error::other(error),
        })?;
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.logs.ended(status)),
            None => {
                let what = format!("{}, asked to power off,", self.logs.what);
                Err(MachineError::Silent { what, limit_s: limit.as_secs(), console: self.logs.text() })
            }
        }
    }
}

/// If QEMU ended, that explains more than the broken connection.
fn ended_or(process: &mut Process, logs: &mut Logs, error: MachineError) -> MachineError {
    match process.wait(EXIT_LIMIT) {
        Ok(Some(status)) if status.code() == Some(NOT_FOUND_STATUS) => {
            MachineError::MissingTool { program: PROGRAM, package: "qemu-system-x86" }
        }
        Ok(Some(status)) => logs.ended(status),
        _ => error,
    }
}

fn failing(what: &str, doing: &str) -> impl FnOnce(std::io::Error) -> MachineError + use<> {
    let doing = format!("{doing} for {what}");
    move |source| MachineError::Io { doing, source }
}

impl Logs {
    fn text(&self) -> String {
        told(&self.stderr.text(), &self.console.text())
    }

    fn ended(&mut self, status: ExitStatus) -> MachineError {
        let console = told(&self.stderr.to_the_end(), &self.console.to_the_end());
        MachineError::Ended { what: self.what.clone(), status: told_by_shell(status).to_string(), console }
    }
}

/// The signal that ended QEMU, if a shell reports it as an exit code.
fn told_by_shell(status: ExitStatus) -> ExitStatus {
    let signal = status.code().map(|code| code - SIGNALLED).filter(|signal| *signal > 0);
    signal.map_or(status, ExitStatus::from_raw)
}

/// The output of QEMU, then that of the guest.
fn told(stderr: &str, console: &str) -> String {
    [stderr, console].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

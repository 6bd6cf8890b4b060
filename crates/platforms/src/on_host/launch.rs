//! One attempt to start a machine on the host's kernel.

use super::error::io_error;
use crate::order::{Launched, MachineOrder};
use machines::boot::{AGENT_FILE, DATA_FOLDER, LOG_FOLDER};
use machines::link::{AgentLink, LinkError};
use machines::machine::MachineError;
use machines::printed::Printed;
use machines::process::{Launch, Process};
use machines::scratch;
use machines::transport::Transport;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

/// The command line of the agent inside.
pub(crate) const AGENT_WORDS: [&str; 6] = [AGENT_FILE, "agent", "--data", DATA_FOLDER, "--logs", LOG_FOLDER];
/// A process on the host greets at once, but mounting an image whose journal must be replayed takes a moment.
const GREETING_LIMIT: Duration = Duration::from_secs(30);
/// A machine ends within this after its agent closed the connection.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

/// A machine that greeted.
pub(crate) struct StartedMachine {
    pub link: AgentLink,
    pub process: Process,
    pub stderr: Printed,
}

/// The outcome of one attempt.
pub(crate) enum LaunchEnd {
    Greeted(StartedMachine),
    /// It ended before it greeted, with this output.
    Ended(ExitStatus, String),
}

/// Runs a command line that becomes the agent of `what`, and waits for its greeting.
pub(crate) fn attempt(
    words: &[String],
    order: &MachineOrder,
    what: String,
    launched: Launched<'_>,
) -> Result<LaunchEnd, MachineError> {
    let (mut stderr, printing) = Printed::pipe().map_err(io_error("making a pipe"))?;
    let launch = Launch::new(words).folder(&order.scratch);
    let launch = launch.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(printing);
    let mut process =
        Process::start(launch).map_err(|error| io_error("starting the machine")(io::Error::other(error)))?;
    scratch::record_process(&order.scratch, process.identity())
        .map_err(|error| io_error("writing down a process")(io::Error::other(error)))?;
    launched();
    let (Some(stdin), Some(stdout)) = (process.take_stdin(), process.take_stdout()) else {
        return Err(io_error("talking to the agent")(io::ErrorKind::NotConnected.into()));
    };
    match Transport::pipe(stdout, stdin).connect(GREETING_LIMIT) {
        Ok(link) => Ok(LaunchEnd::Greeted(StartedMachine { link, process, stderr })),
        Err(LinkError::TooSlow(limit)) => {
            Err(MachineError::Silent { what, limit_s: limit.as_secs(), console: stderr.text() })
        }
        Err(error) if error.is_end() => match process.wait(EXIT_LIMIT) {
            Ok(Some(status)) => Ok(LaunchEnd::Ended(status, stderr.to_the_end())),
            _ => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

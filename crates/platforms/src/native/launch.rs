//! One attempt at a native machine, and what its end tells if it does not come up.

use super::command::{CommandOrder, NOT_MOUNTED_STATUS, command_line};
use super::machine::{io_error, unavailable, what};
use crate::order::{Launched, MachineOrder};
use machines::link::{AgentLink, LinkError};
use machines::machine::MachineError;
use machines::process::{Launch, Process};
use machines::{scratch, tail};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

/// A process on the host greets at once; mounting an image that needs its journal replayed takes a moment.
const GREETING_LIMIT: Duration = Duration::from_secs(30);
/// A machine whose agent hung up ends within this.
const EXIT_LIMIT: Duration = Duration::from_secs(10);
/// What shells, and programs that turn into another, end with when that is not there.
const NOT_FOUND_STATUS: i32 = 127;

/// A machine that greeted.
pub(super) struct Started {
    pub link: AgentLink,
    pub process: Process,
    pub stderr: PathBuf,
}

/// What came of trying.
pub(super) enum Outcome {
    Greeted(Started),
    /// Mounts are not allowed here, in the words of `mount`.
    NotMounted(String),
    /// Bubblewrap is missing or not allowed what it needs.
    NotConfined(MachineError),
}

impl Started {
    pub fn try_with(
        command: &CommandOrder,
        order: &MachineOrder,
        launched: Launched<'_>,
    ) -> Result<Outcome, MachineError> {
        let stderr = order.scratch.join(format!("{}.stderr", order.name));
        let log = File::create(&stderr).map_err(io_error("making a log"))?;
        let launch = Launch::new(&command_line(command)).folder(&order.scratch);
        let launch = launch.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut process =
            Process::start(launch).map_err(|error| io_error("starting the machine")(io::Error::other(error)))?;
        scratch::record_process(&order.scratch, process.identity())
            .map_err(|error| io_error("writing down a process")(io::Error::other(error)))?;
        launched();
        let (Some(stdin), Some(stdout)) = (process.take_stdin(), process.take_stdout()) else {
            return Err(io_error("talking to the agent")(io::ErrorKind::NotConnected.into()));
        };
        let mut link = AgentLink::new(stdout, stdin);
        match link.greeting(GREETING_LIMIT) {
            Ok(_) => Ok(Outcome::Greeted(Self { link, process, stderr })),
            Err(LinkError::TooSlow(limit)) => Err(MachineError::Silent {
                what: what(&order.name),
                limit_s: limit.as_secs(),
                console: tail::of_file(&stderr),
            }),
            Err(error) if error.is_end() => match process.wait(EXIT_LIMIT) {
                Ok(Some(status)) => explain(status, &stderr, &order.name),
                _ => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        }
    }
}

/// Why a machine ended before its agent greeted.
fn explain(status: ExitStatus, stderr: &Path, name: &str) -> Result<Outcome, MachineError> {
    let console = tail::of_file(stderr);
    let last = console.lines().last().unwrap_or_default();
    match status.code() {
        Some(NOT_MOUNTED_STATUS) => Ok(Outcome::NotMounted(last.to_owned())),
        // Not everybody may make a mount namespace.
        Some(_) if last.starts_with("unshare:") => Ok(Outcome::NotMounted(last.to_owned())),
        Some(NOT_FOUND_STATUS) => {
            Ok(Outcome::NotConfined(MachineError::MissingTool { program: "bwrap", package: "bubblewrap" }))
        }
        // What bubblewrap itself complains of is not allowed here, unless it is our agent that cannot be run.
        Some(_) if last.starts_with("bwrap:") && !last.starts_with("bwrap: execvp") => {
            Ok(Outcome::NotConfined(unavailable(last.to_owned())))
        }
        _ => Err(MachineError::Ended { what: what(name), status: status.to_string(), console }),
    }
}

//! A running machine, as the conductor sees it.

use crate::link::AgentLink;
use std::time::Duration;

/// What a platform says about a machine it started: each decision by name, or why it could not be honoured.
pub type Decided = std::collections::BTreeMap<String, Result<String, String>>;

/// A machine that was started. Dropping it ends everything it consists of.
pub trait Machine: Send {
    fn link(&mut self) -> &mut AgentLink;
    /// The exact command line that started it.
    fn command_line(&self) -> &[String];
    fn decided(&self) -> &Decided;
    /// Where a server listening inside on the forwarded port is reached from the host, if the platform offers that.
    fn address(&self) -> Option<std::net::SocketAddr>;
    /// The folder that is the data disk, as seen inside.
    fn data(&self) -> &str;
    /// The end of what it printed (a guest's console, a process's standard error).
    fn console_tail(&self) -> String;
    /// Asks it to end and waits; kills it at the limit. The agent was told to shut down before.
    fn stop(self: Box<Self>, limit: Duration) -> Result<(), MachineError>;
}

#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    #[error("{program} is not installed; install Debian's package {package}")]
    MissingTool { program: &'static str, package: &'static str },
    #[error("{doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    /// The thing asked for cannot be had here; the trial is skipped with this reason.
    #[error("unavailable, because {why}")]
    Unavailable { why: String },
    #[error("{what} did not answer within {limit_s} s; the end of its console:\n{console}")]
    Silent { what: String, limit_s: u64, console: String },
    #[error("{what} ended ({status}); the end of its console:\n{console}")]
    Ended { what: String, status: String, console: String },
    #[error("{0}")]
    Link(#[from] crate::link::LinkError),
}

//! A running machine, as the conductor sees it.

use crate::link::AgentLink;
use std::time::Duration;
use telemetry::{QueryProbe, Series, Targets};

/// What a platform says about a machine it started: each decision by name, or why it could not be honoured.
///
/// Every platform reports `processor` and `data cached twice` in the words of the record's facts of these names,
/// because contenders are compared by them.
pub type Decisions = std::collections::BTreeMap<String, Result<String, String>>;

/// Facts about a running machine that do not change.
pub struct LaunchFacts {
    /// The exact command line that started it.
    pub command_line: Vec<String>,
    pub decided: Decisions,
    /// The address inside that a server must listen on to be reached from outside, and no wider than needed.
    pub listens_on: std::net::IpAddr,
}

/// A running machine's threads, processes and devices on the host, and probes that query its hypervisor.
pub struct WatchedMachine {
    pub targets: Targets,
    pub asked: Vec<QueryProbe>,
}

/// A running machine. Dropping it ends everything it consists of.
pub trait Machine: Send {
    fn link(&mut self) -> &mut AgentLink;
    fn facts(&self) -> &LaunchFacts;
    /// The host's address of a server inside on this port, if the platform offers one. The port must have been ordered.
    fn reached_at(&self, port: u16) -> Option<std::net::SocketAddr>;
    /// The parts of it that can be watched from the host while it runs.
    fn watched(&mut self) -> WatchedMachine {
        WatchedMachine { targets: Targets::default(), asked: Vec::new() }
    }
    /// Its hypervisor's counts of it between two moments of this host's monotonic clock, if reported only afterwards.
    fn counted(&mut self, _from_ns: u64, _until_ns: u64) -> Option<Series> {
        None
    }
    /// Beginning and end of its output (a guest's console, or a process's standard error).
    fn console(&self) -> String;
    /// Asks it to end and waits; kills it at the limit. The agent must have been asked to shut down before.
    fn stop(self: Box<Self>, limit: Duration) -> Result<(), MachineError>;
    /// Ends it at once, without a shutdown, and waits until it has released its data. Another machine can then be
    /// started on the same lease.
    fn cut(self: Box<Self>) -> Result<(), MachineError>;
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
    #[error("{what} did not answer within {limit_s} s; {}", last_words(.console))]
    Silent { what: String, limit_s: u64, console: String },
    #[error("{what} ended ({status}); {}", last_words(.console))]
    Ended { what: String, status: String, console: String },
    #[error("{0}")]
    Link(#[from] crate::link::LinkError),
}

/// What a kernel prints when it panics or kills a program.
const CAUSES: [&str; 2] = ["Kernel panic", "Out of memory"];

/// Begins the lines that we print ourselves as the first process of a guest.
const OURS: &str = "bakeoff: ";

/// A console for an error message. The most useful line comes first, since lists show one line of an error; the whole
/// follows.
pub fn last_words(console: &str) -> String {
    let cause = CAUSES.iter().find_map(|cause| {
        let line = console.lines().find(|line| line.contains(cause))?;
        line.find(cause).map(|at| &line[at..])
    });
    let cause = cause.or_else(|| console.lines().rfind(|line| line.starts_with(OURS)));
    match (console.lines().collect::<Vec<_>>().as_slice(), cause) {
        ([], _) => "its console is empty".to_owned(),
        ([only], _) => format!("its console says: {only}"),
        ([.., last], None) => format!("its console ends with: {last}\nthe end of its console:\n{console}"),
        (_, Some(cause)) => format!("its console says: {cause}\nthe end of its console:\n{console}"),
    }
}

#[cfg(test)]
mod tests {
    use super::last_words;

    #[test]
    fn a_panic_is_told_before_its_long_trace() {
        assert_eq!(last_words(""), "its console is empty");
        assert_eq!(last_words("no such CPU"), "its console says: no such CPU");
        let two = "one\ntwo";
        assert_eq!(last_words(two), "its console ends with: two\nthe end of its console:\none\ntwo");
        let ours = last_words("bakeoff: no network interface within 30 s\n[31.7] reboot: Power down");
        assert!(ours.starts_with("its console says: bakeoff: no network interface within 30 s\n"), "{ours}");
        let told = last_words("[1.0] Kernel panic - no memory\n[1.0] Call Trace:\n[1.0]  panic+0x1/0x2");
        assert!(told.starts_with("its console says: Kernel panic - no memory\nthe end"), "{told}");
        assert!(told.ends_with("panic+0x1/0x2"), "{told}");
        let told =
            last_words("[1.0] Out of memory: Killed process 85 (postgres)\nbakeoff: the agent ended\nPower down");
        assert!(told.starts_with("its console says: Out of memory: Killed process 85 (postgres)\n"), "{told}");
    }
}

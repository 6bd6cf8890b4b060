//! The folders, resources and look-ups of this host that a run uses.

use crate::limits::Limits;
use engines::server::Endpoint;
use machines::adopted;
use machines::clock::monotonic_ns;
use machines::interrupts::Interrupts;
use platforms::credentials::Credentials;
use platforms::host::lines::HostScripts;
use platforms::platform::OpenOrder;
use record::host_state::HostReading;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Site {
    /// Images, kernels, loaded data disks and remembered probes; survives runs.
    pub cache: PathBuf,
    /// Short-lived files of running machines; swept when their owner is gone.
    pub scratch: PathBuf,
    /// Our own static binary, the agent of every machine.
    pub agent: PathBuf,
    /// Host CPUs that machines may use.
    pub cpus: Vec<usize>,
    pub memory_bytes: u64,
    /// Name, version and revision of this build, for the record.
    pub made_by: String,
    /// Reads what the host does; [`read_host`], except in tests.
    pub read_host: fn() -> HostReading,
    pub limits: Limits,
    /// What platforms of other hosts log in with.
    pub credentials: Credentials,
    /// The server at a URL, with the login that the user has for it, or why it is not found.
    pub find_server: fn(&str) -> Result<Endpoint, String>,
    /// What reaches other hosts; `None` for ssh.
    pub lines: Option<Arc<dyn HostScripts>>,
}

impl Site {
    /// The order for a platform without an image and a name.
    pub(crate) fn opening<'a>(&'a self, scratch: &'a Path, interrupts: &'a Interrupts) -> OpenOrder<'a> {
        OpenOrder {
            agent: &self.agent,
            image: None,
            scratch,
            name: "",
            credentials: &self.credentials,
            lines: self.lines.as_ref(),
            interrupts,
        }
    }
}

/// For a site whose machines all have servers of their own.
pub fn no_server(_: &str) -> Result<Endpoint, String> {
    Err("servers that run already are not looked for here".to_owned())
}

/// What this host does now. Everything that this process started counts as ours, and what others started for it.
pub fn read_host() -> HostReading {
    telemetry::host_state(Path::new("/"), std::process::id(), &adopted::all(), monotonic_ns())
}

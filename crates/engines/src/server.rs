//! A server, whatever the product.

pub use crate::catalog::Endpoint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What the machine offers the server; profiles derive settings from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerShape {
    pub vcpus: u32,
    pub memory_bytes: u64,
}

/// Where a server keeps things and where it answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPlace {
    /// The machine's data disk; the server makes its own folder below it.
    pub data: PathBuf,
    /// Where its log goes.
    pub logs: PathBuf,
    /// Where it listens for those outside the machine; `None` if only sessions inside are needed. The unspecified address
    /// stands for all that the machine has.
    pub listen: Option<SocketAddr>,
}

/// What the running server says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerReport {
    pub version: String,
    /// Settings read back from the server.
    pub effective: BTreeMap<String, String>,
    pub endpoint: Endpoint,
}

/// Cumulative counters of the server and its data folder, before and after driving.
pub type Counters = BTreeMap<String, u64>;

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("{program} is not in this image: {source}")]
    Missing { program: String, source: std::io::Error },
    /// The settings do not fit each other or this machine.
    #[error("settings of {engine}: {why}")]
    Settings { engine: String, why: String },
    #[error("{doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    #[error("{doing} failed: {why}\n{log}")]
    Failed { doing: String, why: String, log: String },
    #[error("{doing} took longer than {limit_s} s\n{log}")]
    TooSlow { doing: String, limit_s: u64, log: String },
    #[error(transparent)]
    Session(#[from] crate::session::SessionError),
}

/// A running server; dropping it kills it.
pub trait Server {
    fn report(&self) -> &ServerReport;
    /// Whether it is still there; `Err` carries the end of its log.
    fn alive(&mut self) -> Result<(), ServerError>;
    /// The process that holds the database, with everything below it: our own for an engine that runs in it.
    fn process(&self) -> u32;
    /// Orderly stop: everything is on disk afterwards.
    fn stop(self: Box<Self>) -> Result<(), ServerError>;
}

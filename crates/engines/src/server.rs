//! A server, whatever the product.

pub use crate::admin::Counters;
pub use crate::catalog::Endpoint;
pub use crate::entry::ServerShape;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where a server keeps its files and where it listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPlace {
    /// The machine's data disk; the server makes its own folder below it.
    pub data: PathBuf,
    /// The folder for its log.
    pub logs: PathBuf,
    /// Where it listens for clients outside the machine; `None` if only sessions inside need it. The unspecified
    /// address means all addresses of the machine.
    pub listen: Option<SocketAddr>,
}

/// What the running server reports about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerReport {
    pub version: String,
    /// Settings read back from the server.
    pub effective: BTreeMap<String, String>,
    pub endpoint: Endpoint,
}

/// A further database of a running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FurtherDatabase {
    pub report: ServerReport,
    /// True if it was made now, and the server could not make it as a copy of its first database.
    pub is_empty: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("{product} is not in this machine: looked for {looked_for} in {places}{unfit}")]
    Missing { product: &'static str, looked_for: String, places: String, unfit: String },
    #[error("{product} {asked} is not in this machine; there is {there}")]
    OtherVersions { product: &'static str, asked: String, there: String },
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
    /// Fails if it has ended; the error carries the end of its log.
    fn alive(&mut self) -> Result<(), ServerError>;
    /// The process that holds the database, with all its children: our own for an in-process engine.
    fn process(&self) -> u32;
    /// Opens the database of this number, from 2 on. If there is none, it is made: as a copy of the first one if the server can
    /// copy a database. Nobody else may use the first one meanwhile.
    fn open_database(&self, number: u16) -> Result<FurtherDatabase, ServerError>;
    /// Orderly stop: everything is on disk afterwards.
    fn stop(self: Box<Self>) -> Result<(), ServerError>;
}

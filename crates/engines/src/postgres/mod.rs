//! PostgreSQL, as a server that we start from the machine's binaries, and sessions by its wire protocol.
//!
//! Not supported, with the place for it: several statements under way in one session (`session` already counts the
//! answers that are due). Clusters and replicas are not supported either.

pub mod admin;
mod cluster;
pub mod counters;
mod decode;
mod encode;
mod handshake;
mod password;
mod reply;
pub mod server;
pub mod session;
pub mod settings;
mod wire;

pub use cluster::PLACES;

use crate::entry::{EngineEntry, LosingSetting};
use crate::own_server::most_sessions;
use rustix::process::Signal;

pub const KIND: &str = "postgres";

/// Ends PostgreSQL "at once": the server also ends its children. Its other programs die of this signal.
const ABORT: Signal = Signal::QUIT;

pub const ENTRY: EngineEntry = EngineEntry {
    kind: KIND,
    meaning: "PostgreSQL, the newest in the machine, started and stopped with each trial",
    keys: settings::KEYS,
    remote: true,
    dialect: crate::statement::Dialect::Postgres,
    empty_bytes: 40 << 20,
    most_sessions: |table, shape| most_sessions(&settings::of(table, shape).ok()?, 100),
    losing: &[
        LosingSetting::new("fsync", &["off"]),
        LosingSetting::new("synchronous_commit", &["off"]),
        LosingSetting::new("full_page_writes", &["off"]),
    ],
};

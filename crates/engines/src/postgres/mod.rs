//! PostgreSQL: a server of our own making from the image's binaries, and sessions by its wire protocol.
//!
//! Left out, and where it would go: several statements under way in one session (`session` already counts the answers
//! that are due), clusters and replicas.

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

use crate::catalog::EngineEntry;
use rustix::process::Signal;

pub const KIND: &str = "postgres";

/// "At once" to PostgreSQL: the server ends its children, too. Its other programs die of it.
const ABORT: Signal = Signal::QUIT;

pub const ENTRY: EngineEntry = EngineEntry {
    kind: KIND,
    meaning: "PostgreSQL, the newest in the image, started and stopped with each trial",
    keys: settings::KEYS,
    remote: true,
    dialect: crate::statement::Dialect::Postgres,
    empty_bytes: 40 << 20,
};

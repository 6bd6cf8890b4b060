//! SQLite, in our own process: the library is the server, a session is a connection to its file.
//!
//! Not supported: shared-cache mode, rollback journals, in-memory databases.

pub mod admin;
mod connection;
pub mod counters;
mod functions;
pub mod server;
pub mod session;
pub mod settings;
mod timer;

use crate::entry::{EngineEntry, LosingSetting};

pub const KIND: &str = "sqlite";

pub const ENTRY: EngineEntry = EngineEntry {
    kind: KIND,
    meaning: "SQLite, compiled in, one file in write-ahead-log mode; no network, one writer at a time",
    keys: settings::KEYS,
    remote: false,
    dialect: crate::statement::Dialect::Sqlite,
    empty_bytes: 0,
    most_sessions: |_, _| None,
    losing: &[
        LosingSetting::new("synchronous", &["0", "1", "off", "normal"]),
        // The removal of a journal is flushed only by `extra`, so that the last transaction may be rolled back.
        LosingSetting { name: "journal_mode", values: &["delete"], beside: Some(("synchronous", &["2", "full"])) },
    ],
};

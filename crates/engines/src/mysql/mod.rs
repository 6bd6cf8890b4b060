//! MariaDB, as a server that we start from the machine's binaries. Sessions reach any MariaDB or MySQL server by the wire
//! protocol that both share.
//!
//! Rows that an update matches count as changed even if their values stay the same, as on every other engine. A
//! statement that returns rows counts no changed rows, because the protocol has no room for both.
//!
//! Not supported, with the place for it: packets of 16 MiB and more (`packet`), compression, and a MySQL server of our
//! own (`install`). Several results of one prepared statement, as procedures return them, are skipped (`reply`).

pub mod admin;
mod auth;
mod converse;
pub mod counters;
mod decode;
mod encode;
mod handshake;
mod install;
mod lists;
mod marks;
mod packet;
mod reply;
pub mod server;
pub mod session;
pub mod settings;
mod wire;

pub use install::PLACES;

use crate::entry::{EngineEntry, LosingSetting};
use crate::own_server::most_sessions;

pub const KIND: &str = "mariadb";

pub const ENTRY: EngineEntry = EngineEntry {
    kind: KIND,
    meaning: "MariaDB, the newest in the machine, with InnoDB tables, started and stopped with each trial",
    keys: settings::KEYS,
    remote: true,
    dialect: crate::statement::Dialect::Mysql,
    empty_bytes: 120 << 20,
    most_sessions: |table, shape| most_sessions(&settings::of(table, shape).ok()?, 151),
    losing: &[
        LosingSetting::new("innodb_flush_log_at_trx_commit", &["0", "2"]),
        LosingSetting::new("innodb_doublewrite", &["off", "0"]),
    ],
};

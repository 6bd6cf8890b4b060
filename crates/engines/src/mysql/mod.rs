//! MariaDB: a server of our own making from the image's binaries; and sessions by the wire protocol that it shares with
//! MySQL, to any server of either product.
//!
//! Rows that an update finds count as changed even if they already were as wished, as on every other engine. A
//! statement that returns rows counts no changed rows: the protocol has no room for both.
//!
//! Left out, and where it would go: packets of 16 MiB and more (`packet`), several results of one prepared statement as
//! procedures return them (`reply` passes over them), compression, MySQL as a server of our own (`install`).

pub mod admin;
mod auth;
mod converse;
pub mod counters;
mod decode;
mod encode;
mod handshake;
mod install;
mod marks;
mod packet;
mod reply;
pub mod server;
pub mod session;
pub mod settings;
mod wire;

use crate::catalog::EngineEntry;

pub const KIND: &str = "mariadb";

pub const ENTRY: EngineEntry = EngineEntry {
    kind: KIND,
    meaning: "MariaDB as it is in the image, with InnoDB tables, started and stopped with each trial",
    keys: settings::KEYS,
    remote: true,
    dialect: crate::statement::Dialect::Mysql,
    empty_bytes: 120 << 20,
};

//! Database engines: the product as a server that can be started and stopped, and sessions to it.
//!
//! An engine knows no workload. It prepares and runs the statements that it is given, loads the rows that it is fed, and
//! reads back the settings that are really in force. Each engine is a folder with the same file names: `settings.rs`
//! (keys and profiles), `server.rs` (start, stop, read back), `session.rs` (the hot path), `admin.rs` (scripts, scans,
//! loading), `counters.rs` (what the product counts).
//! Values are integers, decimals, dates and texts, each the same on every engine (`decimal.rs` and `date.rs` describe
//! engines without such a type). They are bound to prepared statements, or written into a text as literals
//! (`template.rs`) where a server must see them to plan. Sessions are non-blocking state machines over one file
//! descriptor. Once open, they never wait; `admin`, `wait`, and starting and stopping a server do.

mod account;
pub mod address;
pub mod admin;
pub mod batch;
pub mod catalog;
mod date;
mod decimal;
pub mod entry;
mod error;
mod exchange;
pub mod limit;
mod literal;
pub mod mysql;
mod own_server;
pub mod port;
pub mod postgres;
mod process;
pub mod programs;
pub mod remote;
mod results;
pub mod reused_admin;
pub mod rows;
pub mod server;
pub mod session;
pub mod sqlite;
pub mod statement;
mod stream;
pub mod template;
mod tls;
mod value;
pub mod version;
pub mod wait;
pub mod waits;
mod wire;

pub use trust::secret;

//! Workloads: what is in the tables, what transactions do, and what must be true afterwards.
//!
//! A workload never opens a connection, sleeps or measures: it makes rows, makes inputs, and runs a transaction on a
//! session that somebody else polls. Each workload is a folder with the same file names: `settings.rs` (keys),
//! `rows.rs` (population), `inputs.rs` (what a transaction will do, drawn beforehand), `transactions.rs` (doing it),
//! `checks.rs` (conditions on data and on what was executed), `sql/` (every statement).

pub mod catalog;
pub mod dataset;
pub mod order_entry;
pub mod random;
pub mod sql;
pub mod workload;

//! Workloads: what is in the tables, what transactions do, and what must be true afterwards.
//!
//! A workload never opens a connection, sleeps or measures. It makes rows, makes inputs, and runs a transaction on a
//! session that the driver polls. Each workload is a constant with all that is fixed about it (`ENTRY`), and a folder with the
//! same names in it: `settings` (keys), `rows` (population), `inputs` (what a transaction will do, drawn beforehand),
//! `transactions` (doing it), `checks` (conditions on data, on their sums and on what was executed), `sql/` (every
//! statement).

pub mod brokerage;
pub mod catalog;
pub mod checksum;
mod chunks;
pub mod condition;
pub mod dataset;
pub mod decision_support;
pub mod decision_support_ds;
pub mod decision_support_h;
pub mod dvd_store;
pub mod effects;
pub mod entry;
pub mod execution;
pub mod file;
pub mod judgement;
pub mod ledger;
pub mod order_entry;
pub mod random;
pub mod receipts;
mod requests;
pub mod share;
pub mod slob;
pub mod sql;
pub mod sysbench_oltp;
pub mod way;
pub mod workload;

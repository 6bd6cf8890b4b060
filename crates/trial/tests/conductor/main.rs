//! The conductor with machines that are plain processes, and agents that fail where a script says so.
//!
//! Machines, servers, workloads and loads are real. Only the failures are arranged.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../../../platforms/tests/machines/bare.rs"]
mod bare;
mod disturbed;
mod existing;
mod ground;
mod misbehaving;
mod several;
mod starved;
mod struck;

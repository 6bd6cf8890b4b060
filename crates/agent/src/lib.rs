//! The half of bakeoff that runs inside a machine.
//!
//! It is the same binary as on the host: the first process of our guests, and a plain process elsewhere. It answers
//! requests over a byte stream, one after another. It starts the server, loads and checks data, drives the load, and
//! reports what it sees of the machine. It decides nothing; the conductor (`trial`) orders the steps.

mod database;
pub mod guest;
pub mod listed;
pub mod loading;
pub mod looks;
pub mod protocol;
mod sampling;
pub mod service;
pub mod tables;
mod voice;
mod waits;

//! The half of bakeoff that runs inside a machine.
//!
//! The same binary as on the host: the first process of our guests, a plain process elsewhere. It answers requests over
//! a byte stream one after another: it starts the server, loads and checks data, drives the load when asked to, and
//! says what it sees of the machine. It decides nothing; the order of things is the conductor's (`trial`).

mod database;
pub mod guest;
pub mod loading;
pub mod looks;
pub mod protocol;
mod sampling;
pub mod service;
pub mod tables;
mod voice;
mod waits;

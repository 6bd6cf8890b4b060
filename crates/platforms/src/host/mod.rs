//! A machine that already runs, reached by the system's `ssh` or over the lines of a fleet.
//!
//! Our binary is copied there, or is there already. One copy of it, the keeper, runs as long as the platform is open: it owns a folder there and
//! everything in it, and removes it when its input ends, however that comes about. Each machine is a native machine there, which
//! another copy starts and whose agent's frames it passes on.

pub mod command;
mod connection;
pub mod keeper;
pub mod lines;
mod machine;
pub mod settings;
pub mod there;

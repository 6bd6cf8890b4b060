//! Machines of a vCenter server: cloned from a template, set, powered on, and destroyed.
//!
//! The server is spoken with by its web service (SOAP). `request.rs`, `calls.rs`, `answer.rs` and `fault.rs` are pure functions of
//! text, `http.rs` and `client.rs` send them. The template brings the system, the agent and the database server.

mod answer;
mod calls;
mod client;
mod counters;
mod devices;
mod fault;
mod http;
mod inventory;
mod keeper;
pub(crate) mod leftovers;
pub mod login;
mod machine;
mod node;
mod owner;
pub mod platform;
mod request;
pub mod settings;
mod spec;

/// The platform's name in studies and ledgers.
pub(crate) const KIND: &str = "vsphere";

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

use crate::capabilities::{Capabilities, DataHome, ImageUse, ServerUse};
use crate::credentials::Credentials;
use crate::entry::PlatformSettings;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform};
use ::settings::Problem;
use machines::machine::MachineError;
use settings::VsphereSettings;

/// The platform's name in studies and ledgers.
pub(crate) const KIND: &str = "vsphere";

impl PlatformSettings for VsphereSettings {
    fn can(&self) -> Capabilities {
        Capabilities { image: ImageUse::None, data: DataHome::Elsewhere, executes: true, server: ServerUse::Started }
    }

    fn check(&self, request: &MachineRequest<'_>) -> Vec<Problem> {
        settings::check(self, request)
    }

    fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    fn without_login(&self, credentials: &Credentials) -> Option<String> {
        login::account(self, credentials).err()
    }

    fn open(&self, order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        platform::open(self, order)
    }
}

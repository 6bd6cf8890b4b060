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

use crate::capabilities::{Capabilities, DataHome, ImageUse, ServerUse};
use crate::entry::PlatformSettings;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform};
use ::settings::Problem;
use machines::machine::MachineError;
use settings::{HostSettings, ServerSource};
use std::sync::Arc;

impl PlatformSettings for HostSettings {
    fn can(&self) -> Capabilities {
        let (image, server) = match self.server {
            ServerSource::Image => (ImageUse::Tree, ServerUse::Started),
            ServerSource::Installed => (ImageUse::None, ServerUse::Started),
            ServerSource::Running => (ImageUse::None, ServerUse::Running),
        };
        Capabilities { image, data: DataHome::Elsewhere, executes: true, server }
    }

    fn check(&self, request: &MachineRequest<'_>) -> Vec<Problem> {
        settings::check(self, request)
    }

    fn running_server(&self) -> Option<&str> {
        (self.server == ServerSource::Running).then(|| self.database.as_deref().unwrap_or_default())
    }

    fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    fn hosts(&self) -> &[String] {
        &self.hosts
    }

    fn on_host(&self, host: &str) -> Option<Arc<dyn PlatformSettings>> {
        Some(Arc::new(Self { host: Some(host.to_owned()), hosts: Vec::new(), ..self.clone() }))
    }

    fn open(&self, order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        keeper::open(self, order)
    }
}

//! Containers: the image's tree on the host's kernel or on gVisor, started by a runtime that takes an OCI bundle.

pub mod bundle;
pub mod command;
pub mod machine;
pub mod runtime;
pub mod settings;

use crate::ahead::Ahead;
use crate::capabilities::{Capabilities, ImageUse, of_an_image};
use crate::entry::PlatformSettings;
use crate::on_host::tried;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform};
use ::settings::Problem;
use machines::machine::{Decisions, MachineError};
use settings::OciSettings;

impl PlatformSettings for OciSettings {
    fn can(&self) -> Capabilities {
        of_an_image(ImageUse::Tree)
    }

    fn check(&self, request: &MachineRequest<'_>) -> Vec<Problem> {
        settings::check(self, request)
    }

    fn foreseen(&self, ahead: &Ahead<'_>) -> Decisions {
        let mut facts = tried::foreseen(ahead);
        if self.is_gvisor() {
            let own = ["system calls", "kernel.release"].map(|name| (name.to_owned(), Ok("gVisor".to_owned())));
            facts.extend(own);
        }
        facts
    }

    fn runtime(&self) -> Option<&str> {
        Some(&self.runtime)
    }

    fn open(&self, _order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        Ok(machine::open(self))
    }
}

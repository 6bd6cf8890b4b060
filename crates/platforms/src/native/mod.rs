//! The image's tree on the host's own kernel, through bubblewrap or a chroot.

pub mod command;
mod launch;
pub mod machine;
pub mod settings;

use crate::ahead::Ahead;
use crate::capabilities::{Capabilities, ImageUse, of_an_image};
use crate::entry::PlatformSettings;
use crate::lease::Lease;
use crate::on_host::tried;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform, plain};
use ::settings::Problem;
use machines::machine::{Decisions, MachineError};

impl PlatformSettings for settings::NativeSettings {
    fn can(&self) -> Capabilities {
        of_an_image(ImageUse::Tree)
    }

    fn check(&self, request: &MachineRequest<'_>) -> Vec<Problem> {
        request.on_isolated_cpus().into_iter().collect()
    }

    fn foreseen(&self, ahead: &Ahead<'_>) -> Decisions {
        tried::foreseen(ahead)
    }

    fn open(&self, _order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        Ok(plain(Lease::of_a_disk, |order, launched| {
            order.image()?;
            Ok(Box::new(machine::begin(order, launched)?))
        }))
    }
}

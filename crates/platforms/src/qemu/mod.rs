//! A virtual machine by QEMU: on KVM, or emulated by TCG.

pub mod accelerator;
pub mod boot;
pub mod command;
pub(crate) mod decided;
pub(crate) mod error;
pub(crate) mod foreseen;
pub mod guest;
pub mod isolation;
pub mod machine;
pub(crate) mod memory;
pub mod monitor;
pub(crate) mod patience;
pub(crate) mod placed;
pub mod qmp;
pub mod settings;
pub(crate) mod watch;

use crate::ahead::Ahead;
use crate::capabilities::{Capabilities, ImageUse, of_an_image};
use crate::entry::PlatformSettings;
use crate::lease::Lease;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform, plain};
use ::settings::Problem;
use machines::machine::{Decisions, MachineError};
use settings::{KvmWish, QemuSettings};

impl PlatformSettings for QemuSettings {
    fn can(&self) -> Capabilities {
        of_an_image(ImageUse::TreeAndKernel)
    }

    fn check(&self, request: &MachineRequest<'_>) -> Vec<Problem> {
        settings::check(self, request)
    }

    fn foreseen(&self, ahead: &Ahead<'_>) -> Decisions {
        foreseen::of(self, &self.wish(), ahead)
    }

    fn kvm_wish(&self) -> Option<KvmWish> {
        Some(self.wish())
    }

    fn open(&self, _order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        let settings = self.clone();
        Ok(plain(Lease::of_a_disk, move |order, launched| machine::start(&settings, order, launched)))
    }
}

//! A virtual machine by libvirt: a domain that libvirt makes of our XML and that ends with our connection.
//!
//! It is for measuring QEMU as libvirt runs it: with its control groups, its devices and its confinement. What concerns
//! QEMU itself is the code of [`crate::qemu`].

mod connect;
pub mod domain;
pub mod leftovers;
mod live;
pub mod machine;
mod process;
pub mod ready;
pub mod rpc;
mod running;
pub mod settings;
pub mod uri;
mod watch;
mod xml;

use crate::ahead::Ahead;
use crate::capabilities::{Capabilities, ImageUse, of_an_image};
use crate::entry::PlatformSettings;
use crate::lease::Lease;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform, plain};
use crate::qemu::foreseen;
use crate::qemu::settings::KvmWish;
use ::settings::Problem;
use machines::machine::{Decisions, MachineError};
use settings::LibvirtSettings;
use uri::{Driver, Uri};

/// The platform's name in studies and ledgers.
pub const KIND: &str = "libvirt";

impl PlatformSettings for LibvirtSettings {
    fn can(&self) -> Capabilities {
        of_an_image(ImageUse::TreeAndKernel)
    }

    fn check(&self, request: &MachineRequest<'_>) -> Vec<Problem> {
        settings::check(self, request)
    }

    fn foreseen(&self, ahead: &Ahead<'_>) -> Decisions {
        self.kvm_wish().map_or_else(Decisions::new, |wish| foreseen::of(&self.of_qemu(), &wish, ahead))
    }

    fn daemon(&self) -> Option<&str> {
        Some(&self.uri)
    }

    /// `None` if it runs elsewhere, or on Xen.
    fn kvm_wish(&self) -> Option<KvmWish> {
        let uri = Uri::parse(&self.uri).ok()?;
        (uri.driver == Driver::Qemu && uri.is_here()).then(|| self.of_qemu().wish())
    }

    fn open(&self, _order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        let settings = self.clone();
        Ok(plain(Lease::of_a_disk, move |order, launched| machine::start(&settings, order, launched)))
    }
}

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

/// The platform's name in studies and ledgers.
pub const KIND: &str = "libvirt";

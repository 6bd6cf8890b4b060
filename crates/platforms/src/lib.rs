//! Platforms: where a machine of a given shape runs.
//!
//! A platform knows no engine and no workload. It gets an image, a shape and a data disk, and returns a machine in
//! which an agent answers. Each platform is a folder with the same file names: `settings.rs` (keys), `command.rs` (the
//! command line as data, pure), `machine.rs` (starting and stopping), and `mod.rs`,
//! which implements [`entry::PlatformSettings`]: all that is asked of a platform before a machine starts.

mod affinity;
pub mod ahead;
pub mod capabilities;
pub mod catalog;
pub mod credentials;
pub mod entry;
pub mod external;
pub mod host;
pub mod huge_pages;
mod join;
pub mod lease;
pub mod leftovers;
pub mod libvirt;
pub mod native;
pub mod oci;
mod on_host;
pub mod order;
pub mod placement;
pub mod platform;
pub mod qemu;
mod rights;
pub mod vsphere;

pub use on_host::tried::{HostTrial, on_this_host};

//! The image's tree on the host's own kernel, through bubblewrap or a chroot.

pub mod command;
mod launch;
pub mod machine;
pub mod settings;

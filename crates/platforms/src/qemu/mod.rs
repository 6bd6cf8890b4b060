//! A virtual machine by QEMU: on KVM, or emulated by TCG.

pub mod accelerator;
pub mod command;
pub mod guest;
pub mod isolation;
pub mod machine;
mod memory;
mod placed;
pub mod qmp;
pub mod settings;
mod watch;

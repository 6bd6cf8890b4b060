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

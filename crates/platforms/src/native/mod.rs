//! The image's tree on the host's own kernel, through bubblewrap.

pub mod command;
pub mod machine;
pub mod settings;

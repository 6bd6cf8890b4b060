//! Containers: the image's tree on the host's kernel or on gVisor, started by a runtime that takes an OCI bundle.

pub mod bundle;
pub mod command;
pub mod machine;
pub mod runtime;
pub mod settings;

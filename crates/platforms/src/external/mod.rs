//! Machines that need no host but this process.

pub mod machine;

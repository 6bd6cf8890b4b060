//! A place where commands run and an agent answers.
//!
//! Here are the frames spoken with an agent over any byte stream, the link that waits for its answers with a limit, the
//! [`machine::Machine`] that a platform hands out, processes that die with us, and the scratch folder whose leftovers
//! the next start sweeps away, as it does with folders of the cache that are half made. Nothing here knows an engine, a
//! workload or a hypervisor.

pub mod boot;
pub mod cached;
pub mod cgroup;
pub mod clock;
pub mod frame;
pub mod identity;
pub mod limits;
pub mod link;
mod lock;
pub mod machine;
pub mod owned;
pub mod printed;
pub mod process;
mod ready;
pub mod scratch;
pub mod tail;
pub mod token;
pub mod transport;

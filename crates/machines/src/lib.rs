//! A place where commands run and an agent answers.
//!
//! This crate holds the frames spoken with an agent over any byte stream and the link that waits for its answers with a
//! limit. A platform hands out a [`machine::Machine`]. Processes are killed when we end. The next start sweeps away
//! what a killed run left: its scratch folder and half-made folders of the cache. Nothing here knows an engine, a
//! workload or a hypervisor.

pub mod adopted;
pub mod boot;
pub mod cached;
pub mod cgroup;
pub mod clock;
pub mod frame;
pub mod identity;
pub mod interrupts;
pub mod limits;
pub mod link;
pub mod listening;
mod lock;
pub mod lookup;
pub mod machine;
pub mod owned;
pub mod printed;
pub mod process;
pub mod ready;
pub mod relay;
pub mod scratch;
pub mod tail;
pub mod token;
pub mod transport;

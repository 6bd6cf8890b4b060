//! What QEMU reports about a guest in the answers of its protocol: counters of KVM, block devices and threads.
//!
//! Pure functions of the answers' JSON. The owner of the connection asks, and hands a [`crate::QueryProbe`] to the sampler.

mod blocks;
mod stats;
mod threads;

pub use blocks::block_counters;
pub use stats::{Schemas, StatsError};
pub use threads::{balloon_counter, io_threads};

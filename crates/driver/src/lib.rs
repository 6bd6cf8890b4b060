//! The load engine: a few threads (shards), each with many sessions, one epoll loop and its own histograms.
//!
//! Transactions are straight-line `async fn`s polled by the shard's loop; there is no async runtime. On the hot path
//! there is no lock, no channel and no allocation per statement. Every transaction has three times: due, sent, done.

mod agenda;
mod clock;
mod counts;
mod deferral;
mod drive;
mod endpoint;
mod errors;
mod merge;
mod pacing;
pub mod plan;
mod reactor;
mod recorder;
mod retry;
mod sessions;
mod shard;
mod signals;
mod task;
mod testimony;
mod window;

pub use drive::drive;
pub use endpoint::drive_endpoint;

//! The load engine: a few threads (shards), each with many sessions, one epoll loop and its own histograms.
//!
//! Transactions are straight-line `async fn`s polled by the shard's loop; there is no async runtime. On the hot path
//! there is no lock, no channel and no allocation per statement. Every transaction has three times: due, sent, done.

pub mod plan;

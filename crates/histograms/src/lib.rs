//! Latencies of every second of a trial as histograms, in memory and as an `HdrHistogram` log, and the limits of what a record
//! may contain.
//!
//! A crate of its own, since it is what computes in a record: tests need it optimized, and compile the types of a record faster
//! without.

pub mod bounds;
mod compressed;
pub mod hlog;
pub mod intervals;

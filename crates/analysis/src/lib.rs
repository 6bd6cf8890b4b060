//! What a run's record says: estimates with their uncertainty, comparisons, and reasons to doubt them.
//!
//! [`summary::analyse`] is a pure function from [`record::run::Run`] to [`summary::Analysis`]. It reads no clock and no
//! disk, knows no database and no hypervisor, and gives the same answer for the same record every time. What each number
//! means is written for readers of reports in `docs/statistics.md`.

pub mod ablation;
pub mod activity;
pub mod agreement;
pub mod alike;
pub mod answers;
pub mod batches;
pub mod beside;
pub mod cells;
pub mod checks;
pub mod compare;
pub mod consistency;
pub mod consolidation;
pub mod contrast;
pub mod counted;
pub mod cycle;
pub mod databases;
pub mod distributions;
pub mod durability;
pub mod equal;
pub mod estimate;
pub mod explanation;
pub mod findings;
pub mod gathered;
pub mod groups;
pub mod hosts;
pub mod latency;
pub mod least_squares;
pub mod machines;
pub mod many_runs;
pub mod measures;
pub mod missing;
pub mod observations;
pub mod pairing;
pub mod phases;
pub mod pilot;
pub mod precision;
pub mod pressure;
pub mod scaling;
pub mod settings;
pub mod spread;
pub mod steadiness;
pub mod stopping;
pub mod student;
pub mod summary;
pub mod throughput;
pub mod topology;
pub mod treatment;
pub mod two_runs;
pub mod validity;
pub mod waits;
pub mod welch;

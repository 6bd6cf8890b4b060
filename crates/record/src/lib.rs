//! The files of a run, the only interface between the crates that measure and those that analyse.
//!
//! Crates before this one have effects and compute no statistic; crates after it are pure functions of these files.
//! Here are the types, the writer and the reader, and the version of the format. Nothing here knows a database, a
//! hypervisor or a clock. The format is described for other tools in `docs/formats.md`.

pub mod ablation;
pub mod agreement;
pub mod check;
pub mod clock;
mod coherence;
pub mod durability;
mod durable;
pub mod error;
pub mod event;
pub mod event_log;
pub mod facts;
pub mod folder;
pub mod host_state;
pub mod interval_file;
pub mod ladder;
pub mod load_hosts;
mod lock;
pub mod looks;
pub mod other_load;
pub mod pacing;
pub mod phase;
pub mod plan;
pub mod precision;
pub mod rotation;
pub mod run;
pub mod script;
mod seals;
pub mod settings;
#[cfg(feature = "synthetic")]
pub mod simulated;
#[cfg(feature = "synthetic")]
pub mod synthetic;
pub mod telemetry;
pub mod telemetry_files;
pub mod testimony;
pub mod text;
pub mod together;
pub mod totals;
pub mod trial;
pub mod waits;

pub use histograms::bounds::{KINDS as MOST_KINDS, SERIES_BYTES as MOST_BYTES, read as read_at_most};
pub use histograms::{hlog, intervals};

use histograms::bounds;

/// Version of the format written by this build. Readers accept this and every earlier one.
pub const FORMAT: u32 = 2;

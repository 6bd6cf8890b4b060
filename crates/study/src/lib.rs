//! The study file: read, checked, and turned into a plan in which everything is decided.
//!
//! Pure: text in, a [`record::plan::Plan`] or all problems at once out. Nothing here reads a file, a clock or the host
//! (what the host has is passed in as [`Host`]). Each step is one file. `source` finds what is written and on which
//! line, `overrides` lays contenders, scenarios and swept values over the base, and `cells` crosses them. `decide`
//! checks each cell and fills in every default, `again` doubles cells for an A/A study, `plan` shuffles the blocks.

mod ablation;
mod accept;
mod again;
mod audit;
mod catalogs;
mod cells;
mod data_size;
mod decide;
mod disk;
mod estimate;
mod host;
mod image;
mod keys;
mod lines;
mod load_hosts;
mod named;
mod only;
mod overrides;
mod plan;
mod precision;
mod problems;
mod reference;
mod room;
mod sessions;
mod several_hosts;
mod shape;
mod side_by_side;
mod source;
mod syntax;
mod trials;
mod typed;

pub use accept::FindingCode;
pub use audit::default_audit;
pub use catalogs::{Catalogs, Kind, StudyFiles, note};
pub use data_size::{data_bytes, roughly};
pub use estimate::{LOAD_MS, TimeEstimate, estimate, expected_ms};
pub use host::Host;
pub use keys::{ABLATION, ENGINE, LOAD, MACHINE, SESSIONS_DEFAULT, STUDY, load_keys};
pub use only::{OnlyError, only};
pub use plan::{Against, plan};
pub use problems::{Flaw, render};
pub use reference::reference;
pub use room::{Room, other_host, places, room};
pub use several_hosts::{are_apart, lanes};
pub use shape::{
    Disk, Load, LoadHost, MachineShape, OfferedWork, OtherLoadLimit, PeakLimits, Pinning, Placement, Storage,
};
pub use trials::trials;
pub use typed::{CellError, ChosenEngine, ChosenWorkload, TypedCell, TypedPlan};

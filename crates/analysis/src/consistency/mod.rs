//! Whether a comparison is one at all: did all sides do the same, with the same data, on a host that stayed the same?
//!
//! Settings have a file of their own ([`crate::settings`]); here is what else must agree.
//! Everything is a plain reading with a stated tolerance, and what is not in a record is held against nobody.

pub mod equal_work;
pub mod host;
pub mod littles_law;
pub mod loaded_data;

use crate::observations::Observations;
use crate::warnings::Warning;
use record::run::Run;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Consistency {
    /// Of every sound trial.
    pub littles_law: Vec<littles_law::Accounted>,
    #[serde(default)]
    pub unequal_work: Vec<equal_work::UnequalWork>,
    pub loaded_data: Vec<loaded_data::LoadedData>,
    pub host: host::HostDuringRun,
}

pub fn of_run(run: &Run, observations: &Observations) -> Consistency {
    Consistency {
        littles_law: littles_law::all(run),
        unequal_work: equal_work::all(&run.plan, observations),
        loaded_data: loaded_data::all(run),
        host: host::of_run(run),
    }
}

pub fn warnings(found: &Consistency) -> Vec<Warning> {
    let mut warnings = loaded_data::warnings(&found.loaded_data);
    warnings.extend(equal_work::warnings(&found.unequal_work));
    warnings.extend(host::warnings(&found.host));
    warnings.extend(littles_law::warnings(&found.littles_law));
    warnings
}

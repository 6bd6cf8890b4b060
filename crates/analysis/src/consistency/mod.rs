//! Whether a comparison is one at all: did all sides do the same, with the same data, on a host that stayed the same?
//!
//! Settings and statements have files of their own ([`crate::settings`], [`crate::work`]); here is what else must agree.
//! Everything is a plain reading with a stated tolerance, and what is not in a record is held against nobody.

pub mod host;
pub mod littles_law;
pub mod loaded_data;
pub mod storage_work;

use crate::warnings::Warning;
use record::run::Run;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Consistency {
    /// Of every sound trial.
    pub littles_law: Vec<littles_law::Accounted>,
    pub storage_work: Vec<storage_work::StorageWork>,
    pub loaded_data: Vec<loaded_data::LoadedData>,
    pub host: host::HostDuringRun,
}

pub fn of_run(run: &Run) -> Consistency {
    Consistency {
        littles_law: littles_law::all(run),
        storage_work: storage_work::all(run),
        loaded_data: loaded_data::all(run),
        host: host::of_run(run),
    }
}

pub fn warnings(found: &Consistency) -> Vec<Warning> {
    let mut warnings = loaded_data::warnings(&found.loaded_data);
    warnings.extend(storage_work::warnings(&found.storage_work));
    warnings.extend(host::warnings(&found.host));
    warnings.extend(littles_law::warnings(&found.littles_law));
    warnings
}

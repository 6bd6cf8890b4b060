//! Whether a comparison is one at all: did all sides do the same work, with the same data, on a host that stayed the same?
//!
//! Settings have a file of their own ([`crate::settings`]); the rest of what must agree is here. Everything is a
//! point value with a stated tolerance, and nothing is concluded from what a record lacks.

pub mod equal_work;
pub mod host;
pub mod littles_law;
pub mod loaded_data;

use crate::findings::Finding;
use crate::observations::Observations;
use record::run::Run;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Consistency {
    /// Of every valid trial.
    pub littles_law: Vec<littles_law::Accounted>,
    pub unequal_work: Vec<equal_work::Unequal>,
    pub loaded_data: Vec<loaded_data::LoadedData>,
    pub host: host::HostDuringRun,
}

pub fn of_run(run: &Run, observations: &Observations) -> Consistency {
    Consistency {
        littles_law: littles_law::all(run),
        unequal_work: equal_work::all(run, observations),
        loaded_data: loaded_data::all(run),
        host: host::of_run(run),
    }
}

pub fn findings(found: &Consistency) -> Vec<Finding> {
    let mut findings = loaded_data::findings(&found.loaded_data);
    findings.extend(equal_work::findings(&found.unequal_work));
    findings.extend(host::findings(&found.host));
    findings.extend(littles_law::findings(&found.littles_law));
    findings
}

//! The keys of a native machine: none yet. All other platforms are compared with it.

use crate::order::MachineRequest;
use serde_json::{Map, Value};
use settings::{Key, Problem};

pub const KEYS: &[Key] = &[];

/// Finds unsupported combinations.
pub fn check(table: &Map<String, Value>, _request: &MachineRequest<'_>) -> Vec<Problem> {
    settings::check(table, KEYS).err().unwrap_or_default()
}

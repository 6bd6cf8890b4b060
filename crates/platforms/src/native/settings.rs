//! What a study may say about a native machine: nothing yet. It is what all others are compared with.

use crate::order::MachineRequest;
use serde_json::{Map, Value};
use settings::{Key, Problem};

pub const KEYS: &[Key] = &[];

/// Combinations that cannot be honoured.
pub fn check(table: &Map<String, Value>, _request: &MachineRequest<'_>) -> Vec<Problem> {
    settings::check(table, KEYS).err().unwrap_or_default()
}

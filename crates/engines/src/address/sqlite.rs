//! SQLite's URLs: `sqlite:` and a path, with the keys of the engine as parameters.

use super::url::{check_parameters, decoded, parameters};
use super::{Address, AddressError, Environment, wrong_value};
use crate::server::{Endpoint, ServerShape};
use crate::sqlite::settings::{DatabaseFile, KEYS};
use serde_json::{Map, Value};
use std::path::PathBuf;

const SCHEME: &str = "sqlite";

pub fn address(rest: &str, around: &Environment<'_>) -> Result<Address, AddressError> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    // Others write `sqlite:///srv/shop.db` for `sqlite:/srv/shop.db`.
    let path = decoded("path", path.strip_prefix("//").unwrap_or(path))?;
    if path.is_empty() {
        return Err(AddressError::Missing { name: "the file", example: "sqlite:shop.db" });
    }
    let given = parameters(query)?;
    let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    check_parameters(&given, SCHEME, &known)?;
    let table: Map<String, Value> = given.into_iter().map(|(name, value)| (name, plain(value))).collect();
    let table = settings::check(&table, KEYS)
        .map_err(|problems| problems.into_iter().next().map_or(AddressError::NoScheme, AddressError::Value))?;
    let shape = ServerShape { vcpus: 1, memory_bytes: around.memory_bytes };
    let database = DatabaseFile::new(PathBuf::from(path), &table, &shape)
        .map_err(|error| wrong_value(SCHEME, query, &error.to_string()))?;
    Ok(Address { endpoint: Endpoint::Sqlite(database), warnings: Vec::new() })
}

/// Numbers and other JSON values keep their type, everything else is text.
fn plain(value: String) -> Value {
    serde_json::from_str(&value).unwrap_or(Value::String(value))
}

//! A decided cell in types, for those who carry it out.

use crate::keys::{LOAD, MACHINE};
use crate::overrides::KIND;
use record::plan::Cell;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use settings::{Bytes, Key, Problem, Span};

/// `[machine]` of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Machine {
    pub count: u32,
    pub vcpus: u32,
    #[serde(rename = "memory")]
    pub memory_bytes: Bytes,
    /// "cloud" or "generic".
    pub kernel: String,
    /// Name of the image's recipe.
    pub image: String,
    pub disk: Disk,
    pub oversubscribe: bool,
}

/// `machine.disk` of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Disk {
    #[serde(rename = "size")]
    pub size_bytes: Bytes,
    pub storage: Storage,
    /// Given if and only if the storage is a device.
    #[serde(default)]
    pub device: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    File,
    Device,
}

/// `[load]` of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Load {
    pub placement: Placement,
    pub clients: u32,
    #[serde(rename = "warmup")]
    pub warmup_ms: Span,
    #[serde(rename = "measure")]
    pub measure_ms: Span,
    pub shards: u32,
    pub retries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    Inside,
    Outside,
}

/// The shape of a cell's machine.
pub fn machine(cell: &Cell) -> Result<Machine, Vec<Problem>> {
    read(cell, "machine", MACHINE)
}

/// The load of a cell.
pub fn load(cell: &Cell) -> Result<Load, Vec<Problem>> {
    read(cell, "load", LOAD)
}

fn read<T: DeserializeOwned>(cell: &Cell, part: &str, keys: &[Key]) -> Result<T, Vec<Problem>> {
    let table = cell.settings.get(part).and_then(Value::as_object);
    settings::read(table.unwrap_or(&Map::new()), keys)
}

/// The kind of a cell's `platform`, `engine` or `workload`, and the rest of its table, as the catalogs take them.
pub fn kind_and_table<'a>(cell: &'a Cell, part: &str) -> Option<(&'a str, Map<String, Value>)> {
    let table = cell.settings.get(part)?.as_object()?;
    let kind = table.get(KIND)?.as_str()?;
    let rest = table.iter().filter(|(name, _)| *name != KIND).map(|(name, value)| (name.clone(), value.clone()));
    Some((kind, rest.collect()))
}

//! A planned cell in the types of the things it sets.

use agent::protocol::Chosen;
use driver::plan::DrivePlan;
use record::plan::Cell;
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::{Bytes, Span};

#[derive(Debug, thiserror::Error)]
#[error("cell {cell}, table {table}: {source}")]
pub struct CellError {
    cell: u32,
    table: &'static str,
    source: serde_json::Error,
}

/// Everything a trial of this cell needs to know.
#[derive(Debug, Clone)]
pub struct CellOrder {
    pub machine: MachineTable,
    pub platform: Chosen,
    pub engine: Chosen,
    pub workload: Chosen,
    pub load: LoadTable,
}

#[derive(Debug, Clone, Deserialize)]
pub struct MachineTable {
    pub vcpus: u32,
    pub memory: Bytes,
    pub image: String,
    pub kernel: String,
    pub disk: DiskTable,
}

#[derive(Debug, Clone, Deserialize)]
pub struct DiskTable {
    pub size: Bytes,
    /// A block device to hold the data instead of an image file.
    #[serde(default)]
    pub device: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct LoadTable {
    pub placement: Placement,
    pub clients: u32,
    pub shards: u32,
    pub retries: u32,
    pub warmup: Span,
    pub measure: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    Inside,
    Outside,
}

impl Placement {
    pub fn name(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Outside => "outside",
        }
    }
}

impl CellOrder {
    pub fn read(cell: &Cell) -> Result<Self, CellError> {
        Ok(Self {
            machine: table(cell, "machine")?,
            platform: chosen(cell, "platform")?,
            engine: chosen(cell, "engine")?,
            workload: chosen(cell, "workload")?,
            load: table(cell, "load")?,
        })
    }

    pub fn drive_plan(&self, seed: u64) -> DrivePlan {
        DrivePlan {
            clients: self.load.clients,
            shards: self.load.shards,
            warmup_ms: self.load.warmup.0,
            measure_ms: self.load.measure.0,
            seed,
            retries: self.load.retries,
        }
    }
}

fn table<T: serde::de::DeserializeOwned>(cell: &Cell, name: &'static str) -> Result<T, CellError> {
    let value = cell.settings.get(name).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|source| CellError { cell: cell.id, table: name, source })
}

fn chosen(cell: &Cell, name: &'static str) -> Result<Chosen, CellError> {
    let mut settings: Map<String, Value> = table(cell, name)?;
    let kind = settings.remove("kind").unwrap_or(Value::Null);
    let kind = serde_json::from_value(kind).map_err(|source| CellError { cell: cell.id, table: name, source })?;
    Ok(Chosen { kind, settings })
}

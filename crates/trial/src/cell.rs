//! A planned cell in the types of the things it sets.

use agent::protocol::Chosen;
use driver::plan::{DrivePlan, Pacing};
use record::plan::Cell;
use serde_json::{Map, Value};
use settings::Problem;
use study::{Load, Machine, ODD_WORKLOAD};

#[derive(Debug, thiserror::Error)]
#[error("cell {cell} of the plan: {what}")]
pub struct CellError {
    cell: u32,
    what: String,
}

/// Everything a trial of this cell needs to know.
#[derive(Debug, Clone)]
pub struct CellOrder {
    pub machine: Machine,
    pub platform: Chosen,
    pub engine: Chosen,
    pub workload: Chosen,
    /// That of the odd machine, where it has one of its own.
    pub odd_workload: Option<Chosen>,
    pub load: Load,
    /// The machine that is not measured, if there is one ([`Cell::bystander`]).
    pub bystander: Option<u32>,
}

/// A server that repairs itself after a crash is back by then; nobody starts one again that has ended.
const AWAY_LIMIT_MS: u64 = 10_000;

impl CellOrder {
    pub fn read(cell: &Cell) -> Result<Self, CellError> {
        let wrong = |problems: Vec<Problem>| CellError { cell: cell.id, what: format!("{problems:?}") };
        Ok(Self {
            machine: study::machine(cell).map_err(wrong)?,
            platform: chosen(cell, "platform")?,
            engine: chosen(cell, "engine")?,
            workload: chosen(cell, "workload")?,
            odd_workload: study::kind_and_table(cell, ODD_WORKLOAD).map(as_chosen),
            load: study::load(cell).map_err(wrong)?,
            bystander: cell.bystander(),
        })
    }

    pub fn drive_plan(&self, pacing: Pacing, seed: u64) -> DrivePlan {
        DrivePlan {
            pacing,
            shards: self.load.shards,
            warmup_ms: self.load.warmup_ms.0,
            measure_ms: self.load.measure_ms.0,
            seed,
            retries: self.load.retries,
            together: None,
            away_limit_ms: AWAY_LIMIT_MS,
        }
    }
}

fn chosen(cell: &Cell, part: &str) -> Result<Chosen, CellError> {
    let missing = || CellError { cell: cell.id, what: format!("table {part} or its kind is missing") };
    study::kind_and_table(cell, part).map(as_chosen).ok_or_else(missing)
}

fn as_chosen((kind, settings): (&str, Map<String, Value>)) -> Chosen {
    Chosen { kind: kind.to_owned(), settings }
}

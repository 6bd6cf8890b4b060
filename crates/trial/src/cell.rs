//! A planned cell in the types of the things it sets.

use agent::protocol::Chosen;
use driver::plan::{DrivePlan, Pacing};
use record::plan::Cell;
use settings::Problem;
use study::{Load, Machine};

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
    pub load: Load,
}

impl CellOrder {
    pub fn read(cell: &Cell) -> Result<Self, CellError> {
        let wrong = |problems: Vec<Problem>| CellError { cell: cell.id, what: format!("{problems:?}") };
        Ok(Self {
            machine: study::machine(cell).map_err(wrong)?,
            platform: chosen(cell, "platform")?,
            engine: chosen(cell, "engine")?,
            workload: chosen(cell, "workload")?,
            load: study::load(cell).map_err(wrong)?,
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
        }
    }
}

fn chosen(cell: &Cell, part: &str) -> Result<Chosen, CellError> {
    let (kind, settings) = study::kind_and_table(cell, part)
        .ok_or_else(|| CellError { cell: cell.id, what: format!("table {part} or its kind is missing") })?;
    Ok(Chosen { kind: kind.to_owned(), settings })
}

//! A plan whose cells are in types. Each table of a cell is read once, before anything looks ahead, prepares or carries out.

use crate::keys::ENGINE;
use crate::shape::{Load, MachineShape, kind_and_table, load, machine};
use crate::trials::trials;
use engines::entry::EngineEntry;
use engines::programs::VERSION;
use images::{Recipe, RecipeError};
use platforms::entry::{FindSettings, PlatformSettings};
use record::plan::{Cell, Plan, PlannedTrial};
use record::settings::key::EXCEPTION_WORKLOAD;
use serde_json::{Map, Value};
use settings::{Chosen, Problem};
use std::ops::Deref;
use std::sync::Arc;
use workloads::catalog::AnyWorkload;

/// A cell that cannot be read. No plan of this build has one.
#[derive(Debug, thiserror::Error)]
#[error("cell {cell} of the plan: {what}")]
pub struct CellError {
    pub cell: u32,
    pub what: String,
}

/// A cell, each of its tables read.
#[derive(Debug, Clone)]
pub struct TypedCell {
    /// As the plan has it.
    pub written: Cell,
    pub machine: MachineShape,
    pub platform: Arc<dyn PlatformSettings>,
    pub engine: ChosenEngine,
    pub workload: ChosenWorkload,
    /// The exception's own workload, if it has one.
    pub exception_workload: Option<ChosenWorkload>,
    pub load: Load,
    /// The text of its image's recipe, if that is not bakeoff's own.
    pub own_recipe: Option<String>,
}

#[derive(Debug, Clone)]
pub struct ChosenEngine {
    pub entry: &'static EngineEntry,
    /// In the form that an agent takes, without the keys that the engine itself does not know.
    pub chosen: Chosen,
}

#[derive(Debug, Clone)]
pub struct ChosenWorkload {
    /// In the form that an agent takes.
    pub chosen: Chosen,
    pub made: Arc<AnyWorkload>,
}

impl ChosenWorkload {
    pub fn new(chosen: Chosen) -> Result<Self, Vec<Problem>> {
        let made = Arc::new(AnyWorkload::from_table(&chosen.kind, &chosen.settings)?);
        Ok(Self { chosen, made })
    }

    /// Space that the loaded data take on an engine, low rather than high. `None` for data that only their user knows.
    pub fn data_bytes(&self, engine: &EngineEntry) -> Option<u64> {
        let stored = Some(self.made.dataset().stored_bytes(engine.dialect)).filter(|bytes| *bytes > 0)?;
        Some(engine.empty_bytes.saturating_add(stored))
    }
}

impl TypedCell {
    /// `platform` finds the settings of a platform of this kind in a table.
    pub fn read(written: Cell, platform: FindSettings) -> Result<Self, CellError> {
        let id = written.id;
        let wrong = |part: &str, problems: Vec<Problem>| {
            let texts = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.found));
            CellError { cell: id, what: format!("{part}: {}", texts.collect::<Vec<_>>().join("; ")) }
        };
        let table = |path: &str| {
            let missing = || CellError { cell: id, what: format!("table {path} or its kind is missing") };
            kind_and_table(&written, path).map(as_chosen).ok_or_else(missing)
        };
        let workload = |chosen: Chosen| {
            let part = format!("workload {}", chosen.kind);
            ChosenWorkload::new(chosen).map_err(|problems| wrong(&part, problems))
        };
        let unknown = |part: &str, kind: &str| CellError { cell: id, what: format!("there is no {part} \"{kind}\"") };
        let (engine, chosen) = (table("engine")?, table("platform")?);
        let platform = platform(&chosen.kind, &chosen.settings).ok_or_else(|| unknown("platform", &chosen.kind))?;
        Ok(Self {
            machine: machine(&written).map_err(|problems| wrong("machine", problems))?,
            platform: platform.map_err(|problems| wrong("platform", problems))?,
            engine: ChosenEngine {
                entry: engines::catalog::entry_of_server(&engine.kind)
                    .ok_or_else(|| unknown("engine", &engine.kind))?,
                chosen: without_common_keys(engine),
            },
            workload: workload(table("workload")?)?,
            exception_workload: kind_and_table(&written, EXCEPTION_WORKLOAD)
                .map(as_chosen)
                .map(workload)
                .transpose()?,
            load: load(&written).map_err(|problems| wrong("load", problems))?,
            own_recipe: None,
            written,
        })
    }

    /// What its image is made from.
    pub fn recipe(&self) -> Result<Recipe, RecipeError> {
        let image = &self.machine.image;
        self.own_recipe.as_ref().map_or_else(|| images::find(image, None), |text| images::of_text(image, text))
    }

    /// For a trial on one of its contender's several hosts.
    #[must_use]
    pub fn on(&self, host: Option<&str>) -> Self {
        let platform = host.and_then(|host| self.platform.on_host(host));
        Self { platform: platform.unwrap_or_else(|| Arc::clone(&self.platform)), ..self.clone() }
    }

    /// The kind of its platform, as the plan has it.
    pub fn platform_kind(&self) -> &str {
        self.written.settings.platform().unwrap_or_default()
    }

    /// Data sizes of its machines: one, and another if its exception has its own workload.
    pub fn data_bytes(&self) -> Vec<u64> {
        let bytes = [Some(&self.workload), self.exception_workload.as_ref()].into_iter().flatten();
        let bytes = bytes.filter_map(|workload| workload.data_bytes(self.engine.entry));
        bytes.map(|bytes| bytes.saturating_mul(self.written.instances().into())).collect()
    }
}

fn without_common_keys(mut engine: Chosen) -> Chosen {
    for key in ENGINE.iter().filter(|key| key.name != VERSION) {
        engine.settings.shift_remove(key.name);
    }
    engine
}

fn as_chosen((kind, settings): (&str, Map<String, Value>)) -> Chosen {
    Chosen { kind: kind.to_owned(), settings }
}

/// A plan, and its cells in types. All parts of one plan share them.
#[derive(Debug, Clone)]
pub struct TypedPlan {
    plan: Plan,
    cells: Arc<[TypedCell]>,
}

impl Deref for TypedPlan {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl TypedPlan {
    /// With the platforms of the catalog, except in tests.
    pub fn read(plan: Plan, platform: FindSettings) -> Result<Self, CellError> {
        let cell = |cell: &Cell| -> Result<TypedCell, CellError> {
            let read = TypedCell::read(cell.clone(), platform)?;
            let own_recipe = plan.recipes.get(&read.machine.image).cloned();
            Ok(TypedCell { own_recipe, ..read })
        };
        let cells = plan.cells.iter().map(cell).collect::<Result<_, _>>()?;
        Ok(Self { plan, cells })
    }

    /// The same plan on machines that are played.
    #[must_use]
    pub fn played_by(&self, player: impl Fn(&Arc<dyn PlatformSettings>) -> Arc<dyn PlatformSettings>) -> Self {
        let cells = self.cells.iter().map(|cell| TypedCell { platform: player(&cell.platform), ..cell.clone() });
        Self { plan: self.plan.clone(), cells: cells.collect() }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn typed(&self) -> &[TypedCell] {
        &self.cells
    }

    pub fn cell(&self, id: u32) -> Option<&TypedCell> {
        self.cells.iter().find(|cell| cell.written.id == id)
    }

    /// The cells that have trials.
    pub fn planned(&self) -> impl Iterator<Item = &TypedCell> {
        self.cells.iter().filter(|cell| self.plan.trials.iter().any(|trial| trial.cell == cell.written.id))
    }

    #[must_use]
    pub fn with_trials(&self, trials: Vec<PlannedTrial>) -> Self {
        Self { plan: Plan { trials, ..self.plan.clone() }, cells: Arc::clone(&self.cells) }
    }

    /// A plan with the same cells, or some of them.
    #[must_use]
    pub fn with(&self, plan: Plan) -> Self {
        let is_left = |cell: &&TypedCell| plan.cells.iter().any(|left| left.id == cell.written.id);
        let cells = if plan.cells.len() == self.cells.len() {
            Arc::clone(&self.cells)
        } else {
            self.cells.iter().filter(is_left).cloned().collect()
        };
        Self { plan, cells }
    }

    /// The same plan with this many blocks. Existing blocks stay unchanged; further blocks are the ones that a plan of this
    /// length would have had from the start.
    #[must_use]
    pub fn grown(&self, blocks: u32) -> Self {
        let hosts: Vec<_> = self.cells.iter().map(|cell| (cell.written.id, cell.platform.hosts())).collect();
        self.with(Plan { blocks, trials: trials(self.plan.seed, blocks, &hosts), ..self.plan.clone() })
    }
}

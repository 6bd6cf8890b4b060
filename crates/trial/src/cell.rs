//! A planned cell, in the types of what it configures.

use agent::protocol::Chosen;
use driver::plan::{DrivePlan, Pacing, Phase, Until};
use record::plan::Cell;
use record::settings::SettingsError;
use record::settings::key::ODD_WORKLOAD;
use serde_json::{Map, Value};
use settings::Problem;
use study::{Load, Machine};
use workloads::catalog::AnyWorkload;

#[derive(Debug, thiserror::Error)]
#[error("cell {cell} of the plan: {what}")]
pub struct CellError {
    cell: u32,
    what: String,
}

/// Everything that a trial needs to know about this cell.
#[derive(Debug, Clone)]
pub struct CellOrder {
    pub machine: Machine,
    pub platform: Chosen,
    pub engine: Chosen,
    /// The name of the engine's settings; empty if the engine has no profiles.
    pub profile: String,
    /// Databases in each machine.
    pub instances: u16,
    /// Whether they are databases of one server.
    pub shares_server: bool,
    pub workload: Chosen,
    /// The odd machine's own workload, if it has one.
    pub odd_workload: Option<Chosen>,
    pub load: Load,
    /// The machine that is not measured, if there is one ([`Cell::bystander`]).
    pub bystander: Option<u32>,
    /// How long to keep trying to reopen a lost session.
    pub away_limit_ms: u64,
}

/// A server that repairs itself after a crash is back by then. Nothing restarts a server that has ended.
const AWAY_LIMIT_MS: u64 = 10_000;

/// For the only cell of a plan.
impl From<SettingsError> for CellError {
    fn from(error: SettingsError) -> Self {
        Self { cell: 0, what: error.to_string() }
    }
}

impl CellOrder {
    pub fn read(cell: &Cell) -> Result<Self, CellError> {
        let wrong = |problems: Vec<Problem>| CellError { cell: cell.id, what: format!("{problems:?}") };
        Ok(Self {
            machine: study::machine(cell).map_err(wrong)?,
            platform: chosen(cell, "platform")?,
            engine: without_instances(chosen(cell, "engine")?),
            profile: cell.settings.engine().profile.clone().unwrap_or_default(),
            instances: cell.instances(),
            shares_server: cell.shares_server(),
            workload: chosen(cell, "workload")?,
            odd_workload: study::kind_and_table(cell, ODD_WORKLOAD).map(as_chosen),
            load: study::load(cell).map_err(wrong)?,
            bystander: cell.bystander(),
            away_limit_ms: AWAY_LIMIT_MS,
        })
    }

    /// For a trial on one of its contender's several hosts.
    #[must_use]
    pub fn on(mut self, host: Option<&str>) -> Self {
        if let Some(host) = host {
            self.platform.settings = platforms::catalog::on_host(&self.platform.settings, host);
        }
        self
    }

    /// The plan that the workload makes of the cell's load, with this pacing.
    pub fn drive_plan(&self, workload: &AnyWorkload, pacing: Pacing, seed: u64) -> DrivePlan {
        let mut load = Phase::timed(pacing, self.load.warmup_ms.0, self.load.measure_ms.0);
        load.streams.iter_mut().for_each(|stream| stream.ramp_per_s = self.load.ramp_rate);
        if self.load.transactions.is_some() {
            load.until = Until::StreamsEnd { limit_ms: self.load.measure_ms.0 };
            load.streams.iter_mut().for_each(|stream| stream.transactions = self.load.transactions);
        }
        let plan = DrivePlan::of(workload.script(load), seed);
        DrivePlan { shards: self.load.shards, retries: self.load.retries, away_limit_ms: self.away_limit_ms, ..plan }
    }

    /// Checks that the plan which the workload makes of the load can be driven at all.
    pub fn require_script(&self, cell: u32) -> Result<(), CellError> {
        let refused = |what: String| CellError { cell, what };
        let Chosen { kind, settings } = &self.workload;
        let workload = AnyWorkload::from_table(kind, settings).map_err(|problems| {
            let texts = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.found));
            refused(format!("workload {kind}: {}", texts.collect::<Vec<_>>().join("; ")))
        })?;
        let pacing = self.load.offered.pacing();
        let climbs = pacing.is_none();
        let plan = self.drive_plan(&workload, pacing.unwrap_or(Pacing::Clients { clients: 1 }), 0);
        driver::script::check(&plan, workload.actors())
            .map_err(|error| refused(format!("workload {kind}: {error}")))?;
        if self.load.from.len() > 1 {
            let reacts = workload.actors().iter().any(|actor| actor.users > 0);
            if plan.phases.len() > 1 || reacts {
                let why = "its users need one load generator; name one host in load.from";
                return Err(refused(format!("workload {kind} cannot be driven from several hosts: {why}")));
            }
        }
        if plan.phases.len() > 1 && (climbs || self.machine.odd.is_some()) {
            let what = if climbs { "its peak is sought; give load.clients a number" } else { "one machine differs" };
            return Err(refused(format!("workload {kind} has phases of its own, and cannot be driven where {what}")));
        }
        Ok(())
    }
}

fn chosen(cell: &Cell, part: &str) -> Result<Chosen, CellError> {
    let missing = || CellError { cell: cell.id, what: format!("table {part} or its kind is missing") };
    study::kind_and_table(cell, part).map(as_chosen).ok_or_else(missing)
}

/// The engine's table without the keys that the engine itself does not know.
fn without_instances(mut engine: Chosen) -> Chosen {
    for key in study::ENGINE {
        engine.settings.shift_remove(key.name);
    }
    engine
}

fn as_chosen((kind, settings): (&str, Map<String, Value>)) -> Chosen {
    Chosen { kind: kind.to_owned(), settings }
}

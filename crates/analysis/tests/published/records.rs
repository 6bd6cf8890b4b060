//! Records made from published figures: one trial for each figure, whose window counted exactly that.

use record::facts::Fact;
use record::plan::{Cell, PlannedTrial};
use record::run::{Run, StoredTrial};
use record::synthetic;
use serde_json::{Map, Value, json};

/// The result of one trial of a study, as published.
pub struct Figure {
    pub contender: &'static str,
    pub baseline: bool,
    /// The value of what is varied, with its key in a study.
    pub varied: Option<(&'static str, u64)>,
    /// Transactions counted in the measured window.
    pub counted: u64,
    /// The host's CPUs to which the machine was pinned; `None` if not stated.
    pub host_cpus: Option<String>,
}

impl Figure {
    pub fn of(contender: &'static str, counted: u64) -> Self {
        Self { contender, baseline: false, varied: None, counted, host_cpus: None }
    }

    pub fn baseline(self) -> Self {
        Self { baseline: true, ..self }
    }

    pub fn with(self, key: &'static str, value: u64) -> Self {
        Self { varied: Some((key, value)), ..self }
    }

    pub fn on_cpus(self, host_cpus: String) -> Self {
        Self { host_cpus: Some(host_cpus), ..self }
    }
}

/// A run of one block with a cell for each figure, on a host about which nothing is known.
pub fn run(figures: &[Figure]) -> Run {
    let mut run = synthetic::run(1);
    let (cell, trial) = (run.plan.cells[0].clone(), run.trials[0].clone());
    run.host.clear();
    run.plan.cells = (0..).zip(figures).map(|(id, figure)| of_cell(&cell, id, figure)).collect();
    run.trials = (0..).zip(figures).map(|(id, figure)| of_trial(&trial, id, figure)).collect();
    let planned = |trial: &StoredTrial| PlannedTrial {
        id: trial.record.id,
        block: 1,
        cell: trial.record.cell,
        seed: 1,
        host: None,
    };
    run.plan.trials = run.trials.iter().map(planned).collect();
    run
}

fn of_cell(like: &Cell, id: u32, figure: &Figure) -> Cell {
    let mut settings = like.settings.clone();
    let mut sweep = Map::new();
    if let Some((key, value)) = figure.varied {
        settings.set(key, json!(value)).expect("it can be so");
        sweep.insert(key.to_owned(), Value::from(value));
    }
    Cell { id, contender: figure.contender.to_owned(), baseline: figure.baseline, scenario: None, sweep, settings }
}

fn of_trial(like: &StoredTrial, cell: u32, figure: &Figure) -> StoredTrial {
    let mut trial = like.clone();
    (trial.record.id, trial.record.cell, trial.record.block) = (cell + 1, cell, 1);
    figure.contender.clone_into(&mut trial.record.contender);
    let driver = trial.record.driver.as_mut().expect("made-up trials have driven");
    (driver.kinds[0].committed, driver.kinds[0].rolled_back) = (figure.counted, 0);
    let machine = trial.record.machine.as_mut().expect("made-up trials have a machine");
    let cpus = figure.host_cpus.clone();
    let cpus = cpus.map_or_else(|| Fact::unavailable("the study does not say"), Fact::known);
    machine.decided.insert("host CPUs".to_owned(), cpus);
    trial
}

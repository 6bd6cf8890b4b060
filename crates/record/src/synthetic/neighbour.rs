//! A made-up study of three machines, the third of which comes and goes.

use super::consolidated::{cell, consolidated_plan, machine_of};
use super::{MEASURED_S, SPEED, WARMUP_S, host, host_state, record};
use crate::plan::{Cell, Plan, PlannedTrial};
use crate::run::{Run, StoredTrial};
use crate::settings::{ExceptionLoad, key};
use crate::together;
use crate::trial::TrialRecord;
use serde_json::json;
use std::ops::Range;

const CONTENDERS: [&str; 2] = ["native", "kvm"];
const MACHINES: u32 = 3;
/// The number of the machine that comes and goes.
pub const NEIGHBOUR: u32 = 3;
/// The share of their speed that the others keep while it works, by contender.
pub const KEPT: [f64; 2] = [0.85, 0.7];

/// The run; every trial completed. Each load is a scenario, with the values of `machine.exception.load`; "same" has no exception.
pub fn run(blocks: u32, loads: &[&str]) -> Run {
    let cells: Vec<Cell> = loads
        .iter()
        .flat_map(|load| CONTENDERS.map(|contender| (load, contender)))
        .zip(0..)
        .map(|((load, contender), id)| beside(cell(id, contender, MACHINES), load))
        .collect();
    let plan = Plan {
        question: "What does a neighbour's load cost the others?".to_owned(),
        study: "noisy-neighbour".to_owned(),
        ..consolidated_plan(blocks, cells)
    };
    let trials = plan.trials.iter().map(|planned| trial(&plan, planned)).collect();
    Run { plan, host: host(), trials, durability: Vec::new(), dir: "runs/2026-11-21T12-00-00-noisy-neighbour".into() }
}

fn beside(mut cell: Cell, load: &str) -> Cell {
    cell.scenario = Some(load.to_owned());
    if load != "same" {
        drop(cell.settings.set(key::EXCEPTION, json!({ "number": NEIGHBOUR, "load": load })));
    }
    cell
}

/// The seconds in which it works.
fn works(cell: &Cell) -> Range<u64> {
    let end = WARMUP_S + MEASURED_S;
    match cell.exception().map_or(ExceptionLoad::Same, |exception| exception.load) {
        ExceptionLoad::Same => 0..end,
        ExceptionLoad::Idle => 0..0,
        ExceptionLoad::Stops => 0..WARMUP_S + MEASURED_S / 2,
        ExceptionLoad::Starts => WARMUP_S + MEASURED_S / 2..end,
        ExceptionLoad::Burst => WARMUP_S + MEASURED_S / 3..WARMUP_S + MEASURED_S * 2 / 3,
    }
}

fn trial(plan: &Plan, planned: &PlannedTrial) -> StoredTrial {
    let cell = &plan.cells[planned.cell as usize];
    let (works, contender) = (works(cell), usize::from(!cell.baseline));
    let drift = 1.0 - 0.01 * f64::from(planned.block);
    let pace = |second: u64| {
        let kept = if works.contains(&second) { KEPT[contender] } else { 1.0 };
        SPEED[contender] * drift * kept / f64::from(MACHINES)
    };
    let part = |number: u32| {
        let whole = machine_of(planned, cell, number, &pace);
        if number == NEIGHBOUR { only(whole, &works) } else { whole }
    };
    let record = TrialRecord { host_state: Some(host_state(planned)), ..record(planned, cell) };
    together::compose(record, (1..=MACHINES).map(part).collect(), cell)
}

/// What such a machine leaves behind if it is only driven for these seconds.
fn only(mut machine: StoredTrial, works: &Range<u64>) -> StoredTrial {
    if works.is_empty() {
        machine.record.driver = None;
        machine.measured = None;
        return machine;
    }
    let measured = works.start.max(WARMUP_S)..works.end;
    if let Some(driver) = &mut machine.record.driver {
        driver.warmup_ms = (measured.start - works.start) * 1_000;
        driver.measured_ms = (measured.end - measured.start) * 1_000;
        driver.window_start_ns =
            driver.window_start_ns.map(|start| start + (measured.start - WARMUP_S) * 1_000_000_000);
    }
    if let Some(series) = &mut machine.measured {
        series.intervals.retain(|interval| works.contains(&(interval.start_ms / 1_000)));
        series.intervals.iter_mut().for_each(|interval| interval.start_ms -= works.start * 1_000);
    }
    machine
}

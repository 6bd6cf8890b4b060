//! A made-up study of one, two and three machines side by side on a host of two CPUs, both of which each machine uses.

use super::telemetry::{self, MadeUpColumn};
use super::{Chance, MEASURED_S, SPEED, WARMUP_S, driver, findings, host, host_state, looks, machine, plan};
use super::{record, series, server, settings};
use crate::facts::{Fact, HOST_CPUS, PLACE, START_ORDER};
use crate::looks::{Looks, Reading};
use crate::plan::{Cell, Plan, PlannedTrial};
use crate::rotation::Rotation;
use crate::run::{Run, StoredTrial};
use crate::settings::key;
use crate::telemetry::Side;
use crate::together;
use crate::trial::TrialRecord;
use serde_json::json;

const CONTENDERS: [&str; 2] = ["native", "kvm"];
/// The number of machines in each scenario.
const COUNTS: [u32; 3] = [1, 2, 3];
/// The factor on the host's total speed for each further machine.
const LEFT: f64 = 0.95;
/// The share of its speed that a held-back machine keeps.
const HELD_BACK: f64 = 0.55;
/// How much machines of one trial differ by chance, as a share.
const WOBBLE: f64 = 0.012;
/// How much later each machine begins its window than the machine before it.
const LATER_NS: u64 = 1_500_000;

/// A machine that gets less than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldBack {
    pub contender: &'static str,
    /// Counted from 1.
    pub machine: u32,
}

/// The reason why a machine gets less; numbers are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwedTo {
    Machine(u32),
    /// Places then have CPUs of their own: place 1 has CPU 0, and so on.
    Place(u32),
    Start(u32),
}

/// The run; every trial completed.
pub fn run(blocks: u32, held_back: Option<HeldBack>) -> Run {
    run_in_which(blocks, held_back.map(|held_back| (held_back.contender, OwedTo::Machine(held_back.machine))))
}

/// The same, where one of a contender's machines gets less for this reason.
pub fn run_in_which(blocks: u32, less: Option<(&str, OwedTo)>) -> Run {
    let plan = consolidated_plan(blocks, cells());
    let trials = plan.trials.iter().map(|planned| trial(&plan, planned, less)).collect();
    Run { plan, host: host(), trials, durability: Vec::new(), dir: "runs/2026-11-21T12-00-00-consolidation".into() }
}

/// Gives one machine these columns, in every trial of a contender that has that machine. They replace what this side
/// counted of it.
pub fn sampled(run: &mut Run, contender: &str, machine: u32, side: Side, sources: &[MadeUpColumn]) {
    for trial in run.trials.iter_mut().filter(|trial| trial.record.contender == contender) {
        let mut chance = Chance::new(u64::from(trial.record.id) * 31 + u64::from(machine));
        let Some(own) = trial.machines.get_mut(machine as usize - 1) else { continue };
        own.telemetry.retain(|series| series.side != side);
        own.telemetry.push(telemetry::series(side, sources, WARMUP_S + MEASURED_S + 1, &mut chance));
    }
}

fn cells() -> Vec<Cell> {
    COUNTS
        .into_iter()
        .flat_map(|count| CONTENDERS.map(|contender| (count, contender)))
        .zip(0..)
        .map(|((count, contender), id)| cell(id, contender, count))
        .collect()
}

pub(super) fn consolidated_plan(blocks: u32, cells: Vec<Cell>) -> Plan {
    let many = u32::try_from(cells.len()).unwrap_or(u32::MAX);
    let trial = |index: u32| {
        let (block, place) = (index / many + 1, index % many);
        PlannedTrial { id: index + 1, block, cell: (place + block) % many, seed: 2000 + u64::from(block), host: None }
    };
    Plan {
        question: "What does the worst-off of several database servers on one host get?".to_owned(),
        study: "consolidation".to_owned(),
        cells,
        trials: (0..blocks * many).map(trial).collect(),
        ..plan(blocks)
    }
}

pub(super) fn cell(id: u32, contender: &str, count: u32) -> Cell {
    let mut settings = settings(contender);
    drop(settings.set(key::COUNT, json!(count)));
    Cell {
        id,
        contender: contender.to_owned(),
        baseline: contender == CONTENDERS[0],
        scenario: Some(format!("{count}x2")),
        sweep: serde_json::Map::new(),
        settings,
    }
}

fn trial(plan: &Plan, planned: &PlannedTrial, less: Option<(&str, OwedTo)>) -> StoredTrial {
    let cell = &plan.cells[planned.cell as usize];
    let count = cell.machines();
    let mut chance = Chance::new(planned.seed * 31 + u64::from(planned.cell));
    let of_contender = SPEED[usize::from(!cell.baseline)];
    // The whole host drifts a little from block to block, and each trial varies around that.
    let drift = (1.0 - 0.01 * f64::from(planned.block)) * (1.0 + 0.01 * chance.normal());
    let each = of_contender * drift * LEFT.powf(f64::from(count - 1)) / f64::from(count);
    let part = |number: u32| {
        let rotation = Rotation::of_block(planned.block, count);
        let (place, start) = (rotation.place(number, count), rotation.start(number, count));
        let owed = less.filter(|(contender, _)| *contender == cell.contender && count > 1).map(|(_, owed)| owed);
        let gets_less = match owed {
            Some(OwedTo::Machine(machine)) => machine == number,
            Some(OwedTo::Place(less)) => less == place,
            Some(OwedTo::Start(less)) => less == start,
            None => false,
        };
        let mut part = machine_of(planned, cell, number, &|_| if gets_less { each * HELD_BACK } else { each });
        if let (Some(machine), true) = (&mut part.record.machine, count > 1) {
            machine.decided.insert(PLACE.to_owned(), Fact::known(place.to_string()));
            machine.decided.insert(START_ORDER.to_owned(), Fact::known(start.to_string()));
            if let Some(OwedTo::Place(_)) = owed {
                machine.decided.insert(HOST_CPUS.to_owned(), Fact::known((place - 1).to_string()));
            }
        }
        part
    };
    if count == 1 {
        let alone = part(1);
        return StoredTrial { record: TrialRecord { host_state: Some(host_state(planned)), ..alone.record }, ..alone };
    }
    let record = TrialRecord { host_state: Some(host_state(planned)), ..record(planned, cell) };
    together::compose(record, (1..=count).map(part).collect(), cell)
}

/// One machine by itself. `pace` gives its approximate share of the whole host's speed in each second.
pub(super) fn machine_of(planned: &PlannedTrial, cell: &Cell, number: u32, pace: &dyn Fn(u64) -> f64) -> StoredTrial {
    let mut chance = Chance::new(planned.seed * 977 + u64::from(planned.cell) * 31 + u64::from(number));
    let wobble = 1.0 + WOBBLE * chance.normal();
    let measured = series(&|second| pace(second) * wobble, &mut chance);
    let mut driver = driver(&measured, &mut chance);
    driver.window_start_ns = Some(WARMUP_S * 1_000_000_000 + u64::from(number - 1) * LATER_NS);
    let mut machine = machine(&cell.contender);
    machine.decided.insert("slot".to_owned(), Fact::known(number.to_string()));
    StoredTrial {
        record: TrialRecord {
            machine: Some(machine),
            server: Some(server()),
            driver: Some(driver),
            ..record(planned, cell)
        },
        measured: Some(measured),
        findings: findings(&mut chance),
        looks: Some(looks_at(cell, number, pace(0) * wobble)),
        telemetry: Vec::new(),
        machines: Vec::new(),
        instances: Vec::new(),
        bystander: None,
        damage: Vec::new(),
        disagreements: Vec::new(),
    }
}

/// Each native machine has its data on its own device; guests all have the same device name.
fn looks_at(cell: &Cell, number: u32, speed: f64) -> Looks {
    let mut looks = looks(speed);
    for look in [&mut looks.start, &mut looks.end] {
        let Reading::Known(counts) = &mut look.device else { continue };
        if cell.baseline {
            counts.device = format!("loop{number}");
        }
    }
    looks
}

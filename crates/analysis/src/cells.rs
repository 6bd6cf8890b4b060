//! What each cell of the plan yielded: its trials, throughput, latencies and totals.

use crate::checks::{self, CheckCounts};
use crate::estimate::Estimate;
use crate::latency::{self, Counts, Latency};
use crate::machines;
use crate::measures;
use crate::measures::throughput::THROUGHPUT;
use crate::observations::{CellMean, Observations};
use crate::pressure::{self, TrialClimb, TrialQueue};
use crate::steadiness::{self, CellSteadiness, TrialSteadiness};
use crate::throughput::{self, TrialThroughput};
use crate::validity::{has_wrong_data, is_valid, trials_of, valid_trials};
use record::intervals::Span;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::together;
use record::trial::{DriverFacts, KindTotals, Metric, Outcome, Pacing, RunDelay};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    pub cell: u32,
    pub contender: String,
    pub baseline: bool,
    /// Scenario and swept values; empty if the study has neither.
    pub coordinates: String,
    /// How its machines ran their instructions: the host's own processor, virtual or emulated.
    pub processor: Option<String>,
    /// What made its containers; `None` for other machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    pub metric: Metric,
    pub outcomes: Outcomes,
    /// `None` in old files, which have only those of each contender over all its cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<CheckCounts>,
    /// Means over the valid trials, in the order of the measures.
    pub levels: Vec<CellMean>,
    pub steadiness: CellSteadiness,
    /// Every trial that has a record, valid or not.
    pub trials: Vec<TrialThroughput>,
    pub latency: Vec<Latency>,
    /// Sums over valid trials, in the workload's order.
    pub totals: Vec<KindTotals>,
    pub errors: BTreeMap<String, u64>,
    pub driver: Option<DriverReading>,
    /// The climb of every trial that has one; only where the study asked for the peak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub climbs: Vec<TrialClimb>,
    /// The queue of every trial that has one; only where clients shared sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<TrialQueue>,
}

impl CellResult {
    pub fn level(&self, measure: &str) -> Option<&Estimate> {
        self.levels.iter().find(|level| level.measure == measure).map(|level| &level.estimate)
    }

    pub fn throughput(&self) -> Option<&Estimate> {
        self.level(THROUGHPUT)
    }

    /// A percentile of the response times of one kind.
    pub fn response(&self, kind: &str, quantile: f64) -> Option<&Estimate> {
        self.level(&measures::latency::percentile(Span::Response, quantile, kind))
    }
}

/// How the trials of a cell ended. The fields add up to `planned`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcomes {
    pub planned: u32,
    pub completed: u32,
    /// These completed too, but a data check was violated.
    pub wrong_data: u32,
    /// These completed too, but their record lacks something or disagrees with itself.
    pub disagreeing: u32,
    pub invalid: u32,
    pub failed: u32,
    pub skipped: u32,
    pub interrupted: u32,
    pub not_reached: u32,
}

/// What the driver reported about itself, over the valid trials. These are plain readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriverReading {
    pub placement: String,
    /// `None` for old records.
    pub pacing: Option<Pacing>,
    pub clients: u32,
    pub sessions: u32,
    pub shards: u32,
    /// CPU time of the driver's threads per statement. For an engine in the same process it includes the engine's.
    pub cpu_us_per_statement: Option<f64>,
    /// Of the worst trial.
    pub session_wait_p99_us: u64,
    pub lateness_p99_us: u64,
    pub lateness_max_us: u64,
    /// The busiest shard of the worst trial.
    pub busiest_shard: f64,
    /// The longest waits for a CPU of any trial; `None` if they are not known of all.
    pub run_delay: Option<RunDelay>,
    /// The time in which a CPU limit that the study did not ask for was used up, added up over CPUs, as a share of the window; of the
    /// worst trial. `None` if it is not known of all.
    pub throttled: Option<f64>,
    /// Transactions under way at a time, by Little's law: the sum of response times divided by the length of the window.
    pub under_way: Option<f64>,
}

pub fn of_cell(run: &Run, observations: &Observations, cell: &Cell) -> CellResult {
    let trials: Vec<TrialThroughput> = trials_of(run, cell.id).map(throughput::of_trial).collect();
    let valid: Vec<&TrialSteadiness> =
        trials.iter().filter(|trial| trial.valid).map(|trial| &trial.steadiness).collect();
    let metric = trials_of(run, cell.id).find_map(throughput::metric);
    let drivers: Vec<&DriverFacts> =
        valid_trials(run, cell.id).filter_map(|trial| trial.record.driver.as_ref()).collect();
    CellResult {
        cell: cell.id,
        contender: cell.contender.clone(),
        baseline: cell.baseline,
        coordinates: cell.coordinates(),
        processor: machines::processor(run, cell.id),
        runtime: machines::runtime(run, cell.id),
        metric: metric.unwrap_or_default(),
        outcomes: outcomes(run, cell.id),
        checks: Some(checks::counts(trials_of(run, cell.id))),
        levels: observations.measures().filter_map(|measured| measured.level(cell.id)).collect(),
        steadiness: steadiness::of_cell(&valid),
        trials,
        latency: latencies(run, cell.id),
        totals: KindTotals::summed(drivers.iter().flat_map(|driver| &driver.kinds)),
        errors: together::driver::errors(&drivers),
        driver: driver(&drivers, under_way(run, cell.id)),
        climbs: pressure::climbs(run, cell.id),
        queues: pressure::queues(run, cell.id),
    }
}

fn outcomes(run: &Run, cell: u32) -> Outcomes {
    let planned = run.plan.trials.iter().filter(|trial| trial.cell == cell).count();
    let mut outcomes = Outcomes { planned: u32::try_from(planned).unwrap_or(u32::MAX), ..Outcomes::default() };
    let mut reached = 0;
    for trial in trials_of(run, cell) {
        reached += 1;
        match trial.record.outcome {
            Outcome::Completed if has_wrong_data(trial) => outcomes.wrong_data += 1,
            Outcome::Completed if !is_valid(trial) => outcomes.disagreeing += 1,
            Outcome::Completed => outcomes.completed += 1,
            Outcome::Invalid { .. } => outcomes.invalid += 1,
            Outcome::Failed { .. } => outcomes.failed += 1,
            Outcome::Skipped { .. } => outcomes.skipped += 1,
            Outcome::Interrupted { .. } => outcomes.interrupted += 1,
        }
    }
    outcomes.not_reached = outcomes.planned.saturating_sub(reached);
    outcomes
}

/// The names of the kinds of a cell, in the workload's order.
pub fn kinds(run: &Run, cell: u32) -> Vec<String> {
    valid_trials(run, cell)
        .find_map(|trial| trial.measured.as_ref())
        .map(|measured| measured.kinds.clone())
        .unwrap_or_default()
}

fn latencies(run: &Run, cell: u32) -> Vec<Latency> {
    let mut latencies = Vec::new();
    for kind in kinds(run, cell) {
        for span in [Span::Response, Span::Service] {
            let trials: Vec<Counts> =
                valid_trials(run, cell).filter_map(|trial| counts_of(trial, &kind, span)).collect();
            latencies.extend(latency::of_trials(&kind, span, &trials));
        }
    }
    latencies
}

/// The latencies of one kind in one trial's measured window; `None` if none were measured.
pub fn counts_of(trial: &StoredTrial, kind: &str, span: Span) -> Option<Counts> {
    let measured = trial.measured.as_ref()?;
    let index = measured.kinds.iter().position(|known| known == kind)?;
    let counts = latency::measured_counts(measured, u16::try_from(index).ok()?, span);
    (counts.total() > 0).then_some(counts)
}

fn driver(drivers: &[&DriverFacts], under_way: Option<f64>) -> Option<DriverReading> {
    let first = *drivers.first()?;
    let statements: u64 = drivers.iter().map(|driver| driver.work.statements).sum();
    let cpu_ns: f64 = drivers.iter().map(|driver| driver.testimony.cpu_ns as f64).sum();
    let testimonies = || drivers.iter().map(|driver| &driver.testimony);
    let share =
        |driver: &&DriverFacts| Some(driver.testimony.stalls.throttled_ms? as f64 / driver.measured_ms.max(1) as f64);
    let throttled: Option<Vec<f64>> = drivers.iter().map(share).collect();
    Some(DriverReading {
        placement: first.placement.clone(),
        pacing: first.pacing,
        clients: first.clients,
        sessions: first.sessions,
        shards: first.shards,
        cpu_us_per_statement: (statements > 0).then(|| cpu_ns / 1000.0 / statements as f64),
        session_wait_p99_us: testimonies().map(|testimony| testimony.session_wait.p99_us).max()?,
        lateness_p99_us: testimonies().map(|testimony| testimony.lateness_p99_us).max()?,
        lateness_max_us: testimonies().map(|testimony| testimony.lateness_max_us).max()?,
        busiest_shard: testimonies().map(|testimony| testimony.busiest_shard).fold(0.0, f64::max),
        run_delay: RunDelay::longest(testimonies().map(|testimony| testimony.run_delay)),
        throttled: throttled.map(|shares| shares.into_iter().fold(0.0, f64::max)),
        under_way,
    })
}

fn under_way(run: &Run, cell: u32) -> Option<f64> {
    let (mut response_us, mut window_us) = (0.0, 0.0);
    for trial in valid_trials(run, cell) {
        let (Some(_), Some(driver)) = (&trial.measured, &trial.record.driver) else { continue };
        let all = latency::of_parts(trial.transactions(), Span::Response);
        response_us += all.mean().unwrap_or(0.0) * all.total() as f64;
        window_us += driver.measured_ms as f64 * 1000.0;
    }
    (window_us > 0.0).then(|| response_us / window_us)
}

//! How long a plan takes, as far as a plan can say: the times it states, plus allowances for the rest.
//!
//! The same plan gives the same estimate everywhere. The live display corrects it by the actual lengths of phases.

use crate::several_hosts::lanes;
use crate::shape::{Load, OfferedWork};
use crate::typed::{TypedCell, TypedPlan};
use driver::ladder::{LadderLimits, steps_max};
use record::phase::Phase;
use record::plan::PlannedTrial;
use record::settings::at;
use record::settings::key::EXCEPTION_WORKLOAD;

/// Making one data disk: building the schema, loading, checking.
pub const LOAD_MS: u64 = 30_000;

/// Expected lengths in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeEstimate {
    /// Data disks made before the first trial that needs them.
    pub preparing_ms: u64,
    /// Warm-up and measured time of all trials: this part is exact.
    pub driving_ms: u64,
    /// Measured time of all trials: this part is exact.
    pub measuring_ms: u64,
    /// Everything, each trial once.
    pub total_ms: u64,
    /// At most this is added by trials that are repeated because others disturbed them.
    pub repeating_ms: u64,
}

/// The expected length of a phase in milliseconds. Times that a study does not state are allowances: generous for
/// native machines, tight for guests without hardware acceleration.
pub fn expected_ms(phase: Phase, load: &Load) -> u64 {
    match phase {
        Phase::Load => LOAD_MS,
        Phase::Climb => climb_ms(load),
        Phase::WarmUp => load.warmup_ms.0,
        Phase::Measure => load.measure_ms.0,
        Phase::Clone | Phase::ShutDown => 1_000,
        Phase::Stop => 2_000,
        Phase::Start => 3_000,
        Phase::Boot | Phase::Check => 4_000,
    }
}

/// The longest climb; it ends earlier if the peak is found earlier.
fn climb_ms(load: &Load) -> u64 {
    let OfferedWork::Peak(peak) = load.offered else { return 0 };
    let limits = LadderLimits { max_clients: peak.max_clients, failed_share: peak.error_limit, p99_us: None };
    u64::from(steps_max(&limits)) * (load.warmup_ms.0 + load.measure_ms.0)
}

/// Estimates the whole plan. Where hosts are measured at the same time, the one with most to do counts.
pub fn estimate(plan: &TypedPlan) -> TimeEstimate {
    let preparing_ms = data_disks(plan).saturating_mul(LOAD_MS);
    let lanes = lanes(plan, &plan.trials).into_iter().map(|trials| of_trials(plan, &trials));
    let longest = lanes.max_by_key(|estimate| estimate.total_ms).unwrap_or_default();
    TimeEstimate { preparing_ms, total_ms: longest.total_ms.saturating_add(preparing_ms), ..longest }
}

fn of_trials(plan: &TypedPlan, trials: &[&PlannedTrial]) -> TimeEstimate {
    let mut estimate = TimeEstimate::default();
    for trial in trials {
        let Some(TypedCell { load, .. }) = plan.cell(trial.cell) else { continue };
        let before_ms = estimate.total_ms;
        for phase in Phase::OF_A_TRIAL.into_iter().chain([Phase::Climb]) {
            let expected_ms = expected_ms(phase, load);
            estimate.total_ms = estimate.total_ms.saturating_add(expected_ms);
            if matches!(phase, Phase::WarmUp | Phase::Measure) {
                estimate.driving_ms = estimate.driving_ms.saturating_add(expected_ms);
            }
            if phase == Phase::Measure {
                estimate.measuring_ms = estimate.measuring_ms.saturating_add(expected_ms);
            }
        }
        let most = load.other_load.map_or(0, |limit| u64::from(limit.max_repeats));
        let repeating_ms = (estimate.total_ms - before_ms).saturating_mul(most);
        estimate.repeating_ms = estimate.repeating_ms.saturating_add(repeating_ms);
    }
    estimate
}

/// The number of data disks. Machines with the same engine, workload and disk share one.
fn data_disks(plan: &TypedPlan) -> u64 {
    let part = |cell: &TypedCell, path: &str| at(cell.written.settings.tables(), path).cloned();
    let mut seen = Vec::new();
    for cell in plan.planned() {
        for workload in
            [Some(part(cell, "workload").unwrap_or_default()), part(cell, EXCEPTION_WORKLOAD)].into_iter().flatten()
        {
            let data = (part(cell, "engine"), workload, part(cell, "machine.disk"));
            if !seen.contains(&data) {
                seen.push(data);
            }
        }
    }
    seen.len() as u64
}

//! How long a plan takes, as far as a plan can tell: what it states, plus allowances for what it does not.
//!
//! The same plan gives the same estimate everywhere. Live progress corrects it by what phases really took.

use crate::shape::load;
use record::plan::{Cell, Plan};
use serde_json::Value;

/// Allowances in milliseconds. Generous for native machines, tight for guests without hardware acceleration.
const START_MS: u64 = 8_000;
const CHECK_MS: u64 = 4_000;
const STOP_MS: u64 = 3_000;
/// Making one data disk: building the schema, loading, checking.
const LOAD_MS: u64 = 30_000;

/// One phase of a trial, by name, with its expected length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseEstimate {
    pub phase: &'static str,
    pub expected_ms: u64,
}

/// Expected lengths in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeEstimate {
    /// Data disks made before the first trial that needs them.
    pub preparing_ms: u64,
    /// Warm-up and measured time of all trials: this part is exact.
    pub driving_ms: u64,
    /// Measured time of all trials: this part is exact.
    pub measuring_ms: u64,
    /// Everything.
    pub total_ms: u64,
}

/// The phases of one trial of a cell, in order.
pub fn phases(cell: &Cell) -> Vec<PhaseEstimate> {
    let (warmup_ms, measure_ms) = load(cell).map_or((0, 0), |load| (load.warmup_ms.0, load.measure_ms.0));
    let spans =
        [("start", START_MS), ("warm-up", warmup_ms), ("measure", measure_ms), ("check", CHECK_MS), ("stop", STOP_MS)];
    spans.into_iter().map(|(phase, expected_ms)| PhaseEstimate { phase, expected_ms }).collect()
}

/// The whole plan.
pub fn estimate(plan: &Plan) -> TimeEstimate {
    let mut estimate =
        TimeEstimate { preparing_ms: data_disks(plan).saturating_mul(LOAD_MS), ..TimeEstimate::default() };
    estimate.total_ms = estimate.preparing_ms;
    for trial in &plan.trials {
        let Some(cell) = plan.cells.iter().find(|cell| cell.id == trial.cell) else { continue };
        for PhaseEstimate { phase, expected_ms } in phases(cell) {
            estimate.total_ms = estimate.total_ms.saturating_add(expected_ms);
            if matches!(phase, "warm-up" | "measure") {
                estimate.driving_ms = estimate.driving_ms.saturating_add(expected_ms);
            }
            if phase == "measure" {
                estimate.measuring_ms = estimate.measuring_ms.saturating_add(expected_ms);
            }
        }
    }
    estimate
}

/// Cells of one engine, workload and disk share the loaded data.
fn data_disks(plan: &Plan) -> u64 {
    let data = |cell: &Cell| {
        let part = |name: &str| cell.settings.get(name).cloned();
        let disk = part("machine").and_then(|machine| machine.get("disk").cloned());
        [part("engine"), part("workload"), disk].map(Option::<Value>::unwrap_or_default)
    };
    let mut seen = Vec::new();
    for cell in plan.cells.iter().filter(|cell| plan.trials.iter().any(|trial| trial.cell == cell.id)) {
        let data = data(cell);
        if !seen.contains(&data) {
            seen.push(data);
        }
    }
    seen.len() as u64
}

//! The plan of driving that a cell's workload makes of its load.

use crate::limits::Limits;
use driver::plan::{DrivePlan, LoadPhase, Pacing, PhaseLimit};
use study::{CellError, TypedCell};
use workloads::catalog::AnyWorkload;

/// How long load generators try to reopen a lost session.
pub fn away_limit_ms(limits: &Limits) -> u64 {
    u64::try_from(limits.away.as_millis()).unwrap_or(u64::MAX)
}

/// The plan that a workload makes of the cell's load, with this pacing.
pub fn drive_plan(cell: &TypedCell, workload: &AnyWorkload, pacing: Pacing, seed: u64, limits: &Limits) -> DrivePlan {
    let mut load = LoadPhase::timed(pacing, cell.load.warmup_ms.0, cell.load.measure_ms.0);
    load.streams.iter_mut().for_each(|stream| stream.ramp_per_s = cell.load.ramp_rate);
    if cell.load.transactions.is_some() {
        load.until = PhaseLimit::StreamsEnd { limit_ms: cell.load.measure_ms.0 };
        load.streams.iter_mut().for_each(|stream| stream.transactions = cell.load.transactions);
    }
    let plan = DrivePlan::of(workload.script(load), seed);
    DrivePlan { shards: cell.load.shards, retries: cell.load.retries, away_limit_ms: away_limit_ms(limits), ..plan }
}

/// Checks that the plan which the workload makes of the load can be driven at all.
pub fn require(cell: &TypedCell) -> Result<(), CellError> {
    let (workload, kind) = (&cell.workload.made, &cell.workload.chosen.kind);
    let refused = |what: String| CellError { cell: cell.written.id, what };
    let pacing = cell.load.offered.pacing();
    let climbs = pacing.is_none();
    let plan = drive_plan(cell, workload, pacing.unwrap_or(Pacing::Clients { clients: 1 }), 0, &Limits::default());
    driver::script::check(&plan, workload.actors()).map_err(|error| refused(format!("workload {kind}: {error}")))?;
    if cell.load.from.len() > 1 {
        let reacts = workload.actors().iter().any(|actor| actor.users > 0);
        if plan.phases.len() > 1 || reacts {
            let why = "its users need one load generator; name one host in load.from";
            return Err(refused(format!("workload {kind} cannot be driven from several hosts: {why}")));
        }
    }
    if plan.phases.len() > 1 && (climbs || cell.machine.exception.is_some()) {
        let what = if climbs { "its peak is sought; give load.clients a number" } else { "one machine differs" };
        return Err(refused(format!("workload {kind} has phases of its own, and cannot be driven where {what}")));
    }
    Ok(())
}

//! Samples of host and machine while load is driven: started on both sides before, collected and written afterwards.
//!
//! Both sides sample at the same moments, whole seconds from one origin. The machine keeps its samples until driving is over, so
//! that none is transferred during measurement. If something cannot be sampled, its figures are lost, not the trial.

use crate::asking::BootedMachine;
use crate::conversation::{AskError, mismatch};
use crate::error::{AttemptError, StepResult};
use crate::log::TrialLog;
use agent::protocol::{Reply, Request};
use machines::clock::monotonic_ns;
use machines::machine::WatchedMachine;
use record::telemetry::{Series, Side};
use std::path::Path;
use telemetry::{Grid, Sampler, Sampling, Targets};

/// The sampling of both sides, until it is recorded.
pub(crate) struct TrialSampling {
    /// When it began, by this host's monotonic clock.
    from_ns: u64,
    on_host: Option<Sampling>,
}

/// Starts sampling on both sides, if the study asks for it.
pub(crate) fn start(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>) -> StepResult<Option<TrialSampling>> {
    if !booted.context.cell.load.telemetry || !booted.context.executes() {
        return Ok(None);
    }
    let from_ns = monotonic_ns();
    let request = Request::StartSampling { origin_ns: from_ns.saturating_add_signed(log.clock_offset_ns()) };
    match booted.ask(0, &request, booted.context.limits().sampling) {
        Ok(Reply::Done) => {}
        Ok(other) => return Err(mismatch("start of sampling", &other).into()),
        Err(AttemptError::Ask(AskError::Refused(failure))) => not_sampled(log, "in the machine", &failure.why),
        Err(error) => return Err(error),
    }
    if booted.context.is_elsewhere() {
        return Ok(Some(TrialSampling { from_ns, on_host: None }));
    }
    let WatchedMachine { targets, asked } = booted.machine.watched();
    // The host is the same for all machines of a trial, so only the leader samples it.
    let targets = Targets { without_system: !booted.context.leads(), ..targets };
    let sampler = Sampler::open(Side::Host, Path::new("/"), &targets, asked);
    let on_host = Sampling::start_shown(sampler, Grid::of_seconds(from_ns), booted.context.latest.cloned());
    let on_host =
        on_host.inspect(Sampling::mark).inspect_err(|error| not_sampled(log, "on the host", &error.to_string()));
    Ok(Some(TrialSampling { from_ns, on_host: on_host.ok() }))
}

/// Stops sampling on both sides and writes the samples.
pub(crate) fn record(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, sampling: TrialSampling) -> StepResult {
    let mut series = Vec::new();
    let until_ns = monotonic_ns();
    if let Some(on_host) = sampling.on_host {
        on_host.mark();
        series.push(on_host.stop());
    }
    series.extend(samples_of_machine(booted)?);
    series.extend(booted.machine.counted(sampling.from_ns, until_ns));
    log.file(|folder| record::telemetry_files::write(folder, &series))?;
    Ok(())
}

fn samples_of_machine(booted: &mut BootedMachine<'_>) -> StepResult<Option<Series>> {
    let mut samples = Vec::new();
    let limit = booted.context.limits().sampling;
    let reply = booted.conversation(0).ask(&Request::StopSampling, limit, &mut |aside| {
        if let Reply::Samples(part) = aside {
            samples.extend(part);
        }
    });
    match reply {
        Ok(Reply::Sampled(series)) => Ok(Some(Series { samples, ..*series })),
        Ok(other) => Err(mismatch("stop of sampling", &other).into()),
        // The warning was given when sampling could not start.
        Err(AskError::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn not_sampled(log: &mut TrialLog<'_>, place: &str, why: &str) {
    log.warn(format!("nothing was sampled {place}, because {why}"));
}

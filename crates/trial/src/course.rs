//! The course of a trial on one machine, with each kind of server, and the end of a machine on which it failed.
//!
//! Each step is a function of its own file; here they are put in order. The context does not change, the log is written, and the
//! machine is an argument. Steps leave their results in local variables, so that a step cannot come before those that it needs.

use crate::asking::BootedMachine;
use crate::boot;
use crate::check::check;
use crate::climb::climb;
use crate::clock;
use crate::context::TrialContext;
use crate::conversation::AskError;
use crate::database_history::DatabaseHistory;
use crate::driving::{DriveOutcome, LoadSource, drive, require_whole};
use crate::error::{AttemptError, StepResult};
use crate::log::TrialLog;
use crate::recording;
use crate::running_server::{self, require_tables};
use crate::sampling;
use crate::server;
use crate::stand_by::stand_by;
use crate::task::Task;
use agent::protocol::Request;
use driver::plan::Pacing;
use engines::port::HeldPort;
use engines::server::ServerReport;
use machines::machine::{Machine, MachineError};
use platforms::capabilities::ServerUse;
use record::clock::{AFTER_DRIVING, BEFORE_DRIVING};
use record::looks::StoredCounters;
use record::phase::Phase;
use study::OfferedWork;

/// Carries out these tasks on one boot of the machine.
pub(crate) fn carry_out(context: &TrialContext<'_>, log: &mut TrialLog<'_>, tasks: &[Task]) -> StepResult {
    log.enter(Phase::Clone);
    let lease = boot::lease(context)?;
    context.await_turn()?;
    log.enter(Phase::Boot);
    let ports = boot::hold_ports(context)?;
    // It is gone before its data are.
    let mut machine = boot::start(context, log, &lease, &ports)?;
    let mut booted = BootedMachine { context: *context, machine: machine.as_mut() };
    let result = match context.can().server {
        ServerUse::Started => on_a_started_server(&mut booted, log, &ports),
        ServerUse::Running => on_a_running_server(&mut booted, log, tasks),
        ServerUse::Anywhere => on_a_server_anywhere(&mut booted, log, tasks),
    };
    end(context, log, machine, result)
}

fn on_a_started_server(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, ports: &[HeldPort]) -> StepResult {
    boot::describe(booted, log)?;
    log.enter(Phase::Start);
    let servers = server::start_all(booted, log, ports)?;
    clock::require_right(booted, log)?;
    let mut done = fresh(booted);
    let worked = driven(booted, log, (&servers, ports), &mut done).and_then(|()| checked(booted, log, &done));
    if let Err(error) = worked {
        if answers(&error) {
            server::keep_logs(booted, log);
        }
        return Err(error);
    }
    log.enter(Phase::ShutDown);
    server::stop_all(booted)?;
    server::keep_logs(booted, log);
    booted.expect_done(0, &Request::Shutdown, "shutdown")
}

/// Drops the tables that the trial loads, whatever happens.
fn on_a_running_server(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, tasks: &[Task]) -> StepResult {
    let worked = on_a_connected_server(booted, log, tasks);
    and_then_anyway(worked, || running_server::leave(booted))
}

fn on_a_connected_server(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, tasks: &[Task]) -> StepResult {
    boot::describe(booted, log)?;
    clock::require_right(booted, log)?;
    log.enter(Phase::Start);
    let servers = running_server::connect(booted, log)?;
    log.enter(Phase::Load);
    running_server::drop_listed(booted)?;
    let worked = carry_out_tasks(booted, log, &servers, tasks);
    let worked = worked.inspect(|()| log.enter(Phase::ShutDown));
    and_then_anyway(worked, || running_server::drop_listed(booted))
}

fn on_a_server_anywhere(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, tasks: &[Task]) -> StepResult {
    log.enter(Phase::Start);
    let worked = running_server::connect(booted, log).and_then(|servers| carry_out_tasks(booted, log, &servers, tasks));
    let worked = worked.inspect(|()| log.enter(Phase::ShutDown));
    and_then_anyway(worked, || running_server::leave(booted))
}

/// Cleans up after work, also after work that failed, and keeps the first error. An agent that did not answer is not asked again.
fn and_then_anyway(worked: StepResult, clean_up: impl FnOnce() -> StepResult) -> StepResult {
    match &worked {
        Ok(()) => clean_up(),
        Err(error) => {
            if answers(error) {
                let _ = clean_up();
            }
            worked
        }
    }
}

fn answers(error: &AttemptError) -> bool {
    !matches!(error, AttemptError::Ask(AskError::Link(_)))
}

/// Ends the machine and keeps its console. A machine that is not stopped is cut. Of several errors, that which explains most is
/// returned.
fn end(
    context: &TrialContext<'_>,
    log: &mut TrialLog<'_>,
    machine: Box<dyn Machine>,
    result: StepResult,
) -> StepResult {
    let mut console = String::new();
    if context.can().server != ServerUse::Anywhere {
        console = machine.console();
        log.file(|folder| folder.write("logs/console.txt", console.as_bytes()))?;
    }
    let limit = context.limits().end;
    match result {
        Ok(()) => {
            log.enter(Phase::Stop);
            Ok(machine.stop(limit)?)
        }
        Err(AttemptError::Ask(AskError::Link(error))) => {
            // The way the machine ends may show why its agent is gone.
            match if error.is_end() { machine.stop(limit) } else { Ok(()) } {
                Err(ended @ MachineError::Ended { .. }) => Err(ended.into()),
                _ => Err(AttemptError::BrokenOff { error, console }),
            }
        }
        Err(error @ AttemptError::Ask(AskError::OthersFailed)) => {
            // Nothing is wrong with this machine.
            let _ = machine.stop(limit);
            Err(error)
        }
        Err(error) => Err(error),
    }
}

fn fresh(booted: &BootedMachine<'_>) -> Vec<DatabaseHistory> {
    booted.context.databases().map(|_| DatabaseHistory::default()).collect()
}

/// Carries out tasks on a server that was there before.
fn carry_out_tasks(
    booted: &mut BootedMachine<'_>,
    log: &mut TrialLog<'_>,
    servers: &[ServerReport],
    tasks: &[Task],
) -> StepResult {
    let all = booted.context.databases();
    let mut done = fresh(booted);
    for task in tasks {
        match task {
            Task::Clean => {
                log.enter(Phase::Load);
                all.clone().try_for_each(|instance| running_server::clean(booted, log, instance))?;
            }
            Task::Load => {
                log.enter(Phase::Load);
                all.clone().try_for_each(|instance| running_server::load(booted, log, instance))?;
                for own in &mut done {
                    own.is_fresh = true;
                }
            }
            Task::Drive => {
                all.clone().try_for_each(|instance| require_tables(booted, log, instance, *task))?;
                if tasks.contains(&Task::Check) {
                    for (instance, own) in all.clone().zip(&mut done) {
                        own.state = Some(booted.state(instance)?);
                    }
                }
                driven(booted, log, (servers, &[]), &mut done)?;
            }
            Task::Check => {
                let asked = all.clone().zip(&done).filter(|(_, own)| own.why_it_hung().is_none());
                asked
                    .map(|(instance, _)| instance)
                    .try_for_each(|instance| require_tables(booted, log, instance, *task))?;
                checked(booted, log, &done)?;
            }
        }
    }
    Ok(())
}

/// Drives the measured window, after the climb to the peak if one is asked for, and records it.
fn driven(
    booted: &mut BootedMachine<'_>,
    log: &mut TrialLog<'_>,
    (servers, ports): (&[ServerReport], &[HeldPort]),
    done: &mut [DatabaseHistory],
) -> StepResult {
    let context = booted.context;
    if context.is_idle() {
        context.meet()?;
        log.enter(Phase::WarmUp);
        stand_by(&context)?;
        return Ok(context.meet()?);
    }
    let mut source = LoadSource::of(booted, log, servers, ports)?;
    let (ladder, pacing) = match context.cell.load.offered {
        OfferedWork::Peak(limits) => {
            log.enter(Phase::Climb);
            let ladder = climb(booted, log, &mut source, (servers, done), &limits)?;
            let clients = ladder.chosen;
            (Some(ladder), Pacing::Clients { clients })
        }
        offered => (None, offered.pacing().unwrap_or(Pacing::Clients { clients: 1 })),
    };
    let before = context.databases().map(|instance| booted.counters(instance)).collect::<Result<Vec<_>, _>>()?;
    context.meet()?;
    clock::read(booted, log, BEFORE_DRIVING)?;
    let sampling = sampling::start(booted, log)?;
    log.enter(Phase::WarmUp);
    let mut drove = measured(booted, log, &mut source, pacing)?;
    require_whole(booted, log, &drove.each)?;
    context.meet()?;
    if let Some(first) = drove.each.first_mut() {
        first.facts.ladder = ladder;
    }
    if let Some(sampling) = sampling {
        sampling::record(booted, log, sampling)?;
    }
    clock::read(booted, log, AFTER_DRIVING)?;
    log.record.host_state = drove.host;
    let has_stopped = drove.each.iter().any(|driven| driven.stopped);
    let results = drove.each.into_iter().zip(drove.looks).zip(before).zip(done);
    for (instance, (((mut driven, window), before), own)) in (0..).zip(results) {
        own.all.absorb(&driven.facts);
        let counters = StoredCounters { before, after: booted.counters(instance)?, window };
        let settings = booted.settings(instance)?;
        recording::record(&context, log, &source, instance, &mut driven, &counters, &settings)?;
        (own.driven, own.is_fresh) = (Some(driven), false);
    }
    if has_stopped {
        return Err(AskError::halted(context.halt).into());
    }
    if let LoadSource::Hosts(generators) = source {
        log.record.load_hosts = generators.stop(&context)?;
    }
    Ok(())
}

/// Drives the measured window, and keeps its series.
fn measured(
    booted: &mut BootedMachine<'_>,
    log: &mut TrialLog<'_>,
    source: &mut LoadSource<'_>,
    pacing: Pacing,
) -> StepResult<DriveOutcome> {
    let context = booted.context;
    let kinds: Vec<String> = context.data().workload.made.kinds().iter().map(|kind| kind.name.to_owned()).collect();
    log.databases.iter_mut().for_each(|own| own.begin_series(&kinds));
    let drove = drive(booted, log, source, &context.measured_plan(pacing));
    let series: Vec<_> = log.databases.iter_mut().map(|own| own.series.take()).collect();
    let drove = drove?;
    for (driven, series) in drove.each.iter().zip(series) {
        if let Some(series) = series {
            series?.finish(driven.unended())?;
        }
    }
    Ok(drove)
}

/// Checks the data of all databases, unless nothing was asked of them.
fn checked(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, done: &[DatabaseHistory]) -> StepResult {
    if booted.context.is_idle() {
        return Ok(());
    }
    log.enter(Phase::Check);
    (0..).zip(done).try_for_each(|(instance, own)| check(booted, log, instance, own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::protocol::Failure;
    use machines::link::LinkError;
    use std::time::Duration;

    #[test]
    fn an_agent_cleans_up_after_all_work_unless_it_is_gone() {
        let refused = || AskError::Refused(Failure { why: "wrong".to_owned(), instance: None, log: String::new() });
        let silent = || AskError::Link(LinkError::Lifeless(Duration::ZERO));
        let cases: [(Result<(), AskError>, bool, &str); 3] =
            [(Ok(()), true, "not dropped"), (Err(refused()), true, "wrong"), (Err(silent()), false, "nothing")];
        for (worked, cleans, said) in cases {
            let mut has_cleaned = false;
            let result = and_then_anyway(worked.map_err(AttemptError::from), || {
                has_cleaned = true;
                Err(AttemptError::Away("not dropped".to_owned()))
            });
            assert_eq!(has_cleaned, cleans, "{said}");
            let error = result.unwrap_err();
            assert!(!cleans || error.to_string() == said, "{error}");
        }
    }
}

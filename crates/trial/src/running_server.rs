//! Work on the tables of a server that was there before the trial.

use crate::asking::BootedMachine;
use crate::conversation::{Conversation, mismatch};
use crate::error::StepResult;
use crate::events::Heard;
use crate::halt::Halt;
use crate::log::TrialLog;
use crate::task::Task;
use crate::unfit::{Unfit, not_compared};
use agent::listed::{Reshaped, Stay, is_routine};
use agent::protocol::{Reply, Request};
use agent::tables::LoadedTables;
use engines::server::{Endpoint, ServerReport};
use machines::interrupts::Interrupts;
use platforms::capabilities::ServerUse;
use record::event::Event;
use std::time::Instant;

/// Connects to the server; returns a report for each database.
pub(crate) fn connect(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>) -> StepResult<Vec<ServerReport>> {
    let context = booted.context;
    let connect = |instance| {
        let endpoint = context.prepared.server.clone().unwrap_or_else(Endpoint::nowhere);
        match booted.ask(instance, &Request::UseServer { endpoint }, booted.context.limits().start)? {
            Reply::Started(report) => {
                log.database(instance).keep_server(context.cell, &report);
                log.hear(Heard::Server(&report));
                Ok(*report)
            }
            other => Err(mismatch("use of the server", &other).into()),
        }
    };
    context.databases().map(connect).collect()
}

/// Closes all our connections to it.
pub(crate) fn leave(booted: &mut BootedMachine<'_>) -> StepResult {
    booted.expect_done(0, &Request::Shutdown, "shutdown")
}

pub(crate) fn clean(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, instance: u16) -> StepResult {
    // A routine of the user's is in nobody's way here.
    let LoadedTables { mut foreign, .. } = booted.tables(instance, false)?;
    foreign.retain(|name| !is_routine(name));
    if !foreign.is_empty() {
        return Err(Unfit::Foreign(foreign).into());
    }
    let workload = booted.context.data().workload.chosen.clone();
    match booted.ask(instance, &Request::Clean { workload }, booted.context.limits().check)? {
        Reply::Cleaned(tables) => {
            log.hear(Heard::Cleaned(&tables));
            Ok(())
        }
        other => Err(mismatch("clean", &other).into()),
    }
}

/// Drops what trials of studies have loaded on a server that runs already. That must also be done where the user wants to stop.
pub(crate) fn drop_listed(booted: &mut BootedMachine<'_>) -> StepResult {
    let nobody = Interrupts::default();
    let (limits, halt) = (booted.context.limits(), Halt::by_user(&nobody));
    for instance in booted.context.databases() {
        let mut conversation = Conversation { link: booted.machine.link(), halt, limits, instance };
        match conversation.ask(&Request::DropListed, limits.check, &mut |_| ())? {
            Reply::Cleaned(_) => {}
            other => return Err(mismatch("drop of what was loaded", &other).into()),
        }
    }
    Ok(())
}

/// Loads the tables, unless some exist: those are not touched.
pub(crate) fn load(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, instance: u16) -> StepResult {
    let LoadedTables { present, foreign, .. } = booted.tables(instance, false)?;
    if !foreign.is_empty() {
        return Err(Unfit::Foreign(foreign).into());
    }
    if !present.is_empty() {
        return Err(Unfit::Exist(present).into());
    }
    let stay = Some(match booted.context.can().server {
        ServerUse::Running => Stay::OneTrial,
        ServerUse::Started | ServerUse::Anywhere => Stay::UntilCleaned,
    });
    let begun = Instant::now();
    let request = Request::Load {
        workload: booted.context.data().workload.chosen.clone(),
        writers: booted.context.writers,
        stay,
    };
    let limit = booted.context.limits().check;
    let reply = booted.conversation(instance).ask(&request, limit, &mut |aside| {
        if let Reply::Progress { what, done, of } = aside {
            log.tell(Event::Progress { what, done, of });
        }
    })?;
    let Reply::Loaded { rows } = reply else { return Err(mismatch("load", &reply).into()) };
    log.hear(Heard::Loaded(&rows, begun.elapsed()));
    Ok(())
}

/// Checks that the tables for this task exist, and for driving that they fit the workload's settings.
pub(crate) fn require_tables(
    booted: &mut BootedMachine<'_>,
    log: &mut TrialLog<'_>,
    instance: u16,
    task: Task,
) -> StepResult {
    let LoadedTables { missing, of_other_size, of_other_settings, lacking, mut foreign, reshaped, .. } =
        booted.tables(instance, task == Task::Drive)?;
    if !missing.is_empty() {
        return Err(Unfit::Missing { tables: missing, task }.into());
    }
    let (broken_off, changed): (Vec<_>, Vec<_>) =
        reshaped.into_iter().partition(|table| matches!(table, Reshaped::NotLoaded { .. }));
    if !broken_off.is_empty() {
        return Err(Unfit::Reshaped(broken_off).into());
    }
    if !of_other_settings.is_empty() {
        return Err(Unfit::OfOtherSettings(of_other_settings).into());
    }
    if !of_other_size.is_empty() {
        return Err(Unfit::OfOtherSize(of_other_size).into());
    }
    if !lacking.is_empty() {
        return Err(Unfit::Lacking { lacking, foreign }.into());
    }
    if !changed.is_empty() {
        return Err(Unfit::Reshaped(changed).into());
    }
    foreign.retain(|name| !is_routine(name));
    if task == Task::Drive && !foreign.is_empty() {
        let text = log.of_instance(instance, &not_compared(&foreign));
        log.tell(Event::Warning { text: text.clone() });
        log.warn(text);
    }
    Ok(())
}

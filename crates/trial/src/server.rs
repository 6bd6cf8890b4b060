//! Starts and stops the servers of a machine's databases.

use crate::asking::BootedMachine;
use crate::context::TrialContext;
use crate::conversation::mismatch;
use crate::error::StepResult;
use crate::log::TrialLog;
use agent::protocol::{Reply, Request};
use engines::port::HeldPort;
use engines::server::{ServerReport, ServerShape};
use std::net::SocketAddr;
use std::ops::Range;

/// The databases that have a server to themselves, by the first that it serves.
fn servers(context: &TrialContext<'_>) -> Range<u16> {
    0..if context.cell.written.shares_server() { 1 } else { context.cell.written.instances() }
}

/// Starts the servers; returns a report for each database.
pub(crate) fn start_all(
    booted: &mut BootedMachine<'_>,
    log: &mut TrialLog<'_>,
    ports: &[HeldPort],
) -> StepResult<Vec<ServerReport>> {
    let context = booted.context;
    let start = |instance: u16| {
        let report = if servers(&context).contains(&instance) {
            let address = booted.machine.facts().listens_on;
            let listen = ports.get(usize::from(instance)).map(|port| SocketAddr::new(address, port.number()));
            start(booted, instance, listen)
        } else {
            open_database(booted, instance)
        };
        report.inspect(|report| log.database(instance).keep_server(context.cell, report))
    };
    context.databases().map(start).collect()
}

fn start(booted: &mut BootedMachine<'_>, instance: u16, listen: Option<SocketAddr>) -> StepResult<ServerReport> {
    let cell = booted.context.cell;
    // They share the machine's memory, but each may use all of its CPUs.
    let memory_bytes = cell.machine.memory_bytes.0 / servers(&booted.context).count() as u64;
    let shape = ServerShape { vcpus: cell.machine.vcpus, memory_bytes };
    let request = Request::StartServer { engine: cell.engine.chosen.clone(), shape, listen };
    match booted.ask(instance, &request, booted.context.limits().start)? {
        Reply::Started(report) => Ok(*report),
        other => Err(mismatch("start of the server", &other).into()),
    }
}

/// Opens a further database of the first one's server.
fn open_database(booted: &mut BootedMachine<'_>, instance: u16) -> StepResult<ServerReport> {
    match booted.ask(instance, &Request::OpenDatabase, booted.context.limits().start)? {
        Reply::Opened(further) => Ok(further.report),
        other => Err(mismatch("opening of the database", &other).into()),
    }
}

pub(crate) fn stop_all(booted: &mut BootedMachine<'_>) -> StepResult {
    servers(&booted.context)
        .try_for_each(|instance| booted.expect_done(instance, &Request::StopServer, "stop of the server"))
}

/// The servers' logs are worth having, but a trial does not fail without them.
pub(crate) fn keep_logs(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>) {
    for instance in servers(&booted.context) {
        let reply = booted.ask(instance, &Request::ServerLog, booted.context.limits().end);
        let is_kept = match reply {
            Ok(Reply::ServerLog(text)) => {
                log.database(instance).file(|folder| folder.write("logs/server.txt", text.as_bytes())).is_ok()
            }
            _ => false,
        };
        if !is_kept {
            log.warn(log.of_instance(instance, "the server's log could not be saved"));
        }
    }
}

//! From the loaded data to a machine that answers.

use crate::asking::BootedMachine;
use crate::clock;
use crate::context::TrialContext;
use crate::conversation::mismatch;
use crate::error::{AttemptError, StepResult};
use crate::load_hosts::our_address;
use crate::log::TrialLog;
use crate::places::places;
use agent::protocol::{Reply, Request};
use engines::port::HeldPort;
use machines::machine::{Machine, MachineError};
use platforms::lease::{Lease, LeaseOrder};
use platforms::order::{MachineOrder, Mounting, Reached};
use platforms::placement::Place;
use record::facts::{Fact, START_ORDER};
use record::trial::MachineFacts;
use std::net::IpAddr;
use std::path::Path;
use study::Placement;

/// Copies the loaded data for this machine.
pub(crate) fn lease(context: &TrialContext<'_>) -> StepResult<Lease> {
    let device = context.cell.machine.disk.device.as_deref().map(Path::new);
    let order = LeaseOrder { loaded: &context.data().loaded, device, scratch: context.scratch };
    Ok(context.prepared.platform.lease(&order)?)
}

/// The ports of servers that we start and that are reached from outside, in the order of the databases; else empty.
pub(crate) fn hold_ports(context: &TrialContext<'_>) -> StepResult<Vec<HeldPort>> {
    let cell = context.cell;
    if cell.load.placement != Placement::Outside || !context.can().starts_server() {
        return Ok(Vec::new());
    }
    let servers = if cell.written.shares_server() { 1 } else { cell.written.instances() };
    (0..servers).map(|_| HeldPort::of_loopback().map_err(AttemptError::Port)).collect()
}

pub(crate) fn start(
    context: &TrialContext<'_>,
    log: &mut TrialLog<'_>,
    lease: &Lease,
    ports: &[HeldPort],
) -> StepResult<Box<dyn Machine>> {
    let TrialContext { cell, site, prepared, .. } = *context;
    let order = MachineOrder {
        name: context.name(),
        vcpus: cell.machine.vcpus,
        memory_bytes: cell.machine.memory_bytes.0,
        place: place(context)?,
        cpu_quota: context.exception().and_then(|exception| exception.cpu_quota),
        image: prepared.image.clone(),
        agent: site.agent.clone(),
        data: lease.data().clone(),
        scratch: context.scratch.to_owned(),
        cache: site.cache.clone(),
        mounting: Mounting { must: false, tuning: cell.machine.disk.tuning() },
        reached: Reached { address: address(context)?, ports: ports.iter().map(HeldPort::number).collect() },
    };
    let machine = prepared.platform.start(&order, &|| context.pass_turn())?;
    log.boots += 1;
    let mut decided: record::facts::Facts =
        machine.facts().decided.iter().map(|(name, decided)| (name.clone(), fact(decided))).collect();
    decided.extend(position(context, log.boots).map(|position| (START_ORDER.to_owned(), position)));
    log.record.machine = Some(MachineFacts {
        platform: cell.platform_kind().to_owned(),
        command_line: machine.facts().command_line.clone(),
        image: order.image.as_ref().map(|image| format!("{} {}", image.name, image.id)).unwrap_or_default(),
        decided,
        ..MachineFacts::default()
    });
    Ok(machine)
}

/// The address of this host at which load reaches servers on it. A machine on another host has its own.
fn address(context: &TrialContext<'_>) -> Result<IpAddr, MachineError> {
    if context.is_elsewhere() { Ok(Reached::default().address) } else { our_address(&context.prepared.load_hosts) }
}

/// This machine's place among the trial's places. Where no server is started, or on another host, any place will do.
fn place(context: &TrialContext<'_>) -> Result<Place, MachineError> {
    let TrialContext { cell, site, planned, number, .. } = *context;
    if !context.can().starts_server() || context.is_elsewhere() {
        return Ok(Place::anywhere_on(&site.cpus));
    }
    Ok(places(cell, site, planned.block)?.swap_remove(number as usize - 1))
}

/// When this machine was started among the others.
fn position(context: &TrialContext<'_>, boots: u32) -> Option<Fact> {
    let turn = context.turn?;
    Some(if boots > 1 {
        Fact::unavailable("it was booted again after the others had been started")
    } else {
        Fact::known(turn.position().to_string())
    })
}

fn fact(decided: &Result<String, String>) -> Fact {
    match decided {
        Ok(text) => Fact::known(text),
        Err(why) => Fact::unavailable(why),
    }
}

/// Records what the machine sees of itself.
pub(crate) fn describe(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>) -> StepResult {
    clock::read(booted, log, "after boot")?;
    match booted.ask(0, &Request::Describe, booted.context.limits().start)? {
        Reply::Description(inside) => {
            if let Some(facts) = &mut log.record.machine {
                facts.inside = inside;
            }
            Ok(())
        }
        other => Err(mismatch("describe", &other).into()),
    }
}

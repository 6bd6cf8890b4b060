//! Drives the databases of a machine: from its agent, from this process, or from other hosts.

use crate::asking::BootedMachine;
use crate::context::TrialContext;
use crate::conversation::{AskError, mismatch};
use crate::error::{AttemptError, StepResult};
use crate::events::Heard;
use crate::from_hosts;
use crate::generators::{Generators, boot_of};
use crate::live::LiveDriving;
use crate::log::TrialLog;
use crate::validity;
use agent::looks::LookWatch;
use agent::protocol::{Reply, Request};
use driver::instances;
use driver::plan::{Control, DrivePlan, Driven, LoadPhase, PhaseLimit, SeenProgress};
use engines::port::HeldPort;
use engines::server::{Endpoint, ServerReport};
use machines::identity::boot_id;
use machines::link::AgentLink;
use platforms::capabilities::ServerUse;
use record::host_state::HostState;
use record::looks::Looks;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use study::Placement;

/// How far from its ends a measured window is surely quiet. A message about a second comes right after it.
const WINDOW_EDGE_MS: u64 = 400;
/// How often to check whether driving from here must be given up.
const LOOK_UP: Duration = Duration::from_millis(100);

/// Where the load of a machine comes from.
pub(crate) enum LoadSource<'a> {
    /// Its agent.
    Inside,
    /// This process, to these addresses of the databases.
    Here(Vec<Endpoint>),
    /// Other hosts, which know the addresses.
    Hosts(Generators<'a>),
}

impl<'a> LoadSource<'a> {
    /// Starts the load hosts, if load comes from any.
    pub fn of(
        booted: &BootedMachine<'a>,
        log: &mut TrialLog<'_>,
        servers: &[ServerReport],
        ports: &[HeldPort],
    ) -> StepResult<Self> {
        let context = &booted.context;
        if !context.executes() || context.cell.load.placement == Placement::Inside {
            return Ok(Self::Inside);
        }
        let reached = servers.iter().enumerate().map(|(place, server)| reached(booted, server, ports, place));
        let endpoints = reached.collect::<Result<Vec<_>, _>>()?;
        if context.prepared.load_hosts.is_empty() {
            return Ok(Self::Here(endpoints));
        }
        Generators::start(context, log, &endpoints).map(Self::Hosts)
    }

    /// How many programs share the clients.
    pub fn generators(&self) -> usize {
        match self {
            Self::Inside | Self::Here(_) => 1,
            Self::Hosts(generators) => generators.each.len(),
        }
    }
}

/// A server's address for sessions from outside of its machine.
fn reached(
    booted: &BootedMachine<'_>,
    server: &ServerReport,
    ports: &[HeldPort],
    place: usize,
) -> StepResult<Endpoint> {
    let endpoint = server.endpoint.clone();
    let port = match booted.context.can().server {
        // Databases of one server have one port.
        ServerUse::Started => ports.get(place).or(ports.first()).map(HeldPort::number),
        // Its address is as its own host reaches it.
        ServerUse::Running if endpoint.is_served_here() => endpoint.port(),
        ServerUse::Running | ServerUse::Anywhere => return Ok(endpoint),
    };
    let address = port.and_then(|port| booted.machine.reached_at(port));
    Ok(endpoint.reached_at(address.ok_or(AttemptError::NoWayIn)?))
}

/// The outcome of driving all databases of a machine, in their order.
pub(crate) struct DriveOutcome {
    pub each: Vec<Driven>,
    /// Counters over the measured window.
    pub looks: Vec<Option<Looks>>,
    pub host: Option<HostState>,
}

/// Drives all databases, each by its share of this plan.
pub(crate) fn drive(
    booted: &mut BootedMachine<'_>,
    log: &mut TrialLog<'_>,
    source: &mut LoadSource<'_>,
    plan: &DrivePlan,
) -> StepResult<DriveOutcome> {
    let context = booted.context;
    let share = |instance| instances::share_of(plan, instance, context.cell.written.instances());
    let plans = context.databases().map(share).collect::<Vec<_>>();
    let of_database = boot_of_database(&context, log);
    let mut live = LiveDriving::of(context, log, plan);
    let driven = match source {
        LoadSource::Inside => drive_inside(&mut live, booted, plans),
        LoadSource::Here(endpoints) => {
            let databases: Vec<_> = endpoints.iter().cloned().zip(plans).collect();
            drive_here(&mut live, booted, &databases).map_err(|error| why_dead(booted).unwrap_or(error))
        }
        LoadSource::Hosts(generators) => {
            from_hosts::drive(&mut live, booted, generators, &plans, of_database.as_deref())
                .map_err(|error| why_dead(booted).unwrap_or(error))
        }
    };
    let (looks, host) = live.end();
    Ok(DriveOutcome { each: driven?, looks, host })
}

/// The kernel whose CPUs the database gets, as far as that is known. A guest on this host gets those of this host.
pub(crate) fn boot_of_database(context: &TrialContext<'_>, log: &TrialLog<'_>) -> Option<String> {
    match context.can().server {
        ServerUse::Started if !context.is_elsewhere() => boot_id().ok(),
        ServerUse::Started | ServerUse::Running => boot_of(&log.record.machine.as_ref()?.inside).map(str::to_owned),
        ServerUse::Anywhere => {
            let server = context.prepared.server.as_ref()?;
            server.is_served_here().then(boot_id)?.ok()
        }
    }
}

/// The agent's error, if one of its servers has died: that explains a failed drive better than the drive's own error does.
fn why_dead(booted: &mut BootedMachine<'_>) -> Option<AttemptError> {
    booted.context.databases().find_map(|instance| booted.counters(instance).err())
}

/// When a far machine says nothing, counted from its start: in the measured window, but for the message that begins it. `None` for
/// work whose length is not known before.
fn quiet(plan: &DrivePlan) -> Option<(Duration, Duration)> {
    let [LoadPhase { until: PhaseLimit::Time { .. }, .. }] = &plan.phases[..] else { return None };
    let window = plan.window_ms();
    let length = (window.end - window.start).checked_sub(2 * WINDOW_EDGE_MS)?;
    Some((Duration::from_millis(window.start + WINDOW_EDGE_MS), Duration::from_millis(length)))
}

fn drive_inside(
    live: &mut LiveDriving<'_, '_>,
    booted: &mut BootedMachine<'_>,
    plans: Vec<DrivePlan>,
) -> StepResult<Vec<Driven>> {
    let context = live.context;
    let (databases, quiet) = (plans.len(), plans.first().filter(|_| context.is_elsewhere()).and_then(quiet));
    let request = Request::Drive { workload: context.data().workload.chosen.clone(), plans };
    let limits = context.limits();
    let silence = limits.driving + context.start_delay();
    let mut hear = |instance, aside, link: &mut AgentLink| {
        match aside {
            Reply::Ready => {
                start_with_others(live, link)?;
                if let Some((after, length)) = quiet {
                    link.hold(after, length)?;
                }
            }
            Reply::Tick(tick) => live.tick(&tick),
            Reply::Interval(interval) => live.keep(instance, &interval),
            Reply::Looks(looks) => live.keep_looks(instance, Some(*looks)),
            _ => {}
        }
        Ok(())
    };
    match booted.conversation(0).ask_and_answer(&request, limits.opening, silence, &mut hear)? {
        Reply::Driven(driven) if driven.len() == databases => Ok(driven),
        other => Err(mismatch("drive", &other).into()),
    }
}

/// Sends the agent inside its start: the common start of all machines, by its own clock.
fn start_with_others(live: &mut LiveDriving<'_, '_>, link: &mut AgentLink) -> Result<(), AskError> {
    if live.context.is_alone() {
        return Ok(());
    }
    let at_ns = live.meet_for_start(0)?.saturating_add_signed(live.log.clock_offset_ns());
    Ok(link.add(&Request::StartDriving { at_ns })?)
}

fn drive_here(
    live: &mut LiveDriving<'_, '_>,
    booted: &mut BootedMachine<'_>,
    databases: &[(Endpoint, DrivePlan)],
) -> StepResult<Vec<Driven>> {
    let workload = &live.context.data().workload.made;
    let (control, halt) = (Control::default(), live.context.halt);
    let mut watches: Vec<LookWatch> = databases.iter().map(|(_, plan)| LookWatch::over(plan)).collect();
    let is_together = databases.iter().any(|(_, plan)| plan.together.is_some());
    let mut see = |instance, seen| match seen {
        SeenProgress::Ready if is_together => match live.meet_for_start(0) {
            Ok(start_ns) => control.start_at(start_ns),
            Err(_) => control.stop(),
        },
        SeenProgress::Tick(tick) => live.look_and_tick(booted, &mut watches, &tick),
        SeenProgress::Second(second) => {
            live.keep(instance, &second.interval);
            live.log.hear(Heard::Second(second));
        }
        SeenProgress::Ready | SeenProgress::Receipts(_) => {}
    };
    let driven = thread::scope(|scope| {
        let (over, is_over) = channel::<()>();
        let control = &control;
        // Opening sessions may take long, and nothing is reported meanwhile, so a thread checks for interrupts.
        scope.spawn(move || {
            while is_over.recv_timeout(LOOK_UP) == Err(RecvTimeoutError::Timeout) {
                if halt.now() {
                    control.stop();
                }
            }
        });
        let driven = instances::drive_all(&**workload, databases, control, &mut see);
        drop(over);
        driven
    });
    if halt.is_for_others() || (driven.is_err() && halt.now()) {
        return Err(AskError::halted(halt).into());
    }
    let driven = driven?;
    for (instance, watch) in (0..).zip(watches) {
        live.keep_looks(instance, watch.looks());
    }
    Ok(driven)
}

/// Fails if a database broke off or a phase was cut off. What was seen until then is kept beside the reason. If our server died, that
/// explains it better than the driver can. A server that we did not start passes, since it may be back when it is asked next.
pub(crate) fn require_whole(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, driven: &[Driven]) -> StepResult {
    if !booted.context.can().starts_server() {
        return Ok(());
    }
    for (instance, driven) in (0..).zip(driven) {
        let too_long = || validity::why_a_phase_is_too_long(&driven.facts);
        if let Some(why) = driven.broke_off.clone().or_else(too_long) {
            log.database(instance).driver = Some(driven.facts.clone());
            booted.counters(instance)?;
            return Err(AttemptError::Away(log.of_instance(instance, &why)));
        }
    }
    Ok(())
}

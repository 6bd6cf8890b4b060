//! Drives one trial, from the machine's agent or from this process: events meanwhile, and what is recorded afterwards.

use crate::attempt::Running;
use crate::conversation::{AskError, Conversation, mismatch};
use crate::course::{OwnWork, left};
use crate::error::AttemptError;
use crate::existing::Heard;
use crate::generators::boot_of;
use crate::host_watch::HostWatch;
use crate::instances::Instance;
use crate::together::{gravity, throughput};
use crate::validity::{self, Invalid};
use agent::looks::{Edge, LookWatch};
use agent::protocol::{Reply, Request};
use driver::instances;
use driver::plan::{Control, DrivePlan, Driven, Seen, Tick, Until};
use engines::port::HeldPort;
use engines::server::{Counters, Endpoint, ServerReport};
use machines::clock::monotonic_ns;
use machines::identity::boot_id;
use machines::link::AgentLink;
use machines::machine::Machine;
use platforms::capabilities::{Capabilities, ImageUse, ServerUse};
use record::intervals::Interval;
use record::looks::{Look, Looks, StoredCounters};
use record::phase::Phase;
use record::trial::{MachineFacts, Outcome};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use study::Placement;

/// Time from when the sessions of all machines are open to their common start. Agents must be told the start by then.
const START_LEAD_NS: u64 = 300_000_000;
/// Before later phases, machines that were done early end what kept their databases busy, which takes about a second.
const LATER_START_LEAD_NS: u64 = 2_000_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// How far from its ends a measured window is surely quiet. A message about a second comes right after it.
const WINDOW_EDGE_MS: u64 = 400;
/// How often to check whether driving from here must be given up.
const LOOK_UP: Duration = Duration::from_millis(100);

/// When a far machine says nothing, counted from its start: in the measured window, but for the message that begins it. `None` for
/// work whose length is not known before.
fn quiet(plan: &DrivePlan) -> Option<(Duration, Duration)> {
    let [driver::plan::Phase { until: Until::Time { .. }, .. }] = &plan.phases[..] else { return None };
    let window = plan.window_ms();
    let length = (window.end - window.start).checked_sub(2 * WINDOW_EDGE_MS)?;
    Some((Duration::from_millis(window.start + WINDOW_EDGE_MS), Duration::from_millis(length)))
}

impl Running<'_> {
    pub(crate) fn drive(
        &mut self,
        machine: &mut dyn Machine,
        databases: &[OwnWork],
        plan: &DrivePlan,
    ) -> Result<Vec<Driven>, AttemptError> {
        self.instances.iter_mut().for_each(|own| own.looks = None);
        self.began_ns.set(None);
        let of = self.instance_count();
        let plans = (0..of).map(|instance| instances::share_of(plan, instance, of)).collect::<Vec<_>>();
        // The host is the same for all machines of a trial.
        self.host = if self.leads() && self.executes() { HostWatch::over(plan) } else { HostWatch::default() };
        let placement = self.attempt.cell.load.placement;
        match if self.executes() { placement } else { Placement::Inside } {
            Placement::Inside => self.drive_inside(machine, plans),
            Placement::Outside => {
                let driven = if self.generators.is_empty() {
                    let databases: Vec<_> = self.endpoints(machine, databases)?.into_iter().zip(plans).collect();
                    self.drive_outside(machine, &databases)
                } else {
                    self.drive_from_hosts(machine, &plans)
                };
                // A server that died explains a failed drive better than the drive's own error does.
                driven.map_err(|error| self.why_dead(machine).unwrap_or(error))
            }
        }
    }

    /// The kernel whose CPUs the database gets, as far as that is known. A guest on this host gets those of this host.
    pub(crate) fn boot_of_database(&self) -> Option<String> {
        match self.can().server {
            ServerUse::Started if !self.is_elsewhere() => boot_id().ok(),
            ServerUse::Started | ServerUse::Running => {
                boot_of(&self.record.machine.as_ref()?.inside).map(str::to_owned)
            }
            ServerUse::Anywhere => {
                let server = self.attempt.prepared.server.as_ref()?;
                server.is_served_here().then(boot_id)?.ok()
            }
        }
    }

    /// The addresses of all databases for sessions from outside.
    pub(crate) fn endpoints(
        &self,
        machine: &dyn Machine,
        databases: &[OwnWork],
    ) -> Result<Vec<Endpoint>, AttemptError> {
        let servers = self.instances.iter().zip(databases);
        servers.map(|(own, work)| self.reached(machine, own, left(work.server.as_ref()))).collect()
    }

    /// The server's address for sessions from this process.
    fn reached(&self, machine: &dyn Machine, own: &Instance, server: &ServerReport) -> Result<Endpoint, AttemptError> {
        let endpoint = server.endpoint.clone();
        let port = match self.can().server {
            ServerUse::Started if self.attempt.cell.shares_server => {
                self.instances[0].port.as_ref().map(HeldPort::number)
            }
            ServerUse::Started => own.port.as_ref().map(HeldPort::number),
            // Its address is as its own host reaches it.
            ServerUse::Running if endpoint.is_served_here() => endpoint.port(),
            ServerUse::Running | ServerUse::Anywhere => return Ok(endpoint),
        };
        let address = port.and_then(|port| machine.reached_at(port));
        Ok(endpoint.reached_at(address.ok_or(AttemptError::NoWayIn)?))
    }

    /// The agent's error, if one of its servers has died.
    fn why_dead(&mut self, machine: &mut dyn Machine) -> Option<AttemptError> {
        let mut died = None;
        for instance in 0..self.instance_count() {
            self.instance = instance;
            died = died.or_else(|| self.counters(machine).err());
        }
        self.instance = 0;
        died
    }

    fn drive_inside(&mut self, machine: &mut dyn Machine, plans: Vec<DrivePlan>) -> Result<Vec<Driven>, AttemptError> {
        let quiet = plans.first().filter(|_| self.is_elsewhere()).and_then(quiet);
        let request = Request::Drive { workload: self.data().chosen.clone(), plans };
        let halt = self.attempt.halt;
        let limits = self.attempt.site.limits;
        let silence = limits.driving + self.start_delay();
        let mut hear = |instance, aside, link: &mut AgentLink| {
            match aside {
                Reply::Ready => {
                    self.start_with_others(link)?;
                    if let Some((after, length)) = quiet {
                        link.hold(after, length)?;
                    }
                }
                Reply::Tick(tick) => self.tick(tick),
                Reply::Interval(interval) => self.keep(instance, &interval),
                Reply::Looks(looks) => self.keep_looks(instance, Some(*looks)),
                _ => {}
            }
            Ok(())
        };
        let mut conversation = Conversation { link: machine.link(), halt, limits: &limits, instance: 0 };
        let reply = conversation.ask_and_answer(&request, limits.opening, silence, &mut hear)?;
        match reply {
            Reply::Driven(driven) if driven.len() == self.instances.len() => Ok(driven),
            other => Err(mismatch("drive", &other).into()),
        }
    }

    /// Fails if the database went away meanwhile, or if a phase was cut off: then nothing was measured. What was seen
    /// until then is kept beside the reason. If our server died, that explains it better than the driver can. A server
    /// that we did not start passes, since it may be back when it is asked next.
    pub(crate) fn require_whole(&mut self, machine: &mut dyn Machine, driven: &Driven) -> Result<(), AttemptError> {
        let too_long = || validity::why_a_phase_is_too_long(&driven.facts);
        let why = driven.broke_off.clone().or_else(too_long).filter(|_| self.can().starts_server());
        let Some(why) = why else { return Ok(()) };
        self.own().driver = Some(driven.facts.clone());
        self.counters(machine)?;
        Err(AttemptError::Away(self.of_instance(&why)))
    }

    /// Begins the files into which the measured driving is written, second by second.
    pub(crate) fn begin_series(&mut self) {
        let kinds: Vec<String> = self.data().workload.kinds().iter().map(|kind| kind.name.to_owned()).collect();
        self.instances.iter_mut().for_each(|own| own.begin_series(&kinds));
    }

    pub(crate) fn keep(&mut self, instance: u16, second: &Interval) {
        let Some(own) = self.instances.get_mut(usize::from(instance)) else { return };
        if let Some(Ok(series)) = &mut own.series
            && let Err(error) = series.second(second)
        {
            own.series = Some(Err(error));
        }
    }

    pub(crate) fn keep_looks(&mut self, instance: u16, looks: Option<Looks>) {
        if let Some(own) = self.instances.get_mut(usize::from(instance)) {
            own.looks = looks;
        }
    }

    /// Tells the agent inside when to start: the common start of all machines, by its own clock.
    fn start_with_others(&self, link: &mut AgentLink) -> Result<(), AskError> {
        if self.attempt.halt.others.is_none() {
            return Ok(());
        }
        let start_ns = self.meet_for_start(0)? + in_nanos(self.start_delay());
        let clock = self.record.machine.as_ref().and_then(|machine| machine.clock.last());
        let offset_ns = clock.map_or(0, |reading| reading.offset_ns);
        Ok(link.add(&Request::StartDriving { at_ns: start_ns.saturating_add_signed(offset_ns) })?)
    }

    /// Waits until all machines can start; returns their common start by the host's clock, at least so far away. Further
    /// phases begin whole seconds after the first, so that the seconds of all machines coincide.
    pub(crate) fn meet_for_start(&self, lead_ns: u64) -> Result<u64, AskError> {
        let began_ns = self.began_ns.get();
        let start_ns = self.meet_with(|| {
            let usual_ns = if began_ns.is_some() { LATER_START_LEAD_NS } else { START_LEAD_NS };
            let lead_ns = usual_ns.max(lead_ns);
            let soonest_ns = monotonic_ns() + lead_ns;
            began_ns.map_or(soonest_ns, |began_ns| next_on_grid(began_ns, soonest_ns))
        })?;
        self.began_ns.set(Some(began_ns.unwrap_or(start_ns)));
        Ok(start_ns)
    }

    fn drive_outside(
        &mut self,
        machine: &mut dyn Machine,
        databases: &[(Endpoint, DrivePlan)],
    ) -> Result<Vec<Driven>, AttemptError> {
        let workload = Arc::clone(&self.data().workload);
        let (control, halt) = (Control::default(), self.attempt.halt);
        let mut watches: Vec<LookWatch> = databases.iter().map(|(_, plan)| LookWatch::over(plan)).collect();
        let is_together = databases.iter().any(|(_, plan)| plan.together.is_some());
        let mut see = |instance, seen| match seen {
            Seen::Ready if is_together => match self.meet_for_start(0) {
                Ok(start_ns) => control.start_at(start_ns + in_nanos(self.start_delay())),
                Err(_) => control.stop(),
            },
            Seen::Tick(tick) => self.look_and_tick(machine, &mut watches, tick),
            Seen::Second(second) => {
                self.keep(instance, &second.interval);
                self.hear(Heard::Second(second));
            }
            Seen::Ready | Seen::Receipts(_) => {}
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
            let driven = instances::drive_all(&*workload, databases, control, &mut see);
            drop(over);
            driven
        });
        if halt.is_for_others() || (driven.is_err() && halt.now()) {
            return Err(AskError::halted(halt).into());
        }
        let driven = driven?;
        for (instance, watch) in (0..).zip(watches) {
            self.keep_looks(instance, watch.looks());
        }
        Ok(driven)
    }

    /// A second of driving from outside is over.
    pub(crate) fn look_and_tick(&mut self, machine: &mut dyn Machine, watches: &mut [LookWatch], tick: Tick) {
        for (instance, watch) in (0..).zip(watches) {
            watch.tick(&tick, &mut |edge| self.look(machine, instance, edge));
        }
        self.tick(tick);
    }

    /// A look that fails costs its figures, not the trial. If the cause matters, it will show again.
    fn look(&mut self, machine: &mut dyn Machine, instance: u16, edge: Edge) -> Option<Look> {
        self.instance = instance;
        let reply = self.ask(machine, &Request::Look { edge }, self.limits().start);
        self.instance = 0;
        match reply {
            Ok(Reply::Look(look)) => Some(*look),
            Ok(_) | Err(_) => None,
        }
    }

    fn tick(&mut self, tick: Tick) {
        // Relative to the common start of all machines.
        let elapsed_ms = tick.elapsed_ms + in_millis(self.start_delay());
        if elapsed_ms >= self.attempt.cell.load.warmup_ms.0 && self.phase == Phase::WarmUp {
            self.enter(Phase::Measure);
        }
        if !self.is_elsewhere() {
            self.host.tick(&tick, self.attempt.site.read_host);
        }
        (self.attempt.tell)(throughput(self.attempt.planned.id, Tick { elapsed_ms, ..tick }));
    }

    pub(crate) fn record_driving(
        &mut self,
        driven: &mut Driven,
        (before, after): (&Counters, &Counters),
        settings: &BTreeMap<String, String>,
    ) -> Result<(), AttemptError> {
        let machine = self.record.machine.as_ref();
        let (is_limited, is_guest) =
            (machine.is_some_and(MachineFacts::has_a_cpu_quota), machine.is_some_and(MachineFacts::is_a_guest));
        let (Capabilities { server, image, .. }, of_database) = (self.can(), self.boot_of_database());
        let facts = &mut driven.facts;
        // An engine in the driver's process has no outside placement.
        let placement = if facts.in_process { Placement::Inside } else { self.attempt.cell.load.placement };
        placement_name(placement).clone_into(&mut facts.placement);
        if let Some(delay) = facts.testimony.run_delay.as_mut().filter(|_| self.generators.is_empty()) {
            let here = || of_database.zip(boot_id().ok()).map(|(database, here)| database == here);
            let is_inside = placement == Placement::Inside && (facts.in_process || server != ServerUse::Anywhere);
            delay.beside_database = if is_inside { Some(true) } else { here() };
        }
        if placement == Placement::Inside {
            let stalls = &mut facts.testimony.stalls;
            if is_limited {
                // The limit holds for the load beside the database, too.
                stalls.scattered_ms = 0;
            }
            // Nothing inside a guest shows what holds the guest back, and a container does not know its group from those around it.
            let shows = !is_guest && (!is_limited || image == ImageUse::None);
            stalls.throttled_ms = stalls.throttled_ms.filter(|_| shows);
            stalls.without_waits &= shows;
        }
        if !driven.log.is_empty() {
            self.current().file(|folder| folder.write("logs/deferred.csv", driven.log.as_bytes()))?;
        }
        let window = self.own().looks.take();
        let counters = StoredCounters { before: before.clone(), after: after.clone(), window };
        self.current().file(|folder| folder.write_json("counters.json", &counters))?;
        let warnings = validity::warnings(&driven.facts, &driven.seconds);
        let of_instance: Vec<String> = warnings.iter().map(|warning| self.of_instance(warning)).collect();
        self.record.warnings.extend(of_instance);
        let clock = self.record.machine.as_ref().map_or(&[][..], |machine| &machine.clock);
        let of_load_host = self.why_a_load_host_is_wrong().filter(|_| driven.broke_off.is_none() && !driven.stopped);
        let of_load_host = of_load_host.map(|why| Invalid { why, by_failures: false });
        let changed =
            self.current().server.as_ref().and_then(|server| validity::why_changed(&server.effective, settings));
        let of_server = changed.map(|why| Invalid { why, by_failures: false });
        // Whoever changed a setting can do something about it, and it may be the cause of all else.
        let invalid = of_server.or(of_load_host).or_else(|| validity::why_not(clock, driven));
        let outcome = |said: &dyn Fn(&str) -> String| match (&driven.broke_off, &invalid) {
            (Some(why), _) => Outcome::Failed { phase: self.phase.to_string(), why: said(why) },
            (None, Some(invalid)) => Outcome::Invalid { why: said(&invalid.why) },
            (None, None) => Outcome::Completed,
        };
        let (of_machine, of_instance) = (outcome(&|why| self.of_instance(why)), outcome(&str::to_owned));
        if self.instance == 0 || gravity(&of_machine) > gravity(&self.record.outcome) {
            self.record.outcome = of_machine;
        }
        if self.instance == 0 {
            self.record.host_state = std::mem::take(&mut self.host).state();
        }
        let own = self.own();
        (own.outcome, own.driver) = (of_instance, Some(driven.facts.clone()));
        let (looks, invalid) = (counters.window.as_ref(), invalid.as_ref());
        self.hear(Heard::Driven { driven, looks, warnings: &warnings, invalid });
        Ok(())
    }

    /// True if the engine runs inside the driver.
    pub(crate) fn in_process(&self) -> bool {
        let engine = engines::catalog::entry(&self.attempt.cell.engine.kind);
        engine.is_some_and(|engine| !engine.remote)
    }
}

/// The first whole second after `began_ns` that is not before `soonest_ns`.
fn next_on_grid(began_ns: u64, soonest_ns: u64) -> u64 {
    began_ns + soonest_ns.saturating_sub(began_ns).next_multiple_of(NANOS_PER_SECOND)
}

pub(crate) fn in_nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn in_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn placement_name(placement: Placement) -> &'static str {
    match placement {
        Placement::Inside => "inside",
        Placement::Outside => "outside",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_phases_begin_whole_seconds_after_the_first() {
        assert_eq!(next_on_grid(300, 300), 300);
        assert_eq!(next_on_grid(300, 301), NANOS_PER_SECOND + 300);
        assert_eq!(next_on_grid(300, 7 * NANOS_PER_SECOND + 300), 7 * NANOS_PER_SECOND + 300);
    }
}

//! The driving of one trial: from the machine's agent or from here, what is told while it goes on, and what is kept of it.

use crate::attempt::Running;
use crate::conversation::{AskError, Conversation, mismatch};
use crate::error::AttemptError;
use crate::existing::Heard;
use crate::host_watch::HostWatch;
use crate::validity;
use agent::looks::LookWatch;
use agent::protocol::{Reply, Request};
use driver::plan::{Control, DrivePlan, Driven, Seen, Tick};
use engines::server::{Counters, Endpoint, ServerReport};
use machines::clock::monotonic_ns;
use machines::link::AgentLink;
use machines::machine::Machine;
use record::event::Event;
use record::intervals::Interval;
use record::looks::{Look, StoredCounters};
use record::phase::Phase;
use record::trial::Outcome;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use study::Placement;

/// From the moment that the sessions of all machines are open to their common start: agents must have been told by then.
const START_LEAD_NS: u64 = 300_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// How often it is looked whether driving from here is to be given up.
const LOOK_UP: Duration = Duration::from_millis(100);

impl Running<'_> {
    pub(crate) fn drive(
        &mut self,
        machine: &mut dyn Machine,
        server: &ServerReport,
        plan: DrivePlan,
    ) -> Result<Driven, AttemptError> {
        self.looks = None;
        self.began_ns.set(None);
        // The host is the same for all machines of a trial.
        self.host = if self.leads() && self.executes() { HostWatch::over(&plan) } else { HostWatch::default() };
        let placement = self.attempt.cell.load.placement;
        match if self.executes() { placement } else { Placement::Inside } {
            Placement::Inside => self.drive_inside(machine, plan),
            Placement::Outside => {
                let endpoint = self.reached(machine, server)?;
                // A server that died explains a failed drive better than the drive's own error does.
                let driven = self.drive_outside(machine, &endpoint, &plan);
                driven.map_err(|error| self.counters(machine).err().unwrap_or(error))
            }
        }
    }

    /// Where the server is for sessions from here.
    fn reached(&self, machine: &dyn Machine, server: &ServerReport) -> Result<Endpoint, AttemptError> {
        let endpoint = server.endpoint.clone();
        if !self.can().starts_server {
            return Ok(endpoint);
        }
        Ok(endpoint.reached_at(machine.address().ok_or(AttemptError::NoWayIn)?))
    }

    fn drive_inside(&mut self, machine: &mut dyn Machine, plan: DrivePlan) -> Result<Driven, AttemptError> {
        let request = Request::Drive { workload: self.data().chosen.clone(), plan };
        let halt = self.attempt.halt;
        let limits = self.attempt.site.limits;
        let silence = limits.driving + self.start_delay();
        let mut hear = |aside, link: &mut AgentLink| {
            match aside {
                Reply::Ready => self.start_with_others(link)?,
                Reply::Tick(tick) => self.tick(tick),
                Reply::Interval(interval) => self.keep(&interval),
                Reply::Looks(looks) => self.looks = Some(*looks),
                _ => {}
            }
            Ok(())
        };
        let mut conversation = Conversation { link: machine.link(), halt, limits: &limits };
        let reply = conversation.ask_and_answer(&request, limits.opening, silence, &mut hear)?;
        let Reply::Driven(driven) = reply else { return Err(mismatch("drive", &reply).into()) };
        Ok(*driven)
    }

    /// A database that went away in between was not measured, nor one that never came to the end of a phase; what was seen
    /// until then is kept beside the reason. A server that died explains it better than the driver can. Somebody else's may be
    /// back when it is asked next.
    pub(crate) fn require_whole(&mut self, machine: &mut dyn Machine, driven: &Driven) -> Result<(), AttemptError> {
        let too_long = || validity::why_a_phase_is_too_long(&driven.facts);
        let why = driven.broke_off.clone().or_else(too_long).filter(|_| self.can().starts_server);
        let Some(why) = why else { return Ok(()) };
        self.record.driver = Some(driven.facts.clone());
        self.counters(machine)?;
        Err(AttemptError::Away(why))
    }

    /// From now on what is driven is written down, second by second.
    pub(crate) fn begin_series(&mut self) {
        let kinds = self.data().workload.kinds().iter().map(|kind| kind.name.to_owned()).collect();
        self.series = self.attempt.folder.as_ref().map(|folder| folder.intervals(kinds));
    }

    fn keep(&mut self, second: &Interval) {
        if let Some(Ok(series)) = &mut self.series
            && let Err(error) = series.second(second)
        {
            self.series = Some(Err(error));
        }
    }

    /// Tells the agent inside when to start: when all machines of the trial do, by its own clock.
    fn start_with_others(&self, link: &mut AgentLink) -> Result<(), AskError> {
        if self.attempt.halt.others.is_none() {
            return Ok(());
        }
        let start_ns = self.meet_for_start()? + in_nanos(self.start_delay());
        let clock = self.record.machine.as_ref().and_then(|machine| machine.clock.last());
        let offset_ns = clock.map_or(0, |reading| reading.offset_ns);
        Ok(link.add(&Request::StartDriving { at_ns: start_ns.saturating_add_signed(offset_ns) })?)
    }

    /// Waits until all machines could start; the moment, by the host's clock, at which they do. Further phases begin whole
    /// seconds after the first, so that the seconds of all machines are the same.
    pub(crate) fn meet_for_start(&self) -> Result<u64, AskError> {
        let began_ns = self.began_ns.get();
        let start_ns = self.meet_with(|| {
            let soonest_ns = monotonic_ns() + START_LEAD_NS;
            began_ns.map_or(soonest_ns, |began_ns| next_on_grid(began_ns, soonest_ns))
        })?;
        self.began_ns.set(Some(began_ns.unwrap_or(start_ns)));
        Ok(start_ns)
    }

    fn drive_outside(
        &mut self,
        machine: &mut dyn Machine,
        endpoint: &Endpoint,
        plan: &DrivePlan,
    ) -> Result<Driven, AttemptError> {
        let workload = Arc::clone(&self.data().workload);
        let (control, halt) = (Control::default(), self.attempt.halt);
        let mut watch = LookWatch::over(plan);
        let mut see = |seen| match seen {
            Seen::Ready if plan.together.is_some() => match self.meet_for_start() {
                Ok(start_ns) => control.start_at(start_ns + in_nanos(self.start_delay())),
                Err(_) => control.stop(),
            },
            Seen::Tick(tick) => {
                watch.tick(&tick, &mut || self.look(machine));
                self.tick(tick);
            }
            Seen::Second(second) => {
                self.keep(&second.interval);
                self.hear(Heard::Second(second));
            }
            Seen::Ready | Seen::Receipts(_) => {}
        };
        let driven = thread::scope(|scope| {
            let (over, is_over) = channel::<()>();
            let control = &control;
            // Sessions may take long to be opened, and nothing is seen meanwhile.
            scope.spawn(move || {
                while is_over.recv_timeout(LOOK_UP) == Err(RecvTimeoutError::Timeout) {
                    if halt.now() {
                        control.stop();
                    }
                }
            });
            let driven = driver::drive_endpoint(&*workload, endpoint, plan, control, &mut see);
            drop(over);
            driven
        });
        if halt.is_for_others() || (driven.is_err() && halt.now()) {
            return Err(halt.reason().into());
        }
        let driven = driven?;
        self.looks = watch.looks();
        Ok(driven)
    }

    /// A look that fails costs its figures, not the trial: what made it fail, if it matters, will show again.
    pub(crate) fn look(&mut self, machine: &mut dyn Machine) -> Option<Look> {
        match self.ask(machine, &Request::Look, self.limits().start) {
            Ok(Reply::Look(look)) => Some(*look),
            Ok(_) | Err(_) => None,
        }
    }

    fn tick(&mut self, tick: Tick) {
        // On the grid of those that start together.
        let elapsed_ms = tick.elapsed_ms + in_millis(self.start_delay());
        if elapsed_ms >= self.attempt.cell.load.warmup_ms.0 && self.phase == Phase::WarmUp {
            self.enter(Phase::Measure);
        }
        self.host.tick(&tick);
        let Tick { measured, counted, committed, errors, .. } = tick;
        let trial = self.attempt.planned.id;
        (self.attempt.tell)(Event::Throughput { trial, measured, elapsed_ms, counted, committed, errors });
    }

    pub(crate) fn record_driving(
        &mut self,
        driven: &mut Driven,
        before: &Counters,
        after: &Counters,
    ) -> Result<(), AttemptError> {
        let facts = &mut driven.facts;
        // An engine in the driver's process has no outside.
        let placement = if facts.in_process { Placement::Inside } else { self.attempt.cell.load.placement };
        placement_name(placement).clone_into(&mut facts.placement);
        if !driven.log.is_empty() {
            self.file(|folder| folder.write("logs/deferred.csv", driven.log.as_bytes()))?;
        }
        let (before, after, window) = (before.clone(), after.clone(), self.looks.take());
        self.file(|folder| folder.write_json("counters.json", &StoredCounters { before, after, window }))?;
        let warnings = validity::warnings(&driven.facts, &driven.seconds);
        self.record.warnings.extend(warnings.iter().cloned());
        let clock = self.record.machine.as_ref().map_or(&[][..], |machine| &machine.clock);
        let invalid = validity::why_not(clock, driven);
        self.record.outcome = match (&driven.broke_off, &invalid) {
            (Some(why), _) => Outcome::Failed { phase: self.phase.to_string(), why: why.clone() },
            (None, Some(invalid)) => Outcome::Invalid { why: invalid.why.clone() },
            (None, None) => Outcome::Completed,
        };
        self.record.host_state = std::mem::take(&mut self.host).state();
        self.record.driver = Some(driven.facts.clone());
        self.hear(Heard::Driven { driven, warnings: &warnings, invalid: invalid.as_ref() });
        Ok(())
    }

    /// Whether the engine runs inside the driver.
    pub(crate) fn in_process(&self) -> bool {
        let engine = engines::catalog::entry(&self.attempt.cell.engine.kind);
        engine.is_some_and(|engine| !engine.remote)
    }
}

/// The first whole second after `began_ns` that is not before `soonest_ns`.
fn next_on_grid(began_ns: u64, soonest_ns: u64) -> u64 {
    began_ns + soonest_ns.saturating_sub(began_ns).next_multiple_of(NANOS_PER_SECOND)
}

fn in_nanos(span: Duration) -> u64 {
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

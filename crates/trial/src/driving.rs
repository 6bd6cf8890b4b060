//! The driving of one trial: from the machine's agent or from here, what is told while it goes on, and what is kept of it.

use crate::attempt::Running;
use crate::conversation::{AskError, Conversation, mismatch};
use crate::error::AttemptError;
use crate::host_watch::HostWatch;
use crate::validity;
use agent::looks::Watch;
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
use std::time::Duration;
use study::Placement;

/// From the moment that the sessions of all machines are open to their common start: agents must have been told by then.
const START_LEAD_NS: u64 = 300_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

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
                let address = machine.address().ok_or(AttemptError::NoWayIn)?;
                let endpoint = server.endpoint.clone().reached_at(address);
                // A server that died explains a failed drive better than the drive's own error does.
                let driven = self.drive_outside(machine, &endpoint, &plan);
                driven.map_err(|error| self.counters(machine).err().unwrap_or(error))
            }
        }
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
    /// until then is kept beside the reason. A server that died explains it better than the driver can.
    pub(crate) fn require_whole(&mut self, machine: &mut dyn Machine, driven: &Driven) -> Result<(), AttemptError> {
        let too_long = || validity::why_a_phase_is_too_long(&driven.facts);
        let Some(why) = driven.broke_off.clone().or_else(too_long) else { return Ok(()) };
        self.record.driver = Some(driven.facts.clone());
        self.counters(machine)?;
        Err(AttemptError::Away(why))
    }

    /// From now on what is driven is written down, second by second.
    pub(crate) fn begin_series(&mut self) {
        let kinds = self.data().workload.kinds().iter().map(|kind| kind.name.to_owned()).collect();
        self.series = Some(self.attempt.folder.intervals(kinds));
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
            began_ns.map_or(soonest_ns, |began_ns| {
                began_ns + soonest_ns.saturating_sub(began_ns).next_multiple_of(NANOS_PER_SECOND)
            })
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
        let mut watch = Watch::over(plan);
        let driven = driver::drive_endpoint(&*workload, endpoint, plan, &control, &mut |seen| {
            if halt.now() {
                control.stop();
            }
            match seen {
                Seen::Ready if plan.together.is_some() => match self.meet_for_start() {
                    Ok(start_ns) => control.start_at(start_ns + in_nanos(self.start_delay())),
                    Err(_) => control.stop(),
                },
                Seen::Tick(tick) => {
                    watch.tick(&tick, &mut || self.look(machine));
                    self.tick(tick);
                }
                Seen::Second(second) => self.keep(&second.interval),
                Seen::Ready | Seen::Receipts(_) => {}
            }
        });
        if halt.is_for_others() {
            return Err(AskError::OthersFailed.into());
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
        driven: &Driven,
        before: &Counters,
        after: &Counters,
    ) -> Result<(), AttemptError> {
        let mut facts = driven.facts.clone();
        placement_name(self.attempt.cell.load.placement).clone_into(&mut facts.placement);
        let folder = &self.attempt.folder;
        if !driven.log.is_empty() {
            folder.write("logs/deferred.csv", driven.log.as_bytes())?;
        }
        let (before, after, window) = (before.clone(), after.clone(), self.looks.take());
        folder.write_json("counters.json", &StoredCounters { before, after, window })?;
        self.record.warnings.extend(validity::warnings(&facts, &driven.seconds));
        let clock = self.record.machine.as_ref().map_or(&[][..], |machine| &machine.clock);
        let invalid = validity::why_time_is_wrong(clock, &facts).or_else(|| Some(validity::invalid(&facts)?.why));
        if let Some(why) = invalid {
            self.record.outcome = Outcome::Invalid { why };
        }
        self.record.host_state = std::mem::take(&mut self.host).state();
        self.record.driver = Some(facts);
        Ok(())
    }

    /// Whether the engine runs inside the driver.
    pub(crate) fn in_process(&self) -> bool {
        let engine = engines::catalog::entry(&self.attempt.cell.engine.kind);
        engine.is_some_and(|engine| !engine.remote)
    }
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

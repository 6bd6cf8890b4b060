//! The driving of one trial: from the machine's agent or from here, what is told while it goes on, and what is kept of it.

use crate::attempt::{AttemptError, Running};
use crate::conversation::{Conversation, mismatch};
use crate::host_watch::HostWatch;
use crate::validity;
use agent::looks::Watch;
use agent::protocol::{Reply, Request};
use driver::plan::{DrivePlan, Driven, Seen, StopFlag, Tick};
use engines::server::{Counters, Endpoint, ServerReport};
use machines::machine::Machine;
use record::event::Event;
use record::looks::StoredCounters;
use record::phase::Phase;
use record::trial::Outcome;
use std::sync::Arc;
use std::time::Duration;
use study::Placement;

/// Driving is never silent for longer: there is a tick every second.
const DRIVE_SILENCE: Duration = Duration::from_mins(2);

impl Running<'_> {
    pub(crate) fn drive(
        &mut self,
        machine: &mut dyn Machine,
        server: &ServerReport,
        plan: DrivePlan,
    ) -> Result<Driven, AttemptError> {
        self.looks = None;
        self.host = HostWatch::over(&plan);
        match self.attempt.cell.load.placement {
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
        let cell = self.attempt.cell;
        let request = Request::Drive { workload: cell.workload.clone(), plan };
        let interrupts = self.attempt.interrupts;
        let mut intervals = Vec::new();
        let reply =
            Conversation { link: machine.link(), interrupts }.ask(
                &request,
                DRIVE_SILENCE,
                &mut |aside| match aside {
                    Reply::Tick(tick) => self.tick(tick),
                    Reply::Interval(interval) => intervals.push(interval),
                    Reply::Looks(looks) => self.looks = Some(*looks),
                    _ => {}
                },
            )?;
        let Reply::Driven(mut driven) = reply else { return Err(mismatch("drive", &reply).into()) };
        driven.measured.intervals = intervals;
        Ok(*driven)
    }

    fn drive_outside(
        &mut self,
        machine: &mut dyn Machine,
        endpoint: &Endpoint,
        plan: &DrivePlan,
    ) -> Result<Driven, AttemptError> {
        let workload = Arc::clone(&self.attempt.prepared.workload);
        let (stop, interrupts) = (StopFlag::default(), self.attempt.interrupts);
        let mut watch = Watch::over(plan);
        let driven = driver::drive_endpoint(&workload, endpoint, plan, &stop, &mut |seen| {
            if interrupts.now() {
                stop.stop();
            }
            if let Seen::Tick(tick) = seen {
                watch.tick(&tick, &mut || self.look(machine));
                self.tick(tick);
            }
        })?;
        self.looks = watch.looks();
        Ok(driven)
    }

    fn tick(&mut self, tick: Tick) {
        if tick.elapsed_ms >= self.attempt.cell.load.warmup_ms.0 && self.phase == Phase::WarmUp {
            self.enter(Phase::Measure);
        }
        self.host.tick(&tick);
        let Tick { elapsed_ms, measured, counted, committed, errors } = tick;
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
        folder.write("intervals.hlog", &record::hlog::write(&driven.measured)?)?;
        folder.write("logs/deferred.csv", driven.log.as_bytes())?;
        let (before, after, window) = (before.clone(), after.clone(), self.looks.take());
        folder.write_json("counters.json", &StoredCounters { before, after, window })?;
        let in_process = self.in_process();
        self.record.warnings.extend(validity::warnings(&facts));
        let clock = self.record.machine.as_ref().map_or(&[][..], |machine| &machine.clock);
        let invalid = validity::why_time_is_wrong(clock, &facts).or_else(|| validity::why_invalid(&facts, in_process));
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

fn placement_name(placement: Placement) -> &'static str {
    match placement {
        Placement::Inside => "inside",
        Placement::Outside => "outside",
    }
}

//! Goes through the steps of one machine: what each does, and what it leaves for later steps.

use crate::attempt::Running;
use crate::climb::AllDriven;
use crate::conversation::{AskError, mismatch};
use crate::error::AttemptError;
use crate::step::{Step, Task};
use crate::validity;
use agent::protocol::{Reply, Request};
use driver::plan::{Driven, Pacing};
use engines::server::{Counters, ServerReport};
use machines::machine::{Machine, MachineError};
use platforms::lease::Lease;
use record::check::{CheckResult, Moment, Verdict};
use record::clock::{AFTER_DRIVING, BEFORE_DRIVING};
use record::ladder::Ladder;
use std::collections::BTreeMap;
use telemetry::Sampling;

/// What steps leave for later ones. Fields are dropped in this order, so a machine is gone before its data are.
#[derive(Default)]
struct Resources {
    machine: Option<Box<dyn Machine>>,
    lease: Option<Lease>,
    work: Work,
    console: String,
}

/// The same for the steps between the agent's greeting and its goodbye.
#[derive(Default)]
pub(crate) struct Work {
    /// One entry for each of the machine's databases, in their order.
    pub each: Vec<OwnWork>,
    /// Nothing was driven since the tables were filled.
    is_fresh: bool,
    /// How the number of clients was found, if the study asked for a search.
    pub ladder: Option<Ladder>,
    sampling: Option<Sampling>,
}

/// What steps leave for one of the machine's databases.
#[derive(Default)]
pub(crate) struct OwnWork {
    pub server: Option<ServerReport>,
    /// Sums over the data before driving, if they were not known before the trial.
    state: Option<BTreeMap<String, i64>>,
    /// Counters before driving.
    counters: Counters,
    driven: Option<Driven>,
    /// Everything done to the database so far, including the steps of a climb.
    pub all_driven: AllDriven,
}

impl OwnWork {
    /// The reason if the database hung in the window. What its clients waited for may block everything else, too, and a
    /// check may take hours.
    fn why_it_hung(&self) -> Option<String> {
        validity::why_it_hung(&self.driven.as_ref()?.facts)
    }
}

/// Takes what an earlier step has left for this one.
pub(crate) fn left<T>(by_an_earlier_step: Option<T>) -> T {
    by_an_earlier_step.unwrap_or_else(|| unreachable!("a list has no step before those that it needs"))
}

impl Running<'_> {
    pub(crate) fn carry_out_once(&mut self) -> Result<(), AttemptError> {
        let (steps, mut resources) = (self.steps.clone(), Resources::default());
        resources.work.each.resize_with(self.instances.len(), OwnWork::default);
        for (step, rest) in steps.iter().zip(1..).map(|(step, next)| (*step, &steps[next..])) {
            if let Some(phase) = step.phase().filter(|phase| *phase != self.phase || self.since.is_none()) {
                self.enter(phase);
            }
            if let Err(error) = self.take(step, &mut resources) {
                return Err(self.tidy(step, error, rest, resources));
            }
        }
        Ok(())
    }

    /// Carries out the steps that still follow a failed one; returns the error that explains most.
    fn tidy(&mut self, failed: Step, mut error: AttemptError, rest: &[Step], mut resources: Resources) -> AttemptError {
        for step in rest {
            if !step.follows(failed, &error) {
                continue;
            }
            error = match (self.take(*step, &mut resources), error) {
                (Err(unkept @ AttemptError::Record(_)), _) => return unkept,
                (
                    Err(ended @ AttemptError::Machine(MachineError::Ended { .. })),
                    AttemptError::Ask(AskError::Link(_)),
                ) => return ended,
                (_, error) => error,
            };
        }
        match error {
            AttemptError::Ask(AskError::Link(error)) => AttemptError::BrokenOff { error, console: resources.console },
            error => error,
        }
    }

    fn take(&mut self, step: Step, resources: &mut Resources) -> Result<(), AttemptError> {
        match step {
            Step::Lease => resources.lease = Some(self.lease_data()?),
            Step::AwaitTurn => self.wait_for_turn()?,
            Step::Boot => resources.machine = Some(self.start_machine(left(resources.lease.as_ref()))?),
            Step::KeepConsole => {
                resources.console = left(resources.machine.as_ref()).console();
                self.file(|folder| folder.write("logs/console.txt", resources.console.as_bytes()))?;
            }
            Step::Stop => left(resources.machine.take()).stop(self.limits().end)?,
            step => self.take_in_machine(step, left(resources.machine.as_mut()).as_mut(), &mut resources.work)?,
        }
        Ok(())
    }

    /// Takes a step between the agent's greeting and its goodbye.
    fn take_in_machine(&mut self, step: Step, machine: &mut dyn Machine, work: &mut Work) -> Result<(), AttemptError> {
        match step {
            Step::Describe => self.describe(machine),
            Step::RequireRightClock => self.require_right_clock(machine),
            Step::StartGenerators => self.start_generators(machine, &work.each),
            Step::StopGenerators => self.stop_generators(),
            Step::Climb => self.climb(machine, work),
            Step::Gather => {
                self.for_each_instance(&mut work.each, |running, own| {
                    running.counters(machine).map(|counters| own.counters = counters)
                })?;
                Ok(self.meet()?)
            }
            Step::Watch => {
                self.read_clock(machine, BEFORE_DRIVING)?;
                work.sampling = self.start_sampling(machine)?;
                Ok(())
            }
            Step::Drive => self.drive_measured(machine, work),
            Step::StandBy => {
                self.stand_by()?;
                Ok(self.meet()?)
            }
            Step::Record => self.record_work(machine, work),
            Step::ShutDown | Step::LeaveServer => self.have_done(machine, &Request::Shutdown, "shutdown"),
            Step::Lease | Step::AwaitTurn | Step::Boot | Step::KeepConsole | Step::Stop => Ok(()),
            step => {
                let is_fresh = work.is_fresh;
                self.for_each_instance(&mut work.each, |running, own| {
                    running.take_of_instance(step, machine, own, is_fresh)
                })?;
                work.is_fresh |= step == Step::Load;
                Ok(())
            }
        }
    }

    /// Takes a step that is repeated for each of the machine's databases.
    fn take_of_instance(
        &mut self,
        step: Step,
        machine: &mut dyn Machine,
        own: &mut OwnWork,
        is_fresh: bool,
    ) -> Result<(), AttemptError> {
        match step {
            Step::StartServer => own.server = Some(self.start_server(machine)?),
            Step::UseServer => own.server = Some(self.use_server(machine)?),
            Step::DropLeftovers | Step::DropLoaded => self.drop_listed(machine)?,
            Step::Clean => self.clean(machine)?,
            Step::Load => self.load(machine)?,
            Step::RequireTables(Task::Check) if own.why_it_hung().is_some() => {}
            Step::RequireTables(task) => self.require_tables(machine, task)?,
            Step::ReadState => own.state = Some(self.state(machine)?),
            Step::Check => self.check(machine, own, is_fresh)?,
            Step::LeaveUnchecked => {
                self.own().findings.push(not_checked("rehearsal", "nothing was executed".to_owned()));
            }
            // It stops once, with the first of its databases.
            Step::StopServer | Step::KeepServerLog if self.instance > 0 && self.attempt.cell.shares_server => {}
            Step::StopServer => self.have_done(machine, &Request::StopServer, "stop of the server")?,
            Step::KeepServerLog => self.save_server_log(machine),
            _ => {}
        }
        Ok(())
    }

    fn drive_measured(&mut self, machine: &mut dyn Machine, work: &mut Work) -> Result<(), AttemptError> {
        let at_peak = || Pacing::Clients { clients: left(work.ladder.as_ref()).chosen };
        let pacing = self.attempt.cell.load.offered.pacing().unwrap_or_else(at_peak);
        self.begin_series();
        work.is_fresh = false;
        let plan = self.measured_plan(pacing);
        let all = self.drive(machine, &work.each, &plan);
        let series: Vec<_> = self.instances.iter_mut().map(|own| own.series.take()).collect();
        for ((own, driven), series) in work.each.iter_mut().zip(all?).zip(series) {
            if let Some(series) = series {
                series?.finish(driven.unended())?;
            }
            own.driven = Some(driven);
        }
        self.for_each_instance(&mut work.each, |running, own| {
            running.require_whole(machine, left(own.driven.as_ref()))
        })?;
        Ok(self.meet()?)
    }

    fn record_work(&mut self, machine: &mut dyn Machine, work: &mut Work) -> Result<(), AttemptError> {
        if let (Some(ladder), Some(first)) = (work.ladder.take(), work.each.first_mut()) {
            left(first.driven.as_mut()).facts.ladder = Some(ladder);
        }
        self.record_sampling(machine, work.sampling.take())?;
        self.read_clock(machine, AFTER_DRIVING)?;
        self.for_each_instance(&mut work.each, |running, own| {
            let driven = left(own.driven.as_mut());
            own.all_driven.absorb(&driven.facts);
            let counted = running.counters(machine)?;
            let settings = running.settings(machine)?;
            running.record_driving(driven, (&own.counters, &counted), &settings)
        })?;
        let stopped = work.each.iter().filter_map(|own| own.driven.as_ref()).any(|driven| driven.stopped);
        if stopped { Err(AskError::halted(self.attempt.halt).into()) } else { Ok(()) }
    }

    fn check(&mut self, machine: &mut dyn Machine, own: &OwnWork, is_fresh: bool) -> Result<(), AttemptError> {
        let begun = self.current().findings.len();
        if let Some(why) = own.why_it_hung() {
            self.own().findings.push(not_checked("hung", why));
            self.hear_checked(begun);
            return Ok(());
        }
        if let Some(driven) = &own.driven {
            let (after, all) = (self.state(machine)?, &own.all_driven);
            let data = self.attempt.prepared.data_of(self.attempt.number);
            let (dataset, before) = (data.workload.dataset(), own.state.as_ref().unwrap_or(&data.state));
            let audit = dataset.audit(&driven.facts.kinds, &driven.facts.tally, driven.facts.waiting_max());
            let audit = validity::as_far_as_done(audit, &driven.facts.kinds);
            let reconciled = dataset.reconcile(before, &after, &all.whole_run);
            let reconciled = validity::as_far_as_known(reconciled, all.unknown_ends);
            self.own().findings.extend(audit.into_iter().chain(reconciled));
        }
        let workload = self.data().chosen.clone();
        let moment = if is_fresh { Moment::AfterLoad } else { Moment::AfterTrial };
        let reply = self.ask(machine, &Request::Check { workload, moment }, self.limits().check)?;
        let Reply::Findings(findings) = reply else { return Err(mismatch("check", &reply).into()) };
        self.own().findings.extend(findings);
        self.hear_checked(begun);
        Ok(())
    }
}

/// The result recorded in place of data checks.
fn not_checked(name: &str, why: String) -> CheckResult {
    CheckResult {
        name: name.to_owned(),
        rule: "the data are what the transactions made of them".to_owned(),
        moment: Moment::AfterTrial,
        verdict: Verdict::Undecided { why },
    }
}

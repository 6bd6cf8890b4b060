//! Agents on the hosts that the load comes from, while a trial goes on: their start and end, their clocks, and what is wrong
//! with their part.

use crate::context::TrialContext;
use crate::conversation::{AskError, Conversation, mismatch};
use crate::error::AttemptError;
use crate::few_at_once::few_at_once;
use crate::halt::Halt;
use crate::hosts_in_use::Use;
use crate::limits::Limits;
use crate::load_hosts::OpenLoadHost;
use crate::log::TrialLog;
use crate::validity;
use agent::protocol::{Reply, Request};
use driver::plan::Driven;
use engines::server::Endpoint;
use machines::machine::Machine;
use record::clock::{AFTER_DRIVING, BEFORE_DRIVING, ClockReading};
use record::facts::{Fact, Facts};
use record::load_hosts::LoadHostFacts;
use record::phase::Phase;
use record::together::driver::added_up;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// An agent that starts further than this from the others has missed the start: its clients were missing in their first seconds.
const APART_MAX_US: i64 = 100_000;
const NANOS_PER_MICRO: i64 = 1_000;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// An agent on a load host, while a trial goes on.
pub(crate) struct RunningGenerator {
    pub host: Arc<OpenLoadHost>,
    pub machine: Box<dyn Machine>,
    inside: Facts,
    /// Its clock, with the times of the readings by ours. Of all driving, the last is kept.
    clock: Vec<(ClockReading, Instant)>,
    /// How long after the common start it started to drive; negative if before it.
    late_us: Option<i64>,
    /// The first reason why its part of the trial cannot be trusted.
    wrong: Option<String>,
    /// Its results of the last driving, for each database.
    pub parts: Vec<Driven>,
}

impl RunningGenerator {
    /// Keeps its results, with times by this host's clock. `began_ns` is the first start that it was given.
    pub fn keep(&mut self, mut parts: Vec<Driven>, began_ns: Option<u64>) {
        let offset_ns = self.offset_ns();
        for Driven { facts, .. } in &mut parts {
            facts.window_start_ns = facts.window_start_ns.map(|start_ns| start_ns.saturating_add_signed(-offset_ns));
        }
        let late_us = |part: &Driven| {
            let due_ns = began_ns? + part.facts.warmup_ms * NANOS_PER_MILLI;
            Some((part.facts.window_start_ns?.cast_signed() - due_ns.cast_signed()) / NANOS_PER_MICRO)
        };
        self.late_us = parts.iter().filter_map(late_us).max_by_key(|late_us| late_us.abs());
        self.parts = parts;
    }

    /// Notes in its results whether it used the CPUs of the kernel that the database's CPUs belong to.
    pub fn note_whose_cpus(&mut self, of_database: Option<&str>) {
        let beside = boot_of(&self.inside).zip(of_database).map(|(one, other)| one == other);
        for part in &mut self.parts {
            if let Some(delay) = &mut part.facts.testimony.run_delay {
                delay.beside_database = beside;
            }
        }
    }

    /// Judges its last driving, around which its clock was read. `doing` is what that was part of.
    fn judge(&mut self, doing: &str) {
        let at = |label: &str| self.clock.iter().find(|(reading, _)| reading.at == label);
        let (Some((before, begun)), Some((after, ended))) = (at(BEFORE_DRIVING), at(AFTER_DRIVING)) else { return };
        let late = || self.late_us.and_then(|late_us| why_late(late_us, before.round_trip_ns));
        let drifts = || validity::why_clock_drifts(before, after, ended.saturating_duration_since(*begun));
        let driver = || self.parts.iter().find_map(|part| validity::why_generator_is_wrong(&part.facts));
        let why = || late().or_else(drifts).or_else(driver).map(|why| format!("{doing}{why}"));
        self.wrong = self.wrong.take().or_else(why);
    }

    fn last_reading(&self) -> Option<&ClockReading> {
        self.clock.last().map(|(reading, _)| reading)
    }

    /// How far its clock is ahead of ours.
    pub fn offset_ns(&self) -> i64 {
        self.last_reading().map_or(0, |reading| reading.offset_ns)
    }

    pub fn round_trip_ns(&self) -> u64 {
        self.last_reading().map_or(0, |reading| reading.round_trip_ns)
    }

    fn facts(&self) -> LoadHostFacts {
        let parts: Vec<_> = self.parts.iter().map(|part| &part.facts).collect();
        let sum = added_up(&parts).unwrap_or_default();
        LoadHostFacts {
            host: self.host.name.clone(),
            inside: self.inside.clone(),
            clock: self.clock.iter().map(|(reading, _)| reading.clone()).collect(),
            late_us: self.late_us,
            sessions: sum.sessions,
            statements: sum.work.statements,
            testimony: sum.testimony,
        }
    }
}

/// The reason if a host may have started too far from the common start. Half the round trip of its clock's reading is not known.
fn why_late(late_us: i64, round_trip_ns: u64) -> Option<String> {
    let error_us = (round_trip_ns / 2).cast_signed() / NANOS_PER_MICRO;
    (late_us.abs() + error_us > APART_MAX_US).then(|| {
        let ms = |us: i64| us as f64 / 1e3;
        let (apart, error, most) = (ms(late_us.abs()), ms(error_us), ms(APART_MAX_US));
        let word = if late_us < 0 { "before" } else { "after" };
        format!("it started {apart:.0} ± {error:.0} ms {word} the common start, at most {most:.0} ms are tolerated")
    })
}

/// The identity of a running kernel.
pub(crate) fn boot_of(system: &Facts) -> Option<&str> {
    match system.get("system.boot_id")? {
        Fact::Known(boot) => Some(boot),
        Fact::Unavailable(_) => None,
    }
}

/// A warning if two load hosts are one: together they drive no more than it alone.
fn same_machine<'a>(hosts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let mut names = BTreeMap::new();
    hosts.into_iter().find_map(|(name, machine)| {
        let first = names.insert(machine, name)?;
        Some(format!("the load hosts {first} and {name} refer to the same machine"))
    })
}

/// Who may end a conversation with a load host, and how long to wait for it.
#[derive(Clone, Copy)]
pub(crate) struct GeneratorTerms<'a> {
    pub halt: Halt<'a>,
    pub limits: &'a Limits,
}

impl<'a> GeneratorTerms<'a> {
    fn of(context: &TrialContext<'a>) -> Self {
        Self { halt: context.halt, limits: context.limits() }
    }

    fn ask(&self, generator: &mut RunningGenerator, instance: u16, request: &Request) -> Result<Reply, AskError> {
        let Self { halt, limits } = *self;
        let mut conversation = Conversation { link: generator.machine.link(), halt, limits, instance };
        conversation.ask(request, limits.start, &mut |_| ())
    }

    fn read_clock(&self, generator: &mut RunningGenerator, at: &str) -> Result<(), AskError> {
        let Self { halt, limits } = *self;
        let mut conversation = Conversation { link: generator.machine.link(), halt, limits, instance: 0 };
        let reading = conversation.read_clock(at)?;
        generator.clock.retain(|(earlier, _)| earlier.at != at);
        generator.clock.push((reading, Instant::now()));
        Ok(())
    }

    /// Starts an agent on a host, and names the databases to it.
    fn begin(
        &self,
        host: &Arc<OpenLoadHost>,
        name: &str,
        scratch: &Path,
        endpoints: &[Endpoint],
    ) -> Result<RunningGenerator, AttemptError> {
        let machine = host.start(name, scratch)?;
        let (inside, clock, parts) = (Facts::new(), Vec::new(), Vec::new());
        let host = Arc::clone(host);
        let mut generator = RunningGenerator { host, machine, inside, clock, late_us: None, wrong: None, parts };
        self.read_clock(&mut generator, "after start")?;
        match self.ask(&mut generator, 0, &Request::Describe)? {
            Reply::Description(inside) => generator.inside = inside,
            other => return Err(mismatch("describe", &other).into()),
        }
        for (instance, endpoint) in (0..).zip(endpoints) {
            match self.ask(&mut generator, instance, &Request::UseServer { endpoint: endpoint.clone() })? {
                Reply::Started(_) => {}
                other => return Err(mismatch("use of the server", &other).into()),
            }
        }
        Ok(generator)
    }

    /// Ends an agent, and returns what it said of itself.
    fn end(&self, mut generator: RunningGenerator) -> Result<LoadHostFacts, AttemptError> {
        match self.ask(&mut generator, 0, &Request::Shutdown)? {
            Reply::Done => {}
            other => return Err(mismatch("shutdown", &other).into()),
        }
        let facts = generator.facts();
        generator.machine.stop(self.limits.end)?;
        Ok(facts)
    }
}

/// An error of a load host, by name. One that came from elsewhere stays as it is.
pub(crate) fn of_host(host: &OpenLoadHost, error: AttemptError) -> AttemptError {
    match error {
        AttemptError::Ask(AskError::Interrupted | AskError::OthersFailed) => error,
        error => AttemptError::LoadHost { host: host.name.clone(), error: Box::new(error) },
    }
}

/// All that drive a trial. These hosts are the trial's alone as long as it lives.
pub(crate) struct Generators<'a> {
    pub each: Vec<RunningGenerator>,
    _use: Option<Use<'a>>,
}

impl<'a> Generators<'a> {
    /// Starts an agent on each host that the load comes from.
    pub fn start(
        context: &TrialContext<'a>,
        log: &mut TrialLog<'_>,
        endpoints: &[Endpoint],
    ) -> Result<Self, AttemptError> {
        let hosts = &context.prepared.load_hosts;
        let names = || hosts.iter().map(|host| host.name.clone()).collect();
        let taken = context.in_use.map(|in_use| in_use.take(names(), context.halt)).transpose()?;
        let machines = hosts.iter().map(|host| (host.name.as_str(), host.machine()));
        log.record.warnings.extend(same_machine(machines));
        let (name, terms) = (context.name(), GeneratorTerms::of(context));
        let begin = |host| terms.begin(host, &name, context.scratch, endpoints).map_err(|error| of_host(host, error));
        Ok(Self { each: few_at_once(hosts, begin)?, _use: taken })
    }

    pub fn read_clocks(&mut self, context: &TrialContext<'_>, at: &str) -> Result<(), AttemptError> {
        let terms = GeneratorTerms::of(context);
        let read = few_at_once(&mut self.each, |generator: &mut RunningGenerator| {
            terms.read_clock(generator, at).map_err(|error| of_host(&generator.host, error.into()))
        });
        read.map(drop)
    }

    /// Judges their last driving, in this phase.
    pub fn judge(&mut self, phase: Phase) {
        let doing = if phase == Phase::Climb { "in a step of the climb, " } else { "" };
        for generator in &mut self.each {
            generator.judge(doing);
        }
    }

    /// Ends the agents; returns their facts.
    pub fn stop(self, context: &TrialContext<'_>) -> Result<Vec<LoadHostFacts>, AttemptError> {
        let terms = GeneratorTerms::of(context);
        few_at_once(self.each, |generator| {
            let host = Arc::clone(&generator.host);
            terms.end(generator).map_err(|error| of_host(&host, error))
        })
    }

    /// The first reason why a load host makes the measurement invalid.
    pub fn why_wrong(&self) -> Option<String> {
        self.each.iter().find_map(|generator| {
            let why = generator.wrong.as_ref()?;
            Some(format!("the load host {}: {why}", generator.host.name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{same_machine, why_late};

    #[test]
    fn what_is_not_known_of_a_clock_counts_as_distance_from_the_start() {
        assert_eq!((why_late(99_000, 1_000_000), why_late(-99_000, 1_000_000)), (None, None));
        let told = |late_us, round_trip_ns| why_late(late_us, round_trip_ns).unwrap();
        assert!(told(60_000, 90_000_000).contains("60 ± 45 ms after the common start"));
        assert!(told(-140_000, 0).contains("140 ± 0 ms before"));
    }

    #[test]
    fn load_hosts_that_are_one_machine_are_told() {
        assert_eq!(same_machine([("a", "1"), ("b", "2")]), None);
        let told = same_machine([("a", "1"), ("b", "2"), ("c", "1")]).unwrap();
        assert_eq!(told, "the load hosts a and c refer to the same machine");
    }
}

//! Agents on the hosts that the load comes from, while a trial goes on: their start and end, their clocks, and what is wrong
//! with their part.

use crate::attempt::Running;
use crate::conversation::{AskError, Conversation, mismatch};
use crate::course::OwnWork;
use crate::error::AttemptError;
use crate::few_at_once::few_at_once;
use crate::halt::Halt;
use crate::limits::Limits;
use crate::load_hosts::LoadHost;
use crate::validity;
use agent::protocol::{Reply, Request};
use driver::plan::Driven;
use engines::server::Endpoint;
use machines::machine::Machine;
use record::clock::ClockReading;
use record::facts::Facts;
use record::load_hosts::LoadHostFacts;
use record::together::driver::added_up;
use std::path::Path;
use std::sync::Arc;

/// An agent that starts later than this has missed the start: its clients were missing in the first seconds of the others.
const LATE_MAX_US: u64 = 100_000;
const NANOS_PER_MICRO: u64 = 1_000;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// An agent on a load host, while a trial goes on.
pub(crate) struct Generator {
    pub host: Arc<LoadHost>,
    pub machine: Box<dyn Machine>,
    inside: Facts,
    clock: Vec<ClockReading>,
    /// How long after the common start it started to drive what is measured.
    late_us: Option<u64>,
    /// Its results of the last driving, for each database.
    pub parts: Vec<Driven>,
}

impl Generator {
    /// Keeps its results, with times by this host's clock. `began_ns` is the first start that it was told.
    pub fn keep(&mut self, mut parts: Vec<Driven>, began_ns: Option<u64>) {
        let offset_ns = self.offset_ns();
        for Driven { facts, .. } in &mut parts {
            facts.window_start_ns = facts.window_start_ns.map(|start_ns| start_ns.saturating_add_signed(-offset_ns));
        }
        let late_us = |part: &Driven| {
            let due_ns = began_ns? + part.facts.warmup_ms * NANOS_PER_MILLI;
            Some(part.facts.window_start_ns?.saturating_sub(due_ns) / NANOS_PER_MICRO)
        };
        self.late_us = parts.iter().filter_map(late_us).max();
        self.parts = parts;
    }

    fn why_wrong(&self) -> Option<String> {
        if let Some(late_us) = self.late_us.filter(|late_us| *late_us > LATE_MAX_US) {
            let (late, most) = (late_us as f64 / 1e3, LATE_MAX_US as f64 / 1e3);
            return Some(format!("it started {late:.0} ms after the common start, at most {most:.0} ms are tolerated"));
        }
        let facts = || self.parts.iter().map(|part| &part.facts);
        let of_clock = facts().find_map(|facts| validity::why_clock_drifts(&self.clock, facts));
        of_clock.or_else(|| facts().find_map(validity::why_generator_is_wrong))
    }

    /// How far its clock is ahead of ours.
    pub fn offset_ns(&self) -> i64 {
        self.clock.last().map_or(0, |reading| reading.offset_ns)
    }

    pub fn round_trip_ns(&self) -> u64 {
        self.clock.last().map_or(0, |reading| reading.round_trip_ns)
    }

    fn facts(&self) -> LoadHostFacts {
        let parts: Vec<_> = self.parts.iter().map(|part| &part.facts).collect();
        let sum = added_up(&parts).unwrap_or_default();
        LoadHostFacts {
            host: self.host.name.clone(),
            inside: self.inside.clone(),
            clock: self.clock.clone(),
            late_us: self.late_us,
            sessions: sum.sessions,
            statements: sum.work.statements,
            testimony: sum.testimony,
        }
    }
}

/// Who may end a conversation with a load host, and how long to wait for it.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub halt: Halt<'a>,
    pub limits: &'a Limits,
}

impl Terms<'_> {
    fn ask(&self, generator: &mut Generator, instance: u16, request: &Request) -> Result<Reply, AskError> {
        let Self { halt, limits } = *self;
        let mut conversation = Conversation { link: generator.machine.link(), halt, limits, instance };
        conversation.ask(request, limits.start, &mut |_| ())
    }

    fn read_clock(&self, generator: &mut Generator, at: &str) -> Result<(), AskError> {
        let Self { halt, limits } = *self;
        let mut conversation = Conversation { link: generator.machine.link(), halt, limits, instance: 0 };
        generator.clock.push(conversation.read_clock(at)?);
        Ok(())
    }

    /// Starts an agent on a host, and tells it of the databases.
    fn begin(
        &self,
        host: &Arc<LoadHost>,
        name: &str,
        scratch: &Path,
        endpoints: &[Endpoint],
    ) -> Result<Generator, AttemptError> {
        let machine = host.start(name, scratch)?;
        let (inside, clock, parts) = (Facts::new(), Vec::new(), Vec::new());
        let mut generator = Generator { host: Arc::clone(host), machine, inside, clock, late_us: None, parts };
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
    fn end(&self, mut generator: Generator) -> Result<LoadHostFacts, AttemptError> {
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
pub(crate) fn of_host(host: &LoadHost, error: AttemptError) -> AttemptError {
    match error {
        AttemptError::Ask(AskError::Interrupted | AskError::OthersFailed) => error,
        error => AttemptError::LoadHost { host: host.name.clone(), error: Box::new(error) },
    }
}

impl Running<'_> {
    /// Starts an agent on each host that the load comes from.
    pub(crate) fn start_generators(
        &mut self,
        machine: &dyn Machine,
        databases: &[OwnWork],
    ) -> Result<(), AttemptError> {
        if self.attempt.prepared.load_hosts.is_empty() || !self.executes() {
            return Ok(());
        }
        let endpoints = self.endpoints(machine, databases)?;
        // A boot of the machine may have been wrong, and what drove then is over.
        self.generators.clear();
        self.generators_use = None;
        if let Some(in_use) = self.attempt.in_use {
            let names = self.attempt.prepared.load_hosts.iter().map(|host| host.name.clone()).collect();
            self.generators_use = Some(in_use.take(names, self.attempt.halt)?);
        }
        let (name, terms) = (self.name(), Terms { halt: self.attempt.halt, limits: self.limits() });
        let hosts = &self.attempt.prepared.load_hosts;
        let scratch = self.attempt.scratch;
        let begin = |host| terms.begin(host, &name, scratch, &endpoints).map_err(|error| of_host(host, error));
        self.generators = few_at_once(hosts, begin)?;
        Ok(())
    }

    pub(crate) fn read_generator_clocks(&mut self, at: &str) -> Result<(), AttemptError> {
        let mut generators = std::mem::take(&mut self.generators);
        let terms = Terms { halt: self.attempt.halt, limits: self.limits() };
        let read = few_at_once(&mut generators, |generator: &mut Generator| {
            terms.read_clock(generator, at).map_err(|error| of_host(&generator.host, error.into()))
        });
        self.generators = generators;
        read.map(drop)
    }

    /// Ends the agents; the record gets what they said of themselves.
    pub(crate) fn stop_generators(&mut self) -> Result<(), AttemptError> {
        let generators = std::mem::take(&mut self.generators);
        let limits = *self.limits();
        let terms = Terms { halt: self.attempt.halt, limits: &limits };
        self.record.load_hosts = few_at_once(generators, |generator| {
            let host = Arc::clone(&generator.host);
            terms.end(generator).map_err(|error| of_host(&host, error))
        })?;
        self.generators_use = None;
        Ok(())
    }

    /// The first reason why a load host makes the measurement invalid.
    pub(crate) fn why_a_load_host_is_wrong(&self) -> Option<String> {
        self.generators.iter().find_map(|generator| {
            let why = generator.why_wrong()?;
            Some(format!("the load host {}: {why}", generator.host.name))
        })
    }
}

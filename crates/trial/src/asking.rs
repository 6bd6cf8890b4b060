//! The requests of a trial to its machine's agent, each with its limit and the only reply it accepts.

use crate::attempt::Running;
use crate::conversation::{Conversation, mismatch};
use crate::error::AttemptError;
use crate::limits::Limits;
use agent::protocol::{Reply, Request};
use engines::server::Counters;
use machines::machine::Machine;
use std::collections::BTreeMap;
use std::time::Duration;

impl Running<'_> {
    pub(crate) fn have_done(
        &mut self,
        machine: &mut dyn Machine,
        request: &Request,
        name: &'static str,
    ) -> Result<(), AttemptError> {
        match self.ask(machine, request, self.limits().stop)? {
            Reply::Done => Ok(()),
            other => Err(mismatch(name, &other).into()),
        }
    }

    pub(crate) fn state(&mut self, machine: &mut dyn Machine) -> Result<BTreeMap<String, i64>, AttemptError> {
        let workload = self.data().chosen.clone();
        match self.ask(machine, &Request::State { workload }, self.limits().check)? {
            Reply::State(state) => Ok(state),
            other => Err(mismatch("state", &other).into()),
        }
    }

    pub(crate) fn counters(&mut self, machine: &mut dyn Machine) -> Result<Counters, AttemptError> {
        match self.ask(machine, &Request::Counters, self.limits().start)? {
            Reply::Counters(counters) => Ok(counters),
            other => Err(mismatch("counters", &other).into()),
        }
    }

    /// The server's settings, if it has any that its login may read.
    pub(crate) fn settings(&mut self, machine: &mut dyn Machine) -> Result<BTreeMap<String, String>, AttemptError> {
        match self.ask(machine, &Request::Settings, self.limits().start)? {
            Reply::Settings(settings) => Ok(settings),
            other => Err(mismatch("settings", &other).into()),
        }
    }

    pub(crate) fn ask(
        &mut self,
        machine: &mut dyn Machine,
        request: &Request,
        silence: Duration,
    ) -> Result<Reply, AttemptError> {
        self.ask_aside(machine, request, silence, &mut |_| {})
    }

    /// The same for requests with replies before the final one.
    pub(crate) fn ask_aside(
        &mut self,
        machine: &mut dyn Machine,
        request: &Request,
        silence: Duration,
        aside: &mut dyn FnMut(Reply),
    ) -> Result<Reply, AttemptError> {
        Ok(self.conversation(machine).ask(request, silence, aside)?)
    }

    pub(crate) fn conversation<'m>(&'m self, machine: &'m mut dyn Machine) -> Conversation<'m> {
        Conversation { link: machine.link(), halt: self.attempt.halt, limits: self.limits(), instance: self.instance }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.attempt.site.limits
    }
}

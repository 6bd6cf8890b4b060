//! The requests of a trial to its machine's agent, each with its limit and the only reply it accepts.

use crate::context::TrialContext;
use crate::conversation::{Conversation, mismatch};
use crate::error::StepResult;
use agent::protocol::{Reply, Request};
use agent::tables::LoadedTables;
use engines::server::Counters;
use machines::machine::Machine;
use std::collections::BTreeMap;
use std::time::Duration;

/// A machine that has booted, in its trial. Requests name the database that they are about, from 0.
pub(crate) struct BootedMachine<'a> {
    pub context: TrialContext<'a>,
    pub machine: &'a mut dyn Machine,
}

impl BootedMachine<'_> {
    pub fn conversation(&mut self, instance: u16) -> Conversation<'_> {
        let (halt, limits) = (self.context.halt, self.context.limits());
        Conversation { link: self.machine.link(), halt, limits, instance }
    }

    pub fn ask(&mut self, instance: u16, request: &Request, silence: Duration) -> StepResult<Reply> {
        Ok(self.conversation(instance).ask(request, silence, &mut |_| {})?)
    }

    /// Asks for work without a result; `name` is that of the request in an error.
    pub fn expect_done(&mut self, instance: u16, request: &Request, name: &'static str) -> StepResult {
        match self.ask(instance, request, self.context.limits().stop)? {
            Reply::Done => Ok(()),
            other => Err(mismatch(name, &other).into()),
        }
    }

    /// Sums over a database's rows.
    pub fn state(&mut self, instance: u16) -> StepResult<BTreeMap<String, i64>> {
        let workload = self.context.data().workload.chosen.clone();
        match self.ask(instance, &Request::State { workload }, self.context.limits().check)? {
            Reply::State(state) => Ok(state),
            other => Err(mismatch("state", &other).into()),
        }
    }

    pub fn counters(&mut self, instance: u16) -> StepResult<Counters> {
        match self.ask(instance, &Request::Counters, self.context.limits().start)? {
            Reply::Counters(counters) => Ok(counters),
            other => Err(mismatch("counters", &other).into()),
        }
    }

    /// The server's settings, if it has any that its login may read.
    pub fn settings(&mut self, instance: u16) -> StepResult<BTreeMap<String, String>> {
        match self.ask(instance, &Request::Settings, self.context.limits().start)? {
            Reply::Settings(settings) => Ok(settings),
            other => Err(mismatch("settings", &other).into()),
        }
    }

    /// The workload's tables in a database. To drive, they must also have the size that the workload's settings give.
    pub fn tables(&mut self, instance: u16, to_drive: bool) -> StepResult<LoadedTables> {
        let workload = self.context.data().workload.chosen.clone();
        match self.ask(instance, &Request::Tables { workload, to_drive }, self.context.limits().check)? {
            Reply::Tables(tables) => Ok(tables),
            other => Err(mismatch("tables", &other).into()),
        }
    }
}

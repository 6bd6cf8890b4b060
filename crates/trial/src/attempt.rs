//! One trial on one machine: its inputs, the phases of its record, and a record whatever happens.

use crate::again::Earlier;
use crate::cell::CellOrder;
use crate::conversation::{AskError, mismatch};
use crate::error::AttemptError;
use crate::existing::Existing;
use crate::generators::Generator;
use crate::halt::Halt;
use crate::host_watch::HostWatch;
use crate::hosts_in_use::{HostsInUse, Use};
use crate::instances::Instance;
use crate::load_hosts::our_address;
use crate::odd;
use crate::other_load;
use crate::places::places;
use crate::preparation::{Data, Prepared};
use crate::site::Site;
use crate::start_order::Turn;
use crate::step::{self, Step, Task};
use crate::together;
use agent::protocol::{Failure, Reply, Request};
use engines::port::HeldPort;
use engines::server::{ServerReport, ServerShape};
use machines::machine::{Machine, MachineError};
use platforms::capabilities::{Capabilities, DataHome};
use platforms::lease::{Lease, LeaseOrder};
use platforms::order::{MachineOrder, Mounting, Reached};
use platforms::placement::Place;
use record::error::RecordError;
use record::event::Event;
use record::facts::Fact;
use record::folder::TrialFolder;
use record::phase::Phase;
use record::plan::PlannedTrial;
use record::trial::{MachineFacts, Outcome, PhaseSpan, ServerFacts, TrialRecord};
use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use study::Placement;
use telemetry::Latest;

/// A guest whose clock runs at a wrong rate is booted again, up to this many boots in all.
const BOOTS_MAX: u32 = 4;
/// Gives each further machine a different seed. (2^64 divided by the golden ratio.)
const SEED_OF_MACHINE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Everything needed to carry out a trial on one of its machines.
pub struct Attempt<'a> {
    pub planned: &'a PlannedTrial,
    pub contender: &'a str,
    pub cell: &'a CellOrder,
    pub prepared: &'a Prepared,
    pub site: &'a Site,
    pub scratch: &'a Path,
    /// `None` if its files are not kept.
    pub folder: Option<TrialFolder>,
    /// Which machine of the trial, from 1.
    pub number: u32,
    /// What the record says about earlier attempts. With several machines, the trial's own record says it.
    pub earlier: Earlier,
    pub halt: Halt<'a>,
    /// When the machine is started; `None` if it is the only one.
    pub turn: Option<Turn<'a>>,
    /// Where the host's last sample is shown; `None` if nobody looks.
    pub latest: Option<&'a Arc<Latest>>,
    /// The server to use, if one is already running.
    pub existing: Option<Existing<'a>>,
    /// Load hosts that other trials may need at the same time; `None` if there are no other trials.
    pub in_use: Option<&'a HostsInUse>,
    pub tell: &'a mut dyn FnMut(Event),
}

/// Runs the trial and writes its folder. An error means that the record or scratch cannot be written, or that the host
/// lacks room, a tool or a higher limit. The trial can then be run again. Everything else is an outcome.
pub fn attempt(attempt: Attempt<'_>, started: String) -> Result<TrialRecord, AttemptError> {
    if attempt.cell.machine.count > 1 { together::attempt(attempt, &started) } else { on_one_machine(attempt, started) }
}

/// The same on one machine, which may be one of several.
pub fn on_one_machine(attempt: Attempt<'_>, started: String) -> Result<TrialRecord, AttemptError> {
    let tasks = Task::of_a_trial(attempt.site.capabilities(&attempt.cell.platform).server);
    let mut running = Running::begin(attempt, started, tasks)?;
    let result = running.carry_out();
    running.finish(result)
}

pub(crate) struct Running<'a> {
    pub(crate) attempt: Attempt<'a>,
    pub(crate) steps: Vec<Step>,
    pub(crate) record: TrialRecord,
    pub(crate) phase: Phase,
    /// True if its clock ran at a wrong rate before.
    pub(crate) is_booted_again: bool,
    /// When the phase began; `None` before the first phase.
    pub(crate) since: Option<Instant>,
    /// The common start of the current driving on all machines of the trial, by the host's clock.
    pub(crate) began_ns: Cell<Option<u64>>,
    /// When the machine's clock was last read.
    pub(crate) clock_read: Option<Instant>,
    /// The machine's databases; at least one.
    pub(crate) instances: Vec<Instance>,
    /// The database that is worked with now, from 0.
    pub(crate) instance: u16,
    /// When sampling began, by this host's monotonic clock.
    pub(crate) sampled_from_ns: u64,
    /// What the host did around the measured window.
    pub(crate) host: HostWatch,
    /// Agents on the hosts that the load comes from.
    pub(crate) generators: Vec<Generator>,
    /// The hosts of these agents, which drive for this trial alone.
    pub(crate) generators_use: Option<Use<'a>>,
}

impl<'a> Running<'a> {
    pub(crate) fn begin(mut attempt: Attempt<'a>, started: String, asked: &[Task]) -> Result<Self, AttemptError> {
        attempt.folder.as_ref().map_or(Ok(()), TrialFolder::begin)?;
        let warnings = std::mem::take(&mut attempt.earlier.warnings);
        let (data, made_by) = (attempt.prepared.data_of(attempt.number), attempt.site.made_by.clone());
        let record = TrialRecord::begun(attempt.planned, attempt.contender, started, made_by);
        let record = TrialRecord { workload: Some(data.chosen.table()), warnings, ..record };
        let (cell, site) = (attempt.cell, attempt.site);
        let instances = Instance::of_machine(attempt.folder.as_ref(), cell.instances, &data.findings)?;
        let is_idle = odd::is_idle(cell, attempt.number);
        let steps = step::chosen(site.capabilities(&cell.platform), &cell.load, is_idle, asked);
        Ok(Self {
            attempt,
            steps,
            record,
            phase: Phase::Clone,
            is_booted_again: false,
            since: None,
            began_ns: Cell::new(None),
            clock_read: None,
            instances,
            instance: 0,
            sampled_from_ns: 0,
            host: HostWatch::default(),
            generators: Vec::new(),
            generators_use: None,
        })
    }

    pub(crate) fn carry_out(&mut self) -> Result<(), AttemptError> {
        let result = self.carry_out_with_right_clock();
        // Otherwise the other machines would wait for this one for ever.
        if let (Err(_), Some(others)) = (&result, self.attempt.halt.others) {
            others.give_up();
        }
        result
    }

    fn carry_out_with_right_clock(&mut self) -> Result<(), AttemptError> {
        for _ in 1..BOOTS_MAX {
            match self.carry_out_once() {
                Err(AttemptError::WrongClock(why)) => {
                    self.record.warnings.push(format!("booted again: {why}"));
                    self.is_booted_again = true;
                }
                other => return other,
            }
        }
        self.carry_out_once()
    }

    /// Waits for the trial's other machines.
    pub(crate) fn meet(&self) -> Result<(), AskError> {
        self.meet_with(|| 0).map(drop)
    }

    /// Waits for the other machines; all get the value that the last one brings.
    pub(crate) fn meet_with(&self, bring: impl FnOnce() -> u64) -> Result<u64, AskError> {
        let halt = self.attempt.halt;
        let Some(others) = halt.others else { return Ok(bring()) };
        others.meet(halt.interrupts, bring).map_err(|_| AskError::halted(halt))
    }

    /// The first machine gets the seed of a machine that is alone. The others get different seeds, so different inputs.
    pub(crate) fn seed(&self) -> u64 {
        self.attempt.planned.seed.wrapping_add(u64::from(self.attempt.number - 1).wrapping_mul(SEED_OF_MACHINE))
    }

    /// This machine's data, and the workload that runs on them.
    pub(crate) fn data(&self) -> &Data {
        self.attempt.prepared.data_of(self.attempt.number)
    }

    pub(crate) fn lease_data(&self) -> Result<Lease, AttemptError> {
        let cell = self.attempt.cell;
        let (data, device) = (self.data(), cell.machine.disk.device.as_deref());
        let order = LeaseOrder { loaded: &data.loaded, device: device.map(Path::new), scratch: self.attempt.scratch };
        Ok(self.attempt.prepared.platform.lease(&order)?)
    }

    /// False in a rehearsal, which executes nothing.
    pub(crate) fn executes(&self) -> bool {
        self.can().executes
    }

    pub(crate) fn can(&self) -> Capabilities {
        self.attempt.site.capabilities(&self.attempt.cell.platform)
    }

    /// Whether its machine is on another host, of which this one sees nothing.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.can().data == DataHome::Elsewhere
    }

    pub(crate) fn start_machine(&mut self, lease: &Lease) -> Result<Box<dyn Machine>, AttemptError> {
        let cell = self.attempt.cell;
        let vcpus = cell.machine.vcpus;
        if cell.load.placement == Placement::Outside && self.can().starts_server() {
            let servers = if cell.shares_server { 1 } else { self.instances.len() };
            for own in &mut self.instances[..servers] {
                own.port = Some(HeldPort::of_loopback().map_err(AttemptError::Port)?);
            }
        }
        let order = MachineOrder {
            name: self.name(),
            vcpus,
            memory_bytes: cell.machine.memory_bytes.0,
            place: self.place()?,
            cpu_quota: self.odd().and_then(|odd| odd.cpu_quota),
            image: self.attempt.prepared.image.clone(),
            agent: self.attempt.site.agent.clone(),
            data: lease.data().clone(),
            scratch: self.attempt.scratch.to_owned(),
            cache: self.attempt.site.cache.clone(),
            mounting: Mounting { must: false, tuning: cell.machine.disk.tuning() },
            reached: Reached { address: self.our_address()?, ports: self.ports() },
        };
        let machine = self.attempt.prepared.platform.start(&order, &|| self.pass_turn())?;
        self.record.machine = Some(MachineFacts {
            platform: cell.platform.kind.clone(),
            command_line: machine.command_line().to_vec(),
            image: order.image.as_ref().map(|image| format!("{} {}", image.name, image.id)).unwrap_or_default(),
            decided: machine.decided().iter().map(|(name, decided)| (name.clone(), fact(decided))).collect(),
            ..MachineFacts::default()
        });
        self.record_turn();
        Ok(machine)
    }

    /// The address of this host at which load reaches servers on it. A machine on another host has its own.
    fn our_address(&self) -> Result<IpAddr, MachineError> {
        if self.is_elsewhere() {
            Ok(Reached::default().address)
        } else {
            our_address(&self.attempt.prepared.load_hosts)
        }
    }

    pub(crate) fn name(&self) -> String {
        let (trial, number) = (self.attempt.planned.id, self.attempt.number);
        if self.attempt.halt.others.is_none() {
            format!("trial-{trial:04}")
        } else {
            format!("trial-{trial:04}-{number}")
        }
    }

    /// This machine's place among the trial's places. Where no server is started, or on another host, any place will do.
    fn place(&self) -> Result<Place, MachineError> {
        let Attempt { cell, site, planned, number, .. } = &self.attempt;
        if !self.can().starts_server() || self.is_elsewhere() {
            return Ok(Place::anywhere_on(&site.cpus));
        }
        Ok(places(cell, site, planned.block)?.swap_remove(*number as usize - 1))
    }

    pub(crate) fn describe(&mut self, machine: &mut dyn Machine) -> Result<(), AttemptError> {
        self.read_clock(machine, "after boot")?;
        match self.ask(machine, &Request::Describe, self.limits().start)? {
            Reply::Description(inside) => {
                if let Some(facts) = &mut self.record.machine {
                    facts.inside = inside;
                }
                Ok(())
            }
            other => Err(mismatch("describe", &other).into()),
        }
    }

    pub(crate) fn start_server(&mut self, machine: &mut dyn Machine) -> Result<ServerReport, AttemptError> {
        let cell = self.attempt.cell;
        if self.instance > 0 && cell.shares_server {
            return self.open_database(machine);
        }
        // They share the machine's memory, but each may use all of its CPUs.
        let servers = if cell.shares_server { 1 } else { cell.instances };
        let memory_bytes = cell.machine.memory_bytes.0 / u64::from(servers);
        let request = Request::StartServer {
            engine: cell.engine.clone(),
            shape: ServerShape { vcpus: cell.machine.vcpus, memory_bytes },
            listen: self.current().port.as_ref().map(|port| SocketAddr::new(machine.listens_on(), port.number())),
        };
        match self.ask(machine, &request, self.limits().start)? {
            Reply::Started(report) => {
                self.record_server(&report);
                Ok(*report)
            }
            other => Err(mismatch("start of the server", &other).into()),
        }
    }

    /// Opens a further database of the first one's server.
    fn open_database(&mut self, machine: &mut dyn Machine) -> Result<ServerReport, AttemptError> {
        match self.ask(machine, &Request::OpenDatabase, self.limits().start)? {
            Reply::Opened(further) => {
                self.record_server(&further.report);
                Ok(further.report)
            }
            other => Err(mismatch("opening of the database", &other).into()),
        }
    }

    pub(crate) fn record_server(&mut self, report: &ServerReport) {
        let engine = &self.attempt.cell.engine;
        self.own().server = Some(ServerFacts {
            engine: engine.kind.clone(),
            version: report.version.clone(),
            profile: self.attempt.cell.profile.clone(),
            effective: report.effective.clone(),
        });
    }

    /// Writes to the trial's folder, if it has one.
    pub(crate) fn file(&self, write: impl FnOnce(&TrialFolder) -> Result<(), RecordError>) -> Result<(), RecordError> {
        self.attempt.folder.as_ref().map_or(Ok(()), write)
    }

    /// The server's log is worth having, but a trial does not fail without it.
    pub(crate) fn save_server_log(&mut self, machine: &mut dyn Machine) {
        let reply = self.ask(machine, &Request::ServerLog, self.limits().end);
        let saved = match reply {
            Ok(Reply::ServerLog(log)) => {
                self.current().file(|folder| folder.write("logs/server.txt", log.as_bytes())).is_ok()
            }
            _ => false,
        };
        if !saved {
            let warning = self.of_instance("the server's log could not be saved");
            self.record.warnings.push(warning);
        }
    }

    /// Keeps the logs of the server or the machine that came with a failure.
    fn keep_logs(&self, error: &AttemptError) -> Result<(), RecordError> {
        match error {
            AttemptError::Ask(AskError::Refused(failure)) => {
                let own = self.instances.get(usize::from(failure.instance.unwrap_or_default()));
                let own = own.unwrap_or(&self.instances[0]);
                own.file(|folder| folder.write("logs/server.txt", failure.log.as_bytes()))
            }
            AttemptError::Machine(MachineError::Silent { console, .. } | MachineError::Ended { console, .. }) => {
                self.file(|folder| folder.write("logs/console.txt", console.as_bytes()))
            }
            _ => Ok(()),
        }
    }

    /// Ends the current phase and begins the next.
    pub(crate) fn enter(&mut self, phase: Phase) {
        self.leave();
        self.phase = phase;
        let expected_ms = study::expected_ms(phase, &self.attempt.cell.load);
        let trial = self.attempt.planned.id;
        (self.attempt.tell)(Event::PhaseStarted { trial, phase: phase.to_string(), expected_ms });
    }

    fn leave(&mut self) {
        let now = Instant::now();
        if let Some(since) = self.since.replace(now) {
            let length_ms = u64::try_from((now - since).as_millis()).unwrap_or(u64::MAX);
            self.record.phases.push(PhaseSpan { phase: self.phase.to_string(), length_ms });
        }
    }

    fn finish(mut self, result: Result<(), AttemptError>) -> Result<TrialRecord, AttemptError> {
        self.leave();
        if let Err(error) = result {
            let error = error.unless_of_the_run(self.attempt.scratch, self.can())?;
            self.keep_logs(&error)?;
            self.record.outcome = self.outcome_of(&error);
        }
        // Several machines are judged together.
        if self.attempt.halt.others.is_none() {
            let limit = other_load::limit(self.attempt.cell, self.attempt.site);
            other_load::judge(&mut self.record, limit, std::mem::take(&mut self.attempt.earlier.disturbed));
        }
        self.keep_record()?;
        Ok(self.record)
    }

    fn outcome_of(&self, error: &AttemptError) -> Outcome {
        let phase = self.phase.to_string();
        match error {
            AttemptError::Machine(MachineError::Unavailable { why }) => Outcome::Skipped { why: why.clone() },
            AttemptError::Ask(AskError::Interrupted) => Outcome::Interrupted { phase },
            AttemptError::Ask(AskError::Refused(Failure { why, instance: Some(instance), .. }))
                if self.instances.len() > 1 =>
            {
                Outcome::Failed { phase, why: format!("instance {}: {why}", u32::from(*instance) + 1) }
            }
            AttemptError::LoadHost { host, error } => match &**error {
                AttemptError::Machine(MachineError::Unavailable { why }) => {
                    Outcome::Skipped { why: format!("the load host {host}: {why}") }
                }
                // Without one of them, less was asked of the database than the study says.
                AttemptError::Ask(AskError::Link(_)) | AttemptError::Machine(_) => {
                    Outcome::Invalid { why: format!("the load host {host} was lost: {error}") }
                }
                _ => Outcome::Failed { phase, why: format!("load host {host}: {error}") },
            },
            error => Outcome::Failed { phase, why: error.to_string() },
        }
    }

    /// Ends a trial on a server that is already running. Errors that would end a run are recorded as outcomes here,
    /// since there is no run. Also, a full disk of this host need not be the server's.
    pub(crate) fn finish_alone(mut self, result: Result<(), AttemptError>) -> Result<(), AttemptError> {
        self.leave();
        if let Err(error) = &result {
            self.record.outcome = self.outcome_of(error);
        }
        let kept = self.keep_record();
        result.and(kept.map_err(AttemptError::from))
    }
}

fn fact(decided: &Result<String, String>) -> Fact {
    match decided {
        Ok(text) => Fact::known(text),
        Err(why) => Fact::unavailable(why),
    }
}

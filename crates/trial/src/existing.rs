//! A trial on a server that is already running. It does the requested parts of a trial, and reports the result of each
//! part as soon as it is known.
//!
//! Nothing is known about the machine of that server, so the record says nothing about it. Errors that end a trial
//! early go to the caller unchanged, because the user may have named a server or tables that do not fit.

use crate::again::Earlier;
use crate::attempt::{Attempt, Running};
use crate::cell::{CellError, CellOrder};
use crate::conductor::now_text;
use crate::conversation::{Conversation, mismatch};
use crate::error::AttemptError;
use crate::halt::Halt;
use crate::limits::Limits;
use crate::preparation::Prepared;
use crate::site::{Site, read_host};
use crate::step::Task;
use crate::validity::Invalid;
use agent::listed::{Reshaped, Stay, is_routine};
use agent::protocol::{Chosen, Reply, Request};
use agent::service::{self, Folders};
use agent::tables::{Lacking, OtherSize, Tables};
use driver::plan::{DrivePlan, Driven, SecondSeen};
use engines::server::{Endpoint, ServerReport};
use machines::interrupts::Interrupts;
use machines::machine::{Decided, Machine, MachineError};
use platforms::capabilities::ServerUse;
use platforms::entry::PlatformEntry;
use platforms::external;
use platforms::lease::Lease;
use platforms::order::{Launched, MachineOrder};
use platforms::platform::{Platform, plain};
use record::check::CheckResult;
use record::event::Event;
use record::folder::TrialFolder;
use record::host_state::HostReading;
use record::looks::{Looks, Reading};
use record::plan::{Cell, Plan, PlannedTrial};
use record::settings::Settings;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use workloads::catalog::AnyWorkload;

/// The platform of a trial on a running server.
pub static EXTERNAL: PlatformEntry = external::entry(|_, _| Ok(platform()));

fn platform() -> Box<dyn Platform> {
    plain(&Map::new(), |order| Ok(Lease::of_nothing(order)), start)
}

fn start(_: &Map<String, Value>, _: &MachineOrder, launched: Launched<'_>) -> Result<Box<dyn Machine>, MachineError> {
    let serve = |stream: std::os::unix::net::UnixStream| {
        let place = Folders { data: PathBuf::new(), logs: PathBuf::new() };
        service::serve(stream.try_clone()?, stream, place)
    };
    external::machine::start(serve, Decided::new(), launched)
}

/// The contender's name in the record; the question names the server itself.
const CONTENDER: &str = "server";
/// All its runs count as one study, so they are compared.
const STUDY: &str = "drive";

/// A server that restarts, or takes over from another, is back by then.
const AWAY_LIMIT_MS: u64 = 60_000;
/// Each statement has its own limit, at most hours long; this is the limit for a whole load or check.
const WORK_LIMIT: Duration = Duration::from_hours(24);
/// A placeholder: nothing makes this machine, so it has no shape.
const NO_SHAPE: (u32, u64) = (1, 64 << 20);

/// Why the tables of a database do not suit a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("{}", those(.0, "exists already and was not touched", "exist already and were not touched"))]
    Exist(Vec<String>),
    #[error(
        "{}",
        those(
            .0,
            "exists already, was not made by bakeoff and was not touched",
            "exist already, were not made by bakeoff and were not touched"
        )
    )]
    Foreign(Vec<String>),
    #[error("{}", those(.tables, "is missing", "are missing"))]
    Missing { tables: Vec<String>, task: Task },
    #[error("{lacking}")]
    Lacking { lacking: Lacking, foreign: Vec<String> },
    #[error(
        "{}",
        those(
            .0,
            "exists, and only other settings of the workload have it",
            "exist, and only other settings of the workload have them"
        )
    )]
    OfOtherSettings(Vec<String>),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    OfOtherSize(Vec<OtherSize>),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Reshaped(Vec<Reshaped>),
}

fn those(tables: &[String], of_one: &str, of_several: &str) -> String {
    format!("{} {}", tables.join(", "), if tables.len() == 1 { of_one } else { of_several })
}

/// What is reported while a trial goes on.
pub enum Heard<'a> {
    Event(Event),
    Server(&'a ServerReport),
    /// Names of the tables that were dropped.
    Cleaned(&'a [String]),
    /// Rows of each table, and how long loading took.
    Loaded(&'a BTreeMap<String, u64>, Duration),
    Second(SecondSeen),
    Driven {
        driven: &'a Driven,
        /// The server's counters, if the window was long enough for two looks.
        looks: Option<&'a Looks>,
        warnings: &'a [String],
        invalid: Option<&'a Invalid>,
    },
    Checked(&'a [CheckResult]),
}

/// A running server, as one trial uses it.
pub struct Existing<'a> {
    writers: u32,
    hear: &'a mut dyn FnMut(Heard<'_>),
}

/// Trials on a server that is already running.
pub struct Order {
    pub endpoint: Endpoint,
    /// Connections that load in parallel.
    pub writers: u32,
    /// Name, version and revision of this build, for the record.
    pub made_by: String,
    cell: Cell,
    read: CellOrder,
    prepared: Prepared,
}

impl Order {
    /// An order to drive a workload. `load` is the load table of a study, with every key decided.
    pub fn new(
        endpoint: Endpoint,
        workload: (Chosen, AnyWorkload),
        load: Map<String, Value>,
    ) -> Result<Self, CellError> {
        let (chosen, workload) = workload;
        let (vcpus, memory) = NO_SHAPE;
        let tables = [
            ("machine", json!({ "vcpus": vcpus, "memory": memory, "image": "", "disk": {} })),
            // Runs on two servers differ in this key.
            ("platform", json!({ "kind": EXTERNAL.kind, "server": endpoint.to_string() })),
            ("engine", json!({ "kind": endpoint.dialect().name() })),
            ("workload", chosen.table().into()),
            ("load", load.into()),
        ];
        let settings: Map<_, _> = tables.map(|(name, table)| (name.to_owned(), table)).into_iter().collect();
        let settings = Settings::try_from(settings)?;
        let contender = CONTENDER.to_owned();
        let cell = Cell { id: 0, contender, baseline: true, scenario: None, sweep: Map::new(), settings };
        let read = CellOrder { away_limit_ms: AWAY_LIMIT_MS, ..CellOrder::read(&cell)? };
        let (prepared, made_by) =
            (Prepared::unprepared(platform().into(), endpoint.clone(), chosen, workload), String::new());
        Ok(Self { endpoint, writers: 1, made_by, cell, read, prepared })
    }

    /// The plan of the run: the same trial, repeated.
    pub fn plan(&self, repeats: u32, seed: u64) -> Plan {
        let kind = &self.read.workload.kind;
        let cells = vec![self.cell.clone()];
        let trials = study::trials(seed, repeats, &cells);
        Plan {
            format: record::FORMAT,
            question: format!("How fast is {kind} on {}?", self.endpoint),
            study: STUDY.to_owned(),
            seed,
            blocks: repeats,
            aa: false,
            rehearsed: false,
            precision: None,
            margin: None,
            accept: BTreeMap::new(),
            durability: None,
            ablation: None,
            cells,
            trials,
            workloads: vec![study::note(kind, self.workload())],
        }
    }

    pub fn workload(&self) -> &AnyWorkload {
        &self.prepared.data_of(1).workload
    }

    /// The load to drive with; `None` while the ladder still searches for it.
    pub fn drive_plan(&self, seed: u64) -> Option<DrivePlan> {
        Some(self.read.drive_plan(self.workload(), self.read.load.offered.pacing()?, seed))
    }

    /// Carries out one of the trials: these tasks, until one fails.
    pub fn carry_out(
        &self,
        planned: &PlannedTrial,
        tasks: &[Task],
        folder: Option<TrialFolder>,
        interrupts: &Interrupts,
        hear: &mut dyn FnMut(Heard<'_>),
    ) -> Result<(), AttemptError> {
        let site = Site {
            cache: PathBuf::new(),
            scratch: PathBuf::new(),
            agent: PathBuf::new(),
            cpus: Vec::new(),
            memory_bytes: 0,
            made_by: self.made_by.clone(),
            platforms: |_| Some(&EXTERNAL),
            // The agent is a thread of ours, which stands still only if this whole process does.
            read_host: if self.endpoint.is_served_here() { read_shared_host } else { read_host },
            limits: Limits { check: WORK_LIMIT, lifeless: WORK_LIMIT, ..Limits::default() },
            credentials: platforms::credentials::Credentials::default(),
            find_server: crate::site::no_server,
            lines: None,
        };
        // Events and all other reports go to the same closure.
        let hear = RefCell::new(hear);
        let hear_more = &mut |heard: Heard<'_>| (hear.borrow_mut())(heard);
        let attempt = Attempt {
            planned,
            contender: &self.cell.contender,
            cell: &self.read,
            prepared: &self.prepared,
            site: &site,
            scratch: Path::new(""),
            folder,
            number: 1,
            earlier: Earlier::default(),
            halt: Halt::by_user(interrupts),
            turn: None,
            latest: None,
            existing: Some(Existing { writers: self.writers, hear: hear_more }),
            in_use: None,
            tell: &mut |event| (hear.borrow_mut())(Heard::Event(event)),
        };
        let mut running = Running::begin(attempt, now_text(), tasks)?;
        let result = running.carry_out();
        running.finish_alone(result)
    }
}

/// What this host does where a running server shares it: its processes look like those of others.
fn read_shared_host() -> HostReading {
    let why = "the server's address is of this host, so it may be one of the other processes".to_owned();
    HostReading { processes: Reading::Unavailable(why), ..read_host() }
}

impl Running<'_> {
    /// Reports to the caller, if the server is one that was already running.
    pub(crate) fn hear(&mut self, heard: Heard<'_>) {
        if let Some(existing) = &mut self.attempt.existing {
            (existing.hear)(heard);
        }
    }

    /// Reports the findings from index `first` on.
    pub(crate) fn hear_checked(&mut self, first: usize) {
        if let Some(existing) = &mut self.attempt.existing {
            (existing.hear)(Heard::Checked(&self.instances[usize::from(self.instance)].findings[first..]));
        }
    }

    pub(crate) fn use_server(&mut self, machine: &mut dyn Machine) -> Result<ServerReport, AttemptError> {
        let endpoint = self.attempt.prepared.server.clone().unwrap_or_else(Endpoint::nowhere);
        match self.ask(machine, &Request::UseServer { endpoint }, self.limits().start)? {
            Reply::Started(report) => {
                self.record_server(&report);
                self.hear(Heard::Server(&report));
                Ok(*report)
            }
            other => Err(mismatch("use of the server", &other).into()),
        }
    }

    pub(crate) fn clean(&mut self, machine: &mut dyn Machine) -> Result<(), AttemptError> {
        // A routine of the user's is in nobody's way here.
        let foreign: Vec<_> =
            self.tables(machine, false)?.foreign.into_iter().filter(|name| !is_routine(name)).collect();
        if !foreign.is_empty() {
            return Err(Unfit::Foreign(foreign).into());
        }
        let workload = self.data().chosen.clone();
        match self.ask(machine, &Request::Clean { workload }, self.limits().check)? {
            Reply::Cleaned(tables) => {
                self.hear(Heard::Cleaned(&tables));
                Ok(())
            }
            other => Err(mismatch("clean", &other).into()),
        }
    }

    /// Drops what trials of studies have loaded on a server that runs already. That must also be done where the user wants to stop.
    pub(crate) fn drop_listed(&mut self, machine: &mut dyn Machine) -> Result<(), AttemptError> {
        let nobody = Interrupts::default();
        let (limits, instance) = (&self.attempt.site.limits, self.instance);
        let mut conversation = Conversation { link: machine.link(), halt: Halt::by_user(&nobody), limits, instance };
        match conversation.ask(&Request::DropListed, limits.check, &mut |_| ())? {
            Reply::Cleaned(_) => Ok(()),
            other => Err(mismatch("drop of what was loaded", &other).into()),
        }
    }

    /// Loads the tables, unless some exist: those are not touched.
    pub(crate) fn load(&mut self, machine: &mut dyn Machine) -> Result<(), AttemptError> {
        let Tables { present, foreign, .. } = self.tables(machine, false)?;
        if !foreign.is_empty() {
            return Err(Unfit::Foreign(foreign).into());
        }
        if !present.is_empty() {
            return Err(Unfit::Exist(present).into());
        }
        let writers = self.attempt.existing.as_ref().map_or(self.attempt.cell.machine.vcpus, |own| own.writers);
        let stay = Some(match self.can().server {
            ServerUse::Running => Stay::OneTrial,
            ServerUse::Started | ServerUse::Anywhere => Stay::UntilCleaned,
        });
        let (workload, begun) = (self.data().chosen.clone(), Instant::now());
        let (halt, limits, instance) = (self.attempt.halt, &self.attempt.site.limits, self.instance);
        let mut conversation = Conversation { link: machine.link(), halt, limits, instance };
        let tell = &mut self.attempt.tell;
        let silence = self.attempt.site.limits.check;
        let reply = conversation.ask(&Request::Load { workload, writers, stay }, silence, &mut |aside| {
            if let Reply::Progress { what, done, of } = aside {
                tell(Event::Progress { what, done, of });
            }
        })?;
        let Reply::Loaded { rows } = reply else { return Err(mismatch("load", &reply).into()) };
        self.hear(Heard::Loaded(&rows, begun.elapsed()));
        Ok(())
    }

    pub(crate) fn require_tables(&mut self, machine: &mut dyn Machine, task: Task) -> Result<(), AttemptError> {
        let Tables { missing, of_other_size, of_other_settings, lacking, foreign, reshaped, .. } =
            self.tables(machine, task == Task::Drive)?;
        if !missing.is_empty() {
            return Err(Unfit::Missing { tables: missing, task }.into());
        }
        let (broken_off, changed): (Vec<_>, Vec<_>) =
            reshaped.into_iter().partition(|table| matches!(table, Reshaped::NotLoaded { .. }));
        if !broken_off.is_empty() {
            return Err(Unfit::Reshaped(broken_off).into());
        }
        if !of_other_settings.is_empty() {
            return Err(Unfit::OfOtherSettings(of_other_settings).into());
        }
        if !of_other_size.is_empty() {
            return Err(Unfit::OfOtherSize(of_other_size).into());
        }
        if !lacking.is_empty() {
            return Err(Unfit::Lacking { lacking, foreign }.into());
        }
        if changed.is_empty() { Ok(()) } else { Err(Unfit::Reshaped(changed).into()) }
    }

    fn tables(&mut self, machine: &mut dyn Machine, to_drive: bool) -> Result<Tables, AttemptError> {
        let workload = self.data().chosen.clone();
        match self.ask(machine, &Request::Tables { workload, to_drive }, self.limits().check)? {
            Reply::Tables(tables) => Ok(tables),
            other => Err(mismatch("tables", &other).into()),
        }
    }
}

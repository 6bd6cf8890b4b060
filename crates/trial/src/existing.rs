//! A trial on a server that is already running. It does the requested parts of a trial, and reports the result of each
//! part as soon as it is known.
//!
//! Nothing is known about the machine of that server, so the record says nothing about it. Errors that end a trial
//! early go to the caller unchanged, because the user may have named a server or tables that do not fit.

use crate::again::Earlier;
use crate::attempt::{self, Attempt};
use crate::context::TrialContext;
use crate::error::AttemptError;
use crate::events::Heard;
use crate::halt::Halt;
use crate::limits::Limits;
use crate::preparation::PreparedCell;
use crate::script;
use crate::site::{Site, read_host};
use crate::task::Task;
use crate::time::now_text;
use agent::service::{self, Folders};
use driver::plan::DrivePlan;
use engines::server::Endpoint;
use machines::interrupts::Interrupts;
use machines::machine::{Decisions, Machine, MachineError};
use platforms::capabilities::{Capabilities, DataHome, ImageUse, ServerUse};
use platforms::entry::PlatformSettings;
use platforms::external;
use platforms::lease::Lease;
use platforms::order::Launched;
use platforms::platform::{OpenOrder, Platform, plain};
use record::folder::TrialFolder;
use record::host_state::HostReading;
use record::looks::Reading;
use record::plan::{Cell, Plan, PlannedTrial};
use record::settings::{EXISTING_SERVER, Settings};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use study::{CellError, ChosenWorkload, TypedCell};
use workloads::catalog::AnyWorkload;

/// The platform of a trial on a running server. No study names it: a study compares machines, and here is none.
#[derive(Debug)]
struct External;

impl PlatformSettings for External {
    fn can(&self) -> Capabilities {
        Capabilities { image: ImageUse::None, data: DataHome::Folder, executes: true, server: ServerUse::Anywhere }
    }

    fn open(&self, _order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        Ok(platform())
    }
}

fn platform() -> Box<dyn Platform> {
    plain(|order| Ok(Lease::of_nothing(order)), |_, launched| start(launched))
}

fn start(launched: Launched<'_>) -> Result<Box<dyn Machine>, MachineError> {
    let serve = |stream: std::os::unix::net::UnixStream| {
        let place = Folders { data: PathBuf::new(), logs: PathBuf::new() };
        service::serve(stream.try_clone()?, stream, place)
    };
    external::machine::start(serve, Decisions::new(), launched)
}

/// The contender's name in the record; the question names the server itself.
const CONTENDER: &str = "server";
/// All its runs count as one study, so they are compared.
const STUDY: &str = "drive";

/// A server that restarts, or takes over from another, is back by then.
const AWAY_LIMIT: Duration = Duration::from_mins(1);
/// Each statement has its own limit, at most hours long; this is the limit for a whole load or check.
const WORK_LIMIT: Duration = Duration::from_hours(24);
/// A placeholder: nothing makes this machine, so it has no shape.
const NO_SHAPE: (u32, u64) = (1, 64 << 20);

/// Trials on a server that is already running.
pub struct ExistingOrder {
    pub endpoint: Endpoint,
    /// Connections that load in parallel.
    pub writers: u32,
    /// Name, version and revision of this build, for the record.
    pub made_by: String,
    cell: TypedCell,
    prepared: PreparedCell,
}

impl ExistingOrder {
    /// An order to drive a workload. `load` is the load table of a study, with every key decided.
    pub fn new(endpoint: Endpoint, workload: ChosenWorkload, load: Map<String, Value>) -> Result<Self, CellError> {
        let (vcpus, memory) = NO_SHAPE;
        let tables = [
            ("machine", json!({ "vcpus": vcpus, "memory": memory, "image": "", "disk": {} })),
            // Runs on two servers differ in this key.
            ("platform", json!({ "kind": EXISTING_SERVER, "server": endpoint.to_string() })),
            ("engine", json!({ "kind": endpoint.dialect().name() })),
            ("workload", workload.chosen.table().into()),
            ("load", load.into()),
        ];
        let settings: Map<_, _> = tables.map(|(name, table)| (name.to_owned(), table)).into_iter().collect();
        let settings = Settings::try_from(settings).map_err(|error| CellError { cell: 0, what: error.to_string() })?;
        let contender = CONTENDER.to_owned();
        let cell = Cell { id: 0, contender, baseline: true, scenario: None, sweep: Map::new(), settings };
        let cell = TypedCell::read(cell, |_, _| Some(Ok(Arc::new(External))))?;
        let (prepared, made_by) =
            (PreparedCell::unprepared(platform().into(), endpoint.clone(), workload), String::new());
        Ok(Self { endpoint, writers: 1, made_by, cell, prepared })
    }

    /// The plan of the run: the same trial, repeated.
    pub fn plan(&self, repeats: u32, seed: u64) -> Plan {
        let kind = &self.cell.workload.chosen.kind;
        let cells = vec![self.cell.written.clone()];
        let trials = study::trials(seed, repeats, &[(self.cell.written.id, &[])]);
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
            recipes: BTreeMap::new(),
            cells,
            trials,
            workloads: vec![study::note(kind, self.workload())],
        }
    }

    pub fn workload(&self) -> &AnyWorkload {
        &self.prepared.data_of(1).workload.made
    }

    /// The load to drive with; `None` while the ladder still searches for it.
    pub fn drive_plan(&self, seed: u64) -> Option<DrivePlan> {
        let pacing = self.cell.load.offered.pacing()?;
        Some(script::drive_plan(&self.cell, self.workload(), pacing, seed, &limits()))
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
            // The agent is a thread of ours, which stands still only if this whole process does.
            read_host: if self.endpoint.is_served_here() { read_shared_host } else { read_host },
            limits: limits(),
            credentials: platforms::credentials::Credentials::default(),
            find_server: crate::site::no_server,
            lines: None,
        };
        let context = TrialContext {
            planned,
            cell: &self.cell,
            prepared: &self.prepared,
            site: &site,
            scratch: Path::new(""),
            number: 1,
            halt: Halt::by_user(interrupts),
            turn: None,
            latest: None,
            in_use: None,
            writers: self.writers,
        };
        let attempt = Attempt { context, folder, earlier: Earlier::default(), hear };
        attempt::on_existing_server(attempt, now_text(), tasks)
    }
}

fn limits() -> Limits {
    Limits { check: WORK_LIMIT, lifeless: WORK_LIMIT, away: AWAY_LIMIT, ..Limits::default() }
}

/// What this host does where a running server shares it: its processes look like those of others.
fn read_shared_host() -> HostReading {
    let why = "the server's address is of this host, so it may be one of the other processes".to_owned();
    HostReading { processes: Reading::Unavailable(why), ..read_host() }
}

//! Answers requests, one after another.

use crate::database::Database;
use crate::listed::{self, ListedTable};
use crate::loading::{self, cancellable, patient_admin};
use crate::looks::LookWatch;
use crate::protocol::{Failure, PULSE, Reply, Request};
use crate::sampling;
use crate::tables;
use crate::voice::ReplyWriter;
use driver::instances;
use driver::plan::{Control, DrivePlan, SeenProgress};
use engines::admin::Admin;
use engines::server::{Endpoint, ServerError, ServerPlace, ServerReport};
use machines::frame::{Greeting, Message, read_frame, write_frame};
use settings::Chosen;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};
use telemetry::Sampling;
use workloads::catalog::AnyWorkload;
use workloads::receipts;

/// Requests that may wait while one is answered; the conductor sends one at a time.
const QUEUED_REQUESTS: usize = 4;
/// How long a failed request waits until the death of its server can be seen.
const DYING: Duration = Duration::from_millis(100);

/// The agent's folders.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The machine's data disk.
    pub data: PathBuf,
    /// A folder for server logs, inside the machine.
    pub logs: PathBuf,
}

impl Folders {
    /// The folders of one database: the first uses these folders themselves, each further one has its own below them.
    fn of(&self, instance: u16) -> Self {
        match instance {
            0 => self.clone(),
            _ => Self {
                data: self.data.join(folder_of_instance(instance)),
                logs: self.logs.join(folder_of_instance(instance)),
            },
        }
    }
}

/// The folder of a further instance on a data disk, beside the files of the first.
pub fn folder_of_instance(instance: u16) -> String {
    format!("instance-{}", u32::from(instance) + 1)
}

/// Serves until the conductor sends `Shutdown` or goes away.
pub fn serve(read: impl Read + Send + 'static, mut write: impl Write + Send, place: Folders) -> io::Result<()> {
    write_frame(&mut write, &Greeting::ours())?;
    let control = Arc::new(Control::default());
    let is_alone = Arc::new(AtomicBool::new(false));
    let requests = listen(read, Arc::clone(&control), Arc::clone(&is_alone));
    let mut service = Service { place, databases: BTreeMap::new(), sampling: None, control, is_alone };
    let voice = ReplyWriter::of(write);
    voice.with_pulse(PULSE, || {
        while let Ok(request) = requests.recv() {
            let last = request.body == Request::Shutdown;
            voice.begin(&request);
            let reply = service.answer(request, &mut |instance, reply| voice.say(instance, &reply))?;
            voice.conclude(&reply)?;
            if last {
                break;
            }
        }
        Ok(())
    })
}

/// Reads requests on a thread of its own, so that commands to the driver arrive while it drives. When the conductor is
/// gone, this stops the driver and what a server does for us, and the channel ends.
fn listen(
    mut read: impl Read + Send + 'static,
    control: Arc<Control>,
    is_alone: Arc<AtomicBool>,
) -> Receiver<Message<Request>> {
    let (send, requests) = sync_channel(QUEUED_REQUESTS);
    std::thread::spawn(move || {
        while let Ok(Some(request)) = read_frame::<Message<Request>>(&mut read) {
            match request.body {
                Request::StartDriving { at_ns } => control.start_at(at_ns),
                Request::StopDriving => control.stop(),
                _ if send.send(request).is_err() => return,
                _ => {}
            }
        }
        control.stop();
        is_alone.store(true, Ordering::Relaxed);
    });
    requests
}

struct Service {
    place: Folders,
    /// By instance.
    databases: BTreeMap<u16, Database>,
    sampling: Option<Sampling>,
    control: Arc<Control>,
    /// The conductor is gone.
    is_alone: Arc<AtomicBool>,
}

/// Sends a reply about an instance before the final one.
type Say<'a> = &'a mut dyn FnMut(u16, Reply) -> io::Result<()>;
type Tell<'a> = &'a mut dyn FnMut(u16, Reply);

impl Service {
    /// Returns the final reply to a request. Only a broken connection is an error here; any other failure becomes a reply.
    fn answer(&mut self, request: Message<Request>, say: Say<'_>) -> io::Result<Reply> {
        let Message { instance, body, .. } = request;
        let about = body.is_about_one().then_some(instance);
        let mut broken = None;
        let reply = {
            let mut tell = |instance, reply| {
                if broken.is_none() {
                    broken = say(instance, reply).err();
                }
            };
            self.attempt(instance, body, &mut tell)
        };
        if let Some(error) = broken {
            return Err(error);
        }
        Ok(reply.unwrap_or_else(|error| {
            // If a server died, that explains the failure better than the failure itself.
            let (about, error) = self.died().map_or((about, error), |(instance, died)| (instance, died.into()));
            Reply::Failed(self.failure(about, error.as_ref()))
        }))
    }

    /// Why a server has died, and its instance if it has only one. Its sessions may notice the death a moment before it can be
    /// seen here.
    fn died(&mut self) -> Option<(Option<u16>, ServerError)> {
        let is_shared = self.databases.values().any(Database::is_of_first);
        let begin = Instant::now();
        loop {
            let mut databases = self.databases.iter_mut();
            let died = databases.find_map(|(instance, database)| Some((*instance, database.alive().err()?)));
            if died.is_some() || begin.elapsed() > DYING {
                return died.map(|(instance, why)| (Some(instance).filter(|_| !is_shared), why));
            }
            std::thread::sleep(DYING / 10);
        }
    }

    /// Carries out requests about the machine and its servers, and passes on those about data.
    fn attempt(
        &mut self,
        instance: u16,
        request: Request,
        tell: Tell<'_>,
    ) -> Result<Reply, Box<dyn std::error::Error>> {
        Ok(match request {
            Request::Clock => Reply::Clock { monotonic_ns: machines::clock::monotonic_ns() },
            Request::Describe => Reply::Description(telemetry::describe(&self.place.data)),
            Request::Shutdown => {
                for database in std::mem::take(&mut self.databases).into_values() {
                    database.stop()?;
                }
                Reply::Done
            }
            Request::StartSampling { origin_ns } => {
                self.running(instance)?;
                let processes: Vec<u32> = self.databases.values().filter_map(Database::process).collect();
                self.sampling = Some(sampling::start(&self.place.data, &processes, origin_ns)?);
                Reply::Done
            }
            Request::StopSampling => {
                let sampling = self.sampling.take().ok_or("nothing is being sampled in this machine")?;
                sampling::hand_over(sampling, &mut |samples| tell(instance, samples))
            }
            Request::Drive { workload, plans } => self.drive(&workload, plans, tell)?,
            // The reading thread has handled these.
            Request::StartDriving { .. } | Request::StopDriving => Reply::Done,
            Request::StartServer { engine, shape, listen } => {
                let Folders { data, logs } = self.place.of(instance);
                if instance > 0 {
                    std::fs::create_dir_all(&data)?;
                    std::fs::create_dir_all(&logs)?;
                }
                let place = ServerPlace { data, logs, listen };
                let server = engines::catalog::start(&engine.kind, &engine.settings, &place, &shape)?;
                let report = server.report().clone();
                self.used(instance, Database::started(server), report)
            }
            Request::OpenDatabase => {
                let what = format!("opening database {}", u32::from(instance) + 1);
                tell(instance, Reply::Progress { what, done: 0, of: 0 });
                let further = self.running(0)?.open_further(instance.saturating_add(1))?;
                self.databases.insert(instance, Database::of_first(further.report.endpoint.clone()));
                Reply::Opened(Box::new(further))
            }
            Request::UseServer { endpoint } => {
                let (database, report) = Database::found(endpoint)?;
                self.used(instance, database, report)
            }
            Request::StopServer => {
                if let Some(database) = self.databases.remove(&instance) {
                    database.stop()?;
                }
                Reply::Done
            }
            Request::KillServer => {
                drop(self.databases.remove(&instance));
                Reply::Done
            }
            Request::Counters => Reply::Counters(self.running(instance)?.counters()?),
            Request::Settings => Reply::Settings(self.running(instance)?.settings()),
            Request::Look { edge } => {
                let (data, is_sampled) = (self.place_of(instance).data, self.sampling.is_some());
                Reply::Look(Box::new(self.running(instance)?.look(&data, edge, is_sampled)))
            }
            Request::ServerLog => Reply::ServerLog(self.server_log(instance)),
            of_data => self.attempt_on_data(instance, of_data, tell)?,
        })
    }

    /// Carries out requests about the workload's tables in one database.
    fn attempt_on_data(
        &mut self,
        instance: u16,
        request: Request,
        tell: Tell<'_>,
    ) -> Result<Reply, Box<dyn std::error::Error>> {
        // The list of tables, and what is asked about them, is ours.
        let endpoint = self.endpoint(instance)?.for_sql(true);
        let mut progress = progress(instance, tell);
        Ok(match request {
            Request::Tables { workload, to_drive } => {
                let mut admin = patient_admin(&endpoint)?;
                let (kind, dialect) = (workload.kind.as_str(), endpoint.dialect());
                Reply::Tables(tables::find(kind, chosen(&workload)?.dataset(), admin.as_mut(), dialect, to_drive)?)
            }
            Request::Clean { workload } => {
                let which = ListedTable::OfWorkload(&workload.kind);
                let drop = |admin: &mut dyn Admin| listed::drop(&which, admin, endpoint.dialect());
                Reply::Cleaned(cancellable(&endpoint, &self.is_alone, drop)?)
            }
            Request::DropListed => {
                let drop = |admin: &mut dyn Admin| listed::drop(&ListedTable::OfTrials, admin, endpoint.dialect());
                Reply::Cleaned(cancellable(&endpoint, &self.is_alone, drop)?)
            }
            Request::Load { workload, writers, stay } => {
                let (kind, workload) = (workload.kind.clone(), chosen(&workload)?);
                self.running(instance)?.make_ready_to_load()?;
                let dialect = endpoint.dialect();
                let listed = stay.map(|stay| (tables::names(workload.dataset(), dialect), stay));
                if let Some((names, stay)) = &listed {
                    listed::list(&kind, names, *stay, patient_admin(&endpoint)?.as_mut())?;
                }
                let of_workload = endpoint.clone().for_sql(workload.has_own_sql());
                let rows = loading::load(workload.dataset(), &of_workload, writers, &self.is_alone, &mut progress)?;
                if let Some((names, _)) = &listed {
                    listed::note_shapes(names, patient_admin(&endpoint)?.as_mut(), dialect)?;
                }
                Reply::Loaded { rows }
            }
            Request::Verify { workload, threads } => {
                let workload = chosen(&workload)?;
                Reply::Verified(loading::verify(workload.dataset(), &endpoint, threads, &mut progress)?)
            }
            Request::Check { workload, moment } => {
                let workload = chosen(&workload)?;
                let endpoint = endpoint.for_sql(workload.has_own_sql());
                let mut admin = patient_admin(&endpoint)?;
                Reply::Findings(workload.dataset().check(admin.as_mut(), endpoint.dialect(), moment)?)
            }
            Request::MakeReceipts => {
                patient_admin(&endpoint)?.script(receipts::SCHEMA)?;
                Reply::Done
            }
            Request::Receipts => Reply::Receipts(kept_receipts(patient_admin(&endpoint)?.as_mut())?),
            Request::State { workload } => {
                let mut admin = patient_admin(&endpoint)?;
                Reply::State(chosen(&workload)?.dataset().state(admin.as_mut())?)
            }
            other => return Err(format!("{other:?} is not about data").into()),
        })
    }

    fn drive(
        &mut self,
        workload: &Chosen,
        plans: Vec<DrivePlan>,
        tell: Tell<'_>,
    ) -> Result<Reply, Box<dyn std::error::Error>> {
        let workload = chosen(workload)?;
        let mut watches: Vec<LookWatch> = plans.iter().map(LookWatch::over).collect();
        let with_endpoint = |(instance, plan)| Ok((self.endpoint(instance)?, plan));
        let driven: Result<Vec<_>, Box<dyn std::error::Error>> = (0..).zip(plans).map(with_endpoint).collect();
        let driven = driven?;
        let places: Vec<Folders> = (0..).zip(&driven).map(|(instance, _)| self.place_of(instance)).collect();
        let (databases, is_sampled) = (&mut self.databases, self.sampling.is_some());
        let _ = self.control.take_start();
        let driven = instances::drive_all(&workload, &driven, &self.control, &mut |instance, seen| match seen {
            SeenProgress::Ready => tell(instance, Reply::Ready),
            SeenProgress::Tick(tick) => {
                for ((instance, watch), Folders { data, .. }) in (0..).zip(&mut watches).zip(&places) {
                    watch.tick(&tick, &mut |edge| Some(databases.get_mut(&instance)?.look(data, edge, is_sampled)));
                }
                tell(instance, Reply::Tick(tick));
            }
            // The agent keeps nothing of it: growing memory would be missing for the database.
            SeenProgress::Second(second) => tell(instance, Reply::Interval(second.interval)),
            SeenProgress::Receipts(receipts) => tell(instance, Reply::Told(receipts)),
        })?;
        for (instance, watch) in (0..).zip(watches) {
            if let Some(looks) = watch.looks() {
                tell(instance, Reply::Looks(Box::new(looks)));
            }
        }
        Ok(Reply::Driven(driven))
    }

    /// Where the server of an instance has its files.
    fn place_of(&self, instance: u16) -> Folders {
        let is_of_first = self.databases.get(&instance).is_some_and(Database::is_of_first);
        self.place.of(if is_of_first { 0 } else { instance })
    }

    fn used(&mut self, instance: u16, database: Database, report: ServerReport) -> Reply {
        self.databases.insert(instance, database);
        Reply::Started(Box::new(report))
    }

    fn running(&mut self, instance: u16) -> Result<&mut Database, Box<dyn std::error::Error>> {
        self.databases.get_mut(&instance).ok_or_else(|| match instance {
            0 => "no server was started in this machine".into(),
            _ => format!("no server was started in this machine as its instance {}", u32::from(instance) + 1).into(),
        })
    }

    fn endpoint(&mut self, instance: u16) -> Result<Endpoint, Box<dyn std::error::Error>> {
        Ok(self.running(instance)?.endpoint().clone())
    }

    fn failure(&self, instance: Option<u16>, error: &dyn std::error::Error) -> Failure {
        let mut why = error.to_string();
        let mut cause = error.source();
        while let Some(deeper) = cause {
            let text = deeper.to_string();
            if !why.contains(&text) {
                why = format!("{why}: {text}");
            }
            cause = deeper.source();
        }
        Failure { why, instance, log: self.server_log(instance.unwrap_or_default()) }
    }

    fn server_log(&self, instance: u16) -> String {
        let Ok(entries) = std::fs::read_dir(self.place_of(instance).logs) else { return String::new() };
        let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
        let texts = files.map(|path| machines::tail::of_file(&path));
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// The receipts in the database; fails if one has another mark than its own, for then a part of its row is missing.
fn kept_receipts(admin: &mut dyn Admin) -> Result<Vec<i64>, Box<dyn std::error::Error>> {
    let (mut numbers, mut torn) = (Vec::new(), None);
    // Lost with all that was in it.
    if !admin.has_table(receipts::TABLE)? {
        return Ok(numbers);
    }
    admin.scan(receipts::QUERY, &mut |rows, row| match (rows.integer(row, 0), rows.text(row, 1)) {
        (Ok(number), Ok(mark)) if mark == receipts::marks(number) => numbers.push(number),
        (number, mark) => torn = Some(format!("receipt {number:?} has the mark {mark:?}")),
    })?;
    torn.map_or(Ok(numbers), |torn| Err(torn.into()))
}

fn chosen(workload: &Chosen) -> Result<AnyWorkload, Box<dyn std::error::Error>> {
    AnyWorkload::from_table(&workload.kind, &workload.settings).map_err(|problems| {
        let texts = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.found));
        format!("workload {}: {}", workload.kind, texts.collect::<Vec<_>>().join("; ")).into()
    })
}

fn progress(instance: u16, tell: Tell<'_>) -> impl FnMut(&str, u64, u64) {
    move |what, done, of| tell(instance, Reply::Progress { what: what.to_owned(), done, of })
}

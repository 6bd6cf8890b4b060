//! Answering requests, one after another.

use crate::database::Database;
use crate::loading;
use crate::looks::LookWatch;
use crate::protocol::{Chosen, Failure, PULSE, Reply, Request};
use crate::sampling;
use crate::tables;
use crate::voice::ReplyWriter;
use driver::plan::{Control, DrivePlan, Seen};
use engines::server::{Endpoint, ServerPlace, ServerReport};
use machines::frame::{Greeting, Numbered, read_frame, write_frame};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use telemetry::Sampling;
use workloads::catalog::AnyWorkload;

/// Requests that may wait while one is answered; the conductor sends one at a time.
const QUEUED_REQUESTS: usize = 4;

/// Where the agent keeps things.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The machine's data disk.
    pub data: PathBuf,
    /// A folder for server logs, inside the machine.
    pub logs: PathBuf,
}

/// Serves until the conductor says `Shutdown` or goes away.
pub fn serve(read: impl Read + Send + 'static, mut write: impl Write + Send, place: Folders) -> io::Result<()> {
    write_frame(&mut write, &Greeting::ours())?;
    let control = Arc::new(Control::default());
    let requests = listen(read, Arc::clone(&control));
    let mut service = Service { place, database: None, sampling: None, control };
    let voice = ReplyWriter::of(write);
    voice.with_pulse(PULSE, || {
        while let Ok((number, request)) = requests.recv() {
            let last = request == Request::Shutdown;
            voice.begin(number);
            let reply = service.answer(request, &mut |reply| voice.say(&reply))?;
            voice.conclude(&reply)?;
            if last {
                break;
            }
        }
        Ok(())
    })
}

/// Reads requests on a thread of its own, so that what is said to the driver is heard while driving. When the conductor is gone the
/// driver is stopped too, and the channel ends.
fn listen(mut read: impl Read + Send + 'static, control: Arc<Control>) -> Receiver<Numbered<Request>> {
    let (send, requests) = sync_channel(QUEUED_REQUESTS);
    std::thread::spawn(move || {
        while let Ok(Some((number, request))) = read_frame::<Numbered<Request>>(&mut read) {
            match request {
                Request::StartDriving { at_ns } => control.start_at(at_ns),
                Request::StopDriving => control.stop(),
                _ if send.send((number, request)).is_err() => return,
                _ => {}
            }
        }
        control.stop();
    });
    requests
}

struct Service {
    place: Folders,
    database: Option<Database>,
    sampling: Option<Sampling>,
    control: Arc<Control>,
}

type Say<'a> = &'a mut dyn FnMut(Reply) -> io::Result<()>;

impl Service {
    /// The final reply to a request. Only a broken connection is an error here; everything else is told.
    fn answer(&mut self, request: Request, say: Say<'_>) -> io::Result<Reply> {
        let mut broken = None;
        let reply = {
            let mut tell = |reply| {
                if broken.is_none() {
                    broken = say(reply).err();
                }
            };
            self.attempt(request, &mut tell)
        };
        if let Some(error) = broken {
            return Err(error);
        }
        Ok(reply.unwrap_or_else(|error| {
            // A server that died explains what failed better than the failure does.
            let error = self.database.as_mut().and_then(|database| database.alive().err()).map_or(error, Into::into);
            Reply::Failed(self.failure(error.as_ref()))
        }))
    }

    fn attempt(&mut self, request: Request, tell: &mut dyn FnMut(Reply)) -> Result<Reply, Box<dyn std::error::Error>> {
        Ok(match request {
            Request::Clock => Reply::Clock { monotonic_ns: machines::clock::monotonic_ns() },
            Request::Describe => Reply::Description(telemetry::describe(&self.place.data)),
            Request::StartServer { engine, shape, listen } => {
                let place = ServerPlace { data: self.place.data.clone(), logs: self.place.logs.clone(), listen };
                let server = engines::catalog::start(&engine.kind, &engine.settings, &place, &shape)?;
                let report = server.report().clone();
                self.used(Database::Started(server), report)
            }
            Request::UseServer { endpoint } => {
                let (database, report) = Database::found(endpoint)?;
                self.used(database, report)
            }
            Request::StopServer | Request::Shutdown => {
                if let Some(database) = self.database.take() {
                    database.stop()?;
                }
                Reply::Done
            }
            Request::Tables { workload, with_sizes } => {
                let mut admin = engines::catalog::admin(&self.endpoint()?)?;
                Reply::Tables(tables::find(chosen(&workload)?.dataset(), admin.as_mut(), with_sizes)?)
            }
            Request::Clean { workload } => {
                let endpoint = self.endpoint()?;
                let mut admin = engines::catalog::admin(&endpoint)?;
                let dropped = tables::drop(chosen(&workload)?.dataset(), admin.as_mut(), endpoint.dialect())?;
                Reply::Cleaned(dropped)
            }
            Request::Load { workload, writers } => {
                let workload = chosen(&workload)?;
                self.running()?.make_ready_to_load()?;
                let rows = loading::load(workload.dataset(), &self.endpoint()?, writers, &mut progress(tell))?;
                Reply::Loaded { rows }
            }
            Request::Verify { workload, threads } => {
                let workload = chosen(&workload)?;
                Reply::Verified(loading::verify(workload.dataset(), &self.endpoint()?, threads, &mut progress(tell))?)
            }
            Request::Check { workload, moment } => {
                let (workload, endpoint) = (chosen(&workload)?, self.endpoint()?);
                let mut admin = engines::catalog::admin(&endpoint)?;
                Reply::Findings(workload.dataset().check(admin.as_mut(), endpoint.dialect(), moment)?)
            }
            Request::State { workload } => {
                let mut admin = engines::catalog::admin(&self.endpoint()?)?;
                Reply::State(chosen(&workload)?.dataset().state(admin.as_mut())?)
            }
            Request::Counters => Reply::Counters(self.running()?.counters()?),
            Request::Look => {
                let data = self.place.data.clone();
                Reply::Look(Box::new(self.running()?.look(&data)))
            }
            Request::StartSampling { origin_ns } => {
                let process = self.running()?.process()?;
                self.sampling = Some(sampling::start(&self.place.data, process, origin_ns)?);
                Reply::Done
            }
            Request::StopSampling => {
                let sampling = self.sampling.take().ok_or("nothing is being sampled in this machine")?;
                sampling::hand_over(sampling, tell)
            }
            Request::Drive { workload, plan } => self.drive(&workload, &plan, tell)?,
            Request::ServerLog => Reply::ServerLog(self.server_log()),
            // Taken by the reading thread.
            Request::StartDriving { .. } | Request::StopDriving => Reply::Done,
        })
    }

    fn drive(
        &mut self,
        workload: &Chosen,
        plan: &DrivePlan,
        tell: &mut dyn FnMut(Reply),
    ) -> Result<Reply, Box<dyn std::error::Error>> {
        let (workload, endpoint) = (chosen(workload)?, self.endpoint()?);
        let (database, data) = (&mut self.database, &self.place.data);
        let mut watch = LookWatch::over(plan);
        let _ = self.control.take_start();
        let driven = driver::drive_endpoint(&workload, &endpoint, plan, &self.control, &mut |seen| match seen {
            Seen::Ready => tell(Reply::Ready),
            Seen::Tick(tick) => {
                watch.tick(&tick, &mut || Some(database.as_mut()?.look(data)));
                tell(Reply::Tick(tick));
            }
            // Nothing of it is kept here: memory that grows would be taken from the database.
            Seen::Second(second) => tell(Reply::Interval(second.interval)),
            Seen::Receipts(_) => {}
        })?;
        if let Some(looks) = watch.looks() {
            tell(Reply::Looks(Box::new(looks)));
        }
        Ok(Reply::Driven(Box::new(driven)))
    }

    fn used(&mut self, database: Database, report: ServerReport) -> Reply {
        self.database = Some(database);
        Reply::Started(Box::new(report))
    }

    fn running(&mut self) -> Result<&mut Database, Box<dyn std::error::Error>> {
        self.database.as_mut().ok_or_else(|| "no server was started in this machine".into())
    }

    fn endpoint(&mut self) -> Result<Endpoint, Box<dyn std::error::Error>> {
        Ok(self.running()?.endpoint().clone())
    }

    fn failure(&self, error: &dyn std::error::Error) -> Failure {
        let mut why = error.to_string();
        let mut cause = error.source();
        while let Some(deeper) = cause {
            let text = deeper.to_string();
            if !why.contains(&text) {
                why = format!("{why}: {text}");
            }
            cause = deeper.source();
        }
        Failure { why, log: self.server_log() }
    }

    fn server_log(&self) -> String {
        let Ok(entries) = std::fs::read_dir(&self.place.logs) else { return String::new() };
        let texts = entries.flatten().map(|entry| machines::tail::of_file(&entry.path()));
        texts.collect::<Vec<_>>().join("\n")
    }
}

fn chosen(workload: &Chosen) -> Result<AnyWorkload, Box<dyn std::error::Error>> {
    AnyWorkload::from_table(&workload.kind, &workload.settings).map_err(|problems| {
        let texts = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.found));
        format!("workload {}: {}", workload.kind, texts.collect::<Vec<_>>().join("; ")).into()
    })
}

fn progress(tell: &mut dyn FnMut(Reply)) -> impl FnMut(&str, u64, u64) {
    move |what, done, of| tell(Reply::Progress { what: what.to_owned(), done, of })
}

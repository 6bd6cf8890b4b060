//! The conductor's end: one thread that speaks NATS, for threads that do not.

use crate::arrangement::Arrangement;
use crate::line::{AWAY_LIMIT, LineWire, Lost, piece_of, place_in, writing};
use crate::link::{FleetError, Link};
use crate::messages::{Build, OpenScript, OpenedScript, Present, Subjects, word_of};
use crate::tunnel::Item;
use async_nats::{Request, RequestErrorKind};
use bytes::Bytes;
use futures_util::StreamExt;
use machines::token::random_bytes;
use std::io::{PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::net::unix::pipe;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// An agent that is asked to run a script answers within this, if its server is there.
const OPEN_LIMIT: Duration = Duration::from_mins(1);
const OPEN_ANSWER: Duration = Duration::from_secs(5);
/// A host whose agent is not there, while the server is. Agents come back to a server that restarted within seconds.
const NOBODY_LIMIT: Duration = Duration::from_secs(15);
/// An agent comes back to a server that restarted within this.
const BACK_AFTER: Duration = Duration::from_secs(3);
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(200);
/// Agents that are there answer within this.
const ROLL_CALL: Duration = Duration::from_secs(1);
/// After the last answer of many.
const NO_MORE: Duration = Duration::from_millis(300);
/// A roll call ends after this long, and after so many answers, whoever goes on talking.
const LONGEST_ROLL_CALL: Duration = Duration::from_secs(10);
const MOST_ANSWERS: usize = 65_536;
/// The exit status of a line that was lost, as of an ssh that lost its connection.
const LOST_STATUS: i32 = 255;

/// A connection to a fleet.
#[derive(Debug)]
pub struct Bridge {
    name: String,
    link: Link,
    subjects: Subjects,
    build: Build,
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A program that runs on another host. It is asked to end by the end of `input`.
#[derive(Debug)]
pub struct FarProgram {
    pub input: PipeWriter,
    pub output: PipeReader,
    pub end: FarEnd,
}

#[derive(Debug)]
pub struct FarEnd {
    ended: mpsc::Receiver<i32>,
    status: Option<i32>,
}

impl FarEnd {
    /// Its exit status; `None` if it has not ended within the limit.
    pub fn wait(&mut self, limit: Duration) -> Option<i32> {
        if self.status.is_none() {
            self.status = match self.ended.recv_timeout(limit) {
                Ok(status) => Some(status),
                Err(mpsc::RecvTimeoutError::Timeout) => None,
                Err(mpsc::RecvTimeoutError::Disconnected) => Some(LOST_STATUS),
            };
        }
        self.status
    }
}

/// Agents that were asked to end, and those of them that have not ended.
#[derive(Debug)]
pub struct Goodbye {
    pub asked: Vec<Present>,
    pub left: Vec<Present>,
}

/// An agent, and how well it is reached.
#[derive(Debug)]
pub struct SeenAgent {
    pub present: Present,
    /// Its time of day, less ours.
    pub clock_offset_ns: i64,
    /// The offset is right to this.
    pub clock_error_ns: u64,
}

impl Bridge {
    pub fn connect(to: &Arrangement, build: Build) -> Result<Self, FleetError> {
        let (name, arrangement) = (to.name.clone(), to.clone());
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::Builder::new().name("nats".to_owned()).spawn(move || {
            let runtime = match Builder::new_current_thread().enable_io().enable_time().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(tell.send(Err(FleetError::io("starting a thread for NATS")(error)))),
            };
            runtime.block_on(async {
                let link = Link::connect(&arrangement, "bakeoff conductor").await;
                let is_there = link.is_ok();
                let sent = tell.send(link.map(|link| (link, Handle::current())));
                if is_there && sent.is_ok() {
                    // An error means that nobody can stop it any more.
                    let _ = stopped.await;
                }
            });
        });
        let thread = thread.map_err(FleetError::io("starting a thread for NATS"))?;
        let lost = || FleetError::Host("the thread for NATS has ended".to_owned());
        let (link, runtime) = told.recv().map_err(|_| lost())??;
        let subjects = Subjects::of(&name);
        Ok(Self { name, link, subjects, build, runtime, stop: Some(stop), thread: Some(thread) })
    }

    /// Does it in the thread for NATS, and waits for it.
    fn there<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, FleetError> {
        let (tell, told) = mpsc::channel();
        self.runtime.spawn(async move { drop(tell.send(work.await)) });
        told.recv().map_err(|_| FleetError::Host("the thread for NATS has ended".to_owned()))
    }

    /// Runs a script of `sh` on a host. What it prints as errors goes to `errors`.
    pub fn run(&self, host: &str, script: &str, errors: PipeWriter) -> Result<FarProgram, FleetError> {
        let pipes = || Ok((std::io::pipe()?, std::io::pipe()?));
        let ((input, ours), (theirs, output)) = pipes().map_err(FleetError::io("making a pipe"))?;
        let drawn = line_name().map_err(FleetError::io("drawing a number"))?;
        let open = OpenScript {
            line: drawn,
            script: script.to_owned(),
            build: self.build.clone(),
            conductor: self.link.addresses,
        };
        let (link, subjects, host) = (self.link.clone(), self.subjects.clone(), host.to_owned());
        let fleet = self.name.clone();
        let (tell, ended) = mpsc::channel();
        self.there(async move {
            let end = |pipe: OwnedFd| pipe::Sender::from_owned_fd(pipe);
            let streams =
                || Ok((pipe::Receiver::from_owned_fd(input.into())?, end(output.into())?, end(errors.into())?));
            let (input, output, errors) = streams().map_err(FleetError::io("using a pipe"))?;
            let listening = link.client.subscribe(subjects.to_conductor(&open.line)).await;
            let listening = listening.map_err(|error| FleetError::nats("listening for a line")(error.into()))?;
            opened(&link, &subjects.open(&word_of(&host)), &open).await.map_err(|why| unopened(why, &host, &fleet))?;
            let wire = LineWire::new(link, subjects.to_agent(&open.line), listening);
            tokio::spawn(async move {
                let errors = writing(errors);
                let status = match conduct(wire, input, writing(output), errors.clone()).await {
                    Ok(status) => status,
                    Err(lost) => {
                        let _ = errors.send(Bytes::from(format!("the agent on {host} is lost: {lost}\n"))).await;
                        LOST_STATUS
                    }
                };
                // Nobody waits for it any more if this fails.
                let _ = tell.send(status);
            });
            Ok::<(), FleetError>(())
        })??;
        Ok(FarProgram { input: ours, output: theirs, end: FarEnd { ended, status: None } })
    }

    /// All agents that are there, by name.
    pub fn roll_call(&self) -> Result<Vec<SeenAgent>, FleetError> {
        let (link, subjects) = (self.link.clone(), self.subjects.clone());
        let answers = self.there(async move {
            let answers = answers(&link, subjects.who()).await?;
            let mut seen = Vec::with_capacity(answers.len());
            for present in answers {
                seen.extend(looked_at(&link, &subjects, &present).await);
            }
            seen.sort_by(|a: &SeenAgent, b| a.present.name.cmp(&b.present.name));
            Ok(seen)
        });
        answers?
    }

    /// Asks all agents to end, until none answers any more or the limit is over.
    pub fn down(&self, limit: Duration) -> Result<Goodbye, FleetError> {
        let (link, subjects) = (self.link.clone(), self.subjects.clone());
        self.there(async move {
            // A server that went before this may not be missed yet.
            let (begun, mut last_down) = (Instant::now(), Instant::now());
            let mut asked: Vec<Present> = Vec::new();
            loop {
                let left = answers(&link, subjects.down()).await?;
                for agent in &left {
                    if asked.iter().all(|known| known.instance != agent.instance) {
                        asked.push(agent.clone());
                    }
                }
                if !link.is_up() {
                    last_down = Instant::now();
                }
                if left.is_empty() && last_down.elapsed() > BACK_AFTER || begun.elapsed() > limit {
                    return Ok(Goodbye { asked, left });
                }
                tokio::time::sleep(BETWEEN_ATTEMPTS).await;
            }
        })?
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

fn line_name() -> std::io::Result<String> {
    Ok(format!("{:032x}", u128::from_be_bytes(random_bytes()?)))
}

enum Unopened {
    Nobody,
    Silent,
    Refused(String),
}

fn unopened(why: Unopened, host: &str, fleet: &str) -> FleetError {
    FleetError::Host(match why {
        Unopened::Nobody => {
            format!(
                "no agent named {host} is in the fleet {fleet}; `bakeoff fleet status` shows which agents are there"
            )
        }
        Unopened::Silent => format!("the agent on {host} did not answer within {} s", OPEN_LIMIT.as_secs()),
        Unopened::Refused(why) => format!("the agent on {host} refuses: {why}"),
    })
}

/// Asks until there is an answer, because questions and answers may be lost.
async fn opened(link: &Link, subject: &str, open: &OpenScript) -> Result<(), Unopened> {
    let question = Bytes::from(serde_json::to_vec(open).map_err(|error| Unopened::Refused(error.to_string()))?);
    let begun = Instant::now();
    let (mut last_down, mut nobody_since) = (begun, None);
    while last_down.elapsed() < OPEN_LIMIT && begun.elapsed() < AWAY_LIMIT + OPEN_LIMIT {
        if !link.is_up() {
            last_down = Instant::now();
        }
        let request = Request::new().payload(question.clone()).timeout(Some(OPEN_ANSWER));
        match link.client.send_request(subject.to_owned(), request).await {
            Ok(message) => match serde_json::from_slice(&message.payload) {
                Ok(OpenedScript::Yes) => return Ok(()),
                Ok(OpenedScript::Refused { why }) => return Err(Unopened::Refused(why)),
                Err(error) => return Err(Unopened::Refused(error.to_string())),
            },
            Err(error) if error.kind() == RequestErrorKind::NoResponders => {
                if nobody_since.get_or_insert_with(Instant::now).elapsed() > NOBODY_LIMIT {
                    return Err(Unopened::Nobody);
                }
            }
            Err(_) => nobody_since = None,
        }
        tokio::time::sleep(BETWEEN_ATTEMPTS).await;
    }
    Err(Unopened::Silent)
}

/// Carries the streams until the program has ended.
async fn conduct(
    mut wire: LineWire,
    input: pipe::Receiver,
    output: tokio::sync::mpsc::Sender<Bytes>,
    errors: tokio::sync::mpsc::Sender<Bytes>,
) -> Result<i32, Lost> {
    let mut input = Some(input);
    loop {
        let writer = match wire.waiting() {
            Some(Item::Data(_)) => Some(output.clone()),
            Some(Item::Errors(_)) => Some(errors.clone()),
            Some(Item::Exit(status)) => {
                let status = *status;
                wire.pass_on().await;
                return Ok(status);
            }
            Some(Item::End) => {
                wire.pass_on().await;
                continue;
            }
            None => None,
        };
        let may_send = wire.may_send();
        tokio::select! {
            looked = wire.look() => looked?,
            piece = piece_of(&mut input), if may_send => wire.send(piece.map_or(Item::End, Item::Data)).await,
            place = place_in(writer) => {
                if let (Some(Item::Data(piece) | Item::Errors(piece)), Some(place)) = (wire.pass_on().await, place) {
                    place.send(piece);
                }
            }
        }
    }
}

/// Asks all agents, and collects what they say.
async fn answers(link: &Link, subject: String) -> Result<Vec<Present>, FleetError> {
    let inbox = link.client.new_inbox();
    let doing = "asking the agents";
    let listening = link.client.subscribe(inbox.clone()).await;
    let mut listening = listening.map_err(|error| FleetError::nats(doing)(error.into()))?;
    let asked = link.client.publish_with_reply(subject, inbox, Bytes::new()).await;
    asked.map_err(|error| FleetError::nats(doing)(error.into()))?;
    let begun = Instant::now();
    let mut found: Vec<Present> = Vec::new();
    for _ in 0..MOST_ANSWERS {
        if begun.elapsed() > LONGEST_ROLL_CALL {
            break;
        }
        let limit = ROLL_CALL.saturating_sub(begun.elapsed()).max(NO_MORE);
        let Ok(Some(message)) = tokio::time::timeout(limit, listening.next()).await else { return Ok(found) };
        if let Ok(present) = serde_json::from_slice::<Present>(&message.payload) {
            if !found.iter().any(|other| other.instance == present.instance) {
                found.push(present);
            }
        } else if message.status.is_some() {
            // The server says that nobody is there.
            break;
        }
    }
    Ok(found)
}

/// Of several looks the one with the shortest way shows the clock best.
const LOOKS: usize = 8;

async fn looked_at(link: &Link, subjects: &Subjects, known: &Present) -> Option<SeenAgent> {
    let mut best: Option<SeenAgent> = None;
    for _ in 0..LOOKS {
        let request = Request::new().payload(Bytes::new()).timeout(Some(ROLL_CALL));
        let (before, begun) = (unix_ns(), Instant::now());
        let message = link.client.send_request(subjects.who_is(&word_of(&known.name)), request).await.ok()?;
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let present: Present = serde_json::from_slice(&message.payload).ok()?;
        let error = took / 2;
        if best.as_ref().is_none_or(|best| error < best.clock_error_ns) {
            let clock_offset_ns = present.unix_ns.wrapping_sub(before + error).cast_signed();
            best = Some(SeenAgent { present, clock_offset_ns, clock_error_ns: error });
        }
    }
    best
}

pub(crate) fn unix_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

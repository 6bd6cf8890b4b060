//! An agent: runs scripts for conductors of its fleet.

use crate::arrangement::Arrangement;
use crate::bridge::unix_ns;
use crate::line::{LineWire, Lost, piece_of, place_in, writing};
use crate::link::{FleetError, Link};
use crate::messages::{Build, OpenScript, OpenedScript, Present, Subjects, word_of};
use crate::tunnel::Item;
use async_nats::{Message, Request, RequestErrorKind, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use machines::token::random_bytes;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A server that is there passes something on, and an answer back, within this.
const PROMPT_LIMIT: Duration = Duration::from_secs(2);
/// A program that has ended may have left its output open to others; if nothing came for this long, nothing more is awaited.
const LAST_OUTPUT: Duration = Duration::from_secs(2);
/// A program whose input has ended removes what it made within this, and is killed after it.
const END_LIMIT: Duration = Duration::from_mins(5);

/// The variable with the file of this program, for scripts.
pub const PROGRAM: &str = "BAKEOFF_PROGRAM";
/// The variable with the addresses of both ends, in the form that an ssh server uses.
pub const CONNECTION: &str = "BAKEOFF_CONNECTION";

/// What an agent says of itself.
#[derive(Debug, Clone)]
pub struct Me {
    pub name: String,
    pub build: Build,
    /// An identity that only this machine has.
    pub machine: String,
}

/// Why an agent has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentEnd {
    Asked,
    Signal,
    /// Its server stayed away.
    Alone,
}

/// Serves until it is asked to end, or its server stays away. `tell` hears that it is there.
pub fn serve(to: &Arrangement, me: &Me, tell: &mut dyn FnMut(&str)) -> Result<AgentEnd, FleetError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(FleetError::io("starting to speak NATS"))?.block_on(Agent::serve(to, me, tell))
}

struct Agent<'a> {
    me: &'a Me,
    instance: String,
    link: Link,
    subjects: Subjects,
    /// Ends all lines once it is true.
    ending: watch::Sender<bool>,
    lines: JoinSet<()>,
    /// All lines that were ever opened: a conductor that heard no answer asks again.
    opened: HashSet<String>,
}

struct AgentHeard {
    who: Subscriber,
    who_is: Subscriber,
    open: Subscriber,
    down: Subscriber,
}

impl Agent<'_> {
    async fn serve(to: &Arrangement, me: &Me, tell: &mut dyn FnMut(&str)) -> Result<AgentEnd, FleetError> {
        let link = Link::connect(to, &format!("bakeoff agent {}", me.name)).await?;
        let subjects = Subjects::of(&to.name);
        let own = word_of(&me.name);
        let question = Request::new().payload(Bytes::new()).timeout(Some(PROMPT_LIMIT));
        let other = match link.client.send_request(subjects.who_is(&own), question).await {
            Ok(other) => {
                let other: Option<Present> = serde_json::from_slice(&other.payload).ok();
                Some(other.map_or_else(
                    || "on another machine".to_owned(),
                    |other| format!("on the machine {}", other.machine),
                ))
            }
            Err(error) if error.kind() == RequestErrorKind::NoResponders => None,
            Err(_) => Some("and does not answer".to_owned()),
        };
        if let Some(which) = other {
            return Err(FleetError::Host(format!("an agent named {} is already there, {which}", me.name)));
        }
        let listen = async |subject| {
            link.client.subscribe(subject).await.map_err(|error| FleetError::nats("listening")(error.into()))
        };
        let heard = AgentHeard {
            who: listen(subjects.who()).await?,
            who_is: listen(subjects.who_is(&own)).await?,
            open: listen(subjects.open(&own)).await?,
            down: listen(subjects.down()).await?,
        };
        // Everybody who hears that it is there finds it.
        link.client.flush().await.map_err(|error| FleetError::nats("listening")(error.into()))?;
        let drawn: [u8; 8] = random_bytes().map_err(FleetError::io("drawing a number"))?;
        let instance = format!("{:016x}", u64::from_be_bytes(drawn));
        let (lines, opened) = (JoinSet::new(), HashSet::new());
        let mut agent = Agent { me, instance, link, subjects, ending: watch::Sender::new(false), lines, opened };
        tell(&format!("the agent {} is in the fleet {}", me.name, to.name));
        let ended = agent.until_the_end(heard, to.away()).await;
        // The last words are on their way, if the server is there.
        let _ = tokio::time::timeout(PROMPT_LIMIT, agent.link.client.flush()).await;
        ended
    }

    /// Serves until it is to end and all its programs have ended. As long as one has not, it says that it is there.
    async fn until_the_end(&mut self, mut heard: AgentHeard, away: Duration) -> Result<AgentEnd, FleetError> {
        let on = |kind| signal(kind).map_err(FleetError::io("waiting for signals"));
        let (mut terminate, mut interrupt) = (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        let mut last_up = Instant::now();
        let mut ended = None;
        loop {
            if let Some(why) = ended.filter(|_| self.lines.is_empty()) {
                return Ok(why);
            }
            let why = tokio::select! {
                Some(question) = heard.who.next() => {
                    self.say(&question).await;
                    continue;
                }
                Some(question) = heard.who_is.next() => {
                    self.say(&question).await;
                    continue;
                }
                Some(request) = heard.open.next() => {
                    self.open(&request).await;
                    continue;
                }
                Some(request) = heard.down.next() => {
                    self.say(&request).await;
                    AgentEnd::Asked
                }
                Some(_) = self.lines.join_next() => continue,
                _ = terminate.recv() => AgentEnd::Signal,
                _ = interrupt.recv() => AgentEnd::Signal,
                _ = ticks.tick() => {
                    if self.link.is_up() {
                        last_up = Instant::now();
                    }
                    if last_up.elapsed() <= away {
                        continue;
                    }
                    AgentEnd::Alone
                }
            };
            ended.get_or_insert(why);
            self.ending.send_replace(true);
        }
    }

    async fn say(&self, question: &Message) {
        let Me { name, build, machine } = self.me.clone();
        let info = rustix::system::sysinfo();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let present = Present {
            name,
            instance: self.instance.clone(),
            build,
            machine,
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: u64::from(info.mem_unit) * info.totalram,
            load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
            unix_ns: unix_ns(),
            lines: self.lines.len(),
        };
        self.answer(question, &present).await;
    }

    /// An answer that is lost is asked for again.
    async fn answer(&self, question: &Message, answer: &impl serde::Serialize) {
        if let (Some(reply), Ok(text)) = (&question.reply, serde_json::to_vec(answer)) {
            self.link.publish(reply.to_string(), text.into()).await;
        }
    }

    async fn open(&mut self, request: &Message) {
        let answer = match serde_json::from_slice::<OpenScript>(&request.payload) {
            Err(error) => Err(format!("it does not understand the request: {error}")),
            Ok(open) if open.build != self.me.build => Err(format!(
                "it is bakeoff {}, and this is {}; start the agent again with the same program",
                self.me.build, open.build
            )),
            Ok(open) if self.opened.contains(&open.line) => Ok(()),
            Ok(_) if *self.ending.borrow() => Err("it is about to end".to_owned()),
            Ok(open) => self.begin(open).await,
        };
        let answer = answer.map_or_else(|why| OpenedScript::Refused { why }, |()| OpenedScript::Yes);
        self.answer(request, &answer).await;
    }

    async fn begin(&mut self, open: OpenScript) -> Result<(), String> {
        let listening = self.link.client.subscribe(self.subjects.to_agent(&open.line)).await;
        let listening = listening.map_err(|error| error.to_string())?;
        let wire = LineWire::new(self.link.clone(), self.subjects.to_conductor(&open.line), listening);
        let ours = &self.link.addresses;
        let (from, own) = (open.conductor.seen_from(ours), ours.seen_from(&open.conductor));
        let program = Command::new("sh")
            .args(["-c", &open.script])
            .env(PROGRAM, format!("/proc/{}/exe", std::process::id()))
            .env(CONNECTION, format!("{from} 0 {own} 0"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let program = program.map_err(|error| format!("starting sh: {error}"))?;
        self.opened.insert(open.line);
        self.lines.spawn(serve_line(wire, Program::of(program), self.ending.subscribe()));
        Ok(())
    }
}

/// A program with its streams, as far as they are open.
struct Program {
    child: Child,
    group: Option<Pid>,
    input: Option<Sender<Bytes>>,
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    ended: Option<i32>,
    /// When it was last read, or could not be read since the other end is slow.
    last_read: Instant,
}

impl Program {
    fn of(mut child: Child) -> Self {
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let (input, output, errors) = (child.stdin.take().map(writing), child.stdout.take(), child.stderr.take());
        Self { child, group, input, output, errors, ended: None, last_read: Instant::now() }
    }

    fn has_ended(&mut self, status: std::io::Result<ExitStatus>) {
        let status =
            status.map_or(-1, |status| status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1));
        (self.ended, self.last_read) = (Some(status), Instant::now());
    }

    /// Its status, once there is nothing more to read of it.
    fn status(&mut self) -> Option<i32> {
        let status = self.ended?;
        if self.last_read.elapsed() > LAST_OUTPUT {
            (self.output, self.errors) = (None, None);
        }
        (self.output.is_none() && self.errors.is_none()).then_some(status)
    }

    /// Ends it: by the end of its input, and if that does not help, by force.
    async fn end(mut self) {
        self.input = None;
        // It may want to print before it ends.
        let (mut output, mut errors) = (self.output.take(), self.errors.take());
        let printed = async {
            while output.is_some() || errors.is_some() {
                tokio::select! {
                    _ = piece_of(&mut output) => {}
                    _ = piece_of(&mut errors) => {}
                }
            }
            std::future::pending::<()>().await;
        };
        let ended = async {
            tokio::select! {
                _ = self.child.wait() => {}
                () = printed => {}
            }
        };
        if tokio::time::timeout(END_LIMIT, ended).await.is_err() {
            if let Some(group) = self.group {
                // It may have ended just now.
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.child.wait().await;
        }
    }
}

async fn serve_line(wire: LineWire, mut program: Program, ending: watch::Receiver<bool>) {
    let carried = carry(wire, &mut program, ending).await;
    if carried.is_err() || program.ended.is_none() {
        program.end().await;
    }
}

/// Carries the streams until the conductor knows that the program has ended.
async fn carry(mut wire: LineWire, program: &mut Program, mut ending: watch::Receiver<bool>) -> Result<(), Lost> {
    let mut has_said_exit = false;
    loop {
        if *ending.borrow() && !wire.is_up() {
            // The program might wait for ever for somebody to read what it prints.
            return Err(Lost::Silent);
        }
        let writer = match wire.waiting() {
            Some(Item::Data(_)) if program.input.is_some() => program.input.clone(),
            Some(item) => {
                if *item == Item::End {
                    program.input = None;
                }
                wire.pass_on().await;
                continue;
            }
            None => None,
        };
        let may_send = wire.may_send();
        if !may_send {
            program.last_read = Instant::now();
        }
        if let Some(status) = program.status().filter(|_| may_send && !has_said_exit) {
            has_said_exit = true;
            wire.send(Item::Exit(status)).await;
            continue;
        }
        if has_said_exit && wire.is_all_there() {
            return Ok(());
        }
        let has_ended = program.ended.is_some();
        tokio::select! {
            looked = wire.look() => looked?,
            place = place_in(writer) => {
                if let (Some(Item::Data(piece)), Some(place)) = (wire.pass_on().await, place) {
                    place.send(piece);
                }
            }
            piece = piece_of(&mut program.output), if may_send => {
                program.last_read = Instant::now();
                if let Some(piece) = piece {
                    wire.send(Item::Data(piece)).await;
                }
            }
            piece = piece_of(&mut program.errors), if may_send => {
                program.last_read = Instant::now();
                if let Some(piece) = piece {
                    wire.send(Item::Errors(piece)).await;
                }
            }
            status = program.child.wait(), if !has_ended => program.has_ended(status),
            // It changes once, and is dropped after that.
            _ = ending.changed(), if program.input.is_some() => program.input = None,
        }
    }
}

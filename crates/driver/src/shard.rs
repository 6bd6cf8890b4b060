//! One thread of the driver: its sessions' tasks, and the loop that polls them.

use crate::agenda::{Agenda, Role};
use crate::arrivals::Share;
use crate::clock::{Clock, Nanos};
use crate::deferral::{Deferral, DeferredTotals, QUEUE_CAPACITY, ResultLines};
use crate::errors::ErrorBook;
use crate::pacing::{Clients, QueueCounts, Vacancy};
use crate::plan::{DriveError, Pacing};
use crate::reactor::Reactor;
use crate::recorder::{Life, Meters, Recorder, Second};
use crate::sessions::Opened;
use crate::signals::{Published, Signals};
use crate::task;
use crate::users::{Style, clients_of_shard};
use crate::window::Window;
use engines::session::{Connect, SessionError};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use workloads::workload::{Ending, Kind, Tally, Workload};

/// How long sessions may finish what they are in, and the background session what was deferred, after the end.
const DRAIN_LIMIT: Nanos = Nanos::from_seconds(10);

/// How often a shard that waits looks at the flags.
const LONGEST_WAIT: Nanos = Nanos::from_millis(100);

/// What one shard is told before it starts.
pub struct Assignment<'a, W: Workload> {
    pub workload: &'a W,
    pub pacing: Pacing,
    pub share: Share,
    pub seed: u64,
    pub retries: u32,
    pub window: Window,
    pub log_lines: usize,
}

/// How often sessions were lost, and opened again.
#[derive(Debug, Default)]
pub struct Losses {
    pub lost: Cell<u64>,
    pub reopened: Cell<u64>,
}

/// What the tasks of one shard share. They run on one thread and borrow it only between waits.
pub struct Shard<'a, W: Workload, C: Connect, K: Clock, R: Reactor> {
    pub workload: &'a W,
    pub connect: &'a C,
    pub clock: &'a K,
    pub reactor: &'a R,
    pub signals: &'a Signals<'a>,
    pub retries: u32,
    pub window: Window,
    pub in_process: bool,
    pub style: Style,
    pub agenda: Agenda,
    pub clients: RefCell<Clients<W::Client>>,
    pub deferral: RefCell<Deferral<W::Input>>,
    pub lines: RefCell<ResultLines>,
    pub losses: Losses,
    /// Transactions that were taken and are not done.
    pub in_progress: Cell<u32>,
    /// The latest reading of the clock, for decisions that need no fresh one.
    pub now: Cell<Nanos>,
    kinds: &'static [Kind],
    published: &'a Published,
    recorder: RefCell<Recorder>,
    errors: RefCell<ErrorBook>,
    /// Sessions without work: those for clients, and those for what was deferred.
    vacancies: [Cell<Vacancy>; 2],
    idle: Cell<Nanos>,
    closing_since: Cell<Option<Nanos>>,
    failure: RefCell<Option<DriveError>>,
}

/// What one shard has to say when it is over.
#[derive(Debug)]
pub struct ShardReport {
    pub seconds: Vec<Second>,
    pub errors: ErrorBook,
    pub lines: ResultLines,
    pub deferred: DeferredTotals,
    pub sessions: u32,
    pub lost: u64,
    pub reopened: u64,
    /// Transactions that were dropped because they did not end in time.
    pub unfinished: u32,
    /// Whether its thread was kept on one CPU.
    pub on_one_cpu: bool,
    pub in_process: bool,
    /// When the shard stopped beginning transactions.
    pub closed_at: Nanos,
    /// Of the whole run, as it ended.
    pub queue: QueueCounts,
    pub failure: Option<DriveError>,
}

/// The places of a shard's surroundings that tests replace.
pub struct Surroundings<'a, C, K, R> {
    pub connect: &'a C,
    pub clock: &'a K,
    pub reactor: &'a R,
    pub signals: &'a Signals<'a>,
    pub published: &'a Published,
}

type Task<'t> = Option<Pin<Box<dyn Future<Output = ()> + 't>>>;

/// Drives the shard's clients over the opened sessions until the window ends.
pub fn run<W, C, K, R>(
    around: &Surroundings<'_, C, K, R>,
    assignment: &Assignment<'_, W>,
    opened: Opened<C::Session>,
) -> Result<ShardReport, DriveError>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    wait_for_start(around, assignment.window.start)?;
    let shard = Shard::new(around, assignment, &opened)?;
    let sessions = u32::try_from(opened.sessions.len()).unwrap_or(u32::MAX);
    let mut tasks: Vec<Task<'_>> = Vec::with_capacity(opened.sessions.len());
    for ((role, session), token) in opened.sessions.into_iter().zip(0..) {
        tasks.push(Some(Box::pin(task::serve(&shard, token, role, session))));
        shard.agenda.wake(token);
    }
    shard.drive(&mut tasks)?;
    drop(tasks);
    Ok(shard.into_report(sessions))
}

/// Events before the start are of no interest: a session that has sent nothing has nothing to read.
fn wait_for_start<C, K: Clock, R: Reactor>(around: &Surroundings<'_, C, K, R>, start: Nanos) -> Result<(), DriveError> {
    let mut ignored = Vec::new();
    loop {
        let left = start.since(around.clock.now());
        if left == Nanos::ZERO {
            return Ok(());
        }
        around.reactor.wait(left.min(LONGEST_WAIT), &mut ignored).map_err(waiting_failed)?;
        ignored.clear();
    }
}

fn waiting_failed(source: std::io::Error) -> DriveError {
    DriveError::Io { doing: "waiting for sessions", source }
}

impl<'a, W, C, K, R> Shard<'a, W, C, K, R>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    fn new(
        around: &Surroundings<'a, C, K, R>,
        assignment: &Assignment<'a, W>,
        opened: &Opened<C::Session>,
    ) -> Result<Self, DriveError> {
        let Assignment { workload, window, .. } = *assignment;
        let kinds = workload.kinds();
        let meters = Meters { cpu: around.clock.thread_cpu(), ..Meters::default() };
        let clients = clients_of_shard(assignment);
        let deferring = if assignment.pacing.clients() == 0 { 0 } else { clients.len() };
        let recorder = Recorder::new(window, kinds.len(), W::COUNTERS.len(), meters)
            .map_err(|error| DriveError::Histogram(error.to_string()))?;
        Ok(Self {
            workload,
            connect: around.connect,
            clock: around.clock,
            reactor: around.reactor,
            signals: around.signals,
            retries: assignment.retries,
            window,
            in_process: opened.in_process,
            agenda: Agenda::new(opened.sessions.len()),
            style: Style::of(assignment.pacing),
            clients: RefCell::new(clients),
            deferral: RefCell::new(Deferral::new(QUEUE_CAPACITY, deferring)),
            lines: RefCell::new(ResultLines::new(assignment.log_lines)),
            losses: Losses::default(),
            in_progress: Cell::new(0),
            now: Cell::new(window.start),
            kinds,
            published: around.published,
            recorder: RefCell::new(recorder),
            errors: RefCell::default(),
            vacancies: Default::default(),
            idle: Cell::new(Nanos::ZERO),
            closing_since: Cell::new(None),
            failure: RefCell::new(None),
        })
    }

    fn drive(&self, tasks: &mut [Task<'_>]) -> Result<(), DriveError> {
        let mut ready = Vec::with_capacity(2 * tasks.len());
        let waker = self.agenda.waker();
        let mut left = tasks.len();
        loop {
            left -= self.poll_ready(tasks, &waker);
            let now = self.look_at_the_clock();
            self.look_for_the_end(now);
            if left == 0 || self.signals.is_aborted() || self.is_drained_enough(now) {
                return Ok(());
            }
            self.agenda.wake_due(now);
            let someone_is_ready = self.agenda.ready_count() > 0;
            if someone_is_ready && self.in_process {
                continue;
            }
            let at_most = if someone_is_ready { Nanos::ZERO } else { self.until_something_is_due(now) };
            self.reactor.wait(at_most, &mut ready).map_err(waiting_failed)?;
            let after = self.look_at_the_clock();
            self.idle.set(self.idle.get() + after.since(now));
            for token in ready.drain(..) {
                self.agenda.wake(token);
            }
        }
    }

    /// Gives every task that is ready now one turn; returns how many came to their end.
    fn poll_ready(&self, tasks: &mut [Task<'_>], waker: &Waker) -> usize {
        let mut context = Context::from_waker(waker);
        let mut ended = 0;
        for _ in 0..self.agenda.ready_count() {
            let Some(token) = self.agenda.next_ready() else { break };
            let Some(slot) = tasks.get_mut(token as usize) else { continue };
            let Some(task) = slot else { continue };
            if let Poll::Ready(()) = task.as_mut().poll(&mut context) {
                *slot = None;
                ended += 1;
            }
            self.agenda.heed_wake_up_call(token, self.now.get());
        }
        ended
    }

    /// Reads the clock, closes the seconds that are over, and sees who has become due.
    fn look_at_the_clock(&self) -> Nanos {
        let now = self.clock.now();
        self.moved_on(now);
        self.admit(now);
        now
    }

    /// Closes the seconds one by one, so that each knows how many were waiting when it ended.
    fn moved_on(&self, now: Nanos) {
        self.now.set(now);
        loop {
            let second_end = self.recorder.borrow().second_end();
            if now < second_end {
                return;
            }
            // What is due exactly on a boundary belongs to the second that begins there.
            self.admit(Nanos(second_end.0 - 1));
            let mut recorder = self.recorder.borrow_mut();
            recorder.close_seconds(second_end, self.meters());
            if let Some(second) = recorder.last_closed() {
                self.published.closed(second);
            }
        }
    }

    /// Lets clients that are due into the queue and wakes sessions for them. Who comes after the end is not part of it.
    fn admit(&self, now: Nanos) {
        if self.is_closing() {
            return;
        }
        let last = Nanos(self.window.end().0 - 1);
        // Who is turned away still uses up the inputs, so that everyone else's are the same however long the queue is.
        let turn_away = |state: &mut W::Client| drop(self.workload.next(state));
        let came = self.clients.borrow_mut().admit(now.min(last), turn_away);
        for _ in 0..came {
            if !self.agenda.wake_one(Role::Clients) {
                return;
            }
        }
    }

    fn meters(&self) -> Meters {
        let queue = self.clients.borrow().counts();
        Meters { cpu: self.clock.thread_cpu(), idle: self.idle.get(), queue }
    }

    /// A session has nothing to do any more.
    pub fn freed(&self, role: Role, now: Nanos) {
        let vacancy = &self.vacancies[usize::from(role == Role::Deferred)];
        let mut changed = vacancy.get();
        changed.freed(now);
        vacancy.set(changed);
    }

    /// A session begins to work; says since when one was free.
    pub fn taken(&self, role: Role) -> Nanos {
        let vacancy = &self.vacancies[usize::from(role == Role::Deferred)];
        let mut changed = vacancy.get();
        let since = changed.taken();
        vacancy.set(changed);
        since
    }

    fn until_something_is_due(&self, now: Nanos) -> Nanos {
        let second_end = self.recorder.borrow().second_end();
        let coming = self.clients.borrow().next_coming().filter(|_| !self.is_closing());
        let moment = [self.agenda.next_timer(), coming].into_iter().flatten().fold(second_end, Nanos::min);
        moment.since(now).min(LONGEST_WAIT)
    }

    /// Notices the end of the window or a signal, once.
    pub fn look_for_the_end(&self, now: Nanos) {
        if self.is_closing() {
            return;
        }
        let end = self.window.end();
        if now >= end || self.signals.is_stopped() || self.signals.is_aborted() {
            // A fresh reading: `now` may be from before the signal.
            self.closing_since.set(Some(self.clock.now().min(end)));
            self.deferral.borrow_mut().admit_no_more();
            self.agenda.wake_all_parked();
        }
    }

    pub fn is_closing(&self) -> bool {
        self.closing_since.get().is_some()
    }

    fn is_drained_enough(&self, now: Nanos) -> bool {
        self.closing_since.get().is_some_and(|since| now >= since + DRAIN_LIMIT)
    }

    /// Ends the driving of all shards for a reason.
    pub fn fail(&self, reason: DriveError) {
        self.failure.borrow_mut().get_or_insert(reason);
        self.signals.abort();
    }

    pub fn note_error(&self, error: &SessionError) {
        self.errors.borrow_mut().note(&error.to_string());
    }

    /// Books time that a client spends between two transactions.
    pub fn paused(&self, pause: Nanos) {
        self.recorder.borrow_mut().pause(pause);
    }

    /// Books a finished transaction in the second in which it was done.
    pub fn book(&self, life: &Life, tally: &Tally) {
        if self.in_process {
            // Inside the transaction this thread was the database.
            self.idle.set(self.idle.get() + life.done.since(life.sent));
        }
        self.moved_on(life.done);
        self.recorder.borrow_mut().book(life, tally);
        match life.ending {
            Some(ending) => {
                let counted = self.kinds.get(usize::from(life.kind)).is_some_and(|kind| kind.counted);
                self.published.ended(counted, ending == Ending::Committed);
            }
            None => self.published.failed(),
        }
    }

    fn into_report(self, sessions: u32) -> ShardReport {
        let meters = self.meters();
        ShardReport {
            seconds: self.recorder.into_inner().finish(meters),
            errors: self.errors.into_inner(),
            lines: self.lines.into_inner(),
            deferred: self.deferral.into_inner().totals(),
            sessions,
            lost: self.losses.lost.get(),
            reopened: self.losses.reopened.get(),
            unfinished: self.in_progress.get(),
            on_one_cpu: false,
            in_process: self.in_process,
            queue: meters.queue,
            closed_at: self.closing_since.get().unwrap_or(self.window.start),
            failure: self.failure.into_inner(),
        }
    }
}

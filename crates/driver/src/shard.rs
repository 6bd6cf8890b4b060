//! One thread of the driver: its sessions' tasks, and the loop that polls them.

use crate::agenda::{Agenda, Role};
use crate::arrivals::Share;
use crate::clock::{Clock, Nanos};
use crate::counts::SparseCounts;
use crate::deferral::{Deferral, LOG_LINES_MAX, QUEUE_CAPACITY, ResultLines};
use crate::ending::GivenUp;
use crate::errors::ErrorBook;
use crate::openings::Openings;
use crate::pacing::{Clients, QueueCounts, Vacancy};
use crate::plan::{DriveError, DrivePlan, Pacing};
use crate::pool::Pool;
use crate::reactor::Reactor;
use crate::recorder::{Life, Meters, Recorder, Second};
use crate::sessions::Opened;
use crate::signals::{Published, Signals};
use crate::stall::StallWatch;
use crate::task;
use crate::users::{Style, clients_of_shard};
use crate::window::Window;
use engines::session::{Connect, Opener, SessionError};
use record::trial::{Deferred, Losses, Stalls};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use workloads::workload::{Ending, Kind, Tally, Workload};

/// How long sessions may finish what they are in, and background sessions what was deferred, after the end.
const DRAIN_LIMIT: Nanos = Nanos::from_seconds(10);

/// How often a shard that waits looks at the flags.
const LONGEST_WAIT: Nanos = Nanos::from_millis(100);

/// How often a shard looks for a session that is being opened aside.
const OPENING_WAIT: Nanos = Nanos::from_millis(5);

/// What one shard is told before it starts.
pub struct Assignment<'a, W: Workload> {
    pub workload: &'a W,
    pub pacing: Pacing,
    pub share: Share,
    pub seed: u64,
    pub retries: u32,
    pub away_limit: Nanos,
    pub window: Window,
    pub log_lines: usize,
}

impl<'a, W: Workload> Assignment<'a, W> {
    pub fn of(workload: &'a W, plan: &DrivePlan, share: Share, start: Nanos) -> Self {
        Self {
            workload,
            pacing: plan.pacing,
            share,
            seed: plan.seed,
            retries: plan.retries,
            away_limit: Nanos::from_millis(plan.away_limit_ms),
            window: Window::new(plan, start),
            log_lines: LOG_LINES_MAX / share.of as usize,
        }
    }
}

/// A transaction that a session is in.
#[derive(Debug, Clone, Copy)]
pub struct UnderWay {
    pub kind: u16,
    pub due: Nanos,
    pub taken: Nanos,
}

/// What the tasks of one shard share. They run on one thread and borrow it only between waits.
pub struct Shard<'a, W: Workload, C: Connect, K: Clock, R: Reactor<C::Session>> {
    pub workload: &'a W,
    pub connect: &'a C,
    pub clock: &'a K,
    pub reactor: &'a R,
    pub signals: &'a Signals<'a>,
    pub retries: u32,
    pub away_limit: Nanos,
    pub window: Window,
    pub in_process: bool,
    pub style: Style,
    pub agenda: Agenda,
    pub clients: RefCell<Clients<W::Client>>,
    pub deferral: RefCell<Deferral<W::Input>>,
    pub lines: RefCell<ResultLines>,
    pub losses: Cell<Losses>,
    pub openings: Openings<'a, C::Session>,
    /// What each session is in, by its token.
    pub under_way: RefCell<Vec<Option<UnderWay>>>,
    /// The latest reading of the clock, for decisions that need no fresh one.
    pub now: Cell<Nanos>,
    kinds: &'static [Kind],
    published: &'a Published,
    hand_on: &'a dyn Fn(Second),
    pub recorder: RefCell<Recorder>,
    errors: RefCell<ErrorBook>,
    /// Sessions without work: those for clients, and those for what was deferred.
    vacancies: [Cell<Vacancy>; 2],
    pub pool: Cell<Pool>,
    stalls: Cell<StallWatch>,
    /// Who waited for a session when driving began to end.
    pub waiting_at_end: Cell<u64>,
    idle: Cell<Nanos>,
    closing_since: Cell<Option<Nanos>>,
    failure: RefCell<Option<DriveError>>,
}

/// What one shard has to say when it is over; its seconds it has handed on before.
#[derive(Debug)]
pub struct ShardReport {
    pub errors: ErrorBook,
    pub lines: ResultLines,
    pub deferred: Deferred,
    pub sessions: u32,
    pub losses: Losses,
    /// Of each kind: what was due in the measured window and had not ended with it, with its time until it did or until
    /// driving was given up.
    pub unended: Vec<SparseCounts>,
    /// What was given up.
    pub given_up: GivenUp,
    pub stalls: Stalls,
    /// Whether its thread was kept on one CPU.
    pub on_one_cpu: bool,
    pub in_process: bool,
    /// Of the whole run, as it ended.
    pub queue: QueueCounts,
    pub failure: Option<DriveError>,
}

/// The places of a shard's surroundings that tests replace.
pub struct Surroundings<'a, C: Connect, K, R> {
    pub connect: &'a C,
    pub opener: Option<&'a dyn Opener<C::Session>>,
    pub clock: &'a K,
    pub reactor: &'a R,
    pub signals: &'a Signals<'a>,
    pub published: &'a Published,
    /// Takes each second when it is over.
    pub hand_on: &'a dyn Fn(Second),
}

pub type Task<'t> = Option<Pin<Box<dyn Future<Output = ()> + 't>>>;

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
    R: Reactor<C::Session>,
{
    wait_for_start(around, assignment.window.start)?;
    let shard = Shard::new(around, assignment, &opened);
    let mut tasks: Vec<Task<'_>> = Vec::with_capacity(opened.sessions.len());
    for (role, session) in opened.sessions {
        shard.put_to_work(&mut tasks, role, session);
    }
    shard.drive(&mut tasks)?;
    let sessions = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    drop(tasks);
    Ok(shard.into_report(sessions))
}

/// Events before the start are of no interest: a session that has sent nothing has nothing to read.
fn wait_for_start<C: Connect, K: Clock, R: Reactor<C::Session>>(
    around: &Surroundings<'_, C, K, R>,
    start: Nanos,
) -> Result<(), DriveError> {
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
    R: Reactor<C::Session>,
{
    fn new(around: &Surroundings<'a, C, K, R>, assignment: &Assignment<'a, W>, opened: &Opened<C::Session>) -> Self {
        let Assignment { workload, window, .. } = *assignment;
        let kinds = workload.kinds();
        let meters = Meters { cpu: around.clock.thread_cpu(), ..Meters::default() };
        let clients = clients_of_shard(assignment);
        let deferring = if assignment.pacing.clients() == 0 { 0 } else { clients.len() };
        let capacity = QUEUE_CAPACITY.div_ceil(assignment.share.of as usize);
        let role = |wanted| opened.sessions.iter().filter(|(role, _)| *role == wanted).count();
        let in_pool = u32::try_from(role(Role::Deferred)).unwrap_or(u32::MAX);
        let most = u32::try_from(role(Role::Clients)).unwrap_or(u32::MAX);
        let recorder = Recorder::new(window, kinds.len(), W::COUNTERS.len(), meters);
        Self {
            workload,
            connect: around.connect,
            clock: around.clock,
            reactor: around.reactor,
            signals: around.signals,
            retries: assignment.retries,
            away_limit: assignment.away_limit,
            window,
            in_process: opened.in_process,
            agenda: Agenda::new(opened.sessions.len()),
            style: Style::of(assignment.pacing),
            clients: RefCell::new(clients),
            deferral: RefCell::new(Deferral::new(capacity, deferring)),
            lines: RefCell::new(ResultLines::new(assignment.log_lines)),
            losses: Cell::default(),
            openings: Openings::by(around.opener),
            under_way: RefCell::new(Vec::with_capacity(opened.sessions.len())),
            now: Cell::new(window.start),
            kinds,
            published: around.published,
            hand_on: around.hand_on,
            recorder: RefCell::new(recorder),
            errors: RefCell::default(),
            vacancies: Default::default(),
            pool: Cell::new(Pool { at_start: in_pool, now: in_pool, most: most.max(in_pool) }),
            stalls: Cell::new(StallWatch::over(window)),
            waiting_at_end: Cell::new(0),
            idle: Cell::new(Nanos::ZERO),
            closing_since: Cell::new(None),
            failure: RefCell::new(None),
        }
    }

    /// One more session works from now on.
    pub fn put_to_work<'t>(&'t self, tasks: &mut Vec<Task<'t>>, role: Role, session: C::Session) {
        let token = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        self.under_way.borrow_mut().push(None);
        tasks.push(Some(Box::pin(task::serve(self, token, role, session))));
        self.agenda.wake(token);
    }

    fn drive<'t>(&'t self, tasks: &mut Vec<Task<'t>>) -> Result<(), DriveError> {
        let mut ready = Vec::with_capacity(2 * tasks.len());
        let waker = self.agenda.waker();
        let mut left = tasks.len();
        let mut looked = self.look_at_the_clock();
        loop {
            left -= self.poll_ready(tasks, &waker);
            let now = self.look_at_the_clock();
            if !self.in_process {
                // Nothing here waits, so this takes no longer than the work itself.
                self.note_stall(looked, now);
            }
            self.look_for_the_end(now);
            if left == 0 || self.signals.is_aborted() || self.is_drained_enough(now) {
                return Ok(());
            }
            self.agenda.wake_due(now);
            left += self.take_what_was_opened(tasks);
            self.grow_if_overdue(now);
            let someone_is_ready = self.agenda.ready_count() > 0;
            if someone_is_ready && self.in_process {
                looked = now;
                continue;
            }
            let at_most = if someone_is_ready { Nanos::ZERO } else { self.until_something_is_due(now) };
            self.reactor.wait(at_most, &mut ready).map_err(waiting_failed)?;
            looked = self.look_at_the_clock();
            self.note_stall(now + at_most, looked);
            self.idle.set(self.idle.get() + looked.since(now));
            for token in ready.drain(..) {
                self.agenda.wake(token);
            }
        }
    }

    /// The shard was to go on at `expected`, and did so at `now`.
    fn note_stall(&self, expected: Nanos, now: Nanos) {
        let mut stalls = self.stalls.get();
        stalls.note(expected, now);
        self.stalls.set(stalls);
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
            let closed = self.recorder.borrow_mut().close_second(second_end, self.meters());
            if let Some(mut second) = closed {
                second.whole = self.closing_since.get().is_none_or(|since| since >= second_end);
                (self.hand_on)(second);
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
        let (queue, deferred) = (self.clients.borrow().counts(), self.deferral.borrow().backlog());
        Meters { cpu: self.clock.thread_cpu(), idle: self.idle.get(), queue, deferred }
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
        moment.since(now).min(if self.openings.is_under_way() { OPENING_WAIT } else { LONGEST_WAIT })
    }

    /// Notices the end of the window or a signal, once.
    pub fn look_for_the_end(&self, now: Nanos) {
        if self.is_closing() {
            return;
        }
        let end = self.window.end();
        if now >= end || self.signals.is_stopped() || self.signals.is_aborted() {
            // A fresh reading: `now` may be from before the signal.
            let closing_since = self.clock.now().min(end);
            self.closing_since.set(Some(closing_since));
            self.send_home(closing_since);
            self.openings.close(&self.agenda);
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

    pub fn count_loss(&self, change: impl FnOnce(&mut Losses)) {
        let mut losses = self.losses.get();
        change(&mut losses);
        self.losses.set(losses);
    }

    pub fn note_error(&self, error: &SessionError) {
        self.errors.borrow_mut().note(error);
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
        let now = self.clock.now();
        let given_up = self.give_up(now);
        let meters = self.meters();
        let queue = QueueCounts { waiting: self.waiting_at_end.get(), ..meters.queue };
        let (mut last, unended) = self.recorder.into_inner().finish(meters);
        last.whole = false;
        (self.hand_on)(last);
        let pool = self.pool.get();
        let deferred = Deferred {
            sessions_at_start: pool.at_start,
            sessions_at_end: pool.now,
            ..self.deferral.into_inner().totals()
        };
        ShardReport {
            errors: self.errors.into_inner(),
            lines: self.lines.into_inner(),
            deferred,
            sessions,
            losses: self.losses.get(),
            unended,
            given_up,
            stalls: self.stalls.get().stalls(),
            on_one_cpu: false,
            in_process: self.in_process,
            queue,
            failure: self.failure.into_inner(),
        }
    }
}

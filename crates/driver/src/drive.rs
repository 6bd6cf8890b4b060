//! The driver's threads: one for each shard, with a common start.

use crate::assignment::Assignment;
use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::combine::in_turn;
use crate::error::DriveError;
use crate::mailbox::Mailbox;
use crate::merge::{Gathering, Names};
use crate::plan::{Control, DrivePlan, Driven, Pacing, SeenProgress, UserStream};
use crate::reactor::Sockets;
use crate::report::ShardReport;
use crate::run;
use crate::script;
use crate::sessions::{self, Opened, SessionList};
use crate::shard::Surroundings;
use crate::signals::{Note, RunningTotals, Signals};
use crate::slice::Slice;
use crate::stall;
use crate::watch::{Watch, conclude};
use crate::window::Window;
use engines::session::{BoxedOpener, Connect, Opener};
use record::script::PhaseEnd;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::any::Any;
use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;
use workloads::workload::Workload;

/// Time between the opening of the last session and the common start: enough for every thread to wait for the start.
const START_LEAD: Nanos = Nanos::from_millis(20);
/// How often a driver that waits for its start checks whether the start has been set.
const START_POLL: Duration = Duration::from_millis(1);

/// Reports that a thread is over, even if it panics. After a panic the others must not go on either.
struct EndNotice<'a> {
    shard: u32,
    notes: Sender<Note>,
    signals: &'a Signals<'a>,
}

impl Drop for EndNotice<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.signals.abort();
        }
        // The receiver is gone only if the calling thread itself is ending.
        let _ = self.notes.send(Note::Over { shard: self.shard });
    }
}

/// Drives the workload's users through sessions opened by `connect`, phase after phase. It ends with the plan's last phase,
/// when it is asked to stop, or when nothing works any more. `see` is called about twice a second, on the calling thread.
pub fn drive<W: Workload, C: Connect + Sync>(
    workload: &W,
    connect: &C,
    plan: &DrivePlan,
    control: &Control,
    see: &mut dyn FnMut(SeenProgress),
) -> Result<Driven, DriveError> {
    script::check(plan, workload.actors())?;
    let shards = shard_count(plan)?;
    let signals = Signals::new(control, workload.actors().len());
    let (notes, inbox) = channel();
    let published: Vec<RunningTotals> = (0..shards).map(|_| RunningTotals::default()).collect();
    let mailboxes = mailboxes(workload, shards)?;
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(published.len());
        for ((here, published), mailbox) in
            (0..shards).map(|shard| Slice { shard, of: shards }).zip(&published).zip(mailboxes)
        {
            let (start_sender, work) = channel();
            let end_notice = EndNotice { shard: here.shard, notes: notes.clone(), signals: &signals };
            let opener = connect.opener(scope);
            let setup = ShardSetup { here, published, work, opener, mailbox };
            let handle = scope.spawn(move || shard_thread(workload, connect, plan, &setup, &end_notice));
            threads.push(Thread { handle, start: start_sender });
        }
        let names = Names::of(workload);
        let conductor = Conductor { plan, names, fills: W::FILLS, published: &published, signals: &signals };
        let driven = conductor.phases(scope, &inbox, &threads, see);
        // Threads that still wait for a start see their channel close and return.
        let (handles, starts): (Vec<_>, Vec<_>) =
            threads.into_iter().map(|thread| (thread.handle, thread.start)).unzip();
        drop(starts);
        // If a shard was not started, another shard's failure is the cause.
        let mut failures: Vec<_> = handles.into_iter().filter_map(|handle| join(handle).err()).collect();
        failures.sort_by_key(|failure| matches!(failure, DriveError::NotStarted));
        match failures.into_iter().next() {
            Some(failure) if !matches!(failure, DriveError::NotStarted) => Err(failure),
            // If driving ended before its last phase, no shard was started for that phase.
            _ => in_turn(driven?).ok_or(DriveError::NotStarted),
        }
    })
}

/// One mailbox for each shard, if any actor has users that each belong to one shard.
fn mailboxes<W: Workload>(workload: &W, shards: u32) -> Result<Vec<Option<Mailbox<W::Input>>>, DriveError> {
    if shards == 1 || workload.actors().iter().all(|actor| actor.users == 0) {
        return Ok((0..shards).map(|_| None).collect());
    }
    let mailboxes =
        Mailbox::among(shards).map_err(|source| DriveError::Io { doing: "making mailboxes of threads", source })?;
    Ok(mailboxes.into_iter().map(Some).collect())
}

/// One thread for each CPU the driver may use, unless the plan sets a number. There are never more threads than the
/// largest stream has sessions, so that each thread has at least one.
fn shard_count(plan: &DrivePlan) -> Result<u32, DriveError> {
    let wanted = if plan.shards == 0 {
        sched_getaffinity(None)
            .map_err(|error| DriveError::Io { doing: "asking which CPUs may be used", source: error.into() })?
            .count()
    } else {
        plan.shards
    };
    let streams = plan.phases.iter().flat_map(|phase| &phase.streams);
    let sessions = streams.map(|stream| plan.generator.of_pacing(stream.pacing).sessions()).max().unwrap_or(1);
    Ok(wanted.clamp(1, sessions.max(1)))
}

struct Thread<'scope> {
    handle: ScopedJoinHandle<'scope, Result<(), DriveError>>,
    start: Sender<DrivenPhase>,
}

/// A phase that is to be driven, by its number, in this window.
type DrivenPhase = (u16, Window);

/// The calling thread's part: it starts each phase on all shards at one moment, and merges their reports.
struct Conductor<'a> {
    plan: &'a DrivePlan,
    names: Names,
    /// Whether the workload can keep a database busy that is done before others are.
    fills: bool,
    published: &'a [RunningTotals],
    signals: &'a Signals<'a>,
}

impl Conductor<'_> {
    /// The result of each phase, up to the one in which driving ended.
    fn phases<'scope>(
        &self,
        scope: &'scope thread::Scope<'scope, '_>,
        inbox: &Receiver<Note>,
        threads: &[Thread<'_>],
        see: &mut dyn FnMut(SeenProgress),
    ) -> Result<Vec<Driven>, DriveError> {
        let mut driven = Vec::with_capacity(self.plan.phases.len());
        if !are_ready(inbox, threads.len()) {
            return Ok(driven);
        }
        let mut last: Option<DrivenPhase> = None;
        for (number, phase) in (0..).zip(&self.plan.phases) {
            let Some(start) = self.start_of_phase(inbox, threads, last, see)? else { break };
            let window = Window::of(phase, self.plan, start, last.map_or(start, |(_, window)| window.origin));
            last = Some((number, window));
            self.signals.begin_phase(u32::try_from(threads.len()).unwrap_or(u32::MAX), phase, self.plan);
            begin(threads, (number, window));
            let (over, is_over) = channel();
            let stalls = scope.spawn(move || stall::watch(window, &is_over));
            let gathering = Gathering::new(self.names, window, threads.len());
            let mut watch = Watch::new(window, self.published, self.signals, gathering);
            let reports = watch.until_over(inbox, threads.len(), see);
            drop(over);
            // That thread does nothing that could fail.
            let stalls = stalls.join().unwrap_or_default();
            if reports.len() < threads.len() {
                // A thread that has returned altogether reports why.
                break;
            }
            driven.push(conclude(self.plan, phase, watch, reports, stalls)?);
            if !driven.last().is_some_and(goes_on) {
                return Ok(driven);
            }
        }
        if self.filler(last).is_some() {
            self.start_of_phase(inbox, threads, last, see)?;
        }
        Ok(driven)
    }

    /// The common start of all shards: the moment that was set, if they start together with others. Later phases start
    /// whole seconds after the first, so that all seconds are on one grid. Until the start is set, the database is kept busy if it
    /// is done with its last phase and others may not be.
    fn start_of_phase(
        &self,
        inbox: &Receiver<Note>,
        threads: &[Thread<'_>],
        last: Option<DrivenPhase>,
        see: &mut dyn FnMut(SeenProgress),
    ) -> Result<Option<Nanos>, DriveError> {
        let filler = self.filler(last);
        if let Some(filler) = filler {
            self.signals.set_filler_over(false);
            begin(threads, filler);
        }
        see(SeenProgress::Ready);
        let told = self.plan.together.is_some().then(|| await_start(inbox, self.signals));
        if filler.is_some() {
            self.signals.set_filler_over(true);
            end_of_filler(inbox, threads.len())?;
        }
        if told == Some(None) {
            return Ok(None);
        }
        let start = told.flatten().unwrap_or_default().max(MonotonicClock.now() + START_LEAD);
        Ok(Some(last.map_or(start, |(_, window)| on_grid(window.origin, start, told.is_some()))))
    }

    /// What keeps the database busy after a phase that others may not be done with.
    fn filler(&self, last: Option<DrivenPhase>) -> Option<DrivenPhase> {
        let (number, window) =
            last.filter(|(_, window)| self.fills && window.is_open && self.plan.together.is_some())?;
        Some((number, window.filler(MonotonicClock.now() + START_LEAD)))
    }
}

fn begin(threads: &[Thread<'_>], work: DrivenPhase) {
    for thread in threads {
        // A thread that is over by now has reported why; nobody else needs to know.
        let _ = thread.start.send(work);
    }
}

/// Waits until no thread keeps the database busy any more. Each ends by itself, within the drain limit.
fn end_of_filler(inbox: &Receiver<Note>, threads: usize) -> Result<(), DriveError> {
    let mut over = 0;
    while over < threads {
        match inbox.recv() {
            Ok(Note::Phase { report, .. }) => {
                over += 1;
                if let Some(failure) = report.failure {
                    return Err(failure);
                }
            }
            // Seconds that do not count.
            Ok(Note::Closed { .. } | Note::Ready) => {}
            // A thread that has returned altogether reports why.
            Ok(Note::Over { .. }) | Err(_) => return Err(DriveError::NotStarted),
        }
    }
    Ok(())
}

/// Rounds a moment to the grid. A start set from outside is on it except for the error of two clocks, so it becomes the
/// nearest one. Any other moment becomes the next one.
pub fn on_grid(origin: Nanos, moment: Nanos, is_meant: bool) -> Nanos {
    let late = if is_meant { Nanos::from_millis(500) } else { Nanos(999_999_999) };
    origin + Nanos::from_seconds((moment.since(origin) + late).whole_seconds())
}

/// True if a further phase can follow.
pub fn goes_on(driven: &Driven) -> bool {
    let ended = driven.facts.phases.last().map(|phase| phase.ended);
    !driven.stopped && driven.broke_off.is_none() && ended != Some(PhaseEnd::Limit)
}

struct ShardSetup<'a, I, S> {
    here: Slice,
    published: &'a RunningTotals,
    work: Receiver<DrivenPhase>,
    opener: Option<BoxedOpener<'a, S>>,
    mailbox: Option<Mailbox<I>>,
}

fn shard_thread<W: Workload, C: Connect>(
    workload: &W,
    connect: &C,
    plan: &DrivePlan,
    setup: &ShardSetup<'_, W::Input, C::Session>,
    end_notice: &EndNotice<'_>,
) -> Result<(), DriveError> {
    be_punctual();
    let back_to_back = |stream: &UserStream| matches!(stream.pacing, Pacing::Clients { .. });
    let all_back_to_back = plan.phases.iter().flat_map(|phase| &phase.streams).all(back_to_back);
    let on_one_cpu = all_back_to_back && stay_on_one_cpu(setup.here);
    let result = open_and_drive(workload, connect, plan, setup, end_notice, on_one_cpu);
    if result.is_err() {
        end_notice.signals.abort();
    }
    result
}

/// The kernel's default slack lets a waiting thread sleep 50 µs longer, to serve several at once. All paced work would
/// be late by that. If the kernel refuses a shorter slack, the recorded lateness shows it.
fn be_punctual() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Keeps a thread on one CPU if there is one CPU for each. Its sessions' requests are still in that CPU's caches, and the
/// server's processes follow a thread that moves. Paced threads are better woken wherever there is room, so this is only
/// for clients back to back. Returns whether it worked, for the record; if the kernel refuses, driving costs a little more.
fn stay_on_one_cpu(share: Slice) -> bool {
    let Ok(allowed) = sched_getaffinity(None) else { return false };
    if allowed.count() != share.of {
        return false;
    }
    let mine = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).nth(share.shard as usize);
    let Some(cpu) = mine else { return false };
    let mut alone = CpuSet::new();
    alone.set(cpu);
    sched_setaffinity(None, &alone).is_ok()
}

fn open_and_drive<W: Workload, C: Connect>(
    workload: &W,
    connect: &C,
    plan: &DrivePlan,
    setup: &ShardSetup<'_, W::Input, C::Session>,
    end_notice: &EndNotice<'_>,
    on_one_cpu: bool,
) -> Result<(), DriveError> {
    let signals = end_notice.signals;
    let waiting = |source| DriveError::Io { doing: "preparing to wait for sessions", source };
    let reactor = Sockets::new().map_err(waiting)?;
    if let Some(wakeup) = setup.mailbox.as_ref().and_then(Mailbox::wakeup) {
        reactor.watch_wakeup(wakeup).map_err(waiting)?;
    }
    let shard = setup.here.shard;
    let session_list = SessionList::of(workload.actors(), plan.generator.part_of(setup.here), plan);
    let stopped = || signals.is_stopped() || signals.is_aborted();
    let mut opened: Opened<C::Session> = sessions::open(connect, &reactor, &session_list, stopped)?;
    let _ = end_notice.notes.send(Note::Ready);
    let around = Surroundings::<(W, C, MonotonicClock, Sockets)> {
        connect,
        opener: setup.opener.as_deref().map(|opener| opener as &dyn Opener<C::Session>),
        clock: &MonotonicClock,
        reactor: &reactor,
        signals,
        published: setup.published,
        hand_on: &|second| {
            // Nobody listens any more once driving is ending.
            let _ = end_notice.notes.send(Note::Closed { shard, second: Box::new(second) });
        },
        mailbox: setup.mailbox.as_ref(),
    };
    // It ends when the calling thread has no more work.
    while let Ok((number, window)) = setup.work.recv() {
        let Some(assignment) = Assignment::of(workload, plan, number, setup.here, window) else { break };
        let report = run::run(&around, &assignment, &mut opened)?;
        let report =
            Box::new(ShardReport { on_one_cpu, through_io_uring: reactor.has_ring() && !report.in_process, ..report });
        let _ = end_notice.notes.send(Note::Phase { shard, report });
    }
    Ok(())
}

/// Waits until all shards have opened their sessions; returns whether they have.
fn are_ready(inbox: &Receiver<Note>, shards: usize) -> bool {
    // Opening a session has its own limit, and a thread that is over reports that, so this ends.
    (0..shards).all(|_| matches!(inbox.recv(), Ok(Note::Ready)))
}

/// Waits until the start is set. The conductor limits how long that takes, and may stop the driver instead.
fn await_start(inbox: &Receiver<Note>, signals: &Signals<'_>) -> Option<Nanos> {
    loop {
        if let Some(at_ns) = signals.take_start() {
            return Some(Nanos(at_ns));
        }
        if signals.is_stopped() {
            // Shards see the stop, too, and return at once.
            return Some(Nanos::ZERO);
        }
        match inbox.recv_timeout(START_POLL) {
            Err(RecvTimeoutError::Timeout) | Ok(Note::Ready | Note::Closed { .. } | Note::Phase { .. }) => {}
            Ok(Note::Over { .. }) | Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn join(thread: ScopedJoinHandle<'_, Result<(), DriveError>>) -> Result<(), DriveError> {
    thread.join().unwrap_or_else(|panic| Err(DriveError::Panicked(panic_message(panic.as_ref()))))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_asks_for_it_is_woken_without_slack() {
        thread::spawn(be_punctual_and_look).join().unwrap();
    }

    #[test]
    fn threads_as_many_as_cpus_have_one_each() {
        let allowed = sched_getaffinity(None).unwrap();
        let of = allowed.count();
        let mut together = CpuSet::new();
        for shard in 0..of {
            let own = thread::spawn(move || where_it_stays(Slice { shard, of })).join().unwrap();
            assert_eq!(own.count(), 1);
            for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| own.is_set(*cpu)) {
                together.set(cpu);
            }
        }
        assert!(together == allowed);
        let fewer = thread::spawn(move || where_it_stays(Slice { shard: 0, of: of + 1 })).join().unwrap();
        assert!(fewer == allowed, "who shares CPUs goes where there is room");
    }

    fn where_it_stays(share: Slice) -> CpuSet {
        let said = stay_on_one_cpu(share);
        let allowed = sched_getaffinity(None).unwrap();
        assert!(!said || allowed.count() == 1);
        allowed
    }

    fn be_punctual_and_look() {
        be_punctual();
        assert_eq!(rustix::thread::current_timer_slack().unwrap(), 1);
    }
}

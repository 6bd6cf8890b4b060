//! Threads: one for each shard, and one start for all.

use crate::arrivals::Share;
use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::merge::{Gathering, Names};
use crate::plan::{Control, DriveError, DrivePlan, Driven, Pacing, Seen};
use crate::reactor::Epoll;
use crate::sessions::{self, Opened, Roster};
use crate::shard::{self, Assignment, ShardReport, Surroundings};
use crate::signals::{Note, Published, Signals};
use crate::stall;
use crate::watch::{ShardResult, Watch, conclude};
use crate::window::Window;
use engines::session::{BoxedOpener, Connect, Opener};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::any::Any;
use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;
use workloads::workload::Workload;

/// From the moment all sessions are open to the common start: enough for every thread to be waiting for it.
const START_LEAD: Nanos = Nanos::from_millis(20);
/// How often a driver that waits for its start looks whether it was told.
const START_POLL: Duration = Duration::from_millis(1);

/// Says that a thread is over, also when it panics; in that case the others must not go on either.
struct Farewell<'a> {
    notes: Sender<Note>,
    signals: &'a Signals<'a>,
}

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.signals.abort();
        }
        // The receiver is gone only if the calling thread itself is on its way out.
        let _ = self.notes.send(Note::Over);
    }
}

/// Drives the workload's clients through sessions opened by `connect` until the plan's window ends, it is told to stop,
/// or nothing works any more. `see` is called about twice a second, on the calling thread.
pub fn drive<W: Workload, C: Connect + Sync>(
    workload: &W,
    connect: &C,
    plan: &DrivePlan,
    control: &Control,
    see: &mut dyn FnMut(Seen),
) -> Result<Driven, DriveError> {
    something_to_do(plan.pacing)?;
    let shards = shard_count(plan)?;
    let signals = Signals::new(control);
    let (notes, inbox) = channel();
    let published: Vec<Published> = (0..shards).map(|_| Published::default()).collect();
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(published.len());
        for (shard, published) in (0..shards).zip(&published) {
            let (start_sender, start) = channel();
            let farewell = Farewell { notes: notes.clone(), signals: &signals };
            let opener = connect.opener(scope);
            let place = Place { share: Share { shard, of: shards }, published, start, opener };
            let handle = scope.spawn(move || shard_thread(workload, connect, plan, &place, &farewell));
            threads.push((handle, start_sender));
        }
        let began = start_together(&inbox, &threads, plan, &signals, see);
        let watched = began.map(|window| {
            let (over, is_over) = channel();
            let stalls = scope.spawn(move || stall::watch(window, &is_over));
            let gathering = Gathering::new(Names::of(workload), window, published.len());
            let mut watch = Watch::new(window, &published, &signals, gathering);
            watch.until_over(&inbox, shards, see);
            drop(over);
            // That thread computes nothing that could fail.
            (watch, stalls.join().unwrap_or_default())
        });
        // Threads that still wait for a start see their channel close and return.
        let (handles, starts): (Vec<_>, Vec<_>) = threads.into_iter().unzip();
        drop(starts);
        let results = handles.into_iter().map(join).collect();
        conclude(plan, watched, results)
    })
}

/// Whether the plan would drive anything at all.
pub fn something_to_do(pacing: Pacing) -> Result<(), DriveError> {
    let (what, is_zero) = match pacing {
        Pacing::Clients { clients } => ("the number of clients", clients == 0),
        Pacing::Terminals { terminals: 0, .. } => ("the number of terminals", true),
        Pacing::Arrivals { per_second, .. } if !(per_second.is_finite() && per_second > 0.0) => ("the rate", true),
        Pacing::Terminals { sessions, .. } | Pacing::Arrivals { sessions, .. } => {
            ("the number of sessions", sessions == 0)
        }
    };
    if is_zero { Err(DriveError::Nothing(what)) } else { Ok(()) }
}

/// One thread for each CPU the driver may use, unless told otherwise; never more than sessions.
fn shard_count(plan: &DrivePlan) -> Result<u32, DriveError> {
    let wanted = if plan.shards == 0 {
        sched_getaffinity(None)
            .map_err(|error| DriveError::Io { doing: "asking which CPUs may be used", source: error.into() })?
            .count()
    } else {
        plan.shards
    };
    Ok(wanted.clamp(1, plan.pacing.sessions()))
}

struct Place<'a, S> {
    share: Share,
    published: &'a Published,
    start: Receiver<Nanos>,
    opener: Option<BoxedOpener<'a, S>>,
}

fn shard_thread<W: Workload, C: Connect>(
    workload: &W,
    connect: &C,
    plan: &DrivePlan,
    place: &Place<'_, C::Session>,
    farewell: &Farewell<'_>,
) -> ShardResult {
    be_punctual();
    let on_one_cpu = matches!(plan.pacing, Pacing::Clients { .. }) && stay_on_one_cpu(place.share);
    let result = open_and_drive(workload, connect, plan, place, farewell);
    let result = result.map(|report| ShardReport { on_one_cpu, ..report });
    if result.is_err() {
        farewell.signals.abort();
    }
    result
}

/// The kernel lets a waiting thread sleep a little longer, 50 µs unless told otherwise, to serve several at once. That
/// would be lateness of everything that is paced. If the kernel refuses, the recorded lateness shows it.
fn be_punctual() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// A thread for each CPU does best where its sessions' requests are still in the caches, and each time it moves, the
/// server's processes follow. One that waits for a moment is better woken wherever there is room, so this is for clients
/// that go back to back. Says whether it is so, for the record; if the kernel refuses, the driver costs a little more.
fn stay_on_one_cpu(share: Share) -> bool {
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
    place: &Place<'_, C::Session>,
    farewell: &Farewell<'_>,
) -> ShardResult {
    let signals = farewell.signals;
    let reactor = Epoll::new().map_err(|source| DriveError::Io { doing: "making an epoll set", source })?;
    let roster = Roster::of(workload, place.share, plan.pacing);
    let stopped = || signals.is_stopped() || signals.is_aborted();
    let opened: Opened<C::Session> = sessions::open(connect, &reactor, &roster, stopped)?;
    let _ = farewell.notes.send(Note::Ready);
    let Ok(start) = place.start.recv() else { return Err(DriveError::NotStarted) };
    let around = Surroundings {
        connect,
        opener: place.opener.as_deref().map(|opener| opener as &dyn Opener<C::Session>),
        clock: &MonotonicClock,
        reactor: &reactor,
        signals,
        published: place.published,
        hand_on: &|second| {
            let second = Box::new(second);
            // Nobody listens any more once driving is on its way out.
            let _ = farewell.notes.send(Note::Closed { shard: place.share.shard, second });
        },
    };
    let assignment = Assignment::of(workload, plan, place.share, start);
    shard::run(&around, &assignment, opened)
}

/// Waits until all shards are ready and tells them when to start; `None` if one of them is over before that.
fn start_together<T>(
    inbox: &Receiver<Note>,
    threads: &[(ScopedJoinHandle<'_, T>, Sender<Nanos>)],
    plan: &DrivePlan,
    signals: &Signals<'_>,
    see: &mut dyn FnMut(Seen),
) -> Option<Window> {
    for _ in threads {
        // Opening a session has a limit of its own, and a thread that is over says so, so this ends.
        match inbox.recv() {
            Ok(Note::Ready | Note::Closed { .. }) => {}
            Ok(Note::Over) | Err(_) => return None,
        }
    }
    see(Seen::Ready);
    let told = if plan.together.is_some() { Some(await_start(inbox, signals)?) } else { None };
    let start = told.unwrap_or_default().max(MonotonicClock.now() + START_LEAD);
    for (_, thread) in threads {
        // A thread that is over by now has said why; nobody else needs to know.
        let _ = thread.send(start);
    }
    Some(Window::new(plan, start))
}

/// Waits to be told when to start. Whoever tells it has a limit on that; it may also say stop instead.
fn await_start(inbox: &Receiver<Note>, signals: &Signals<'_>) -> Option<Nanos> {
    loop {
        if let Some(at_ns) = signals.start_ns() {
            return Some(Nanos(at_ns));
        }
        if signals.is_stopped() {
            // Shards see that, too, and return at once.
            return Some(Nanos::ZERO);
        }
        match inbox.recv_timeout(START_POLL) {
            Err(RecvTimeoutError::Timeout) | Ok(Note::Ready | Note::Closed { .. }) => {}
            Ok(Note::Over) | Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn join(thread: ScopedJoinHandle<'_, ShardResult>) -> ShardResult {
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
            let own = thread::spawn(move || where_it_stays(Share { shard, of })).join().unwrap();
            assert_eq!(own.count(), 1);
            for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| own.is_set(*cpu)) {
                together.set(cpu);
            }
        }
        assert!(together == allowed);
        let fewer = thread::spawn(move || where_it_stays(Share { shard: 0, of: of + 1 })).join().unwrap();
        assert!(fewer == allowed, "who shares CPUs goes where there is room");
    }

    fn where_it_stays(share: Share) -> CpuSet {
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

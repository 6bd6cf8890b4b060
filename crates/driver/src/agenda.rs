//! Decides which task runs next: some are ready, some wait for a moment, and some have nothing to do.
//!
//! This is the whole executor. A task is polled when its token is in the ready list. An extra poll is harmless
//! everywhere, so nothing here removes duplicates.

use crate::clock::{Clock, Nanos};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Wake, Waker};

/// The actors whose transactions a task executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// One actor's transactions, by its index.
    Of(u16),
    /// Every actor's transactions, in the order in which they are due. One in-process session does everything on its thread.
    All,
}

/// How soon a task that asked for it is polled again. Only requests larger than a socket's buffer ask for that, and a
/// server takes about as long to make room in such a buffer.
const SOON: Nanos = Nanos::from_micros(50);

/// Records that the task being polled woke its own waker.
#[derive(Default)]
struct WakeUpCall(AtomicBool);

impl Wake for WakeUpCall {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub struct Agenda {
    ready: RefCell<VecDeque<u32>>,
    timers: RefCell<BinaryHeap<Reverse<(Nanos, u32)>>>,
    /// Idle tasks, by the actor they belong to. A task that serves all actors is the only task.
    parked: Vec<RefCell<Vec<u32>>>,
    /// Whether a task is in one of these lists, by its token. The lists are long where thousands of sessions are shared.
    is_parked: RefCell<Vec<bool>>,
    serves_all: Cell<bool>,
    call: Arc<WakeUpCall>,
}

impl Agenda {
    /// Makes room for `tasks` tasks, so that the lists do not grow while measuring.
    pub fn new(tasks: usize, actors: usize) -> Self {
        Self {
            ready: RefCell::new(VecDeque::with_capacity(2 * tasks)),
            timers: RefCell::new(BinaryHeap::with_capacity(tasks)),
            parked: (0..actors).map(|_| RefCell::new(Vec::with_capacity(tasks))).collect(),
            is_parked: RefCell::new(Vec::with_capacity(tasks)),
            serves_all: Cell::new(false),
            call: Arc::default(),
        }
    }

    /// The one waker for all tasks of this shard. A task that wakes it is polled again soon.
    pub fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.call))
    }

    /// Called after a task was polled: makes it ready again soon if it asked for that.
    #[inline]
    pub fn heed_wake_up_call(&self, token: u32, now: Nanos) {
        if self.call.0.load(Ordering::Relaxed) {
            self.call.0.store(false, Ordering::Relaxed);
            self.wake_at(token, now + SOON);
        }
    }

    #[inline]
    pub fn wake(&self, token: u32) {
        self.ready.borrow_mut().push_back(token);
    }

    pub fn wake_at(&self, token: u32, until: Nanos) {
        self.timers.borrow_mut().push(Reverse((until, token)));
    }

    #[inline]
    pub fn next_ready(&self) -> Option<u32> {
        self.ready.borrow_mut().pop_front()
    }

    #[inline]
    pub fn ready_count(&self) -> usize {
        self.ready.borrow().len()
    }

    #[inline]
    pub fn next_timer(&self) -> Option<Nanos> {
        self.timers.borrow().peek().map(|Reverse((until, _))| *until)
    }

    /// Makes every task ready whose moment has come.
    #[inline]
    pub fn wake_due(&self, now: Nanos) {
        let mut timers = self.timers.borrow_mut();
        while let Some(Reverse((until, token))) = timers.peek().copied() {
            if until > now {
                break;
            }
            timers.pop();
            self.wake(token);
        }
    }

    /// Makes one idle task of this actor ready, if there is one.
    #[inline]
    pub fn wake_one(&self, actor: u16) -> bool {
        let role = if self.serves_all.get() { Role::All } else { Role::Of(actor) };
        let Some(token) = self.parked_of(role).borrow_mut().pop() else { return false };
        self.set_parked(token, false);
        self.wake(token);
        true
    }

    /// The list of a role's idle tasks.
    #[inline]
    fn parked_of(&self, role: Role) -> &RefCell<Vec<u32>> {
        match role {
            Role::Of(actor) => &self.parked[usize::from(actor)],
            Role::All => &self.parked[0],
        }
    }

    pub fn wake_all_parked(&self) {
        for list in &self.parked {
            for token in list.borrow_mut().drain(..) {
                self.set_parked(token, false);
                self.wake(token);
            }
        }
    }

    /// Lets every other ready task have its turn first.
    pub async fn yield_turn(&self, token: u32) {
        let yielded = Cell::new(false);
        poll_fn(|_| {
            if yielded.replace(true) {
                return Poll::Ready(());
            }
            self.wake(token);
            Poll::Pending
        })
        .await;
    }

    /// Waits until there may be work again; the caller looks and parks again if there is none.
    pub async fn park(&self, token: u32, role: Role) {
        let asked = Cell::new(false);
        poll_fn(|_| {
            if asked.replace(true) {
                // Waking a task takes it from its list, but a task that was polled without a reason is still in it.
                if self.is_parked(token) {
                    self.set_parked(token, false);
                    self.parked_of(role).borrow_mut().retain(|other| *other != token);
                }
                return Poll::Ready(());
            }
            self.set_parked(token, true);
            self.serves_all.set(role == Role::All);
            self.parked_of(role).borrow_mut().push(token);
            Poll::Pending
        })
        .await;
    }

    #[inline]
    fn is_parked(&self, token: u32) -> bool {
        self.is_parked.borrow().get(token as usize).copied().unwrap_or(false)
    }

    #[inline]
    fn set_parked(&self, token: u32, parked: bool) {
        let (mut all, place) = (self.is_parked.borrow_mut(), token as usize);
        if all.len() <= place {
            all.resize(place + 1, false);
        }
        all[place] = parked;
    }

    pub async fn pause(&self, clock: &impl Clock, token: u32, until: Nanos) {
        let armed = Cell::new(false);
        poll_fn(|_| {
            if clock.now() >= until {
                return Poll::Ready(());
            }
            if !armed.replace(true) {
                self.wake_at(token, until);
            }
            Poll::Pending
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::Context;

    #[test]
    fn timers_fire_in_order_and_not_before() {
        let agenda = Agenda::new(4, 2);
        for (millis, token) in [(30, 3), (10, 1), (20, 2)] {
            agenda.timers.borrow_mut().push(Reverse((Nanos::from_millis(millis), token)));
        }
        assert_eq!(agenda.next_timer(), Some(Nanos::from_millis(10)));
        agenda.wake_due(Nanos::from_millis(20));
        assert_eq!((agenda.next_ready(), agenda.next_ready(), agenda.next_ready()), (Some(1), Some(2), None));
        assert_eq!(agenda.next_timer(), Some(Nanos::from_millis(30)));
    }

    #[test]
    fn who_asks_to_be_polled_again_is_soon_ready_once() {
        let agenda = Agenda::new(4, 2);
        agenda.waker().wake_by_ref();
        agenda.heed_wake_up_call(6, Nanos(0));
        agenda.heed_wake_up_call(7, Nanos(0));
        agenda.wake_due(Nanos(0));
        assert_eq!(agenda.next_ready(), None, "not at once, which would be a busy loop");
        agenda.wake_due(SOON);
        assert_eq!((agenda.next_ready(), agenda.next_ready()), (Some(6), None));
    }

    #[test]
    fn work_wakes_only_a_task_that_takes_it() {
        let agenda = Agenda::new(4, 2);
        let _parked = [parked(&agenda, 1, Role::Of(0)), parked(&agenda, 2, Role::Of(1))];
        assert!(agenda.wake_one(1) && !agenda.wake_one(1));
        assert_eq!((agenda.next_ready(), agenda.next_ready()), (Some(2), None));
        let agenda = Agenda::new(1, 2);
        let _parked = parked(&agenda, 9, Role::All);
        assert!(agenda.wake_one(1) && !agenda.wake_one(0));
        assert_eq!(agenda.next_ready(), Some(9));
    }

    /// Polls once, like a task that finds no work.
    fn parked<'a>(agenda: &'a Agenda, token: u32, role: Role) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
        let mut park: Pin<Box<dyn Future<Output = ()> + 'a>> = Box::pin(agenda.park(token, role));
        assert!(park.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        park
    }

    #[test]
    fn a_task_that_was_polled_for_no_reason_is_not_woken_for_work_that_it_does_not_wait_for() {
        let agenda = Agenda::new(4, 2);
        let mut park = parked(&agenda, 1, Role::Of(0));
        assert!(park.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        assert!(!agenda.wake_one(0));
    }
}

//! When each client's next transaction is due, and who waits for a session.
//!
//! A client is data, not a thread: its random stream and a due time. Due clients wait in a queue, in the order in which
//! they became due, and sessions take from its front. Clients that work back to back are due again at once. Those that
//! pause wait in a heap of due times. Arrivals come from a plan that depends on none of this.

use crate::arrivals::Arrivals;
use crate::clock::Nanos;
use crate::slice::ClientIndex;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Arrivals that may wait for a session, in all shards together. Only a database far below the offered rate makes the
/// queue this long, and it takes two megabytes. An arrival that finds it full is turned away and counted.
pub const ARRIVALS_WAITING_MAX: usize = 100_000;

/// Where clients are while they are not waiting for a session.
enum Coming {
    /// Each client has a moment at which its pause ends.
    Pausing(BinaryHeap<Reverse<(Nanos, ClientIndex)>>),
    /// Clients come when the plan says so; the next one is already drawn.
    Arriving { plan: Arrivals, next: (Nanos, ClientIndex) },
}

/// Counts of the queue; all but `waiting` never decrease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueCounts {
    /// How many became due.
    pub came: u64,
    /// How many found the queue full.
    pub turned_away: u64,
    /// How many are in the queue now.
    pub waiting: u64,
    pub longest: u64,
}

impl QueueCounts {
    /// Adds the counts of another actor, which has a queue of its own.
    pub fn add(&mut self, other: Self) {
        self.came += other.came;
        self.turned_away += other.turned_away;
        self.waiting += other.waiting;
        self.longest += other.longest;
    }
}

pub struct Clients<C> {
    states: Vec<C>,
    /// How many clients have nothing more to do.
    ended: usize,
    coming: Coming,
    waiting: VecDeque<(Nanos, ClientIndex)>,
    capacity: usize,
    came: u64,
    turned_away: u64,
    longest: usize,
}

impl<C> Clients<C> {
    /// Clients that first become due at these moments; `due_again` says when they do later.
    pub fn pausing(states: Vec<C>, first: impl Iterator<Item = Nanos>) -> Self {
        let heap: BinaryHeap<_> = first.take(states.len()).zip(0..).map(Reverse).collect();
        let capacity = states.len();
        Self::new(states, Coming::Pausing(heap), capacity)
    }

    /// Clients that come one by one, as the plan says. At most `capacity` of them can wait.
    pub fn arriving(states: Vec<C>, mut plan: Arrivals, capacity: usize) -> Self {
        // The plan is endless, so this default is never used; with it, nobody would come.
        let next = plan.next().unwrap_or((Nanos(u64::MAX), 0));
        Self::new(states, Coming::Arriving { plan, next }, capacity)
    }

    /// Users that never come by themselves, because others cause their work.
    pub fn called(states: Vec<C>) -> Self {
        Self::new(states, Coming::Pausing(BinaryHeap::new()), 0)
    }

    fn new(states: Vec<C>, coming: Coming, capacity: usize) -> Self {
        let waiting = VecDeque::with_capacity(capacity);
        Self { states, ended: 0, coming, waiting, capacity, came: 0, turned_away: 0, longest: 0 }
    }

    /// Records that one client has nothing more to do.
    pub fn end_one(&mut self) {
        self.ended += 1;
    }

    /// True once every client has ended.
    pub fn have_ended(&self) -> bool {
        self.ended >= self.states.len()
    }

    /// Queues every client that has become due; returns how many. `turn_away` gets those that find no room. There is
    /// always room for clients that pause.
    pub fn admit(&mut self, now: Nanos, mut turn_away: impl FnMut(&mut C)) -> usize {
        let before = self.waiting.len();
        while let Some((due, index)) = self.coming.pop_due(now) {
            self.came += 1;
            if self.waiting.len() < self.capacity {
                self.waiting.push_back((due, index));
            } else if let Some(state) = self.states.get_mut(index as usize) {
                self.turned_away += 1;
                turn_away(state);
            }
        }
        self.longest = self.longest.max(self.waiting.len());
        self.waiting.len() - before
    }

    /// When the next client becomes due.
    pub fn next_coming(&self) -> Option<Nanos> {
        match &self.coming {
            Coming::Pausing(heap) => heap.peek().map(|Reverse((due, _))| *due),
            Coming::Arriving { next: (due, _), .. } => Some(*due),
        }
    }

    /// The due time of the client that has waited longest.
    pub fn next_due(&self) -> Option<Nanos> {
        self.waiting.front().map(|(due, _)| *due)
    }

    /// Takes the client that has waited longest.
    pub fn take(&mut self) -> Option<(Nanos, ClientIndex, &mut C)> {
        let (due, index) = self.waiting.pop_front()?;
        let state = self.states.get_mut(index as usize)?;
        Some((due, index, state))
    }

    pub fn state(&self, index: ClientIndex) -> Option<&C> {
        self.states.get(index as usize)
    }

    pub fn state_mut(&mut self, index: ClientIndex) -> Option<&mut C> {
        self.states.get_mut(index as usize)
    }

    /// Makes the client due again at `due`. Arrivals are left alone, because their plan decides.
    pub fn due_again(&mut self, index: ClientIndex, due: Nanos, now: Nanos) {
        if let Coming::Arriving { .. } = self.coming {
            return;
        }
        let Coming::Pausing(heap) = &mut self.coming else { return };
        if due > now {
            heap.push(Reverse((due, index)));
            return;
        }
        self.came += 1;
        self.waiting.push_back((due, index));
        self.longest = self.longest.max(self.waiting.len());
    }

    pub fn counts(&self) -> QueueCounts {
        QueueCounts {
            came: self.came,
            turned_away: self.turned_away,
            waiting: self.waiting.len() as u64,
            longest: self.longest as u64,
        }
    }
}

impl Coming {
    fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, ClientIndex)> {
        match self {
            Self::Pausing(heap) => {
                heap.peek().filter(|Reverse((due, _))| *due <= now)?;
                heap.pop().map(|Reverse(due)| due)
            }
            Self::Arriving { plan, next } => {
                if next.0 > now {
                    return None;
                }
                let after = plan.next()?;
                Some(std::mem::replace(next, after))
            }
        }
    }
}

/// Idle sessions of one role, and since when there has been at least one. Until that moment a due transaction waits for
/// a session; the time after it is the driver's lateness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Vacancy {
    free: u32,
    since: Nanos,
}

impl Vacancy {
    pub fn freed(&mut self, now: Nanos) {
        if self.free == 0 {
            self.since = now;
        }
        self.free += 1;
    }

    /// A session begins to work; returns since when one was idle.
    pub fn taken(&mut self) -> Nanos {
        self.free = self.free.saturating_sub(1);
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slice::Slice;
    use record::trial::ArrivalProcess;
    use workloads::random::RandomStream;

    fn nobody<C>(_: &mut C) {}

    #[test]
    fn the_client_that_waits_longest_goes_first() {
        let mut clients = Clients::pausing(vec!["a", "b", "c"], std::iter::repeat(Nanos(100)));
        assert_eq!((clients.admit(Nanos(99), nobody), clients.next_due()), (0, None));
        assert_eq!(clients.next_coming(), Some(Nanos(100)));
        assert_eq!(clients.admit(Nanos(100), nobody), 3);
        assert_eq!(clients.take().map(|(due, index, _)| (due, index)), Some((Nanos(100), 0)));
        clients.due_again(0, Nanos(150), Nanos(150));
        let order: Vec<_> = std::iter::from_fn(|| clients.take().map(|(due, _, name)| (due, *name))).collect();
        assert_eq!(order, [(Nanos(100), "b"), (Nanos(100), "c"), (Nanos(150), "a")]);
    }

    #[test]
    fn who_pauses_is_due_when_the_pause_is_over() {
        let mut clients = Clients::pausing(vec!["a", "b"], [Nanos(20), Nanos(10)].into_iter());
        assert_eq!(clients.admit(Nanos(10), nobody), 1);
        assert_eq!(clients.take().map(|(_, index, _)| index), Some(1));
        clients.due_again(1, Nanos(15), Nanos(11));
        assert_eq!(clients.next_coming(), Some(Nanos(15)));
        assert_eq!(clients.admit(Nanos(30), nobody), 2);
        let order: Vec<_> = std::iter::from_fn(|| clients.take().map(|(due, _, name)| (due, *name))).collect();
        assert_eq!(order, [(Nanos(15), "b"), (Nanos(20), "a")]);
    }

    #[test]
    fn who_finds_the_queue_full_is_turned_away_and_counted() {
        let share = Slice { shard: 0, of: 1 };
        let plan =
            Arrivals::new(RandomStream::new(1, "arrivals", [0, 0]), 1_000.0, ArrivalProcess::Uniform, Nanos(0), share);
        let mut clients = Clients::arriving(vec![0_u32; 10_000], plan, 4);
        let mut away = 0;
        assert_eq!(clients.admit(Nanos::from_millis(10), |_| away += 1), 4);
        assert_eq!(away, 6);
        assert_eq!(clients.counts(), QueueCounts { came: 10, turned_away: 6, waiting: 4, longest: 4 });
        let (due, index, _) = clients.take().unwrap();
        assert_eq!(due, Nanos::from_millis(1), "those who came first stay");
        clients.due_again(index, Nanos(0), Nanos(0));
        assert_eq!(clients.counts().waiting, 3, "who arrives does not come back by himself");
        assert_eq!(clients.next_coming(), Some(Nanos::from_millis(11)));
    }

    #[test]
    fn a_session_is_free_since_the_first_of_those_that_are() {
        let mut vacancy = Vacancy::default();
        vacancy.freed(Nanos(10));
        vacancy.freed(Nanos(20));
        assert_eq!((vacancy.taken(), vacancy.taken()), (Nanos(10), Nanos(10)));
        vacancy.freed(Nanos(30));
        assert_eq!(vacancy.taken(), Nanos(30));
    }
}

//! Work that a transaction on one shard causes on another: one queue for each shard, and a descriptor that wakes it.
//!
//! No thread waits for a lock or for room: senders append up to a bound, and only a sleeping shard is woken by a system call.

use crate::clock::Nanos;
use crate::deferral::{Job, LATER_CAPACITY};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Wakes a sleeping shard.
struct Wakeup {
    descriptor: OwnedFd,
    is_asleep: AtomicBool,
    /// How many jobs were sent to the shard and not received.
    sent: AtomicUsize,
}

/// A shard's own queue, and the senders to the queues of all shards.
pub struct Mailbox<I> {
    inbox: Receiver<Job<I>>,
    outboxes: Vec<Sender<Job<I>>>,
    wakeups: Arc<Vec<Wakeup>>,
    shard: usize,
    /// The most jobs that wait to be received by a shard.
    room: usize,
}

impl<I> Mailbox<I> {
    /// Makes one mailbox for each shard.
    pub fn among(shards: u32) -> io::Result<Vec<Self>> {
        let wakeup = |_| {
            let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            Ok(Wakeup { descriptor, is_asleep: AtomicBool::new(false), sent: AtomicUsize::new(0) })
        };
        let wakeups = Arc::new((0..shards).map(wakeup).collect::<io::Result<Vec<_>>>()?);
        let room = LATER_CAPACITY.div_ceil(shards.max(1) as usize);
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..shards).map(|_| channel()).unzip();
        let mailbox =
            |(shard, inbox)| Self { inbox, outboxes: outboxes.clone(), wakeups: Arc::clone(&wakeups), shard, room };
        Ok(inboxes.into_iter().enumerate().map(mailbox).collect())
    }

    /// Becomes readable, by edge, whenever another shard wakes this one.
    pub fn wakeup(&self) -> Option<BorrowedFd<'_>> {
        self.wakeups.get(self.shard).map(|wakeup| wakeup.descriptor.as_fd())
    }

    /// Never waits. Returns false if as many jobs as there may be wait to be received by that shard.
    pub fn send(&self, shard: u32, job: Job<I>) -> bool {
        let to = shard as usize;
        let (Some(outbox), Some(wakeup)) = (self.outboxes.get(to), self.wakeups.get(to)) else { return true };
        let has_room = wakeup.sent.fetch_add(1, Ordering::Relaxed) < self.room;
        // If that shard is over, it executes nothing any more.
        if !has_room || outbox.send(job).is_err() {
            wakeup.sent.fetch_sub(1, Ordering::Relaxed);
        }
        // Either this sees that the shard sleeps, or the shard sees the job before it falls asleep.
        fence(Ordering::SeqCst);
        if wakeup.is_asleep.swap(false, Ordering::SeqCst) {
            // The counter of the descriptor cannot be full.
            let _ = rustix::io::write(&wakeup.descriptor, &1_u64.to_ne_bytes());
        }
        has_room
    }

    /// The next job that was sent here, if any; never waits.
    pub fn receive(&self) -> Option<Job<I>> {
        let job = self.inbox.try_recv().ok()?;
        self.wakeups.get(self.shard)?.sent.fetch_sub(1, Ordering::Relaxed);
        Some(job)
    }

    /// From now on a sender wakes this shard. Jobs sent before must be received after this call and before sleeping.
    pub fn fall_asleep(&self) {
        if let Some(wakeup) = self.wakeups.get(self.shard) {
            wakeup.is_asleep.store(true, Ordering::SeqCst);
            fence(Ordering::SeqCst);
        }
    }

    pub fn wake_up(&self) {
        if let Some(wakeup) = self.wakeups.get(self.shard) {
            wakeup.is_asleep.store(false, Ordering::Relaxed);
        }
    }
}

/// The shard on which a user of a reacting actor lives, and the user's index there.
pub fn home_of(user: u32, shards: u32) -> (u32, u32) {
    (user % shards, user / shards)
}

/// When a transaction is due that is caused by one that ended at `done`, `after` that moment.
pub fn due(done: Nanos, after: std::time::Duration) -> Nanos {
    done + Nanos::from_duration(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reactor::Sockets;

    const LONG: Nanos = Nanos::from_seconds(20);

    fn job(input: u32) -> Job<u32> {
        Job { input, actor: 1, kind: 0, due: Nanos(5), client: None, user: Some(input), thinking: Nanos::ZERO }
    }

    #[test]
    fn a_sleeping_shard_is_woken_and_finds_what_was_sent() {
        let mut mailboxes = Mailbox::among(2).unwrap();
        let (other, own) = (mailboxes.pop().unwrap(), mailboxes.pop().unwrap());
        let epoll = Sockets::new().unwrap();
        epoll.watch_wakeup(own.wakeup().unwrap()).unwrap();
        let received = std::thread::scope(|scope| {
            own.fall_asleep();
            assert!(own.receive().is_none());
            scope.spawn(move || assert!((0..1_000).all(|number| other.send(0, job(number)))));
            let (mut received, mut events) = (Vec::new(), Vec::new());
            while received.len() < 1_000 {
                epoll.wait_for_any(LONG, &mut events).unwrap();
                assert!(!events.is_empty(), "no wake-up came");
                events.clear();
                loop {
                    received.extend(std::iter::from_fn(|| own.receive()).map(|job| job.input));
                    own.fall_asleep();
                    let Some(job) = own.receive() else { break };
                    received.push(job.input);
                }
            }
            received
        });
        assert_eq!(received, (0..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_shard_that_receives_nothing_is_sent_so_much_and_no_more() {
        let mailboxes = Mailbox::among(2).unwrap();
        let sent = (0..u32::MAX).take_while(|number| mailboxes[1].send(0, job(*number))).count();
        assert_eq!(sent, LATER_CAPACITY / 2);
        assert_eq!(std::iter::from_fn(|| mailboxes[0].receive()).count(), sent);
        assert!(mailboxes[1].send(0, job(0)));
    }

    #[test]
    fn a_shard_that_is_over_is_never_full() {
        let mut mailboxes = Mailbox::among(2).unwrap();
        let own = mailboxes.remove(0);
        drop(mailboxes);
        assert!((0_u32..).take(LATER_CAPACITY + 1).all(|number| own.send(1, job(number))));
    }
}

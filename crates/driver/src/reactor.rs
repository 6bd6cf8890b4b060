//! Waiting for sessions, through `io_uring` or epoll, and the trait that lets a virtual world take their place.
//!
//! Where the kernel has it, sockets are attached to a ring, which costs fewer system calls. What cannot be attached is in an epoll
//! set, which the ring watches. Where the kernel has no ring, everything is in the set.
//!
//! In the set descriptors are registered once, edge-triggered, and for reading only. A Unix socket reports that it can be written
//! again each time the server has read a request, and every such wake-up would be useless. (If a request does not fit
//! the socket, its session asks to be polled again; see `agenda`.) Dropping a session closes its descriptor and so
//! removes it from the set. An event already fetched for it causes one harmless extra poll.

use crate::clock::Nanos;
use engines::session::Session;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::cell::RefCell;
use std::io;
use std::time::Duration;
use uring::Ring;

/// How many events one wait takes; the rest stay in the kernel until the next wait.
const EVENTS_PER_WAIT: usize = 256;

/// No session has this token.
const NO_SESSION: u32 = u32::MAX;

pub trait Reactor<S> {
    /// Watches the session for answers from now on. Returns whether there is anything to wait for: an in-process
    /// session never makes a task wait.
    fn watch(&self, session: &mut S, token: u32) -> io::Result<bool>;
    /// Waits until something is ready or the time is over, and appends the tokens of ready sessions.
    fn wait(&self, at_most: Nanos, ready: &mut Vec<u32>) -> io::Result<()>;
}

struct Epoll {
    set: OwnedFd,
    events: RefCell<Vec<epoll::Event>>,
}

impl Epoll {
    fn new() -> io::Result<Self> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { set, events: RefCell::new(Vec::with_capacity(EVENTS_PER_WAIT)) })
    }

    fn register(&self, descriptor: BorrowedFd<'_>, token: u32) -> io::Result<()> {
        let interest = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::add(&self.set, descriptor, epoll::EventData::new_u64(u64::from(token)), interest)?;
        Ok(())
    }

    fn wait_for_any(&self, at_most: Nanos, ready: &mut Vec<u32>) -> io::Result<()> {
        let mut events = self.events.borrow_mut();
        events.clear();
        match epoll::wait(&self.set, spare_capacity(&mut events), Some(&timespec(at_most))) {
            // A signal ended the wait; the caller checks its flags and waits again.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        ready.extend(events.iter().filter_map(|event| u32::try_from(event.data.u64()).ok()));
        Ok(())
    }

    /// Takes all events that are there, without waiting.
    fn take_all(&self, ready: &mut Vec<u32>) -> io::Result<()> {
        loop {
            let before = ready.len();
            self.wait_for_any(Nanos::ZERO, ready)?;
            if ready.len() < before + EVENTS_PER_WAIT {
                return Ok(());
            }
        }
    }
}

/// The reactor of one thread.
pub struct Sockets {
    epoll: Epoll,
    ring: Option<Ring>,
}

impl Sockets {
    pub fn new() -> io::Result<Self> {
        let epoll = Epoll::new()?;
        // Old kernels have no ring, and in many containers it is forbidden.
        let ring = Ring::new().ok();
        if let Some(ring) = &ring {
            ring.watch(epoll.set.as_fd())?;
        }
        Ok(Self { epoll, ring })
    }

    pub fn has_ring(&self) -> bool {
        self.ring.is_some()
    }

    /// Watches a descriptor that wakes the shard and belongs to no session.
    pub fn watch_wakeup(&self, wakeup: BorrowedFd<'_>) -> io::Result<()> {
        self.epoll.register(wakeup, NO_SESSION)
    }

    pub(crate) fn wait_for_any(&self, at_most: Nanos, ready: &mut Vec<u32>) -> io::Result<()> {
        let Some(ring) = &self.ring else { return self.epoll.wait_for_any(at_most, ready) };
        if ring.wait(Duration::from_nanos(at_most.0), ready)? {
            self.epoll.take_all(ready)?;
        }
        Ok(())
    }
}

impl<S: Session> Reactor<S> for Sockets {
    fn watch(&self, session: &mut S, token: u32) -> io::Result<bool> {
        if let Some(ring) = &self.ring
            && let Ok(true) = session.attach(ring, token)
        {
            return Ok(true);
        }
        // Not every session has a socket, and there may be more of them than fit the ring.
        let Some(descriptor) = session.descriptor() else { return Ok(false) };
        self.epoll.register(descriptor, token).map(|()| true)
    }

    fn wait(&self, at_most: Nanos, ready: &mut Vec<u32>) -> io::Result<()> {
        self.wait_for_any(at_most, ready)
    }
}

fn timespec(span: Nanos) -> Timespec {
    let seconds = span.whole_seconds();
    let rest = span.since(Nanos::from_seconds(seconds));
    // Waits are bounded by a second, so neither conversion can fail; the fallbacks only make waits shorter.
    Timespec { tv_sec: i64::try_from(seconds).unwrap_or(0), tv_nsec: i64::try_from(rest.0).unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::pipe;

    const LONG: Nanos = Nanos::from_seconds(10);

    #[test]
    fn an_edge_is_reported_once() {
        let epoll = Epoll::new().unwrap();
        let (reader, writer) = pipe().unwrap();
        epoll.register(reader.as_fd(), 7).unwrap();
        let mut ready = Vec::new();
        rustix::io::write(&writer, b"x").unwrap();
        epoll.wait_for_any(LONG, &mut ready).unwrap();
        assert_eq!(ready, [7]);
        ready.clear();
        epoll.wait_for_any(Nanos::ZERO, &mut ready).unwrap();
        assert_eq!(ready, [] as [u32; 0], "the byte was not read, but there was no new edge");
        rustix::io::write(&writer, b"y").unwrap();
        epoll.wait_for_any(LONG, &mut ready).unwrap();
        assert_eq!(ready, [7]);
    }

    #[test]
    fn with_and_without_a_ring_a_descriptor_ends_the_wait() {
        let first = Sockets::new().unwrap();
        // A thread has one ring only, so this has none.
        let second = Sockets::new().unwrap();
        assert!(!second.has_ring());
        for sockets in [first, second] {
            let (reader, writer) = pipe().unwrap();
            sockets.watch_wakeup(reader.as_fd()).unwrap();
            let mut ready = Vec::new();
            sockets.wait_for_any(Nanos::ZERO, &mut ready).unwrap();
            assert_eq!(ready, [] as [u32; 0]);
            for _ in 0..3 {
                rustix::io::write(&writer, b"x").unwrap();
                ready.clear();
                while ready.is_empty() {
                    sockets.wait_for_any(LONG, &mut ready).unwrap();
                }
                assert_eq!(ready, [NO_SESSION]);
            }
        }
    }

    #[test]
    fn a_closed_peer_is_an_event() {
        let epoll = Epoll::new().unwrap();
        let (reader, writer) = pipe().unwrap();
        epoll.register(reader.as_fd(), 3).unwrap();
        drop(writer);
        let mut ready = Vec::new();
        epoll.wait_for_any(LONG, &mut ready).unwrap();
        assert_eq!(ready, [3]);
    }

    #[test]
    fn a_peer_that_reads_is_no_event() {
        let epoll = Epoll::new().unwrap();
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        epoll.register(ours.as_fd(), 5).unwrap();
        rustix::io::write(&ours, b"question").unwrap();
        rustix::io::read(&theirs, &mut [0; 8]).unwrap();
        let mut ready = Vec::new();
        epoll.wait_for_any(Nanos::ZERO, &mut ready).unwrap();
        assert_eq!(ready, [] as [u32; 0]);
        rustix::io::write(&theirs, b"answer").unwrap();
        epoll.wait_for_any(LONG, &mut ready).unwrap();
        assert_eq!(ready, [5]);
    }

    #[test]
    fn a_dropped_descriptor_leaves_the_set() {
        let epoll = Epoll::new().unwrap();
        let (reader, writer) = pipe().unwrap();
        epoll.register(reader.as_fd(), 3).unwrap();
        drop(reader);
        drop(writer);
        let mut ready = Vec::new();
        epoll.wait_for_any(Nanos::from_millis(1), &mut ready).unwrap();
        assert_eq!(ready, [] as [u32; 0]);
    }
}

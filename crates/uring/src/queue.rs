//! A thread's requests to the kernel, and what became of them.
#![allow(unsafe_code, reason = "the kernel reads memory of ours while it sends")]

use crate::buffers::{Buffers, GROUP};
use crate::slots::{ReceiveEnd, Slot, SlotIndex};
use io_uring::types::{Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Requests that the kernel takes at once.
const REQUESTS: u32 = 256;
/// Outcomes that fit the ring. The kernel keeps further ones.
const OUTCOMES: u32 = 4096;
/// Sockets of one thread.
const MOST_FILES: u64 = 1 << 16;
/// When this many sockets have something to send, it is sent without waiting for more. Otherwise the first ones would wait for the
/// last ones.
const SEND_AT: usize = 32;
const NO_FILE: RawFd = -1;
/// How often a full ring is given to the kernel to make room in it. Once is enough unless the kernel is short of memory.
const MOST_TRIES: u32 = 1000;
/// The number of a slot without a socket.
const FREE: u64 = 0;
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(FREE + 1);

/// What a request was for. It is the upper half of the request's mark; the lower half is the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
enum Purpose {
    Receive = 0,
    Send = 1,
    Stop = 2,
    Wake = 3,
}

const PURPOSES: [Purpose; 4] = [Purpose::Receive, Purpose::Send, Purpose::Stop, Purpose::Wake];

fn mark(purpose: Purpose, index: u32) -> u64 {
    (purpose as u64) << 32 | u64::from(index)
}

fn read_mark(mark: u64) -> (Purpose, u32) {
    let upper = usize::try_from(mark >> 32).unwrap_or(usize::MAX);
    (PURPOSES[upper % PURPOSES.len()], u32::try_from(mark & u64::from(u32::MAX)).unwrap_or(u32::MAX))
}

pub struct RingQueue {
    ring: IoUring,
    buffers: Buffers,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Slots with something to send.
    to_send: Vec<u32>,
    outcomes: Vec<cqueue::Entry>,
    /// Tokens of sockets that were sent to after their end. Nothing more arrives there, so the next wait reports them.
    ended: Vec<u32>,
    watched: Vec<OwnedFd>,
    /// Whether one of these has become readable.
    woken: bool,
}

impl std::fmt::Debug for RingQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("slots", &self.slots.len()).finish_non_exhaustive()
    }
}

impl RingQueue {
    pub fn new() -> io::Result<Self> {
        let ring =
            IoUring::builder().setup_single_issuer().setup_defer_taskrun().setup_cqsize(OUTCOMES).build(REQUESTS)?;
        // A process has no more sockets than it may have files, so there is a place for each.
        let files = getrlimit(Resource::Nofile).current.unwrap_or(MOST_FILES).min(MOST_FILES);
        ring.submitter().register_files_sparse(u32::try_from(files).unwrap_or(u32::MAX))?;
        let buffers = Buffers::register(&ring)?;
        let (slots, free, to_send, outcomes, ended, watched, woken) = Default::default();
        Ok(Self { ring, buffers, slots, free, to_send, outcomes, ended, watched, woken })
    }

    pub fn attach(&mut self, socket: BorrowedFd<'_>, token: u32) -> io::Result<SlotIndex> {
        let index = if let Some(index) = self.free.pop() {
            index
        } else {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).map_err(io::Error::other)?
        };
        let slot = &mut self.slots[index as usize];
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        slot.renew(number, Some(token));
        let place = SlotIndex { index, number };
        if let Err(error) = self.ring.submitter().register_files_update(index, &[socket.as_raw_fd()]) {
            self.release(index);
            return Err(error);
        }
        self.receive_for(index)?;
        Ok(place)
    }

    pub fn watch(&mut self, descriptor: OwnedFd) -> io::Result<()> {
        self.watched.push(descriptor);
        self.watch_on(u32::try_from(self.watched.len() - 1).map_err(io::Error::other)?)
    }

    /// Watches a descriptor until the kernel gives up, which it does when too many outcomes wait.
    fn watch_on(&mut self, index: u32) -> io::Result<()> {
        const READABLE: u32 = 1;
        let descriptor = Fd(self.watched[index as usize].as_raw_fd());
        let request = opcode::PollAdd::new(descriptor, READABLE).multi(true).build();
        self.request(&request.user_data(mark(Purpose::Wake, index)))
    }

    pub fn send(&mut self, place: SlotIndex, bytes: &[u8]) -> io::Result<usize> {
        let slot = self.slot(place)?;
        let taken = slot.collect(bytes)?;
        if slot.end.is_some() {
            let reported = slot.token;
            self.ended.extend(reported);
            return Ok(taken);
        }
        if !slot.is_listed && !slot.is_flying {
            slot.is_listed = true;
            self.to_send.push(place.index);
            if self.to_send.len() >= SEND_AT {
                self.send_all()?;
                self.submit()?;
            }
        }
        Ok(taken)
    }

    pub fn receive(&mut self, place: SlotIndex, space: &mut [u8]) -> io::Result<usize> {
        let slot = self.slot(place)?;
        let taken = slot.take(space)?;
        if slot.wants_more() {
            self.receive_for(place.index)?;
        }
        Ok(taken)
    }

    /// The owner of a socket leaves. The slot is free when the kernel leaves it, too.
    pub fn detach(&mut self, place: SlotIndex) {
        let Ok(slot) = self.slot(place) else { return };
        slot.token = None;
        slot.outgoing.clear();
        if slot.is_free() {
            self.release(place.index);
        }
    }

    pub fn wait(&mut self, at_most: Duration, ready: &mut Vec<u32>) -> io::Result<bool> {
        self.send_all()?;
        let until = Timespec::from(if self.ended.is_empty() { at_most } else { Duration::ZERO });
        ready.append(&mut self.ended);
        match self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&until)) {
            Ok(_) => {}
            Err(error) if is_no_failure(&error) => {}
            Err(error) => return Err(error),
        }
        let mut outcomes = std::mem::take(&mut self.outcomes);
        outcomes.clear();
        outcomes.extend(self.ring.completion());
        let taken = outcomes.iter().try_for_each(|outcome| self.take(outcome, ready));
        self.outcomes = outcomes;
        self.buffers.publish();
        taken.map(|()| std::mem::take(&mut self.woken))
    }

    /// How many places there are, used or free.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.slots.len()
    }

    fn slot(&mut self, place: SlotIndex) -> io::Result<&mut Slot> {
        let slot = self.slots.get_mut(place.index as usize).filter(|slot| slot.number == place.number);
        slot.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn release(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.renew(FREE, None);
        // If it fails, the socket stays open until the slot is used again.
        let _ = self.ring.submitter().register_files_update(index, &[NO_FILE]);
        self.free.push(index);
    }

    /// Gives the kernel what was collected.
    fn send_all(&mut self) -> io::Result<()> {
        let mut to_send = std::mem::take(&mut self.to_send);
        let given = to_send.drain(..).try_for_each(|index| self.fly(index));
        self.to_send = to_send;
        given
    }

    fn fly(&mut self, index: u32) -> io::Result<()> {
        let slot = &mut self.slots[index as usize];
        slot.is_listed = false;
        if slot.is_flying || slot.outgoing.is_empty() {
            return Ok(());
        }
        slot.flying.clear();
        slot.sent = 0;
        std::mem::swap(&mut slot.outgoing, &mut slot.flying);
        self.fly_on(index)
    }

    /// Sends what is left of the bytes that the kernel got.
    fn fly_on(&mut self, index: u32) -> io::Result<()> {
        const NO_SIGNAL: i32 = 0x4000;
        let slot = &mut self.slots[index as usize];
        slot.is_flying = true;
        let left = &slot.flying[slot.sent..];
        let length = u32::try_from(left.len()).unwrap_or(u32::MAX);
        let request = opcode::Send::new(Fixed(index), left.as_ptr(), length).flags(NO_SIGNAL).build();
        self.request(&request.user_data(mark(Purpose::Send, index)))
    }

    /// Lets the kernel receive for a socket, until it is asked to stop.
    fn receive_for(&mut self, index: u32) -> io::Result<()> {
        self.slots[index as usize].is_receiving = true;
        let request = opcode::RecvMulti::new(Fixed(index), GROUP).build();
        self.request(&request.user_data(mark(Purpose::Receive, index)))
    }

    fn request(&mut self, request: &squeue::Entry) -> io::Result<()> {
        for _ in 0..MOST_TRIES {
            // SAFETY: files are registered or open. Bytes to send stay where they are, in `flying`, until the outcome is known; what is
            // still with the kernel when the queue ends is leaked. Bytes are received into registered buffers.
            let pushed = unsafe { self.ring.submission().push(request) };
            if pushed.is_ok() {
                return Ok(());
            }
            self.submit()?;
        }
        Err(io::Error::other("the kernel takes no requests"))
    }

    fn submit(&mut self) -> io::Result<()> {
        match self.ring.submit() {
            Err(error) if !is_no_failure(&error) => Err(error),
            _ => Ok(()),
        }
    }

    fn take(&mut self, outcome: &cqueue::Entry, ready: &mut Vec<u32>) -> io::Result<()> {
        let (purpose, index) = read_mark(outcome.user_data());
        match purpose {
            Purpose::Receive => self.received(index, outcome, ready),
            Purpose::Send => self.sent(index, outcome.result(), ready),
            Purpose::Stop => Ok(()),
            Purpose::Wake => {
                self.woken = true;
                let is_over = !cqueue::more(outcome.flags()) && outcome.result() >= 0;
                if is_over { self.watch_on(index) } else { Ok(()) }
            }
        }
    }

    fn received(&mut self, index: u32, outcome: &cqueue::Entry, ready: &mut Vec<u32>) -> io::Result<()> {
        let slot = &mut self.slots[index as usize];
        let (result, flags) = (outcome.result(), outcome.flags());
        if let Some(number) = cqueue::buffer_select(flags) {
            slot.arrived(self.buffers.filled(number, usize::try_from(result).unwrap_or(0)));
            self.buffers.give_back(number);
        }
        slot.is_receiving = cqueue::more(flags);
        match result {
            1.. => {}
            0 => slot.end = Some(ReceiveEnd::Closed),
            // The buffers were used up, or the socket was full; receiving goes on later.
            _ if [Errno::NOBUFS, Errno::CANCELED].iter().any(|error| error.raw_os_error() == -result) => {}
            _ => slot.end = Some(ReceiveEnd::Failed(-result)),
        }
        if slot.is_free() {
            self.release(index);
            return Ok(());
        }
        ready.extend(slot.token);
        if slot.wants_more() {
            // The buffers that were just read are free again.
            self.buffers.publish();
            return self.receive_for(index);
        }
        if slot.is_receiving && slot.is_full() {
            let request = opcode::AsyncCancel::new(mark(Purpose::Receive, index)).build();
            return self.request(&request.user_data(mark(Purpose::Stop, index)));
        }
        Ok(())
    }

    fn sent(&mut self, index: u32, result: i32, ready: &mut Vec<u32>) -> io::Result<()> {
        let slot = &mut self.slots[index as usize];
        slot.is_flying = false;
        if let Ok(sent) = usize::try_from(result) {
            slot.sent += sent;
            if slot.sent < slot.flying.len() {
                return self.fly_on(index);
            }
        } else {
            slot.broken = Some(-result);
            slot.outgoing.clear();
            ready.extend(slot.token);
        }
        if slot.is_free() {
            self.release(index);
        } else if !slot.outgoing.is_empty() && !slot.is_listed {
            slot.is_listed = true;
            self.to_send.push(index);
        }
        Ok(())
    }
}

impl Drop for RingQueue {
    fn drop(&mut self) {
        for slot in &mut self.slots {
            if slot.is_flying {
                std::mem::forget(std::mem::take(&mut slot.flying));
            }
        }
        if Buffers::unregister(&self.ring).is_err() {
            // The kernel may still write there.
            self.buffers.leak();
        }
    }
}

/// A wait that ended for another reason than an event, or outcomes that have to be taken first.
fn is_no_failure(error: &io::Error) -> bool {
    let harmless = [Errno::TIME, Errno::INTR, Errno::BUSY, Errno::AGAIN];
    harmless.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

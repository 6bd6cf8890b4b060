//! The disk itself: what it answers to each request, what it logs, and which answers it holds.
//!
//! Several threads take requests. One lock is around all that changes the disk or the log, so the log has one order, and that
//! is the order in which the backing file was changed.

use crate::entry::{ENTRY_BYTES, MOST_WRITE_BYTES, Raw, Told};
use crate::log::{FullError, Log};
use crate::order::Order;
use crate::requests::{Answer, Asked, REQUEST_BYTES, Request, WRITTEN_AT, parse};
use rustix::fs::{Advice, FallocateFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::mem;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many requests a frozen disk keeps; those who send more wait without their request being taken.
const MOST_KEPT: usize = 64;
/// How long a thread waits before it looks again by itself.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A disk that is being served.
#[derive(Debug)]
pub(crate) struct Served {
    /// Where the kernel's requests come from.
    pub channel: File,
    pub backing: File,
    pub size_bytes: u64,
    pub flushes_backing: bool,
    /// Its user and group.
    pub owner: (u32, u32),
    state: Mutex<State>,
    /// Notified whenever the state has changed.
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    log: Log,
    is_stalled: bool,
    is_frozen: bool,
    is_lying: bool,
    delay: Duration,
    /// Answers to flushes that are not given yet.
    held: Vec<Held>,
    /// Requests that came while it was frozen.
    kept: Vec<Vec<u8>>,
    /// Why it takes no more writes.
    stopped: Option<String>,
}

#[derive(Debug)]
struct Held {
    due: Instant,
    /// The entry that ends with it; none where the disk lies.
    begun: Option<u64>,
    answer: Answer,
}

/// What is to be done with a request after the lock is given back.
enum Then {
    Answer(Answer),
    /// Flush the backing file if asked for, then answer when that is allowed.
    Settle {
        begun: Option<u64>,
        answer: Answer,
    },
    /// The request is kept.
    Nothing,
}

impl Served {
    pub fn new(channel: File, backing: File, log: Log, flushes_backing: bool) -> io::Result<Self> {
        let size_bytes = backing.metadata()?.len();
        let owner = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let state = State {
            log,
            is_stalled: false,
            is_frozen: false,
            is_lying: false,
            delay: Duration::ZERO,
            held: Vec::new(),
            kept: Vec::new(),
            stopped: None,
        };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Ok(Self { channel, backing, size_bytes, flushes_backing, owner, state, changed })
    }

    /// Takes requests until the connection to the kernel ends.
    pub fn take_requests(&self) -> io::Result<()> {
        let mut buffer = vec![0; REQUEST_BYTES];
        loop {
            match rustix::io::read(&self.channel, &mut buffer) {
                Ok(0) | Err(Errno::NODEV) => return Ok(()),
                Ok(length) => self.take(&mut buffer[..length])?,
                // A request that was withdrawn, or a signal.
                Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Carries out one request.
    fn take(&self, bytes: &mut [u8]) -> io::Result<()> {
        let Request { id, asked } = parse(bytes).map_err(io::Error::other)?;
        let answer = match asked {
            Asked::Init { minor, flags, read_ahead } => Answer::init(id, minor, flags, read_ahead),
            // Its size is fixed. Owner, rights and times are whatever the mount says.
            Asked::SetAttributes { size } if size.is_some_and(|size| size != self.size_bytes) => {
                Answer::refused(id, Errno::PERM)
            }
            Asked::Attributes | Asked::SetAttributes { .. } => Answer::attributes(id, self.size_bytes, self.owner),
            Asked::Open => Answer::opened(id),
            Asked::Read { offset, length } => self.read(id, offset, length),
            Asked::Statistics => Answer::statistics(id, self.size_bytes),
            Asked::Allocate { end } if end > self.size_bytes => Answer::refused(id, Errno::NOSPC),
            // The disk has all its space already, and closing it flushes nothing.
            Asked::Release | Asked::Allocate { .. } => Answer::done(id),
            Asked::Other => Answer::refused(id, Errno::NOSYS),
            Asked::Notice => return Ok(()),
            Asked::Write { .. } | Asked::Zero { .. } | Asked::Flush => {
                match self.change(id, asked, bytes) {
                    Then::Answer(answer) => {
                        self.send(&answer);
                        self.begin_to_write(asked);
                    }
                    Then::Settle { begun, answer } => self.settle(begun, answer),
                    Then::Nothing => {}
                }
                return Ok(());
            }
        };
        self.send(&answer);
        Ok(())
    }

    fn read(&self, id: u64, offset: u64, length: u32) -> Answer {
        let left = self.size_bytes.saturating_sub(offset).min(u64::from(length.min(MOST_WRITE_BYTES)));
        let mut answer = Answer::read(id, usize::try_from(left).unwrap_or(0));
        match self.backing.read_exact_at(answer.data(), offset) {
            Ok(()) => answer,
            Err(_) => Answer::refused(id, Errno::IO),
        }
    }

    /// A write, discard or flush: carried out and logged, or kept if the disk is frozen.
    fn change(&self, id: u64, asked: Asked, bytes: &mut [u8]) -> Then {
        let mut state = self.lock();
        while state.is_frozen && state.kept.len() >= MOST_KEPT {
            state = self.wait(state, LOOK_AGAIN);
        }
        if state.is_frozen {
            state.kept.push(bytes.to_vec());
            return Then::Nothing;
        }
        if state.stopped.is_some() {
            return Then::Answer(Answer::refused(id, Errno::NOSPC));
        }
        let done = match asked {
            Asked::Write { offset, length, fua } => self.write(&mut state, id, (offset, length, fua), bytes),
            Asked::Zero { offset, length } => self.zero(&mut state, id, offset, length),
            _ => state.flush(id),
        };
        done.unwrap_or_else(|why| {
            state.stopped = Some(why.to_string());
            Then::Answer(Answer::refused(id, Errno::NOSPC))
        })
    }

    fn write(
        &self,
        state: &mut State,
        id: u64,
        (offset, length, fua): (u64, u32, bool),
        bytes: &mut [u8],
    ) -> Result<Then, FullError> {
        if offset.checked_add(u64::from(length)).is_none_or(|end| end > self.size_bytes) {
            return Ok(Then::Answer(Answer::refused(id, Errno::FBIG)));
        }
        self.backing.write_all_at(&bytes[WRITTEN_AT..], offset).map_err(FullError::Backing)?;
        let is_kept = fua && !state.is_lying;
        let raw = Raw::Write { offset, length, fua: is_kept };
        let index = state.log.append_with_data(raw, &mut bytes[WRITTEN_AT - ENTRY_BYTES..])?;
        let answer = Answer::written(id, length);
        Ok(if fua { Then::Settle { begun: is_kept.then_some(index), answer } } else { Then::Answer(answer) })
    }

    /// Lets the host's disk begin with what a flush would wait for.
    fn begin_to_write(&self, asked: Asked) {
        if let Asked::Write { offset, length, .. } = asked
            && self.flushes_backing
        {
            // Bytes that are not written yet are not dropped, but written. The next flush reports errors.
            let _ = rustix::fs::fadvise(&self.backing, offset, NonZeroU64::new(length.into()), Advice::DontNeed);
        }
    }

    fn zero(&self, state: &mut State, id: u64, offset: u64, length: u64) -> Result<Then, FullError> {
        if offset.checked_add(length).is_none_or(|end| end > self.size_bytes) {
            return Ok(Then::Answer(Answer::refused(id, Errno::FBIG)));
        }
        punch(&self.backing, offset, length).map_err(FullError::Backing)?;
        state.log.append(Raw::Zero { offset, length })?;
        Ok(Then::Answer(Answer::done(id)))
    }

    /// Ends a flush, or a write that must be on the disk: now, or when that is allowed.
    fn settle(&self, begun: Option<u64>, answer: Answer) {
        if self.flushes_backing
            && let Err(error) = rustix::fs::fdatasync(&self.backing)
        {
            self.lock().stopped = Some(format!("the backing file cannot be flushed: {error}"));
            return self.send(&answer.refuse(Errno::IO));
        }
        let mut state = self.lock();
        let held = Held { due: Instant::now() + state.delay, begun, answer };
        if state.is_stalled || state.is_frozen || !state.delay.is_zero() {
            state.held.push(held);
            self.changed.notify_all();
            return;
        }
        let answer = state.end(held);
        drop(state);
        self.send(&answer);
    }

    /// Gives held answers when they are due, as long as the process lives.
    pub fn give_answers(&self) {
        loop {
            let mut state = self.lock();
            let due = state.take_due(Instant::now());
            let answers: Vec<Answer> = due.into_iter().map(|held| state.end(held)).collect();
            if answers.is_empty() {
                let next = state.held.iter().filter(|_| state.gives()).map(|held| held.due).min();
                let left = next.map_or(LOOK_AGAIN, |next| next.saturating_duration_since(Instant::now()));
                drop(self.wait(state, left.min(LOOK_AGAIN)));
                continue;
            }
            // Within the lock: whoever sees that none is held knows that all are given.
            for answer in &answers {
                self.send(answer);
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits until no answer is held, for so long at most.
    pub fn wait_until_given(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        while !state.held.is_empty() && Instant::now() < deadline {
            state = self.wait(state, deadline.saturating_duration_since(Instant::now()));
        }
    }

    /// Obeys an order, and returns how many entries the log has then.
    pub fn tell(&self, order: &Order) -> Result<u64, String> {
        let mut state = self.lock();
        let kept = state.obey(order)?;
        self.changed.notify_all();
        let position = state.log.position();
        let stopped = state.stopped.clone().filter(|_| matches!(order, Order::Position));
        drop(state);
        for mut bytes in kept {
            // They were whole when they were kept.
            self.take(&mut bytes).map_err(|error| error.to_string())?;
        }
        stopped.map_or(Ok(position), Err)
    }

    fn send(&self, answer: &Answer) {
        // It fails if who asked is gone, or the connection: nobody waits for this answer then.
        let _ = rustix::io::write(&self.channel, &answer.0);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked ends the disk. Until then, the others go on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, limit: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl State {
    fn flush(&mut self, id: u64) -> Result<Then, FullError> {
        let begun = if self.is_lying { None } else { Some(self.log.append(Raw::FlushBegun)?) };
        Ok(Then::Settle { begun, answer: Answer::done(id) })
    }

    fn gives(&self) -> bool {
        !self.is_stalled && !self.is_frozen
    }

    fn take_due(&mut self, now: Instant) -> Vec<Held> {
        let (due, later) = mem::take(&mut self.held).into_iter().partition(|held| self.gives() && held.due <= now);
        self.held = later;
        due
    }

    /// Logs the end, and gives the answer that may be sent then.
    fn end(&mut self, held: Held) -> Answer {
        let ended = match (held.begun, &self.stopped) {
            (None, _) => Ok(0),
            (Some(_), Some(_)) => return held.answer.refuse(Errno::NOSPC),
            (Some(begun), None) => self.log.append(Raw::Ended { begun }),
        };
        match ended {
            Ok(_) => held.answer,
            Err(why) => {
                self.stopped = Some(why.to_string());
                held.answer.refuse(Errno::NOSPC)
            }
        }
    }

    /// Obeys an order; returns requests that are no longer kept back.
    fn obey(&mut self, order: &Order) -> Result<Vec<Vec<u8>>, String> {
        let (told, is_release) = match order {
            Order::Position => return Ok(Vec::new()),
            Order::Mark(text) => {
                if let Some(why) = &self.stopped {
                    return Err(why.clone());
                }
                return self.log.append_mark(text).map(|_| Vec::new()).map_err(|why| self.stop(&why));
            }
            Order::Quit => {
                (self.is_stalled, self.is_frozen, self.delay) = (false, false, Duration::ZERO);
                self.held.iter_mut().for_each(|held| held.due = Instant::now());
                return Ok(mem::take(&mut self.kept));
            }
            Order::Stall => (Told::Stall, false),
            Order::Go => (Told::Go, true),
            Order::Freeze => (Told::Freeze, false),
            Order::Thaw => (Told::Thaw, true),
            Order::DelayUs(delay) => (Told::DelayUs(*delay), true),
            Order::Lie => (Told::Lie, false),
            Order::Honest => (Told::Honest, true),
        };
        // What sets it free again is done even if it can no longer be logged.
        let logged = match &self.stopped {
            Some(why) => Err(why.clone()),
            None => self.log.append(Raw::Told(told)).map(|_| ()).map_err(|why| self.stop(&why)),
        };
        if !is_release {
            logged?;
        }
        match told {
            Told::Stall => self.is_stalled = true,
            Told::Go => self.is_stalled = false,
            Told::Freeze => self.is_frozen = true,
            Told::Thaw => self.is_frozen = false,
            Told::DelayUs(delay) => self.delay = Duration::from_micros(delay),
            Told::Lie => self.is_lying = true,
            Told::Honest => self.is_lying = false,
        }
        Ok(if self.is_frozen { Vec::new() } else { mem::take(&mut self.kept) })
    }

    fn stop(&mut self, why: &FullError) -> String {
        self.stopped.insert(why.to_string()).clone()
    }
}

/// Makes a range zero, and frees its space if the host's file system can.
pub(crate) fn punch(file: &File, offset: u64, length: u64) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match rustix::fs::fallocate(file, flags, offset, length) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeros(file, offset, length),
        punched => Ok(punched?),
    }
}

fn write_zeros(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let zeros = vec![0; MOST_WRITE_BYTES as usize];
    let mut done = 0;
    while done < length {
        let part = usize::try_from(length - done).unwrap_or(usize::MAX).min(zeros.len());
        file.write_all_at(&zeros[..part], offset + done)?;
        done += part as u64;
    }
    Ok(())
}

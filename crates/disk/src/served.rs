//! The disk itself: what it answers to each request, what it logs, and which answers it holds.
//!
//! Several threads take requests. One lock is around all that changes the disk or the log, so the log has one order, and that
//! is the order in which the backing file was changed.

use crate::entry::{DiskOrders, ENTRY_BYTES, MOST_WRITE_BYTES, Raw};
use crate::log::{FullError, Log};
use crate::order::Order;
use crate::requests::{DiskCommand, DiskRequest, REQUEST_BYTES, ReadyAnswer, WRITTEN_AT, parse};
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
pub(crate) struct ServedDisk {
    /// Where the kernel's requests come from.
    pub channel: File,
    pub backing: File,
    pub size_bytes: u64,
    pub flushes_backing: bool,
    /// Its user and group.
    pub owner: (u32, u32),
    state: Mutex<DiskState>,
    /// Notified whenever the state has changed.
    changed: Condvar,
}

#[derive(Debug)]
struct DiskState {
    log: Log,
    is_stalled: bool,
    is_frozen: bool,
    is_lying: bool,
    delay: Duration,
    /// Answers to flushes that are not given yet.
    held: Vec<HeldRequest>,
    /// Requests that came while it was frozen.
    kept: Vec<Vec<u8>>,
    /// Why it takes no more writes.
    stopped: Option<String>,
}

#[derive(Debug)]
struct HeldRequest {
    due: Instant,
    /// The entry that ends with it; none where the disk lies.
    begun: Option<u64>,
    answer: ReadyAnswer,
}

/// What is to be done with a request after the lock is given back.
enum AfterUnlock {
    Answer(ReadyAnswer),
    /// Flush the backing file if asked for, then answer when that is allowed.
    Settle {
        begun: Option<u64>,
        answer: ReadyAnswer,
    },
    /// The request is kept.
    Nothing,
}

impl ServedDisk {
    pub fn new(channel: File, backing: File, log: Log, flushes_backing: bool) -> io::Result<Self> {
        let size_bytes = backing.metadata()?.len();
        let owner = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let state = DiskState {
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
        let DiskRequest { id, asked } = parse(bytes).map_err(io::Error::other)?;
        let answer = match asked {
            DiskCommand::Init { minor, flags, read_ahead } => ReadyAnswer::init(id, minor, flags, read_ahead),
            // Its size is fixed. Owner, rights and times are whatever the mount says.
            DiskCommand::SetAttributes { size } if size.is_some_and(|size| size != self.size_bytes) => {
                ReadyAnswer::refused(id, Errno::PERM)
            }
            DiskCommand::Attributes | DiskCommand::SetAttributes { .. } => {
                ReadyAnswer::attributes(id, self.size_bytes, self.owner)
            }
            DiskCommand::Open => ReadyAnswer::opened(id),
            DiskCommand::Read { offset, length } => self.read(id, offset, length),
            DiskCommand::Statistics => ReadyAnswer::statistics(id, self.size_bytes),
            DiskCommand::Allocate { end } if end > self.size_bytes => ReadyAnswer::refused(id, Errno::NOSPC),
            // The disk has all its space already, and closing it flushes nothing.
            DiskCommand::Release | DiskCommand::Allocate { .. } => ReadyAnswer::done(id),
            DiskCommand::Other => ReadyAnswer::refused(id, Errno::NOSYS),
            DiskCommand::Notice => return Ok(()),
            DiskCommand::Write { .. } | DiskCommand::Zero { .. } | DiskCommand::Flush => {
                match self.change(id, asked, bytes) {
                    AfterUnlock::Answer(answer) => {
                        self.send(&answer);
                        self.begin_to_write(asked);
                    }
                    AfterUnlock::Settle { begun, answer } => self.settle(begun, answer),
                    AfterUnlock::Nothing => {}
                }
                return Ok(());
            }
        };
        self.send(&answer);
        Ok(())
    }

    fn read(&self, id: u64, offset: u64, length: u32) -> ReadyAnswer {
        let left = self.size_bytes.saturating_sub(offset).min(u64::from(length.min(MOST_WRITE_BYTES)));
        let mut answer = ReadyAnswer::read(id, usize::try_from(left).unwrap_or(0));
        match self.backing.read_exact_at(answer.data(), offset) {
            Ok(()) => answer,
            Err(_) => ReadyAnswer::refused(id, Errno::IO),
        }
    }

    /// A write, discard or flush: carried out and logged, or kept if the disk is frozen.
    fn change(&self, id: u64, asked: DiskCommand, bytes: &mut [u8]) -> AfterUnlock {
        let mut state = self.lock();
        while state.is_frozen && state.kept.len() >= MOST_KEPT {
            state = self.wait(state, LOOK_AGAIN);
        }
        if state.is_frozen {
            state.kept.push(bytes.to_vec());
            return AfterUnlock::Nothing;
        }
        if state.stopped.is_some() {
            return AfterUnlock::Answer(ReadyAnswer::refused(id, Errno::NOSPC));
        }
        let done = match asked {
            DiskCommand::Write { offset, length, fua } => self.write(&mut state, id, (offset, length, fua), bytes),
            DiskCommand::Zero { offset, length } => self.zero(&mut state, id, offset, length),
            _ => state.flush(id),
        };
        done.unwrap_or_else(|why| {
            state.stopped = Some(why.to_string());
            AfterUnlock::Answer(ReadyAnswer::refused(id, Errno::NOSPC))
        })
    }

    fn write(
        &self,
        state: &mut DiskState,
        id: u64,
        (offset, length, fua): (u64, u32, bool),
        bytes: &mut [u8],
    ) -> Result<AfterUnlock, FullError> {
        if offset.checked_add(u64::from(length)).is_none_or(|end| end > self.size_bytes) {
            return Ok(AfterUnlock::Answer(ReadyAnswer::refused(id, Errno::FBIG)));
        }
        self.backing.write_all_at(&bytes[WRITTEN_AT..], offset).map_err(FullError::Backing)?;
        let is_kept = fua && !state.is_lying;
        let raw = Raw::Write { offset, length, fua: is_kept };
        let index = state.log.append_with_data(raw, &mut bytes[WRITTEN_AT - ENTRY_BYTES..])?;
        let answer = ReadyAnswer::written(id, length);
        Ok(if fua {
            AfterUnlock::Settle { begun: is_kept.then_some(index), answer }
        } else {
            AfterUnlock::Answer(answer)
        })
    }

    /// Lets the host's disk begin with what a flush would wait for.
    fn begin_to_write(&self, asked: DiskCommand) {
        if let DiskCommand::Write { offset, length, .. } = asked
            && self.flushes_backing
        {
            // Bytes that are not written yet are not dropped, but written. The next flush reports errors.
            let _ = rustix::fs::fadvise(&self.backing, offset, NonZeroU64::new(length.into()), Advice::DontNeed);
        }
    }

    fn zero(&self, state: &mut DiskState, id: u64, offset: u64, length: u64) -> Result<AfterUnlock, FullError> {
        if offset.checked_add(length).is_none_or(|end| end > self.size_bytes) {
            return Ok(AfterUnlock::Answer(ReadyAnswer::refused(id, Errno::FBIG)));
        }
        punch(&self.backing, offset, length).map_err(FullError::Backing)?;
        state.log.append(Raw::Zero { offset, length })?;
        Ok(AfterUnlock::Answer(ReadyAnswer::done(id)))
    }

    /// Ends a flush, or a write that must be on the disk: now, or when that is allowed.
    fn settle(&self, begun: Option<u64>, answer: ReadyAnswer) {
        if self.flushes_backing
            && let Err(error) = rustix::fs::fdatasync(&self.backing)
        {
            self.lock().stopped = Some(format!("the backing file cannot be flushed: {error}"));
            return self.send(&answer.refuse(Errno::IO));
        }
        let mut state = self.lock();
        let held = HeldRequest { due: Instant::now() + state.delay, begun, answer };
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
            let answers: Vec<ReadyAnswer> = due.into_iter().map(|held| state.end(held)).collect();
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

    fn send(&self, answer: &ReadyAnswer) {
        // It fails if who asked is gone, or the connection: nobody waits for this answer then.
        let _ = rustix::io::write(&self.channel, &answer.0);
    }

    fn lock(&self) -> MutexGuard<'_, DiskState> {
        // A thread that panicked ends the disk. Until then, the others go on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, DiskState>, limit: Duration) -> MutexGuard<'a, DiskState> {
        self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl DiskState {
    fn flush(&mut self, id: u64) -> Result<AfterUnlock, FullError> {
        let begun = if self.is_lying { None } else { Some(self.log.append(Raw::FlushBegun)?) };
        Ok(AfterUnlock::Settle { begun, answer: ReadyAnswer::done(id) })
    }

    fn gives(&self) -> bool {
        !self.is_stalled && !self.is_frozen
    }

    fn take_due(&mut self, now: Instant) -> Vec<HeldRequest> {
        let (due, later) = mem::take(&mut self.held).into_iter().partition(|held| self.gives() && held.due <= now);
        self.held = later;
        due
    }

    /// Logs the end, and gives the answer that may be sent then.
    fn end(&mut self, held: HeldRequest) -> ReadyAnswer {
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
        let told = match order {
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
            Order::Obey(order) => *order,
        };
        let is_release = !matches!(told, DiskOrders::Stall | DiskOrders::Freeze | DiskOrders::Lie);
        // What sets it free again is done even if it can no longer be logged.
        let logged = match &self.stopped {
            Some(why) => Err(why.clone()),
            None => self.log.append(Raw::Told(told)).map(|_| ()).map_err(|why| self.stop(&why)),
        };
        if !is_release {
            logged?;
        }
        match told {
            DiskOrders::Stall => self.is_stalled = true,
            DiskOrders::Go => self.is_stalled = false,
            DiskOrders::Freeze => self.is_frozen = true,
            DiskOrders::Thaw => self.is_frozen = false,
            DiskOrders::DelayUs(delay) => self.delay = Duration::from_micros(delay),
            DiskOrders::Lie => self.is_lying = true,
            DiskOrders::Honest => self.is_lying = false,
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

//! Waits, with a limit, until a descriptor can be read or written.

use crate::interrupts::Interrupts;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, PipeWriter};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How soon an interrupt is noticed.
const GLANCE: Duration = Duration::from_millis(200);

/// Whether it becomes readable within the limit: bytes, a connecting peer, a hang-up, or the end of the process that it
/// refers to.
pub fn becomes_ready(descriptor: impl AsFd, limit: Duration) -> io::Result<bool> {
    is_ready(&descriptor, PollFlags::IN, Instant::now() + limit)
}

fn is_ready(descriptor: &impl AsFd, what: PollFlags, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(descriptor, what)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// Waits until it is ready, the deadline has passed, or the user stops the run.
fn ready_or_given_up(
    descriptor: &impl AsFd,
    what: PollFlags,
    deadline: Instant,
    interrupts: Option<&Interrupts>,
) -> io::Result<()> {
    loop {
        if interrupts.is_some_and(Interrupts::now) {
            return Err(io::Error::new(ErrorKind::ConnectionAborted, "the run was stopped"));
        }
        let glance = interrupts.map_or(deadline, |_| deadline.min(Instant::now() + GLANCE));
        if is_ready(descriptor, what, glance)? {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(ErrorKind::TimedOut.into());
        }
    }
}

/// Reads until a deadline, however slowly bytes arrive, or until the user stops the run.
#[derive(Debug)]
pub struct UntilDeadline<'a, R> {
    pub read: R,
    pub deadline: Instant,
    pub interrupts: Option<&'a Interrupts>,
}

impl<R: io::Read + AsFd> io::Read for UntilDeadline<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        ready_or_given_up(&self.read, PollFlags::IN, self.deadline, self.interrupts)?;
        self.read.read(buffer)
    }
}

/// Writes into a pipe as long as the other end takes something now and then, or until the user stops the run.
#[derive(Debug)]
pub struct WhileTaken {
    pipe: PipeWriter,
    /// The longest that the other end takes nothing.
    limit: Duration,
    interrupts: Interrupts,
}

impl WhileTaken {
    pub fn new(pipe: PipeWriter, limit: Duration, interrupts: Interrupts) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe, limit, interrupts })
    }
}

impl io::Write for WhileTaken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let deadline = Instant::now() + self.limit;
        loop {
            match self.pipe.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ready_or_given_up(&self.pipe, PollFlags::OUT, deadline, Some(&self.interrupts))?;
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn what_nobody_takes_is_given_up() {
        let (mut read, write) = io::pipe().unwrap();
        let mut writing = WhileTaken::new(write, Duration::from_millis(100), Interrupts::default()).unwrap();
        let error = writing.write_all(&vec![7; 1 << 20]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        drop(writing);
        let mut taken = Vec::new();
        read.read_to_end(&mut taken).unwrap();
        assert!(taken.len() >= 4096 && taken.iter().all(|byte| *byte == 7), "{}", taken.len());
    }

    #[test]
    fn what_is_taken_slowly_is_written() {
        let (mut read, write) = io::pipe().unwrap();
        let taking = std::thread::spawn(move || {
            let mut taken = Vec::new();
            read.read_to_end(&mut taken).map(|_| taken)
        });
        let mut writing = WhileTaken::new(write, LONG, Interrupts::default()).unwrap();
        let bytes: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
        writing.write_all(&bytes).unwrap();
        drop(writing);
        assert!(taking.join().unwrap().unwrap() == bytes);
    }

    #[test]
    fn whoever_stops_the_run_ends_reading_and_writing() {
        let interrupts = Interrupts::default();
        let (mut read, write) = io::pipe().unwrap();
        let mut writing = WhileTaken::new(write, LONG, interrupts.clone()).unwrap();
        let (from, other) = io::pipe().unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || writing.write_all(&vec![7; 1 << 20]));
            let deadline = Instant::now() + LONG;
            let mut patient = UntilDeadline { read: from, deadline, interrupts: Some(&interrupts) };
            let heard = scope.spawn(move || patient.read(&mut [0]));
            // It has begun.
            read.read_exact(&mut [0]).unwrap();
            interrupts.raise();
            interrupts.raise();
            assert_eq!(writer.join().unwrap().unwrap_err().kind(), ErrorKind::ConnectionAborted);
            assert_eq!(heard.join().unwrap().unwrap_err().kind(), ErrorKind::ConnectionAborted);
        });
        drop(other);
    }
}

//! Waits, with a limit, until a descriptor can be read.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Whether it becomes readable within the limit: bytes, a connecting peer, a hang-up, or the end of the process that it
/// refers to.
pub fn becomes_ready(descriptor: impl AsFd, limit: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + limit;
    loop {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// Reads until a deadline, however slowly bytes arrive.
#[derive(Debug)]
pub struct Until<R> {
    pub read: R,
    pub deadline: Instant,
}

impl<R: io::Read + AsFd> io::Read for Until<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || !becomes_ready(&self.read, left)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.read.read(buffer)
    }
}

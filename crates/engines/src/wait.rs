//! Waits for one session outside the driver's loop: in checks, samples, tests and tools. Sessions under load never wait here.

use crate::session::SessionError;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::future::Future;
use std::io;
use std::os::fd::BorrowedFd;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Polls `future` until it is done and waits for readiness of `descriptor` in between, for at most `limit`.
///
/// The descriptor is a duplicate of [`crate::session::Session::descriptor`], because the future borrows the session:
/// `session.descriptor().map(|d| d.try_clone_to_owned())`. Readiness is awaited by edge, as in the driver, since only
/// the future knows whether it wants to read or to write.
pub fn block_on<T>(
    future: impl Future<Output = Result<T, SessionError>>,
    descriptor: Option<BorrowedFd<'_>>,
    limit: Duration,
) -> Result<T, SessionError> {
    let deadline = Instant::now() + limit;
    let readiness = descriptor.map(watch).transpose().map_err(|error| SessionError::Lost(error.into()))?;
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
            return outcome;
        }
        let Some(readiness) = &readiness else {
            return Err(SessionError::Protocol("an in-process session was pending".to_owned()));
        };
        wait_until(readiness, deadline).map_err(SessionError::Lost)?;
    }
}

fn watch(descriptor: BorrowedFd<'_>) -> Result<std::os::fd::OwnedFd, Errno> {
    let readiness = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let edges = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
    epoll::add(&readiness, descriptor, epoll::EventData::new_u64(0), edges)?;
    Ok(readiness)
}

fn wait_until(readiness: &std::os::fd::OwnedFd, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let limit = Timespec::try_from(left).map_err(io::Error::other)?;
    let mut events = [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }];
    match epoll::wait(readiness, &mut events[..], Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

//! Many sockets on one thread with few system calls, through the kernel's `io_uring`.
//!
//! A socket that is attached to a thread's [`Ring`] is no longer read and written by its owner. What the owner sends through its
//! [`Line`] is collected, and goes to the kernel together with that of all other sockets when the thread waits. What arrives is in
//! memory when the wait ends. So one system call serves many sockets.
//!
//! All unsafe code is in `buffers` and `queue`.

mod buffers;
mod queue;
mod slots;

use queue::RingQueue;
use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::time::Duration;

thread_local! {
    static QUEUE: RefCell<Option<RingQueue>> = const { RefCell::new(None) };
}

/// The ring of a thread. There is at most one, and it stays on its thread. Its sockets can no longer be used after it is dropped.
#[derive(Debug)]
pub struct Ring(PhantomData<*const ()>);

impl Ring {
    /// Makes the ring of this thread. Fails where the kernel lacks what it needs (Linux 6.1), or forbids it.
    pub fn new() -> io::Result<Self> {
        QUEUE.with_borrow_mut(|queue| {
            if queue.is_some() {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "this thread has a ring already"));
            }
            *queue = Some(RingQueue::new()?);
            Ok(Self(PhantomData))
        })
    }

    /// Takes over a connected socket. Whenever something arrives, [`Ring::wait`] reports the token.
    ///
    /// Closing the socket does not close the connection, because the kernel keeps it for the ring. So the owner shuts it down.
    pub fn attach(&self, socket: BorrowedFd<'_>, token: u32) -> io::Result<Line> {
        of_thread(|queue| queue.attach(socket, token)).map(|place| Line { place })
    }

    /// Ends a wait when this descriptor becomes readable.
    pub fn watch(&self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        let descriptor = descriptor.try_clone_to_owned()?;
        of_thread(|queue| queue.watch(descriptor))
    }

    /// Sends what was collected, and waits until something has arrived or the time is over. Appends the tokens of all lines that
    /// have something to receive, or whose connection has ended. Returns whether a watched descriptor has become readable.
    pub fn wait(&self, at_most: Duration, ready: &mut Vec<u32>) -> io::Result<bool> {
        of_thread(|queue| queue.wait(at_most, ready))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // The thread may be ending, and then the queue with it.
        let _ = QUEUE.try_with(RefCell::take);
    }
}

fn of_thread<T>(act: impl FnOnce(&mut RingQueue) -> io::Result<T>) -> io::Result<T> {
    let gone = || io::Error::new(io::ErrorKind::NotConnected, "the ring of this thread is gone");
    QUEUE.with_borrow_mut(|queue| act(queue.as_mut().ok_or_else(gone)?))
}

/// An attached socket. It works on the thread of its ring only.
#[derive(Debug)]
pub struct Line {
    place: slots::SlotIndex,
}

impl Line {
    /// Collects bytes to send; returns how many there was room for. `WouldBlock` means that the kernel has not taken the earlier
    /// ones yet.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        of_thread(|queue| queue.send(self.place, bytes))
    }

    /// Takes bytes that have arrived. 0 means that the other side has closed; `WouldBlock`, that there are none yet.
    pub fn receive(&self, space: &mut [u8]) -> io::Result<usize> {
        of_thread(|queue| queue.receive(self.place, space))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = QUEUE.try_with(|queue| {
            if let Some(queue) = queue.borrow_mut().as_mut() {
                queue.detach(self.place);
            }
        });
    }
}

#[cfg(test)]
mod tests;

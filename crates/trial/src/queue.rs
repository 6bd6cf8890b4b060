//! Runs on one host measure one after the other: taking a turn, and finding out who has it.
//!
//! A turn is a name among the kernel's abstract sockets. It needs no file: users with other rights and other caches see
//! the same name, and nobody can replace it. It is free again whatever ends its holder. Nothing is ever sent to it or
//! read from it. Containers with their own network have their own names.

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// The queue of every run on a host, unless another is named.
const OF_THE_HOST: &str = "host";
/// The longest name that the kernel accepts, less our prefix.
const LONGEST_NAME: usize = 80;
const POLL: Duration = Duration::from_millis(500);
/// Studies take hours. A run stops waiting after this time.
const LIMIT: Duration = Duration::from_hours(24);

#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error("a queue's name has 1 to {LONGEST_NAME} bytes; found \"{}\"", .0.escape_debug())]
    Name(String),
    #[error("{holder} has been measuring on this host for more than {} hours while this run waited", LIMIT.as_secs() / 3600)]
    TooLong { holder: Holder },
    #[error("finding out whether another bakeoff measures on this host: {0}")]
    Io(#[source] io::Error),
}

/// A queue: its runs never measure at the same time.
#[derive(Debug, Clone)]
pub struct Queue {
    name: String,
}

/// The right to measure, held until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _socket: OwnedFd,
}

/// Who has the turn; `None` if the kernel does not show us the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    pub process: Option<u32>,
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(formatter, "another bakeoff (process {process})"),
            None => write!(formatter, "a bakeoff of another user"),
        }
    }
}

impl Queue {
    /// The queue with this name, or the host's.
    pub fn named(name: Option<&str>) -> Result<Self, QueueError> {
        let name = name.unwrap_or(OF_THE_HOST);
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err(QueueError::Name(name.to_owned()));
        }
        Ok(Self { name: format!("bakeoff/{name}") })
    }

    /// The turn, or its current holder.
    pub fn try_turn(&self) -> Result<Result<Turn, Holder>, QueueError> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None);
        let socket = socket.map_err(|error| QueueError::Io(error.into()))?;
        let address = SocketAddrUnix::new_abstract_name(self.name.as_bytes());
        match address.and_then(|address| bind(&socket, &address)) {
            Ok(()) => Ok(Ok(Turn { _socket: socket })),
            Err(Errno::ADDRINUSE) => Ok(Err(self.holder())),
            Err(error) => Err(QueueError::Io(error.into())),
        }
    }

    /// Waits for the turn. `waiting` is called with each new holder. Returns the last holder and the time waited in all.
    pub fn turn(&self, waiting: &mut dyn FnMut(Holder)) -> Result<(Turn, Option<(Holder, Duration)>), QueueError> {
        let begun = Instant::now();
        let mut awaited = None;
        loop {
            let holder = match self.try_turn()? {
                Ok(turn) => return Ok((turn, awaited.map(|holder| (holder, begun.elapsed())))),
                Err(holder) if begun.elapsed() >= LIMIT => return Err(QueueError::TooLong { holder }),
                Err(holder) => holder,
            };
            if awaited != Some(holder) {
                awaited = Some(holder);
                waiting(holder);
            }
            std::thread::sleep(POLL);
        }
    }

    fn holder(&self) -> Holder {
        let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        let name = format!("@{}", self.name);
        // "0000000000000000: 00000002 00000000 00000000 0002 01 12345 @bakeoff/host"
        let inode = sockets.lines().find_map(|line| {
            let mut words = line.splitn(8, ' ').filter(|word| !word.is_empty()).skip(6);
            let (inode, path) = (words.next()?, words.next()?);
            (path == name).then(|| inode.to_owned())
        });
        Holder { process: inode.and_then(|inode| owner_of(&format!("socket:[{inode}]"))) }
    }
}

/// The process that has this socket open, as far as we may see.
fn owner_of(link: &str) -> Option<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.find(|process| {
        let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| target == Path::new(link))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn the_second_waits_says_for_whom_and_then_has_the_turn() {
        let name = format!("test-{}", std::process::id());
        let queue = Queue::named(Some(&name)).unwrap();
        let first = queue.try_turn().unwrap().unwrap();
        let us = Holder { process: Some(std::process::id()) };
        assert_eq!(queue.try_turn().unwrap().unwrap_err(), us);
        let other = Queue::named(Some(&format!("{name}-other"))).unwrap();
        assert!(other.try_turn().unwrap().is_ok(), "runs of another queue are not waited for");
        let (told, hear) = channel();
        let second = std::thread::spawn(move || queue.turn(&mut |holder| told.send(holder).unwrap()).unwrap().1);
        assert_eq!(hear.recv_timeout(Duration::from_mins(1)).unwrap(), us);
        drop(first);
        assert_eq!(second.join().unwrap().unwrap().0, us);
    }

    #[test]
    fn a_name_that_the_kernel_does_not_take_is_refused() {
        assert!(Queue::named(Some("")).is_err());
        assert!(Queue::named(Some(&"x".repeat(200))).is_err());
        assert!(Queue::named(Some(&"x".repeat(LONGEST_NAME))).unwrap().try_turn().unwrap().is_ok());
    }
}

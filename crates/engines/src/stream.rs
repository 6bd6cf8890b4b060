//! What carries the bytes between us and a server, never waiting unless told until when.

use crate::remote::Remote;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// A connected socket that does not block.
#[derive(Debug)]
pub enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    pub fn unix(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_nonblocking(true)?;
        Ok(Self::Unix(stream))
    }

    /// Over TCP, to the address that the host's name stands for.
    pub fn tcp(remote: &Remote) -> io::Result<Self> {
        let host = &remote.host;
        let address: IpAddr = remote.address.map_or_else(|| host.parse(), Ok).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{host} is neither a numeric address nor a path"))
        })?;
        let stream = TcpStream::connect_timeout(&SocketAddr::new(address, remote.port), CONNECT_LIMIT)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self::Tcp(stream))
    }

    pub fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(space),
            Self::Tcp(stream) => stream.read(space),
        }
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    /// Waits until the socket can be read or written, or until `deadline`.
    pub fn wait(&self, readiness: PollFlags, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let limit = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::from_borrowed_fd(self.as_fd(), readiness)], Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

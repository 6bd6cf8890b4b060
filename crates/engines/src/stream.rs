//! Carries the bytes between us and a server. Nothing waits without a deadline.

use crate::error::SessionError;
use crate::remote::Remote;
use crate::tls::{Channel, Encryption, end_point};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{
    Timeout, set_socket_keepalive, set_socket_timeout, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use uring::{Line, Ring};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// A dead host is as silent as one that computes. So the kernel sends probes, which only a live host answers.
const SILENT_BEFORE_ASKED: Duration = Duration::from_mins(1);
const ASKED_EVERY: Duration = Duration::from_secs(10);
const UNANSWERED: u32 = 6;

/// A connection, in plain bytes or encrypted.
#[derive(Debug)]
pub enum Stream {
    Plain(Socket),
    Encrypted(Box<Channel>),
}

impl Stream {
    /// Connects over a socket of this machine. A stopped server accepts nobody; once its queue is full, connecting
    /// waits.
    pub fn unix(path: &Path, deadline: Instant) -> io::Result<Self> {
        let socket = unix_socket()?;
        // The kernel limits this wait by the send timeout.
        set_socket_timeout(&socket, Timeout::Send, Some(time_to_connect(deadline)?))?;
        let address = SocketAddrUnix::new(path)?;
        match rustix::io::retry_on_intr(|| rustix::net::connect(&socket, &address)) {
            Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            other => other?,
        }
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(true)?;
        Ok(Self::Plain(Socket::unix(stream)))
    }

    /// Connects over TCP, to the address of the host's name.
    pub fn tcp(remote: &Remote, deadline: Instant) -> io::Result<Self> {
        let host = &remote.host;
        let address: IpAddr = remote.address.map_or_else(|| host.parse(), Ok).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{host} is neither a numeric address nor a path"))
        })?;
        let address = SocketAddr::new(address, remote.port);
        let stream = TcpStream::connect_timeout(&address, time_to_connect(deadline)?)?;
        stream.set_nodelay(true)?;
        set_socket_keepalive(&stream, true)?;
        set_tcp_keepidle(&stream, SILENT_BEFORE_ASKED)?;
        set_tcp_keepintvl(&stream, ASKED_EVERY)?;
        set_tcp_keepcnt(&stream, UNANSWERED)?;
        stream.set_nonblocking(true)?;
        Ok(Self::Plain(Socket::tcp(stream)))
    }

    /// Encrypts every byte from here on. The caller must have read the server's plain answer and no more: plain bytes
    /// that somebody slipped in behind it are then taken for encrypted ones, and refused.
    pub fn encrypt(self, encryption: &Encryption, deadline: Instant) -> Result<Self, SessionError> {
        match self {
            Self::Plain(socket) => Ok(Self::Encrypted(Box::new(Channel::open(socket, encryption, deadline)?))),
            encrypted @ Self::Encrypted(_) => Ok(encrypted),
        }
    }

    /// Whether nobody can listen and the server is the intended one: over a socket of this machine, or with a verified
    /// certificate. Encryption alone does not prove who the peer is.
    pub fn is_trusted(&self) -> bool {
        match self {
            Self::Plain(socket) => socket.is_local,
            Self::Encrypted(channel) => channel.is_vouched_for(),
        }
    }

    /// The value that a password exchange over this connection can be bound to.
    pub fn end_point(&self) -> Option<Vec<u8>> {
        match self {
            Self::Plain(_) => None,
            Self::Encrypted(channel) => end_point(channel.certificate()?),
        }
    }

    pub fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(space),
            Self::Encrypted(channel) => channel.read(space),
        }
    }

    /// Takes some of the bytes. They are sent for certain only when [`Stream::flush`] returns true.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Encrypted(channel) => channel.write(bytes),
        }
    }

    /// Sends buffered bytes as far as the socket takes them now. Returns whether that was all.
    pub fn flush(&mut self) -> io::Result<bool> {
        match self {
            Self::Plain(_) => Ok(true),
            Self::Encrypted(channel) => channel.flush(),
        }
    }

    /// Waits until the socket can be read or written, or until `deadline`.
    pub fn wait(&self, readiness: PollFlags, deadline: Instant) -> io::Result<()> {
        self.socket().wait(readiness, deadline)
    }

    /// From now on its bytes go through the ring.
    pub fn attach(&mut self, ring: &Ring, token: u32) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.attach(ring, token),
            Self::Encrypted(channel) => channel.socket_mut().attach(ring, token),
        }
    }

    fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Encrypted(channel) => channel.socket(),
        }
    }
}

fn unix_socket() -> io::Result<OwnedFd> {
    Ok(rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// The time left until `deadline`, but no more than any server needs to accept.
fn time_to_connect(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now()).min(CONNECT_LIMIT);
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket().as_fd()
    }
}

/// A connected socket that does not block.
#[derive(Debug)]
pub struct Socket {
    /// Its place in the ring of the thread that uses it, once it has one.
    line: Option<Line>,
    descriptor: OwnedFd,
    is_local: bool,
}

impl Socket {
    pub fn unix(stream: UnixStream) -> Self {
        Self { line: None, descriptor: stream.into(), is_local: true }
    }

    pub fn tcp(stream: TcpStream) -> Self {
        Self { line: None, descriptor: stream.into(), is_local: false }
    }

    /// From now on its bytes go through the ring, and the thread must not wait for the socket itself.
    pub fn attach(&mut self, ring: &Ring, token: u32) -> io::Result<()> {
        self.line = Some(ring.attach(self.descriptor.as_fd(), token)?);
        Ok(())
    }

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

/// The kernel keeps the connection for the ring, so closing the descriptor would not end it.
impl Drop for Socket {
    fn drop(&mut self) {
        if self.line.is_some() {
            // It fails only if the connection has ended already.
            let _ = rustix::net::shutdown(&self.descriptor, Shutdown::Both);
        }
    }
}

impl Read for Socket {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match &self.line {
            Some(line) => line.receive(space),
            None => receive(&self.descriptor, space),
        }
    }
}

/// The bare system calls: the C library's versions do more, because they let a thread be cancelled in them.
fn receive(socket: impl AsFd, space: &mut [u8]) -> io::Result<usize> {
    let (count, _) = rustix::net::recv(socket, space, RecvFlags::empty())?;
    Ok(count)
}

fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)?)
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.line {
            Some(line) => line.send(bytes),
            None => send(&self.descriptor, bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_socket_whose_server_accepts_nobody_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        // From here on, only one connection may wait to be accepted.
        rustix::net::listen(&listener, 0).unwrap();
        let open = || Stream::unix(&path, Instant::now() + Duration::from_millis(50));
        let first = open().unwrap();
        assert_eq!(open().unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop((first, listener));
        assert_eq!(open().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(
            Stream::unix(&folder.path().join("none"), Instant::now() + CONNECT_LIMIT).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}

//! A connection to a PostgreSQL server: bytes out, bytes in, never waiting unless told for how long.

use super::decode::{Incoming, Malformed, Message};
use crate::server::Endpoint;
use crate::session::SessionError;
use bytes::BytesMut;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// What carries the bytes.
#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn open(host: &str, port: u16) -> io::Result<Self> {
        if host.starts_with('/') {
            let stream = UnixStream::connect(Path::new(host).join(format!(".s.PGSQL.{port}")))?;
            stream.set_nonblocking(true)?;
            return Ok(Self::Unix(stream));
        }
        let address: IpAddr = host.parse().map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{host} is neither a numeric address nor a folder"))
        })?;
        let stream = TcpStream::connect_timeout(&SocketAddr::new(address, port), CONNECT_LIMIT)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self::Tcp(stream))
    }

    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(space),
            Self::Tcp(stream) => stream.read(space),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

/// A stream with what is still to be sent and what is still to be read.
#[derive(Debug)]
pub struct Wire {
    stream: Stream,
    /// Messages are appended here; the first `sent` bytes are gone already.
    outgoing: BytesMut,
    sent: usize,
    incoming: Incoming,
}

impl Wire {
    pub fn open(endpoint: &Endpoint) -> Result<Self, SessionError> {
        let Endpoint::Postgres { host, port, .. } = endpoint else {
            return Err(SessionError::Protocol("the endpoint is not PostgreSQL's".to_owned()));
        };
        let stream = Stream::open(host, *port).map_err(SessionError::Lost)?;
        Ok(Self { stream, outgoing: BytesMut::new(), sent: 0, incoming: Incoming::default() })
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Where messages are appended.
    pub fn outgoing(&mut self) -> &mut BytesMut {
        &mut self.outgoing
    }

    /// The next message among the bytes that have arrived.
    pub fn next(&mut self) -> Result<Option<Message<'_>>, Malformed> {
        self.incoming.next()
    }

    /// Sends as much as the socket takes now; whether that was all.
    pub fn send(&mut self) -> io::Result<bool> {
        while self.sent < self.outgoing.len() {
            match self.stream.write(&self.outgoing[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.outgoing.clear();
        self.sent = 0;
        Ok(true)
    }

    /// Takes what has arrived; false if nothing has. The end of the stream is an error.
    pub fn receive(&mut self) -> io::Result<bool> {
        loop {
            match self.stream.read(self.incoming.space()) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.incoming.arrived(count);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends everything, waiting for the socket until `deadline`.
    pub fn send_all(&mut self, deadline: Instant) -> io::Result<()> {
        while !self.send()? {
            self.wait(PollFlags::OUT, deadline)?;
        }
        Ok(())
    }

    /// Receives something, waiting for it until `deadline`.
    pub fn receive_some(&mut self, deadline: Instant) -> io::Result<()> {
        while !self.receive()? {
            self.wait(PollFlags::IN, deadline)?;
        }
        Ok(())
    }

    fn wait(&self, readiness: PollFlags, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let limit = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::from_borrowed_fd(self.stream.as_fd(), readiness)], Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

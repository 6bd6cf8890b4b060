//! A connection to a server, whatever its protocol: it sends and receives frames, and waits only with a deadline.

use crate::error::SessionError;
use crate::limit::{ReplyLimit, too_long};
use crate::stream::Stream;
use crate::tls::Encryption;
use bytes::BytesMut;
use rustix::event::PollFlags;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;
use uring::Ring;

/// Holds the answers to most statements without growing.
const INITIAL_BUFFER: usize = 16 << 10;

/// Why the server's bytes are not read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Malformed {
    what: String,
    /// They follow the protocol, and are more than we take.
    is_too_large: bool,
}

impl Malformed {
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), is_too_large: false }
    }

    pub fn too_large(what: impl Into<String>) -> Self {
        Self { what: what.into(), is_too_large: true }
    }
}

impl From<Malformed> for SessionError {
    fn from(error: Malformed) -> Self {
        if error.is_too_large { Self::TooLarge(error.what) } else { Self::Protocol(error.what) }
    }
}

/// How a protocol divides its bytes.
pub trait Framing {
    /// A packet or message, read in place.
    type Frame<'a>;
    /// What both sides agreed on at login.
    type Agreed: Default;

    /// The first frame and its length in bytes, if it has arrived completely.
    fn first(waiting: &[u8]) -> Result<Option<(Self::Frame<'_>, usize)>, Malformed>;
}

/// Bytes that have arrived and are not yet read as frames.
#[derive(Debug)]
pub struct Incoming<F> {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    framing: PhantomData<F>,
}

impl<F> Default for Incoming<F> {
    fn default() -> Self {
        Self { bytes: vec![0; INITIAL_BUFFER], start: 0, end: 0, framing: PhantomData }
    }
}

impl<F: Framing> Incoming<F> {
    /// Space for the next bytes; never empty. [`Incoming::arrived`] hears how many were written.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        &mut self.bytes[self.end..]
    }

    pub fn arrived(&mut self, count: usize) {
        self.end += count;
    }

    /// The next frame, if it has arrived completely.
    pub fn next(&mut self) -> Result<Option<F::Frame<'_>>, Malformed> {
        let Some((frame, length)) = F::first(&self.bytes[self.start..self.end])? else { return Ok(None) };
        self.start += length;
        Ok(Some(frame))
    }
}

/// A stream with the bytes still to be sent and still to be read.
#[derive(Debug)]
pub struct Wire<F: Framing> {
    stream: Stream,
    /// Frames are appended here; the first `sent` bytes are already sent.
    outgoing: BytesMut,
    sent: usize,
    incoming: Incoming<F>,
    /// How many more bytes may be received, and how many there were at first.
    left_bytes: u64,
    most_bytes: u64,
    pub agreed: F::Agreed,
}

impl<F: Framing> Wire<F> {
    pub fn over(stream: Stream) -> Self {
        let (incoming, agreed) = (Incoming::default(), F::Agreed::default());
        let most_bytes = ReplyLimit::LOGIN_BYTES;
        Self { stream, outgoing: BytesMut::new(), sent: 0, incoming, left_bytes: most_bytes, most_bytes, agreed }
    }

    /// Encrypts every byte from here on.
    pub fn encrypt(self, encryption: &Encryption, deadline: Instant) -> Result<Self, SessionError> {
        if self.incoming.start != self.incoming.end {
            // Somebody in between could have slipped it in, to be read as if it had come encrypted.
            return Err(SessionError::Protocol("the server speaks out of turn".to_owned()));
        }
        Ok(Self { stream: self.stream.encrypt(encryption, deadline)?, ..self })
    }

    /// Whether the password itself may be sent over it.
    pub fn is_trusted(&self) -> bool {
        self.stream.is_trusted()
    }

    /// Allows receiving this many more bytes; further ones are an error.
    pub fn expect_at_most(&mut self, bytes: u64) {
        (self.left_bytes, self.most_bytes) = (bytes, bytes);
    }

    /// The value that a password exchange can be bound to; `None` if the stream is not encrypted.
    pub fn end_point(&self) -> Option<Vec<u8>> {
        self.stream.end_point()
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    pub fn attach(&mut self, ring: &Ring, token: u32) -> io::Result<()> {
        self.stream.attach(ring, token)
    }

    /// Where frames are appended.
    pub fn outgoing(&mut self) -> &mut BytesMut {
        &mut self.outgoing
    }

    /// The next frame among the bytes that have arrived.
    pub fn next(&mut self) -> Result<Option<F::Frame<'_>>, Malformed> {
        self.incoming.next()
    }

    /// The next frame, and the buffer for the answer to it.
    pub fn next_and_outgoing(&mut self) -> Result<Option<(F::Frame<'_>, &mut BytesMut)>, Malformed> {
        Ok(self.incoming.next()?.map(|frame| (frame, &mut self.outgoing)))
    }

    /// Sends as much as the socket takes now. Returns whether that was all.
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
        self.stream.flush()
    }

    /// Takes bytes that have arrived; false if there are none. The end of the stream and exceeding the limit are errors.
    pub fn receive(&mut self) -> io::Result<bool> {
        loop {
            match self.stream.read(self.incoming.space()) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    let Some(left) = self.left_bytes.checked_sub(count as u64) else {
                        return Err(too_long(&format!("{} MiB", self.most_bytes >> 20)));
                    };
                    self.left_bytes = left;
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
            self.stream.wait(PollFlags::OUT, deadline)?;
        }
        Ok(())
    }

    /// Receives some bytes and meanwhile sends what is left to send, so that neither side blocks the other. The
    /// deadline also limits a server that never stops sending.
    pub fn receive_some(&mut self, deadline: Instant) -> io::Result<()> {
        loop {
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let all_sent = self.send()?;
            if self.receive()? {
                return Ok(());
            }
            let readiness = if all_sent { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
            self.stream.wait(readiness, deadline)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Socket;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    /// Frames of one byte.
    #[derive(Debug)]
    struct Bytes;

    impl Framing for Bytes {
        type Frame<'a> = u8;
        type Agreed = ();

        fn first(waiting: &[u8]) -> Result<Option<(u8, usize)>, Malformed> {
            Ok(waiting.first().map(|byte| (*byte, 1)))
        }
    }

    fn wire() -> (Wire<Bytes>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        (Wire::over(Stream::Plain(Socket::unix(ours))), theirs)
    }

    /// Reads until an error occurs, which must happen.
    fn end_of(wire: &mut Wire<Bytes>, limit: Duration) -> io::Error {
        let deadline = Instant::now() + limit;
        loop {
            while wire.next().unwrap().is_some() {}
            if let Err(error) = wire.receive_some(deadline) {
                return error;
            }
        }
    }

    const SHORT: Duration = Duration::from_millis(50);

    #[test]
    fn a_silent_server_is_given_up() {
        let (mut wire, server) = wire();
        assert_eq!(end_of(&mut wire, SHORT).kind(), io::ErrorKind::TimedOut);
        drop(server);
    }

    #[test]
    fn a_server_that_never_stops_talking_is_given_up_as_well() {
        let (mut wire, mut server) = wire();
        wire.expect_at_most(u64::MAX);
        let talking = std::thread::spawn(move || while server.write_all(&[7; 4096]).is_ok() {});
        assert_eq!(end_of(&mut wire, SHORT).kind(), io::ErrorKind::TimedOut);
        drop(wire);
        talking.join().unwrap();
    }

    #[test]
    fn more_than_is_expected_is_an_error() {
        let (mut wire, mut server) = wire();
        wire.expect_at_most(1 << 20);
        let talking = std::thread::spawn(move || while server.write_all(&[7; 4096]).is_ok() {});
        let error = end_of(&mut wire, Duration::from_mins(1));
        assert!(error.to_string().contains("longer than 1 MiB"), "{error}");
        drop(wire);
        talking.join().unwrap();
    }

    #[test]
    fn both_sides_may_have_much_to_say_at_the_same_time() {
        const MUCH: usize = 4 << 20;
        let (mut wire, mut server) = wire();
        wire.expect_at_most(u64::MAX);
        wire.outgoing().resize(MUCH, 7);
        // The peer reads nothing until all its own bytes are taken.
        let talking = std::thread::spawn(move || {
            server.write_all(&vec![7; MUCH]).unwrap();
            let mut heard = vec![0; MUCH];
            io::Read::read_exact(&mut server, &mut heard).unwrap();
            server.write_all(&[8]).unwrap();
        });
        let deadline = Instant::now() + Duration::from_mins(1);
        let mut last = None;
        while last != Some(8) {
            wire.receive_some(deadline).unwrap();
            while let Some(byte) = wire.next().unwrap() {
                last = Some(byte);
            }
        }
        talking.join().unwrap();
    }
}

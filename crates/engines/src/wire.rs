//! A connection to a server, whatever its protocol: frames out, frames in, never waiting unless told for how long.

use crate::session::SessionError;
use crate::stream::Stream;
use crate::tls::Encryption;
use bytes::BytesMut;
use rustix::event::PollFlags;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

/// Room for the answers to most statements without growing.
const INITIAL_BUFFER: usize = 16 << 10;

/// What makes no sense in the server's bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl Malformed {
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl From<Malformed> for SessionError {
    fn from(error: Malformed) -> Self {
        Self::Protocol(error.to_string())
    }
}

/// How a protocol divides its bytes.
pub trait Framing {
    /// A packet or message, read in place.
    type Frame<'a>;
    /// What both sides agreed on when they met.
    type Agreed: Default;

    /// The first frame and how many bytes it takes, if all of it is there.
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
    /// Where the next bytes go; never empty. [`Incoming::arrived`] says how many came.
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

    /// The next frame, if all of it is there.
    pub fn next(&mut self) -> Result<Option<F::Frame<'_>>, Malformed> {
        let Some((frame, length)) = F::first(&self.bytes[self.start..self.end])? else { return Ok(None) };
        self.start += length;
        Ok(Some(frame))
    }
}

/// A stream with what is still to be sent and what is still to be read.
#[derive(Debug)]
pub struct Wire<F: Framing> {
    stream: Stream,
    /// Frames are appended here; the first `sent` bytes are gone already.
    outgoing: BytesMut,
    sent: usize,
    incoming: Incoming<F>,
    pub agreed: F::Agreed,
}

impl<F: Framing> Wire<F> {
    pub fn over(stream: Stream) -> Self {
        let (incoming, agreed) = (Incoming::default(), F::Agreed::default());
        Self { stream, outgoing: BytesMut::new(), sent: 0, incoming, agreed }
    }

    /// From here on every byte is encrypted.
    pub fn encrypt(self, encryption: &Encryption, deadline: Instant) -> Result<Self, SessionError> {
        if self.incoming.start != self.incoming.end {
            // Somebody between could have slipped it in, to be read as if it had come encrypted.
            return Err(SessionError::Protocol("the server speaks out of turn".to_owned()));
        }
        Ok(Self { stream: self.stream.encrypt(encryption, deadline)?, ..self })
    }

    /// What a password exchange can be bound to; `None` if the stream is not encrypted.
    pub fn end_point(&self) -> Option<Vec<u8>> {
        self.stream.end_point()
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Where frames are appended.
    pub fn outgoing(&mut self) -> &mut BytesMut {
        &mut self.outgoing
    }

    /// The next frame among the bytes that have arrived.
    pub fn next(&mut self) -> Result<Option<F::Frame<'_>>, Malformed> {
        self.incoming.next()
    }

    /// The next frame, and where the answer to it goes.
    pub fn next_and_outgoing(&mut self) -> Result<Option<(F::Frame<'_>, &mut BytesMut)>, Malformed> {
        Ok(self.incoming.next()?.map(|frame| (frame, &mut self.outgoing)))
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
        self.stream.flush()
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
            self.stream.wait(PollFlags::OUT, deadline)?;
        }
        Ok(())
    }

    /// Receives something, waiting for it until `deadline`.
    pub fn receive_some(&mut self, deadline: Instant) -> io::Result<()> {
        while !self.receive()? {
            self.stream.wait(PollFlags::IN, deadline)?;
        }
        Ok(())
    }
}

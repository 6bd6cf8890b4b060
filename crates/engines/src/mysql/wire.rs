//! A connection to a server: packets out, packets in, never waiting unless told for how long.

use super::packet::{Incoming, Malformed, Packet, put};
use super::reply::Features;
use crate::remote::Remote;
use crate::session::SessionError;
use crate::stream::Stream;
use crate::tls::Encryption;
use bytes::{BufMut, BytesMut};
use rustix::event::PollFlags;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Instant;

/// A stream with what is still to be sent and what is still to be read.
#[derive(Debug)]
pub struct Wire {
    stream: Stream,
    /// Packets are appended here; the first `sent` bytes are gone already.
    outgoing: BytesMut,
    sent: usize,
    incoming: Incoming,
    pub features: Features,
}

impl Wire {
    pub fn open(remote: &Remote) -> io::Result<Self> {
        let stream = if remote.is_local_socket() { Stream::unix(Path::new(&remote.host)) } else { Stream::tcp(remote) };
        let incoming = Incoming::default();
        Ok(Self { stream: stream?, outgoing: BytesMut::new(), sent: 0, incoming, features: Features::default() })
    }

    /// From here on every byte is encrypted.
    pub fn encrypt(self, encryption: &Encryption, deadline: Instant) -> Result<Self, SessionError> {
        if !self.incoming.is_empty() {
            // Somebody between could have slipped it in, to be read as if it had come encrypted.
            return Err(SessionError::Protocol("the server speaks out of turn".to_owned()));
        }
        Ok(Self { stream: self.stream.encrypt(encryption, deadline)?, ..self })
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Where packets are appended.
    pub fn outgoing(&mut self) -> &mut BytesMut {
        &mut self.outgoing
    }

    /// Appends a command that is a text.
    pub fn command(&mut self, command: u8, text: &str) -> Result<(), Malformed> {
        put(&mut self.outgoing, 0, |out| {
            out.put_u8(command);
            out.put_slice(text.as_bytes());
        })
    }

    /// The next packet among the bytes that have arrived.
    pub fn next(&mut self) -> Result<Option<Packet<'_>>, Malformed> {
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

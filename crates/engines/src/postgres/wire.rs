//! A connection to a PostgreSQL server: bytes out, bytes in, never waiting unless told for how long.

use super::decode::{Incoming, Malformed, Message};
use crate::remote::Remote;
use crate::session::SessionError;
use crate::stream::Stream;
use crate::tls::Encryption;
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustix::event::PollFlags;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Instant;

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
    pub fn open(remote: &Remote, encryption: Option<&Encryption>, deadline: Instant) -> Result<Self, SessionError> {
        let stream = if remote.is_local_socket() {
            Stream::unix(&Path::new(&remote.host).join(format!(".s.PGSQL.{}", remote.port)))
        } else {
            Stream::tcp(remote)
        };
        let mut stream = stream.map_err(SessionError::Lost)?;
        if let Some(encryption) = encryption {
            stream = encrypt(stream, encryption, deadline)?;
        }
        Ok(Self { stream, outgoing: BytesMut::new(), sent: 0, incoming: Incoming::default() })
    }

    /// What a password exchange can be bound to; `None` if the stream is not encrypted.
    pub fn end_point(&self) -> Option<Vec<u8>> {
        self.stream.end_point()
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

    /// The next message, and where the answer to it goes.
    pub fn next_and_outgoing(&mut self) -> Result<Option<(Message<'_>, &mut BytesMut)>, Malformed> {
        Ok(self.incoming.next()?.map(|message| (message, &mut self.outgoing)))
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

/// Asks the server to encrypt, and does so if it can.
fn encrypt(mut stream: Stream, encryption: &Encryption, deadline: Instant) -> Result<Stream, SessionError> {
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    // A new socket takes these eight bytes at once.
    stream.write(&request).map_err(SessionError::Lost)?;
    match answer_byte(&mut stream, deadline).map_err(SessionError::Lost)? {
        b'S' => stream.encrypt(encryption, deadline),
        b'N' if !encryption.required => Ok(stream),
        b'N' => Err(SessionError::Insecure { why: "the server does not encrypt connections".to_owned() }),
        _ => Err(SessionError::Insecure { why: "the server does not understand the request to encrypt".to_owned() }),
    }
}

/// One byte and no more: what follows belongs to the encrypted stream.
fn answer_byte(stream: &mut Stream, deadline: Instant) -> io::Result<u8> {
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => return Ok(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.wait(PollFlags::IN, deadline)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

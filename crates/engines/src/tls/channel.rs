//! One encrypted connection: plain bytes on our side, records on the socket's. Once open, it never waits.

use super::{Encryption, Insecure};
use crate::error::SessionError;
use crate::stream::Socket;
use rustix::event::PollFlags;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConnection, Error};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Instant;

#[derive(Debug)]
pub struct Channel {
    socket: Socket,
    connection: ClientConnection,
    is_vouched_for: bool,
}

impl Channel {
    /// Connects and completes the handshake before `deadline`.
    pub fn open(socket: Socket, encryption: &Encryption, deadline: Instant) -> Result<Self, SessionError> {
        let connection = ClientConnection::new(Arc::clone(&encryption.config), encryption.server.clone())
            .map_err(|error| Insecure(error.to_string()))?;
        let mut channel = Self { socket, connection, is_vouched_for: encryption.vouches };
        while channel.connection.is_handshaking() {
            channel.step(deadline).map_err(|error| explained(error, encryption))?;
        }
        Ok(channel)
    }

    fn step(&mut self, deadline: Instant) -> io::Result<()> {
        // The deadline also limits a server that never stops sending.
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if !self.flush()? {
            return self.socket.wait(PollFlags::OUT, deadline);
        }
        match self.take_records() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.socket.wait(PollFlags::IN, deadline),
            // The alert shows the server why, before we hang up.
            Err(error) => {
                let _ = self.flush();
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    /// The certificate that the server presented.
    pub fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.connection.peer_certificates()?.first()
    }

    /// Whether the server was verified to be the intended one.
    pub fn is_vouched_for(&self) -> bool {
        self.is_vouched_for
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    pub fn socket_mut(&mut self) -> &mut Socket {
        &mut self.socket
    }

    pub fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(space) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.take_records()?,
                other => return other,
            }
        }
    }

    /// Takes as many bytes as there is space for; [`Channel::flush`] sends them.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.connection.writer().write(bytes)
    }

    /// Sends as many records as the socket takes now. Returns whether those were all.
    pub fn flush(&mut self) -> io::Result<bool> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.socket) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn take_records(&mut self) -> io::Result<()> {
        if self.connection.read_tls(&mut self.socket)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let processed = self.connection.process_new_packets();
        processed.map(|_| ()).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// An error in words that say what to do about it.
fn explained(error: io::Error, encryption: &Encryption) -> SessionError {
    let Some(cause) = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>()) else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                Insecure("the server hung up while the encryption was agreed on".to_owned()).into()
            }
            _ => SessionError::Lost(error),
        };
    };
    Insecure(trust::told(&encryption.server.to_str(), cause, "name the file of its authority")).into()
}

//! A connection to a PostgreSQL server, encrypted if asked for, before the login.

use super::decode::Messages;
use crate::remote::Remote;
use crate::session::SessionError;
use crate::stream::Stream;
use crate::tls::Encryption;
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustix::event::PollFlags;
use std::io;
use std::path::Path;
use std::time::Instant;

pub type PostgresWire = crate::wire::Wire<Messages>;

pub fn open(remote: &Remote, encryption: Option<&Encryption>, deadline: Instant) -> Result<PostgresWire, SessionError> {
    let stream = if remote.is_local_socket() {
        Stream::unix(&Path::new(&remote.host).join(format!(".s.PGSQL.{}", remote.port)), deadline)
    } else {
        Stream::tcp(remote, deadline)
    };
    let mut stream = stream.map_err(SessionError::Lost)?;
    if let Some(encryption) = encryption {
        stream = encrypt(stream, encryption, deadline)?;
    }
    Ok(PostgresWire::over(stream))
}

/// Asks the server to encrypt, and encrypts if it can.
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

/// Reads one byte and no more: later bytes belong to the encrypted stream.
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

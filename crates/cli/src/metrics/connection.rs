//! One connection that never waits: it reads a request, writes the answer, and reads the rest of what the other side sends.

use super::request::{HostNames, Method, Received, received, refusal};
use rustix::event::PollFlags;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// How much is read at once.
const CHUNK_BYTES: usize = 2 * 1024;
/// How much is read after a request. Closing a connection with unread data would make the other side lose the answer.
const MOST_UNHEARD_BYTES: usize = 1024 * 1024;

pub struct ScrapeConnection {
    pub stream: TcpStream,
    /// The connection ends by then, however slowly the other side reads or writes.
    pub deadline: Instant,
    /// The host names that a request may use for us.
    names: HostNames,
    state: ConnectionState,
}

enum ConnectionState {
    Reading(Vec<u8>),
    Writing { answer: Vec<u8>, written: usize },
    HearingOut { bytes: usize },
}

/// Whether a connection is still needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterReply {
    Waits,
    Ends,
}

impl ScrapeConnection {
    pub fn new(stream: TcpStream, names: HostNames, deadline: Instant) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, deadline, names, state: ConnectionState::Reading(Vec::new()) })
    }

    /// The events it waits for.
    pub fn interest(&self) -> PollFlags {
        match self.state {
            ConnectionState::Reading(_) | ConnectionState::HearingOut { .. } => PollFlags::IN,
            ConnectionState::Writing { .. } => PollFlags::OUT,
        }
    }

    /// Continues as far as possible without waiting.
    pub fn go_on(&mut self, answer: &dyn Fn(Method) -> Vec<u8>) -> AfterReply {
        loop {
            let step = match &mut self.state {
                ConnectionState::Reading(bytes) => read(&mut self.stream, bytes, self.names, answer),
                ConnectionState::Writing { answer, written } => write(&mut self.stream, answer, written),
                ConnectionState::HearingOut { bytes } => hear_out(&mut self.stream, bytes),
            };
            match step {
                Ok(Some(state)) => self.state = state,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return AfterReply::Waits,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // It ended normally, or the other side has gone and nobody can be answered.
                Ok(None) | Err(_) => return AfterReply::Ends,
            }
        }
    }
}

/// The next state; `None` at the end.
type ConnectionStep = std::io::Result<Option<ConnectionState>>;

fn read(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    names: HostNames,
    answer: &dyn Fn(Method) -> Vec<u8>,
) -> ConnectionStep {
    loop {
        let mut chunk = [0; CHUNK_BYTES];
        let length = stream.read(&mut chunk)?;
        if length == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..length]);
        let answer = match received(bytes, names) {
            Received::Part => continue,
            Received::Asked(method) => answer(method),
            Received::Refused(why) => refusal(why),
        };
        return Ok(Some(ConnectionState::Writing { answer, written: 0 }));
    }
}

fn write(stream: &mut TcpStream, answer: &[u8], written: &mut usize) -> ConnectionStep {
    while *written < answer.len() {
        *written += stream.write(&answer[*written..])?;
    }
    stream.shutdown(Shutdown::Write)?;
    Ok(Some(ConnectionState::HearingOut { bytes: 0 }))
}

fn hear_out(stream: &mut TcpStream, bytes: &mut usize) -> ConnectionStep {
    let mut chunk = [0; CHUNK_BYTES];
    while *bytes <= MOST_UNHEARD_BYTES {
        match stream.read(&mut chunk)? {
            0 => return Ok(None),
            length => *bytes += length,
        }
    }
    Ok(None)
}

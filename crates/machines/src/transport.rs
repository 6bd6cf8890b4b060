//! The ways from a conductor to its agent: inherited streams, or a TCP connection.
//!
//! A pipe is any pair of streams that was set up when the agent was started: its standard input and output, a guest's
//! virtio port, or the system's `ssh`. Nobody else holds its ends, so nothing is proved. An address is open to any
//! caller. There both sides first greet each other and prove that they have the token that both were given
//! ([`crate::token`]); nothing else is read before. The rest is as on a pipe and not encrypted: over a foreign network,
//! use a pipe through `ssh`.
//!
//! ```text
//! agent      greeting, a number drawn for this conversation
//! conductor  greeting, another number, proof of the token
//! agent      proof of the token, or why the conductor is refused
//! ```

use crate::frame::{Greeting, PROTOCOL, read_body_within, write_frame};
use crate::link::{AgentLink, LinkError};
use crate::ready::UntilDeadline;
use crate::token::{Nonce, Proof, ProofSide, Token, random_bytes};
use rustix::net::sockopt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// No message before the proof is longer.
const LONGEST_GREETING: usize = 512;
/// Pause between two attempts to reach an agent that may still be starting.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(20);
/// A peer whose machine is gone sends nothing, not even an end. After this silence TCP keepalive probes it, `ASK_TIMES` times.
const IDLE: Duration = Duration::from_secs(30);
const ASK_INTERVAL: Duration = Duration::from_secs(10);
const ASK_TIMES: u32 = 6;

/// How an agent is reached.
pub enum Transport {
    Pipe { read: Box<dyn Read + Send>, write: Box<dyn Write + Send> },
    Tcp { address: SocketAddr, token: Token },
}

/// An agent's first message at an address.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Challenge {
    #[serde(flatten)]
    pub(crate) greeting: Greeting,
    pub(crate) challenge: Nonce,
}

/// A conductor's answer to it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Introduction {
    #[serde(flatten)]
    pub(crate) greeting: Greeting,
    pub(crate) challenge: Nonce,
    pub(crate) proof: Proof,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TransportVerdict {
    Accepted { proof: Proof },
    Refused { why: String },
}

impl Transport {
    pub fn pipe(read: impl Read + Send + 'static, write: impl Write + Send + 'static) -> Self {
        Self::Pipe { read: Box::new(read), write: Box::new(write) }
    }

    /// Waits for the greeting of the agent, which may still be starting. An agent of another protocol is refused.
    pub fn connect(self, limit: Duration) -> Result<AgentLink, LinkError> {
        let deadline = Instant::now() + limit;
        let mut link = match self {
            Self::Pipe { read, write } => AgentLink::new(read, write),
            Self::Tcp { address, token } => {
                let stream = reach(address, deadline).map_err(|source| LinkError::NotReached { address, source })?;
                introduce(&stream, &token, deadline).map_err(|error| error.if_too_slow(limit))?;
                AgentLink::new(stream.try_clone()?, HangsUp(stream))
            }
        };
        link.greeting(deadline.saturating_duration_since(Instant::now())).map_err(|error| match error {
            LinkError::TooSlow(_) => LinkError::TooSlow(limit),
            other => other,
        })?;
        Ok(link)
    }
}

/// The writing end of a connection. Dropping it shuts down both directions: a thread that still reads from it sees the
/// end, and so does the peer.
pub struct HangsUp(pub(crate) TcpStream);

impl Write for HangsUp {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for HangsUp {
    fn drop(&mut self) {
        // It fails only if the connection is already closed.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

fn reach(address: SocketAddr, deadline: Instant) -> io::Result<TcpStream> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match TcpStream::connect_timeout(&address, left.max(ATTEMPT_INTERVAL)) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused && left > ATTEMPT_INTERVAL => {
                std::thread::sleep(ATTEMPT_INTERVAL);
            }
            Err(error) => return Err(error),
            Ok(stream) => return prepared(stream),
        }
    }
}

pub(crate) fn prepared(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(&stream, true)?;
    sockopt::set_tcp_keepidle(&stream, IDLE)?;
    sockopt::set_tcp_keepintvl(&stream, ASK_INTERVAL)?;
    sockopt::set_tcp_keepcnt(&stream, ASK_TIMES)?;
    Ok(stream)
}

/// The conductor's part of the greeting.
fn introduce(stream: &TcpStream, token: &Token, deadline: Instant) -> Result<(), LinkError> {
    let hear = || short_frame(stream, deadline)?.ok_or(LinkError::Closed);
    let Challenge { greeting, challenge: agents } = understood(&hear()?)?;
    if greeting.protocol != PROTOCOL {
        return Err(LinkError::OtherVersion { ours: Greeting::ours(), theirs: greeting });
    }
    let ours: Nonce = random_bytes()?;
    let proof = token.proof(ProofSide::Conductor, &agents, &ours);
    write_frame(&mut &*stream, &Introduction { greeting: Greeting::ours(), challenge: ours, proof })?;
    match understood(&hear()?)? {
        TransportVerdict::Accepted { proof } if token.is_proved(ProofSide::Agent, &agents, &ours, &proof) => Ok(()),
        TransportVerdict::Accepted { .. } => Err(LinkError::Unproved),
        TransportVerdict::Refused { why } => Err(LinkError::Refused(why)),
    }
}

fn understood<T: DeserializeOwned>(body: &[u8]) -> Result<T, LinkError> {
    serde_json::from_slice(body).map_err(|error| LinkError::Unexpected(error.to_string()))
}

/// Reads the text of a frame from a peer that has proved nothing yet.
pub(crate) fn short_frame(stream: &TcpStream, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
    read_body_within(&mut UntilDeadline { read: stream, deadline, interrupts: None }, LONGEST_GREETING)
}

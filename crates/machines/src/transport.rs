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
use crate::ready::{Until, becomes_ready};
use crate::token::{Nonce, Proof, Side, Token, random_bytes};
use rustix::net::sockopt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// No message before the proof is longer.
const LONGEST_GREETING: usize = 512;
/// Pause between two attempts to reach an agent that may still be starting.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(20);
/// A peer whose machine is gone sends nothing, not even an end. After this silence TCP keepalive probes it, `ASK_TIMES` times.
const IDLE: Duration = Duration::from_secs(30);
const ASK_INTERVAL: Duration = Duration::from_secs(10);
const ASK_TIMES: u32 = 6;

/// The text before the address that an agent prints.
pub const LISTENS_AT: &str = "the agent listens at ";

/// How an agent is reached.
pub enum Transport {
    Pipe { read: Box<dyn Read + Send>, write: Box<dyn Write + Send> },
    Tcp { address: SocketAddr, token: Token },
}

/// An agent's first message at an address.
#[derive(Debug, Serialize, Deserialize)]
struct Challenge {
    #[serde(flatten)]
    greeting: Greeting,
    challenge: Nonce,
}

/// A conductor's answer to it.
#[derive(Debug, Serialize, Deserialize)]
struct Introduction {
    #[serde(flatten)]
    greeting: Greeting,
    challenge: Nonce,
    proof: Proof,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
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
pub struct HangsUp(TcpStream);

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

fn prepared(stream: TcpStream) -> io::Result<TcpStream> {
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
    let proof = token.proof(Side::Conductor, &agents, &ours);
    write_frame(&mut &*stream, &Introduction { greeting: Greeting::ours(), challenge: ours, proof })?;
    match understood(&hear()?)? {
        Verdict::Accepted { proof } if token.is_proved(Side::Agent, &agents, &ours, &proof) => Ok(()),
        Verdict::Accepted { .. } => Err(LinkError::Unproved),
        Verdict::Refused { why } => Err(LinkError::Refused(why)),
    }
}

fn understood<T: DeserializeOwned>(body: &[u8]) -> Result<T, LinkError> {
    serde_json::from_slice(body).map_err(|error| LinkError::Unexpected(error.to_string()))
}

/// How long a listening agent waits.
#[derive(Debug, Clone, Copy)]
struct ListenLimits {
    /// Limit for a conductor to come.
    conductor: Duration,
    /// Limit for the proof, after a connection.
    proof: Duration,
}

impl Default for ListenLimits {
    fn default() -> Self {
        // A proof takes one round trip. A conductor comes once its machines are up.
        Self { conductor: Duration::from_mins(10), proof: Duration::from_secs(5) }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("{doing} {address}: {source}")]
    Io { doing: &'static str, address: SocketAddr, source: io::Error },
    #[error("no conductor came to {address} within {} s", .limit.as_secs())]
    Nobody { address: SocketAddr, limit: Duration },
}

/// For an agent: listens at an address, reports it to `tell`, and waits for the one conductor that it serves. Port 0
/// stands for a free one.
pub fn listen(
    address: SocketAddr,
    token: Token,
    tell: &mut dyn FnMut(&str),
) -> Result<(TcpStream, HangsUp), ListenError> {
    let listener = Listener::bind(address, token)?;
    tell(&format!("{LISTENS_AT}{}", listener.address));
    listener.conductor(ListenLimits::default(), tell)
}

/// Why a caller is not accepted as our conductor.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("it did not prove within {} s that it has the token", .0.as_secs())]
    Silent(Duration),
    #[error("it hung up without proving that it has the token")]
    HungUp,
    #[error("what it says is no proof of the token: {0}")]
    NoProof(String),
    #[error("it has another token")]
    OtherToken,
    #[error("a conductor of another protocol: it is {theirs}, we are {ours}")]
    OtherProtocol { ours: Greeting, theirs: Greeting },
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
}

/// An agent's place at an address, for one conductor.
struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    token: Token,
}

impl Listener {
    fn bind(address: SocketAddr, token: Token) -> Result<Self, ListenError> {
        let listen = || {
            let socket = TcpListener::bind(address)?;
            // A caller that hangs up before being accepted must not make `accept` block.
            socket.set_nonblocking(true)?;
            Ok((socket.local_addr()?, socket))
        };
        let (address, socket) =
            listen().map_err(|source| ListenError::Io { doing: "listening at", address, source })?;
        Ok(Self { socket, address, token })
    }

    /// Reading and writing end of the connection to the first caller that proves the token. Nobody can connect after
    /// that. `tell` gets each refusal.
    fn conductor(self, limits: ListenLimits, tell: &mut dyn FnMut(&str)) -> Result<(TcpStream, HangsUp), ListenError> {
        let failing = |source| ListenError::Io { doing: "accepting a conductor at", address: self.address, source };
        let deadline = Instant::now() + limits.conductor;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !becomes_ready(&self.socket, left).map_err(failing)? {
                return Err(ListenError::Nobody { address: self.address, limit: limits.conductor });
            }
            let (stream, peer) = match self.socket.accept() {
                // The caller hung up before being accepted.
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionAborted) => continue,
                accepted => accepted.map_err(failing)?,
            };
            match prepared(stream).map_err(Refusal::from).and_then(|stream| self.proved(stream, limits.proof)) {
                Ok(stream) => return Ok((stream.try_clone().map_err(failing)?, HangsUp(stream))),
                Err(refusal) => tell(&format!("refused {peer}: {refusal}")),
            }
        }
    }

    /// The agent's part of the greeting.
    fn proved(&self, stream: TcpStream, limit: Duration) -> Result<TcpStream, Refusal> {
        let deadline = Instant::now() + limit;
        let challenge: Nonce = random_bytes()?;
        write_frame(&mut &stream, &Challenge { greeting: Greeting::ours(), challenge })?;
        let verdict = self.judge(&stream, &challenge, deadline).map_err(|refusal| match refusal {
            Refusal::Broken(error) if error.kind() == ErrorKind::TimedOut => Refusal::Silent(limit),
            Refusal::Broken(error) if error.kind() == ErrorKind::InvalidData => Refusal::NoProof(error.to_string()),
            Refusal::Broken(error) if is_hung_up(&error) => Refusal::HungUp,
            other => other,
        });
        match verdict {
            Ok(proof) => {
                write_frame(&mut &stream, &Verdict::Accepted { proof })?;
                Ok(stream)
            }
            Err(refusal) => {
                // The caller may have hung up.
                let _ = write_frame(&mut &stream, &Verdict::Refused { why: refusal.to_string() });
                Err(refusal)
            }
        }
    }

    /// Returns our own proof if the peer's is right.
    fn judge(&self, stream: &TcpStream, challenge: &Nonce, deadline: Instant) -> Result<Proof, Refusal> {
        let body = short_frame(stream, deadline)?.ok_or(Refusal::HungUp)?;
        let introduction: Introduction =
            serde_json::from_slice(&body).map_err(|error| Refusal::NoProof(error.to_string()))?;
        if introduction.greeting.protocol != PROTOCOL {
            return Err(Refusal::OtherProtocol { ours: Greeting::ours(), theirs: introduction.greeting });
        }
        let theirs = introduction.challenge;
        if !self.token.is_proved(Side::Conductor, challenge, &theirs, &introduction.proof) {
            return Err(Refusal::OtherToken);
        }
        Ok(self.token.proof(Side::Agent, challenge, &theirs))
    }
}

fn is_hung_up(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

/// Reads the text of a frame from a peer that has proved nothing yet.
fn short_frame(stream: &TcpStream, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
    read_body_within(&mut Until { read: stream, deadline }, LONGEST_GREETING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Message, read_frame};
    use crate::token::token;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread::JoinHandle;

    const LONG: Duration = Duration::from_mins(1);
    const PATIENT: ListenLimits = ListenLimits { conductor: LONG, proof: LONG };

    struct Listening {
        address: SocketAddr,
        told: Receiver<String>,
        agent: JoinHandle<Result<(), ListenError>>,
    }

    /// An agent that echoes each request.
    fn listening(limits: ListenLimits) -> Listening {
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0)), token('a')).unwrap();
        let address = listener.address;
        let (tell, told) = channel();
        let agent = std::thread::spawn(move || {
            let (mut read, mut write) = listener.conductor(limits, &mut |text| tell.send(text.to_owned()).unwrap())?;
            write_frame(&mut write, &Greeting::ours()).unwrap();
            while let Some(message) = read_frame::<Message<String>>(&mut read).unwrap() {
                write_frame(&mut write, &message).unwrap();
            }
            Ok(())
        });
        Listening { address, told, agent }
    }

    fn connect(address: SocketAddr, digit: char) -> Result<AgentLink, LinkError> {
        Transport::Tcp { address, token: token(digit) }.connect(LONG)
    }

    impl Listening {
        /// Why the agent refused its last caller.
        fn refused(&self) -> String {
            self.told.recv_timeout(LONG).unwrap().split_once(": ").unwrap().1.to_owned()
        }

        /// Checks that the agent still takes a conductor, and ends when that one hangs up.
        fn still_serves(self) {
            let mut link = connect(self.address, 'a').unwrap();
            link.ask(0, &"hello").unwrap();
            assert_eq!(link.receive::<String>(LONG).unwrap().unwrap(), (0, "hello".to_owned()));
            drop(link);
            self.agent.join().unwrap().unwrap();
            assert!(self.told.recv().is_err(), "nobody else was refused");
        }
    }

    #[test]
    fn who_has_the_token_is_served_and_nobody_after() {
        let listening = listening(PATIENT);
        let address = listening.address;
        let link = connect(address, 'a').unwrap();
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        drop(link);
        listening.agent.join().unwrap().unwrap();
    }

    #[test]
    fn who_has_another_token_is_refused_and_told_so() {
        let listening = listening(PATIENT);
        let error = connect(listening.address, 'b').err().unwrap();
        assert!(!error.is_end());
        assert_eq!(error.to_string(), "the agent refuses us: it has another token");
        assert_eq!(listening.refused(), "it has another token");
        listening.still_serves();
    }

    #[test]
    fn who_proves_nothing_is_refused() {
        let listening = listening(PATIENT);
        let mut stream = TcpStream::connect(listening.address).unwrap();
        // As on a pipe, where nothing is proved.
        write_frame(&mut stream, &(1, "hello")).unwrap();
        assert!(listening.refused().starts_with("what it says is no proof of the token"));
        assert!(read_frame::<Challenge>(&mut stream).unwrap().is_some());
        assert!(matches!(read_frame(&mut stream).unwrap(), Some(Verdict::Refused { .. })));
        assert!(read_frame::<Verdict>(&mut stream).unwrap().is_none(), "nothing is answered");
        drop(TcpStream::connect(listening.address).unwrap());
        assert!(listening.refused().starts_with("it hung up"));
        listening.still_serves();
    }

    #[test]
    fn a_peer_that_is_silent_is_refused_and_one_that_dribbles_as_well() {
        let listening = listening(ListenLimits { proof: Duration::from_secs(2), ..PATIENT });
        let _silent = TcpStream::connect(listening.address).unwrap();
        assert!(listening.refused().starts_with("it did not prove within"));
        let mut dribbling = TcpStream::connect(listening.address).unwrap();
        // A frame is announced, and its body never comes to an end.
        dribbling.write_all(&400_u32.to_le_bytes()).unwrap();
        let told = loop {
            if let Ok(told) = listening.told.recv_timeout(Duration::from_millis(10)) {
                break told;
            }
            let _ = dribbling.write_all(b" ");
        };
        assert!(told.contains("it did not prove within"), "{told}");
        listening.still_serves();
    }

    #[test]
    fn garbage_is_refused_before_anything_long_is_read() {
        let listening = listening(PATIENT);
        for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 64], &513_u32.to_le_bytes(), &[2, 0, 0, 0, b'{', b'}']]
        {
            let mut stream = TcpStream::connect(listening.address).unwrap();
            stream.write_all(garbage).unwrap();
            let why = listening.refused();
            assert!(why.starts_with("what it says is no proof of the token"), "{garbage:?}: {why}");
        }
        listening.still_serves();
    }

    #[test]
    fn a_conductor_of_another_protocol_is_refused_with_both_versions() {
        let listening = listening(PATIENT);
        let mut stream = TcpStream::connect(listening.address).unwrap();
        let Challenge { challenge, .. } = read_frame(&mut stream).unwrap().unwrap();
        let greeting = Greeting { protocol: PROTOCOL + 1, version: "99.0.0".to_owned() };
        let proof = token('a').proof(Side::Conductor, &challenge, &[0; 16]);
        write_frame(&mut stream, &Introduction { greeting, challenge: [0; 16], proof }).unwrap();
        let why = listening.refused();
        assert!(why.contains(&format!("it is bakeoff 99.0.0 (protocol {})", PROTOCOL + 1)), "{why}");
        assert!(why.contains(&format!("we are {}", Greeting::ours())), "{why}");
        listening.still_serves();
    }

    /// Puts `play` in the place of an agent and returns the conductor's error.
    fn played(play: impl FnOnce(TcpStream) + Send + 'static) -> LinkError {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let agent = std::thread::spawn(move || play(listener.accept().unwrap().0));
        let error = connect(address, 'a').err().unwrap();
        agent.join().unwrap();
        error
    }

    #[test]
    fn an_agent_of_another_protocol_is_told_nothing() {
        let error = played(|mut stream| {
            let greeting = Greeting { protocol: PROTOCOL - 1, version: "0.0.1".to_owned() };
            write_frame(&mut stream, &Challenge { greeting, challenge: [0; 16] }).unwrap();
            assert!(read_frame::<Introduction>(&mut stream).unwrap().is_none());
        });
        assert!(matches!(&error, LinkError::OtherVersion { theirs, .. } if theirs.protocol == PROTOCOL - 1), "{error}");
    }

    #[test]
    fn an_agent_without_the_token_is_not_believed() {
        let error = played(|mut stream| {
            write_frame(&mut stream, &Challenge { greeting: Greeting::ours(), challenge: [0; 16] }).unwrap();
            let introduction: Introduction = read_frame(&mut stream).unwrap().unwrap();
            // It can only send back what it received.
            write_frame(&mut stream, &Verdict::Accepted { proof: introduction.proof }).unwrap();
        });
        assert!(matches!(error, LinkError::Unproved), "{error}");
    }

    #[test]
    fn nobody_is_waited_for_for_ever_on_either_side() {
        let limit = Duration::from_millis(100);
        let listening = listening(ListenLimits { conductor: limit, ..PATIENT });
        let error = listening.agent.join().unwrap().unwrap_err();
        assert!(matches!(error, ListenError::Nobody { .. }), "{error}");
        let to = |address: SocketAddr| Transport::Tcp { address, token: token('a') }.connect(limit).err().unwrap();
        let error = to(listening.address);
        assert!(matches!(error, LinkError::NotReached { .. }) && !error.is_end(), "{error}");
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let error = to(silent.local_addr().unwrap());
        assert!(matches!(error, LinkError::TooSlow(_)), "{error}");
    }
}

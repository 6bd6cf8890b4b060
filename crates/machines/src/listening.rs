//! An agent that listens at an address until its conductor comes. Callers prove their token side by side, so that none keeps the
//! conductor waiting.

use crate::frame::{Greeting, PROTOCOL, write_frame};
use crate::ready::becomes_ready;
use crate::token::{Nonce, Proof, ProofSide, Token, random_bytes};
use crate::transport::{Challenge, HangsUp, Introduction, TransportVerdict, prepared, short_frame};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Callers that may be proving at a time. A further one takes the place of the first.
const CALLERS_AT_ONCE: usize = 64;
/// Refused callers that are named.
const REFUSALS_TOLD: usize = 100;
/// How soon a caller is noticed while another one is proving.
const GLANCE: Duration = Duration::from_millis(10);

/// The text before the address that an agent prints.
pub const LISTENS_AT: &str = "the agent listens at ";

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
enum CallerRefusal {
    #[error("it did not prove within {} s that it has the token", .0.as_secs())]
    Silent(Duration),
    #[error("it hung up without proving that it has the token")]
    HungUp,
    #[error("what it says is no proof of the token: {0}")]
    NoProof(String),
    #[error("it has another token")]
    OtherToken,
    #[error("another conductor has proved it first")]
    TooLate,
    #[error("a conductor of another protocol: it is {theirs}, we are {ours}")]
    OtherProtocol { ours: Greeting, theirs: Greeting },
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
}

/// An agent's place at an address, for one conductor.
struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    door: Arc<Door>,
}

/// What callers prove that they may pass.
struct Door {
    token: Token,
    is_taken: AtomicBool,
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
        Ok(Self { socket, address, door: Arc::new(Door { token, is_taken: AtomicBool::new(false) }) })
    }

    /// Reading and writing end of the connection to the first caller that proves the token. Nobody can connect after
    /// that. `tell` gets each refusal.
    fn conductor(self, limits: ListenLimits, tell: &mut dyn FnMut(&str)) -> Result<(TcpStream, HangsUp), ListenError> {
        let failing = |source| ListenError::Io { doing: "accepting a conductor at", address: self.address, source };
        let deadline = Instant::now() + limits.conductor;
        let mut callers = Callers::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ListenError::Nobody { address: self.address, limit: limits.conductor });
            }
            // A caller that says nothing keeps no other waiting.
            let glance = if callers.proving.is_empty() { left } else { GLANCE.min(left) };
            if becomes_ready(&self.socket, glance).map_err(failing)? {
                match self.socket.accept() {
                    // The caller hung up before being accepted.
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionAborted) => {}
                    accepted => {
                        let (stream, peer) = accepted.map_err(failing)?;
                        callers.admit(stream, peer, &self.door, limits.proof).map_err(failing)?;
                    }
                }
            }
            if let Some(stream) = callers.proved(tell) {
                return Ok((stream.try_clone().map_err(failing)?, HangsUp(stream)));
            }
        }
    }
}

type Proved = (SocketAddr, Result<TcpStream, CallerRefusal>);

/// Callers who are proving that they have the token, each in a thread, the first one first.
struct Callers {
    proving: VecDeque<(SocketAddr, TcpStream)>,
    answers: (Sender<Proved>, Receiver<Proved>),
    refused: usize,
}

impl Callers {
    fn new() -> Self {
        Self { proving: VecDeque::new(), answers: channel(), refused: 0 }
    }

    fn admit(&mut self, stream: TcpStream, peer: SocketAddr, door: &Arc<Door>, limit: Duration) -> io::Result<()> {
        if self.proving.len() >= CALLERS_AT_ONCE
            && let Some((_, first)) = self.proving.pop_front()
        {
            // It sees the end, and its thread reports it.
            let _ = first.shutdown(Shutdown::Both);
        }
        self.proving.push_back((peer, stream.try_clone()?));
        let (door, answer) = (Arc::clone(door), self.answers.0.clone());
        thread::Builder::new().spawn(move || {
            let proved = prepared(stream).map_err(CallerRefusal::from).and_then(|stream| door.proved(stream, limit));
            // Nobody listens once a conductor was found.
            let _ = answer.send((peer, proved));
        })?;
        Ok(())
    }

    /// The connection of one that has proved it.
    fn proved(&mut self, tell: &mut dyn FnMut(&str)) -> Option<TcpStream> {
        while let Ok((peer, proved)) = self.answers.1.try_recv() {
            self.proving.retain(|(of, _)| *of != peer);
            let refusal = match proved {
                Ok(stream) => return Some(stream),
                Err(refusal) => refusal,
            };
            self.refused += 1;
            match self.refused.cmp(&REFUSALS_TOLD) {
                std::cmp::Ordering::Less => tell(&format!("refused {peer}: {refusal}")),
                std::cmp::Ordering::Equal => tell("many callers were refused; further ones are not listed"),
                std::cmp::Ordering::Greater => {}
            }
        }
        None
    }
}

impl Door {
    /// The agent's part of the greeting.
    fn proved(&self, stream: TcpStream, limit: Duration) -> Result<TcpStream, CallerRefusal> {
        let deadline = Instant::now() + limit;
        let challenge: Nonce = random_bytes()?;
        write_frame(&mut &stream, &Challenge { greeting: Greeting::ours(), challenge })?;
        let verdict = self.judge(&stream, &challenge, deadline).map_err(|refusal| match refusal {
            CallerRefusal::Broken(error) if error.kind() == ErrorKind::TimedOut => CallerRefusal::Silent(limit),
            CallerRefusal::Broken(error) if error.kind() == ErrorKind::InvalidData => {
                CallerRefusal::NoProof(error.to_string())
            }
            CallerRefusal::Broken(error) if is_hung_up(&error) => CallerRefusal::HungUp,
            other => other,
        });
        match verdict {
            Ok(proof) => {
                write_frame(&mut &stream, &TransportVerdict::Accepted { proof })
                    .inspect_err(|_| self.is_taken.store(false, Ordering::Relaxed))?;
                Ok(stream)
            }
            Err(refusal) => {
                // The caller may have hung up.
                let _ = write_frame(&mut &stream, &TransportVerdict::Refused { why: refusal.to_string() });
                Err(refusal)
            }
        }
    }

    /// Returns our own proof if the peer's is right, to one peer.
    fn judge(&self, stream: &TcpStream, challenge: &Nonce, deadline: Instant) -> Result<Proof, CallerRefusal> {
        let body = short_frame(stream, deadline)?.ok_or(CallerRefusal::HungUp)?;
        let introduction: Introduction =
            serde_json::from_slice(&body).map_err(|error| CallerRefusal::NoProof(error.to_string()))?;
        if introduction.greeting.protocol != PROTOCOL {
            return Err(CallerRefusal::OtherProtocol { ours: Greeting::ours(), theirs: introduction.greeting });
        }
        let theirs = introduction.challenge;
        if !self.token.is_proved(ProofSide::Conductor, challenge, &theirs, &introduction.proof) {
            return Err(CallerRefusal::OtherToken);
        }
        if self.is_taken.swap(true, Ordering::Relaxed) {
            return Err(CallerRefusal::TooLate);
        }
        Ok(self.token.proof(ProofSide::Agent, challenge, &theirs))
    }
}

fn is_hung_up(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Message, read_frame};
    use crate::link::{AgentLink, LinkError};
    use crate::token::token;
    use crate::transport::Transport;
    use std::io::Write;
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
        assert!(matches!(read_frame(&mut stream).unwrap(), Some(TransportVerdict::Refused { .. })));
        assert!(read_frame::<TransportVerdict>(&mut stream).unwrap().is_none(), "nothing is answered");
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
    fn callers_that_say_nothing_keep_no_conductor_waiting() {
        let listening = listening(PATIENT);
        let idle: Vec<_> = (0..100).map(|_| TcpStream::connect(listening.address).unwrap()).collect();
        // The first ones had to go, perhaps before they were greeted.
        let refused = listening.refused();
        assert!(refused.starts_with("it hung up") || refused.starts_with("the connection broke"), "{refused}");
        let mut link = connect(listening.address, 'a').unwrap();
        link.ask(0, &"hello").unwrap();
        assert_eq!(link.receive::<String>(LONG).unwrap().unwrap(), (0, "hello".to_owned()));
        drop((link, idle));
        listening.agent.join().unwrap().unwrap();
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
        let proof = token('a').proof(ProofSide::Conductor, &challenge, &[0; 16]);
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
            write_frame(&mut stream, &TransportVerdict::Accepted { proof: introduction.proof }).unwrap();
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

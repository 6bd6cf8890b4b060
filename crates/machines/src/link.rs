//! The host's end of a conversation with an agent, with a limit on every wait.

use crate::frame::{Greeting, Message, PROTOCOL, read_body, write_frame};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::io::{self, BufReader, Read, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How many frames may wait unread: more than any request answers with in a burst.
const QUEUED_FRAMES: usize = 1024;

/// A message to the relay itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelayHold {
    pub hold_after_ms: u64,
    pub hold_for_ms: u64,
}

impl RelayHold {
    pub fn new(after: Duration, length: Duration) -> Self {
        let in_millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self { hold_after_ms: in_millis(after), hold_for_ms: in_millis(length) }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error("the agent did not answer within {0:?}")]
    TooSlow(Duration),
    #[error("the machine hangs: its agent gave no sign of life for {0:?}")]
    Lifeless(Duration),
    #[error("the agent closed the connection")]
    Closed,
    #[error("the connection to the agent broke: {0}")]
    Broken(#[from] io::Error),
    #[error("no agent is reached at {address}: {source}")]
    NotReached { address: SocketAddr, source: io::Error },
    #[error("the agent refuses us: {0}")]
    Refused(String),
    #[error("who answers there is not the agent that was given our token")]
    Unproved,
    #[error("the agent answered something unexpected: {0}")]
    Unexpected(String),
    #[error("the agent is {theirs} and this is {ours}; both must be the same build of bakeoff")]
    OtherVersion { ours: Greeting, theirs: Greeting },
}

/// A connection to an agent. A thread of its own reads, so every wait has a limit on any kind of stream.
pub struct AgentLink {
    write: Box<dyn Write + Send>,
    frames: Receiver<io::Result<Vec<u8>>>,
    /// Number and instance of the last request.
    number: u64,
    instance: u16,
    /// Whether a [`relay`](crate::relay) passes messages on.
    is_relayed: bool,
    /// Until then the relay keeps back what the agent says.
    held_until: Instant,
    may_be_away: Duration,
}

impl AgentLink {
    pub fn new(read: impl Read + Send + 'static, write: impl Write + Send + 'static) -> Self {
        let (send, frames) = sync_channel(QUEUED_FRAMES);
        // Reading a frame takes two reads, and an agent ahead of us has written several frames.
        let mut read = BufReader::new(read);
        std::thread::spawn(move || {
            loop {
                let frame = read_body(&mut read).transpose();
                let Some(frame) = frame else { return };
                let broken = frame.is_err();
                if send.send(frame).is_err() || broken {
                    return;
                }
            }
        });
        Self {
            write: Box::new(write),
            frames,
            number: 0,
            instance: 0,
            is_relayed: false,
            held_until: Instant::now(),
            may_be_away: Duration::ZERO,
        }
    }

    /// Sends a request about one of the machine's databases, under a new number. An earlier request counts as given up:
    /// no answer to it is handed out any more.
    pub fn ask(&mut self, instance: u16, request: &impl Serialize) -> Result<(), LinkError> {
        self.number += 1;
        self.instance = instance;
        self.add(request)
    }

    /// Sends a message that belongs to the last request.
    pub fn add(&mut self, message: &impl Serialize) -> Result<(), LinkError> {
        let Self { number, instance, .. } = *self;
        Ok(write_frame(&mut self.write, &Message { number, instance, body: message })?)
    }

    /// Says that a relay passes messages on, over a way that may be gone for so long without losing one.
    #[must_use]
    pub fn relayed(self, may_be_away: Duration) -> Self {
        Self { is_relayed: true, may_be_away, ..self }
    }

    /// How much longer than the agent a message may take.
    pub fn may_be_away(&self) -> Duration {
        self.may_be_away
    }

    /// How long something was to be heard since then. While the relay keeps messages back, nothing is.
    pub fn silent_since(&self, since: Instant) -> Duration {
        since.max(self.held_until).elapsed()
    }

    /// Asks the relay to keep back what the agent says for a while, so that nothing is on the line meanwhile. Returns false if
    /// there is no relay.
    pub fn hold(&mut self, after: Duration, length: Duration) -> Result<bool, LinkError> {
        if self.is_relayed {
            write_frame(&mut self.write, &RelayHold::new(after, length))?;
            let now = Instant::now();
            self.held_until = now.checked_add(after.saturating_add(length)).unwrap_or(now);
        }
        Ok(self.is_relayed)
    }

    /// Both ends of the conversation, for a relay: what goes to the agent, and the texts that come from it.
    pub(crate) fn into_ends(self) -> (Box<dyn Write + Send>, Receiver<io::Result<Vec<u8>>>) {
        (self.write, self.frames)
    }

    /// The next message about the last request, with its instance, or an error if nothing arrives within `limit`.
    /// `None` is a message about an earlier request: it comes too late, and shows only that the agent is alive.
    pub fn receive<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<Option<(u16, T)>, LinkError> {
        let Message { number, instance, body } = self.frame(limit)?;
        match number.cmp(&self.number) {
            Ordering::Less => Ok(None),
            Ordering::Equal => Ok(Some((instance, body))),
            Ordering::Greater => {
                let why = format!("a message about request {number}, and {} was the last one", self.number);
                Err(LinkError::Unexpected(why))
            }
        }
    }

    fn frame<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<T, LinkError> {
        let frame = self.frames.recv_timeout(limit).map_err(|error| match error {
            RecvTimeoutError::Timeout => LinkError::TooSlow(limit),
            RecvTimeoutError::Disconnected => LinkError::Closed,
        })??;
        serde_json::from_slice(&frame).map_err(|error| LinkError::Unexpected(error.to_string()))
    }

    /// Waits for the agent's greeting and refuses an agent of another protocol.
    pub(crate) fn greeting(&mut self, limit: Duration) -> Result<Greeting, LinkError> {
        let greeting: Greeting = self.frame(limit)?;
        if greeting.protocol == PROTOCOL {
            Ok(greeting)
        } else {
            Err(LinkError::OtherVersion { ours: Greeting::ours(), theirs: greeting })
        }
    }
}

impl LinkError {
    /// Whether the agent is gone. If so, the way its machine ended says more than this error.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Closed | Self::Broken(_))
    }

    /// Turns a read that timed out into the error that says so.
    pub(crate) fn if_too_slow(self, limit: Duration) -> Self {
        match self {
            Self::Broken(error) if error.kind() == io::ErrorKind::TimedOut => Self::TooSlow(limit),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentLink, LinkError};
    use crate::frame::{Greeting, Message, PROTOCOL, write_frame};
    use std::time::Duration;

    const LONG: Duration = Duration::from_mins(1);

    fn greeted_with(bytes: Vec<u8>) -> LinkError {
        AgentLink::new(std::io::Cursor::new(bytes), std::io::sink()).greeting(LONG).unwrap_err()
    }

    #[test]
    fn an_agent_of_another_version_is_refused_with_both_versions() {
        let theirs = Greeting { protocol: PROTOCOL + 1, version: "99.0.0".to_owned() };
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &theirs).unwrap();
        let error = greeted_with(bytes);
        assert!(!error.is_end());
        let (error, ours) = (error.to_string(), Greeting::ours());
        assert!(error.contains(&format!("bakeoff 99.0.0 (protocol {})", PROTOCOL + 1)), "{error}");
        assert!(error.contains(&format!("bakeoff {} (protocol {PROTOCOL})", ours.version)), "{error}");
    }

    #[test]
    fn messages_are_told_apart_by_the_number_of_their_request() {
        let mut bytes = Vec::new();
        for (number, body) in [(1, "late"), (2, "asked for"), (3, "never asked for")] {
            write_frame(&mut bytes, &Message { number, instance: 4, body }).unwrap();
        }
        let mut link = AgentLink::new(std::io::Cursor::new(bytes), std::io::sink());
        link.ask(0, &"given up").unwrap();
        link.ask(4, &"waited for").unwrap();
        assert_eq!(link.receive::<String>(LONG).unwrap(), None);
        assert_eq!(link.receive::<String>(LONG).unwrap().unwrap(), (4, "asked for".to_owned()));
        let error = link.receive::<String>(LONG).unwrap_err().to_string();
        assert!(error.contains("a message about request 3, and 2 was the last one"), "{error}");
    }

    #[test]
    fn what_greets_without_being_an_agent_is_told_from_one_that_is_gone() {
        assert!(matches!(greeted_with(b"login: and so on".to_vec()), LinkError::Broken(_)));
        assert!(matches!(greeted_with(Vec::new()), LinkError::Closed));
    }
}

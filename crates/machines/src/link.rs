//! The host's end of a conversation with an agent, with a limit on every wait.

use crate::frame::{Greeting, PROTOCOL, read_frame, write_frame};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Frames that may wait unread; more than any request answers with in a burst.
const QUEUED_FRAMES: usize = 1024;

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
    #[error("the agent answered something unexpected: {0}")]
    Unexpected(String),
    #[error("the agent is {theirs} and this is {ours}; both must be the same build of bakeoff")]
    OtherVersion { ours: Greeting, theirs: Greeting },
}

/// A connection to an agent. Reading happens on a thread of its own, so that waiting has a limit on any stream.
pub struct AgentLink {
    write: Box<dyn Write + Send>,
    frames: Receiver<io::Result<Value>>,
}

impl AgentLink {
    pub fn new(mut read: impl Read + Send + 'static, write: impl Write + Send + 'static) -> Self {
        let (send, frames) = sync_channel(QUEUED_FRAMES);
        std::thread::spawn(move || {
            loop {
                let frame = read_frame::<Value>(&mut read).transpose();
                let Some(frame) = frame else { return };
                let broken = frame.is_err();
                if send.send(frame).is_err() || broken {
                    return;
                }
            }
        });
        Self { write: Box::new(write), frames }
    }

    pub fn send(&mut self, message: &impl Serialize) -> Result<(), LinkError> {
        Ok(write_frame(&mut self.write, message)?)
    }

    /// The next message, or an error when none came within `limit`.
    pub fn receive<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<T, LinkError> {
        let frame = self.frames.recv_timeout(limit).map_err(|error| match error {
            RecvTimeoutError::Timeout => LinkError::TooSlow(limit),
            RecvTimeoutError::Disconnected => LinkError::Closed,
        })??;
        serde_json::from_value(frame).map_err(|error| LinkError::Unexpected(error.to_string()))
    }

    /// Waits for the agent's first words and refuses an agent of another protocol.
    pub fn greeting(&mut self, limit: Duration) -> Result<Greeting, LinkError> {
        let greeting: Greeting = self.receive(limit)?;
        if greeting.protocol == PROTOCOL {
            Ok(greeting)
        } else {
            Err(LinkError::OtherVersion { ours: Greeting::ours(), theirs: greeting })
        }
    }
}

impl LinkError {
    /// Whether there is nobody at the other end any more: then how they ended tells more.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Closed | Self::Broken(_))
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentLink, LinkError};
    use crate::frame::{Greeting, PROTOCOL, write_frame};
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
    fn what_greets_without_being_an_agent_is_told_from_one_that_is_gone() {
        assert!(matches!(greeted_with(b"login: and so on".to_vec()), LinkError::Broken(_)));
        assert!(matches!(greeted_with(Vec::new()), LinkError::Closed));
    }
}

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
    #[error("the agent closed the connection")]
    Closed,
    #[error("the connection to the agent broke: {0}")]
    Broken(#[from] io::Error),
    #[error("the agent answered something unexpected: {0}")]
    Unexpected(String),
    #[error("the agent speaks protocol {theirs}, this is {ours}; both must be the same build of bakeoff")]
    OtherVersion { ours: u32, theirs: u32 },
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
            Err(LinkError::OtherVersion { ours: PROTOCOL, theirs: greeting.protocol })
        }
    }
}

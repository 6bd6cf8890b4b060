//! Frames over any byte stream: a length, then JSON text.
//!
//! A frame is the length of its body (4 bytes, little endian) and the body. The first frame that an agent sends is its
//! [`Greeting`], whose form is the same in every protocol. All others are [`Message`]s.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Version of the messages spoken with an agent. It is raised whenever their meaning changes.
pub const PROTOCOL: u32 = 7;

/// The longest body allowed; a larger length means that the stream is out of step.
pub const LONGEST_BODY: usize = 64 << 20;

/// A request, or a message about one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message<T> {
    /// The request's number. It distinguishes a late answer from the one awaited.
    pub number: u64,
    /// The database of the machine that it is about, counted from 0; also 0 if it is about the machine.
    pub instance: u16,
    pub body: T,
}

pub fn write_frame(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    write_body(stream, &serde_json::to_vec(message)?)
}

/// Writes the text of one frame.
pub(crate) fn write_body(stream: &mut impl Write, body: &[u8]) -> io::Result<()> {
    if body.len() > LONGEST_BODY {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("message of {} bytes is too long", body.len()),
        ));
    }
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut frame = Vec::with_capacity(body.len() + 4);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(body);
    stream.write_all(&frame)?;
    stream.flush()
}

/// Reads one frame; `None` at a clean end of the stream.
pub fn read_frame<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<T>> {
    let body = read_body(stream)?;
    Ok(body.map(|body| serde_json::from_slice(&body)).transpose()?)
}

/// Reads the text of one frame; `None` at a clean end of the stream.
pub fn read_body(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    read_body_within(stream, LONGEST_BODY)
}

/// Like [`read_body`], but of at most `longest` bytes.
pub(crate) fn read_body_within(stream: &mut impl Read, longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0_u8; 4];
    let mut filled = 0;
    while filled < length.len() {
        match stream.read(&mut length[filled..])? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > longest {
        let why = format!("frame of {length} bytes announced; the stream is out of step");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(body))
}

/// The first frame of every agent, which it sends unasked. Peers of different protocols refuse each other by number
/// instead of misreading each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    pub protocol: u32,
    /// Version of the bakeoff that runs as the agent.
    pub version: String,
}

impl std::fmt::Display for Greeting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "bakeoff {} (protocol {})", self.version, self.protocol)
    }
}

impl Greeting {
    pub fn ours() -> Self {
        Self { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

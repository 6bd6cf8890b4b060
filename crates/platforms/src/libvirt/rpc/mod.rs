//! A client of libvirt's own protocol, for the few procedures that a machine needs.
//!
//! libvirt's library cannot be linked into a static binary. Its protocol is simple, and the numbers of procedures never
//! change. `xdr`, `message` and `procedures` are bytes in, bytes out; only the client here has a stream. Every call has
//! a limit. A call that was given up does no harm to the next: each answer carries the number of its call.

pub mod message;
pub mod procedures;
mod xdr;

use crate::qemu::monitor::QmpError;
use message::{LENGTH_BYTES, LibvirtMessage, LibvirtRefusal, QEMU, REMOTE};
use procedures::{Domain, LogIn, Statistics, Uuid, number};
use serde_json::{Value, json};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use xdr::{XdrError, XdrReader};

/// libvirt answers at once, unless it waits for a QEMU that hangs.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// At the first connection after its start, libvirt starts every QEMU that is installed and asks what it can do.
const OPEN_LIMIT: Duration = Duration::from_mins(1);
/// QEMU is started and, with huge pages, touches all of its memory. Some libvirts first ask it a dozen times what it can
/// do.
pub const CREATE_LIMIT: Duration = Duration::from_mins(5);
/// libvirt asks QEMU to end, waits 15 s, and kills it.
const DESTROY_LIMIT: Duration = Duration::from_mins(1);
const PIECE_BYTES: usize = 64 << 10;
const ARCHITECTURE: &str = "x86_64";

#[derive(Debug, thiserror::Error)]
pub enum RpcError {
    #[error("libvirt did not answer within {} s when it was asked {asked}", .limit.as_secs_f64())]
    TooSlow { asked: &'static str, limit: Duration },
    #[error("the connection was closed")]
    Closed,
    #[error("the connection to libvirt broke: {0}")]
    Broken(io::Error),
    #[error("what answers does not speak libvirt's protocol: it sent {0}")]
    Foreign(String),
    #[error("libvirt refuses {asked}: {refusal}")]
    Refused { asked: &'static str, refusal: LibvirtRefusal },
    #[error("libvirt asks for a password (SASL), and bakeoff has none to give")]
    AsksForPassword,
}

impl PartialEq for RpcError {
    /// For tests: what is printed is what matters.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl RpcError {
    /// libvirt's own reason, if it answered.
    pub fn refusal(&self) -> Option<&LibvirtRefusal> {
        if let Self::Refused { refusal, .. } = self { Some(refusal) } else { None }
    }
}

/// A connection to libvirt. Domains that were made over it end with it.
#[derive(Debug)]
pub struct LibvirtClient {
    stream: UnixStream,
    unread: Vec<u8>,
    calls: u32,
    /// No call waits longer, whatever its own limit.
    patience: Duration,
}

impl LibvirtClient {
    /// Logs in over an open stream and opens the driver for this URI.
    pub fn open(stream: UnixStream, uri: &str, patience: Duration) -> Result<Self, RpcError> {
        let mut client = Self { stream, unread: Vec::new(), calls: 0, patience };
        let ways = client.ask("how to log in", number::WAYS_TO_LOG_IN, &[], ANSWER_LIMIT)?;
        let ways = read(&ways, procedures::read_ways_to_log_in)?;
        match ways.first() {
            None | Some(LogIn::None) => {}
            Some(LogIn::Polkit) => {
                client.ask("to be let in by polkit", number::LOG_IN_BY_POLKIT, &[], ANSWER_LIMIT)?;
            }
            Some(LogIn::Password) => return Err(RpcError::AsksForPassword),
        }
        client.ask("to open its driver", number::OPEN, &procedures::open(uri), OPEN_LIMIT)?;
        Ok(client)
    }

    pub fn libvirt_version(&mut self) -> Result<String, RpcError> {
        let answer = self.ask("its version", number::LIBVIRT_VERSION, &[], ANSWER_LIMIT)?;
        read(&answer, procedures::read_version)
    }

    /// The version of the hypervisor that is driven: QEMU's, or Xen's.
    pub fn hypervisor_version(&mut self) -> Result<String, RpcError> {
        let answer = self.ask("its hypervisor's version", number::HYPERVISOR_VERSION, &[], OPEN_LIMIT)?;
        read(&answer, procedures::read_version)
    }

    /// What libvirt says about its host, in XML.
    pub fn capabilities(&mut self) -> Result<String, RpcError> {
        let answer = self.ask("what it can do", number::CAPABILITIES, &[], OPEN_LIMIT)?;
        read(&answer, XdrReader::text)
    }

    pub fn cpu_models(&mut self) -> Result<Vec<String>, RpcError> {
        let asked = procedures::cpu_models(ARCHITECTURE);
        let answer = self.ask("which CPU models it knows", number::CPU_MODELS, &asked, ANSWER_LIMIT)?;
        read(&answer, |reader| reader.list(XdrReader::text))
    }

    /// Makes and starts a domain that libvirt forgets when it ends, and ends when this connection does.
    pub fn create(&mut self, xml: &str) -> Result<Domain, RpcError> {
        let answer = self.ask("to make a domain", number::CREATE, &procedures::create(xml), CREATE_LIMIT)?;
        read(&answer, procedures::read_domain)
    }

    /// The running domain with this UUID, if libvirt has one.
    pub fn lookup(&mut self, uuid: Uuid) -> Result<Option<Domain>, RpcError> {
        match self.ask("for a domain", number::LOOKUP_BY_UUID, &procedures::lookup(uuid), ANSWER_LIMIT) {
            Ok(answer) => read(&answer, procedures::read_domain).map(Some),
            Err(error) if error.refusal().is_some_and(LibvirtRefusal::is_no_such_domain) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Ends a domain. It is no error if it has ended already.
    pub fn destroy(&mut self, domain: &Domain) -> Result<(), RpcError> {
        match self.ask("to end a domain", number::DESTROY, &procedures::destroy(domain), DESTROY_LIMIT) {
            Err(error) if !error.refusal().is_some_and(LibvirtRefusal::is_no_such_domain) => Err(error),
            _ => Ok(()),
        }
    }

    /// The domain as it runs, in XML.
    pub fn xml(&mut self, domain: &Domain) -> Result<String, RpcError> {
        let answer = self.ask("for a domain's XML", number::XML, &procedures::xml(domain), ANSWER_LIMIT)?;
        read(&answer, XdrReader::text)
    }

    pub fn statistics(&mut self, domain: &Domain, limit: Duration) -> Result<Statistics, RpcError> {
        let asked = procedures::statistics(domain);
        let answer = self.ask("for statistics", number::STATISTICS, &asked, limit)?;
        read(&answer, procedures::read_statistics)
    }

    /// Hands a command to a domain's QEMU, and returns what QEMU answers.
    pub fn monitor(
        &mut self,
        domain: &Domain,
        limit: Duration,
        command: &str,
        arguments: Value,
    ) -> Result<Value, QmpError> {
        let mut request = json!({ "execute": command });
        if arguments.as_object().is_some_and(|table| !table.is_empty()) {
            request["arguments"] = arguments;
        }
        let asked = procedures::monitor(domain, &request.to_string());
        let answer = self.exchange("to ask QEMU", QEMU, number::MONITOR, &asked, limit);
        let text = answer.and_then(|answer| read(&answer, XdrReader::text)).map_err(|error| as_qmp(error, command))?;
        let mut message: Value = serde_json::from_str(&text).map_err(|_| QmpError::Unexpected(text))?;
        if let Some(answer) = message.get_mut("return") {
            return Ok(answer.take());
        }
        let Some(error) = message.get("error") else { return Err(QmpError::Unexpected(message.to_string())) };
        let why = error["desc"].as_str().unwrap_or("no reason given").to_owned();
        Err(QmpError::Refused { asked: command.to_owned(), why })
    }

    fn ask(&mut self, asked: &'static str, procedure: u32, body: &[u8], limit: Duration) -> Result<Vec<u8>, RpcError> {
        self.exchange(asked, REMOTE, procedure, body, limit)
    }

    /// Sends a call and waits for its answer. Late answers to earlier calls, and what was not asked for, are passed over.
    fn exchange(
        &mut self,
        asked: &'static str,
        program: u32,
        procedure: u32,
        body: &[u8],
        limit: Duration,
    ) -> Result<Vec<u8>, RpcError> {
        let limit = limit.min(self.patience);
        self.calls += 1;
        let own = self.calls;
        let deadline = Instant::now() + limit;
        let too_slow = || RpcError::TooSlow { asked, limit };
        self.stream.set_write_timeout(Some(limit)).map_err(RpcError::Broken)?;
        self.stream.write_all(&message::call(program, procedure, own, body)).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => too_slow(),
            _ => as_end(error),
        })?;
        loop {
            match message::heard(&self.message(deadline, &too_slow)?)? {
                LibvirtMessage::Answer { number, body } if number == own => return Ok(body),
                LibvirtMessage::Refusal { number, refusal } if number == own => {
                    return Err(RpcError::Refused { asked, refusal });
                }
                LibvirtMessage::Answer { number, .. } | LibvirtMessage::Refusal { number, .. } if number > own => {
                    return Err(RpcError::Foreign(format!("an answer to call {number} of {own}")));
                }
                _ => {}
            }
        }
    }

    /// The next whole message, without its length.
    fn message(&mut self, deadline: Instant, too_slow: &dyn Fn() -> RpcError) -> Result<Vec<u8>, RpcError> {
        loop {
            if let Some((length, rest)) = self.unread.split_first_chunk::<LENGTH_BYTES>() {
                let whole = message::rest_of(*length)?;
                if rest.len() >= whole {
                    let message = rest[..whole].to_vec();
                    self.unread.drain(..LENGTH_BYTES + whole);
                    return Ok(message);
                }
            }
            self.read_more(deadline, too_slow)?;
        }
    }

    /// Reads what is there, in pieces: a length that is not true costs no memory.
    fn read_more(&mut self, deadline: Instant, too_slow: &dyn Fn() -> RpcError) -> Result<(), RpcError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(too_slow());
        }
        self.stream.set_read_timeout(Some(left)).map_err(RpcError::Broken)?;
        let mut piece = vec![0; PIECE_BYTES];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(RpcError::Closed),
            Ok(count) => {
                self.unread.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => Ok(()),
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(too_slow()),
                _ => Err(as_end(error)),
            },
        }
    }
}

fn as_end(error: io::Error) -> RpcError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => RpcError::Closed,
        _ => RpcError::Broken(error),
    }
}

fn as_qmp(error: RpcError, command: &str) -> QmpError {
    let asked = command.to_owned();
    match error {
        RpcError::TooSlow { limit, .. } => QmpError::TooSlow { asked, limit },
        RpcError::Closed => QmpError::Closed,
        RpcError::Refused { refusal, .. } => QmpError::Refused { asked, why: refusal.message },
        RpcError::Broken(error) => QmpError::Broken(error),
        other => QmpError::Unexpected(other.to_string()),
    }
}

/// The value that a body holds.
fn read<'b, T>(body: &'b [u8], value: impl FnOnce(&mut XdrReader<'b>) -> Result<T, XdrError>) -> Result<T, RpcError> {
    value(&mut XdrReader::new(body)).map_err(|error| RpcError::Foreign(format!("an answer, but {error}")))
}

#[cfg(test)]
mod tests;

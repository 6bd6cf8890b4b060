//! One message of libvirt's protocol: a length, a header of six words, and a body in XDR. Pure.
//!
//! ```text
//! length of the whole message, program, version, procedure, kind, number of the call, status
//! ```
//!
//! The body of an answer is what the procedure returns, or libvirt's error.

use super::RpcError;
use super::xdr::{Writer, XdrError, XdrReader};

/// The programs: libvirt's own procedures, and those that only its driver for QEMU has.
pub const REMOTE: u32 = 0x2000_8086;
pub const QEMU: u32 = 0x2000_8087;
const VERSION: u32 = 1;

/// The length, which counts itself.
pub const LENGTH_BYTES: usize = 4;
const HEADER_BYTES: usize = 24;
/// libvirt's own limit; it was raised to this over the years.
const LONGEST: usize = 32 << 20;

const CALL: u32 = 0;
const ANSWER: u32 = 1;
const EVENT: u32 = 2;
const DONE: u32 = 0;
const FAILED: u32 = 1;

/// A message from libvirt.
#[derive(Debug, PartialEq, Eq)]
pub enum LibvirtMessage {
    Answer {
        number: u32,
        body: Vec<u8>,
    },
    Refusal {
        number: u32,
        refusal: LibvirtRefusal,
    },
    /// It was not asked for.
    Event,
}

/// libvirt's reason why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LibvirtRefusal {
    /// One of libvirt's own numbers.
    pub code: i32,
    pub message: String,
}

impl LibvirtRefusal {
    /// libvirt's number for a domain that it does not have.
    const NO_DOMAIN: i32 = 42;
    const NO_SUPPORT: i32 = 3;
    const NO_CONNECT: i32 = 5;

    pub fn is_no_such_domain(&self) -> bool {
        self.code == Self::NO_DOMAIN
    }

    /// True if this libvirt has no driver for the URI.
    pub fn is_no_such_driver(&self) -> bool {
        matches!(self.code, Self::NO_CONNECT | Self::NO_SUPPORT)
    }
}

/// The whole message of a call.
pub fn call(program: u32, procedure: u32, number: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(LENGTH_BYTES + HEADER_BYTES + body.len()).unwrap_or(u32::MAX);
    let header = Writer::default().word(length).word(program).word(VERSION).word(procedure).word(CALL);
    let mut message = header.word(number).word(DONE).bytes();
    message.extend(body);
    message
}

/// How many bytes follow this length.
pub fn rest_of(length: [u8; LENGTH_BYTES]) -> Result<usize, RpcError> {
    let length = u32::from_be_bytes(length) as usize;
    if (LENGTH_BYTES + HEADER_BYTES..=LONGEST).contains(&length) {
        return Ok(length - LENGTH_BYTES);
    }
    Err(RpcError::Foreign(format!("a message of {length} bytes")))
}

/// What a message without its length says.
pub fn heard(message: &[u8]) -> Result<LibvirtMessage, RpcError> {
    let mut reader = XdrReader::new(message);
    let mut word = || reader.word().map_err(|error| RpcError::Foreign(format!("a header, but {error}")));
    let [program, version, procedure, kind, number, status] = [word()?, word()?, word()?, word()?, word()?, word()?];
    if version != VERSION {
        return Err(RpcError::Foreign(format!("version {version} of program {program:#x}")));
    }
    let body = message.get(HEADER_BYTES..).unwrap_or_default();
    match (kind, status) {
        (ANSWER, DONE) => Ok(LibvirtMessage::Answer { number, body: body.to_owned() }),
        (ANSWER, FAILED) => {
            let refusal = refusal(body).map_err(|error| RpcError::Foreign(format!("an error, but {error}")))?;
            Ok(LibvirtMessage::Refusal { number, refusal })
        }
        (EVENT, _) => Ok(LibvirtMessage::Event),
        _ => Err(RpcError::Foreign(format!("a message of kind {kind} with status {status} about {procedure}"))),
    }
}

/// The beginning of libvirt's error: a number, the part that it comes from, a sentence.
fn refusal(body: &[u8]) -> Result<LibvirtRefusal, XdrError> {
    let mut reader = XdrReader::new(body);
    let code = reader.signed()?;
    let _part = reader.signed()?;
    let message = reader.optional_text()?.unwrap_or_else(|| format!("error {code} without a reason"));
    Ok(LibvirtRefusal { code, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_call_has_its_length_and_header_before_its_body() {
        let told = call(REMOTE, 66, 3, &[1, 2, 3, 4]);
        assert_eq!(told, [words(&[32, REMOTE, 1, 66, 0, 3, 0]), vec![1, 2, 3, 4]].concat());
        assert_eq!(rest_of([0, 0, 0, 32]), Ok(28));
    }

    #[test]
    fn answers_refusals_and_events_are_told_apart() {
        let answer = [words(&[REMOTE, 1, 66, 1, 3, 0]), vec![9]].concat();
        assert_eq!(heard(&answer), Ok(LibvirtMessage::Answer { number: 3, body: vec![9] }));
        let no_domain = Writer::default().signed(42).signed(10).some_text("Domain not found").bytes();
        let refused = [words(&[REMOTE, 1, 23, 1, 4, 1]), no_domain].concat();
        let Ok(LibvirtMessage::Refusal { number: 4, refusal }) = heard(&refused) else {
            panic!("{:?}", heard(&refused))
        };
        assert!(refusal.is_no_such_domain());
        assert_eq!(refusal.to_string(), "Domain not found");
        assert_eq!(heard(&words(&[REMOTE, 1, 107, 2, 0, 0])), Ok(LibvirtMessage::Event));
    }

    #[test]
    fn what_is_not_libvirts_is_said_to_be_foreign() {
        let is_foreign = |found: Result<LibvirtMessage, RpcError>| matches!(found, Err(RpcError::Foreign(_)));
        assert!(rest_of(*b"HTTP").is_err() && rest_of([0; 4]).is_err() && rest_of([0xff; 4]).is_err());
        assert!(is_foreign(heard(b"short")));
        assert!(is_foreign(heard(&words(&[REMOTE, 2, 66, 1, 3, 0]))), "another version");
        assert!(is_foreign(heard(&words(&[REMOTE, 1, 66, 0, 3, 0]))), "a call");
        assert!(is_foreign(heard(&words(&[REMOTE, 1, 66, 1, 3, 1]))), "an error without a body");
        assert!(is_foreign(heard(&words(&[REMOTE, 1, 66, 1, 3, 1, 9, 9, 1, u32::MAX]))), "an endless sentence");
    }
}

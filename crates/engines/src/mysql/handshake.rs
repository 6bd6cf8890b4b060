//! Opening a session: greeting, capabilities, login.

use super::auth::{self, Applicant};
use super::converse::{converse, next_body};
use super::decode::MysqlRefusal;
use super::packet::{Features, PacketReader, command, put, put_number};
use super::reply::session_error;
use super::wire::{self, MysqlWire};
use crate::limit::ReplyLimit;
use crate::remote::Remote;
use crate::secret::Secret;
use crate::session::SessionError;
use crate::tls::Encryption;
use crate::wire::Malformed;
use bytes::{BufMut, BytesMut};
use std::time::{Duration, Instant};

/// A server that takes longer will not answer at all.
const LOGIN_LIMIT: Duration = Duration::from_secs(10);
/// Of the methods with hashes, and of MariaDB's signatures.
const CHALLENGE_LENGTHS: [usize; 2] = [20, 32];

/// Capabilities of both sides, as bits.
mod can {
    /// The only bit that MariaDB leaves out. A server without it may have the further ones of [`super::more`].
    pub const BE_MYSQL: u32 = 1;
    /// Rows that an update matches count as changed even if their values stay the same.
    pub const COUNT_FOUND_ROWS: u32 = 1 << 1;
    pub const NAME_A_DATABASE: u32 = 1 << 3;
    pub const LOAD_LOCAL_FILES: u32 = 1 << 7;
    pub const SPEAK_41: u32 = 1 << 9;
    pub const ENCRYPT: u32 = 1 << 11;
    pub const TELL_TRANSACTIONS: u32 = 1 << 13;
    pub const TAKE_CHALLENGES: u32 = 1 << 15;
    pub const TAKE_SCRIPTS: u32 = 1 << 16;
    pub const ANSWER_SCRIPTS: u32 = 1 << 17;
    pub const ANSWER_PROCEDURES: u32 = 1 << 18;
    pub const NAME_METHODS: u32 = 1 << 19;
    pub const TAKE_LONG_PROOFS: u32 = 1 << 21;
    pub const LEAVE_OUT_EOF: u32 = 1 << 24;
}

/// Further capabilities of MariaDB, in bits of its own.
mod more {
    pub const EXECUTE_ALL: u32 = 1 << 2;
    pub const CACHE_COLUMNS: u32 = 1 << 4;
}

const ALWAYS: u32 = can::COUNT_FOUND_ROWS
    | can::NAME_A_DATABASE
    | can::SPEAK_41
    | can::TELL_TRANSACTIONS
    | can::TAKE_CHALLENGES
    | can::ANSWER_SCRIPTS
    | can::ANSWER_PROCEDURES
    | can::NAME_METHODS
    | can::TAKE_LONG_PROOFS
    | can::LEAVE_OUT_EOF
    | can::BE_MYSQL;

/// Without these, no communication is possible.
const NEEDED: u32 = can::SPEAK_41 | can::TAKE_CHALLENGES | can::NAME_METHODS;

/// `utf8mb4_bin`: text is UTF-8, and compares by its bytes.
const CHARACTER_SET: u8 = 46;

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionPurpose {
    Sessions,
    /// May send scripts of several statements, and may send rows when the server asks for a file.
    Administration,
}

impl ConnectionPurpose {
    fn capabilities(self) -> u32 {
        match self {
            Self::Sessions => ALWAYS,
            Self::Administration => ALWAYS | can::TAKE_SCRIPTS | can::LOAD_LOCAL_FILES,
        }
    }
}

/// The server's first packet.
#[derive(Debug, PartialEq, Eq)]
pub struct ServerGreeting {
    pub capabilities: u32,
    pub more: u32,
    pub challenge: Vec<u8>,
    pub method: String,
}

impl ServerGreeting {
    pub fn read(body: &[u8]) -> Result<Self, SessionError> {
        const VERSION: u8 = 10;
        let mut reader = PacketReader(body);
        match reader.byte()? {
            VERSION => {}
            0xff => return Err(session_error(MysqlRefusal::read(body)?)),
            other => return Err(Malformed::new(format!("protocol version {other} is not spoken here")).into()),
        }
        Ok(Self::after_version(reader)?)
    }

    fn after_version(mut reader: PacketReader<'_>) -> Result<Self, Malformed> {
        /// The length of the challenge's first piece, and the least length of its second.
        const FIRST_PIECE: usize = 8;
        const SECOND_PIECE: usize = 12;
        reader.zero_ended()?;
        // The server's thread id.
        reader.long()?;
        let mut challenge = reader.bytes(FIRST_PIECE)?.to_vec();
        reader.byte()?;
        let low = reader.short()?;
        // Character set and status.
        reader.bytes(3)?;
        let capabilities = u32::from(low) | u32::from(reader.short()?) << 16;
        let length = usize::from(reader.byte()?);
        reader.bytes(6)?;
        let more = if capabilities & can::BE_MYSQL == 0 { reader.long()? } else { reader.bytes(4).map(|_| 0)? };
        let rest = reader.bytes(length.saturating_sub(FIRST_PIECE + 1).max(SECOND_PIECE))?;
        challenge.extend_from_slice(rest);
        reader.byte()?;
        let method = reader.zero_ended().unwrap_or_default();
        Ok(Self { capabilities, more, challenge, method: String::from_utf8_lossy(method).into_owned() })
    }

    fn features(&self) -> Features {
        let no_eof = self.capabilities & can::LEAVE_OUT_EOF != 0;
        Features {
            no_eof,
            cached_columns: no_eof && self.more & more::CACHE_COLUMNS != 0,
            executes_all: self.more & more::EXECUTE_ALL != 0,
        }
    }
}

/// Connects, encrypts if wanted and possible, and logs in.
pub fn open(
    remote: &Remote,
    encryption: Option<&Encryption>,
    purpose: ConnectionPurpose,
) -> Result<MysqlWire, SessionError> {
    let deadline = Instant::now() + LOGIN_LIMIT;
    let mut wire = wire::open(remote, deadline).map_err(SessionError::Lost)?;
    let (sequence, greeting) =
        next_body(&mut wire, deadline, |sequence, body| Ok((sequence, ServerGreeting::read(body)?)))?;
    if greeting.capabilities & NEEDED != NEEDED {
        return Err(SessionError::Protocol("the server is older than MySQL 5.5 or MariaDB 5.5".to_owned()));
    }
    wire.agreed = greeting.features();
    let mut introduction = LoginAnswer {
        capabilities: purpose.capabilities() & greeting.capabilities,
        more: greeting.more & (more::CACHE_COLUMNS | more::EXECUTE_ALL),
        sequence: sequence.wrapping_add(1),
    };
    let mut wire = encrypt(wire, encryption, &greeting, &mut introduction, deadline)?;
    let password = remote.password.as_ref().map(Secret::reveal);
    let applicant = Applicant { password, trusted: wire.is_trusted() || remote.tls.clear_password };
    let known = auth::is_known(&greeting.method, applicant);
    let mut method = if known { greeting.method } else { auth::FALLBACK.to_owned() };
    let proof = auth::proof(&method, &greeting.challenge, applicant)?;
    introduction.put(&mut wire, remote, &method, &proof)?;
    while let Some((sequence, question)) = next_body(&mut wire, deadline, question)? {
        let proof = match question {
            LoginQuestion::Method { name, challenge } => {
                method = name;
                Some(auth::proof(&method, &challenge, applicant)?)
            }
            LoginQuestion::More(said) => auth::proof_again(&method, &said, applicant)?,
        };
        if let Some(proof) = proof {
            put(wire.outgoing(), sequence.wrapping_add(1), |out| out.put_slice(&proof))?;
        }
    }
    if remote.own_sql {
        wire.command(command::QUERY, include_str!("sql/own_session.sql"))?;
        converse(&mut wire, false, ReplyLimit::QUESTION, &mut |_| Ok(()))?;
    }
    Ok(wire)
}

/// Encrypts if that is wanted and the server can.
fn encrypt(
    mut wire: MysqlWire,
    encryption: Option<&Encryption>,
    greeting: &ServerGreeting,
    introduction: &mut LoginAnswer,
    deadline: Instant,
) -> Result<MysqlWire, SessionError> {
    let Some(encryption) = encryption else { return Ok(wire) };
    if greeting.capabilities & can::ENCRYPT == 0 {
        if encryption.required {
            return Err(SessionError::Insecure { why: "the server does not encrypt connections".to_owned() });
        }
        return Ok(wire);
    }
    introduction.capabilities |= can::ENCRYPT;
    put(wire.outgoing(), introduction.sequence, |out| introduction.put_head(out))?;
    introduction.sequence = introduction.sequence.wrapping_add(1);
    wire.send_all(deadline).map_err(SessionError::Lost)?;
    wire.encrypt(encryption, deadline)
}

/// Our answer to the greeting.
struct LoginAnswer {
    capabilities: u32,
    /// MariaDB's own bits.
    more: u32,
    sequence: u8,
}

impl LoginAnswer {
    /// Writes the account, and the proof that the method asks for.
    fn put(&self, wire: &mut MysqlWire, remote: &Remote, method: &str, proof: &[u8]) -> Result<(), Malformed> {
        put(wire.outgoing(), self.sequence, |out| {
            self.put_head(out);
            for text in [remote.user.as_bytes(), b"\0"] {
                out.put_slice(text);
            }
            put_number(out, proof.len());
            out.put_slice(proof);
            for text in [remote.database.as_bytes(), b"\0", method.as_bytes(), b"\0"] {
                out.put_slice(text);
            }
        })
    }

    /// Writes our capabilities. Sent alone, they ask the server to encrypt everything that follows.
    fn put_head(&self, out: &mut BytesMut) {
        const UNUSED: usize = 19;
        out.put_u32_le(self.capabilities);
        // The longest packet that we accept; servers ignore it.
        out.put_u32_le(0);
        out.put_u8(CHARACTER_SET);
        out.put_bytes(0, UNUSED);
        out.put_u32_le(self.more);
    }
}

/// What the server asks for before it accepts the login.
#[derive(Debug, PartialEq, Eq)]
enum LoginQuestion {
    /// A proof by a method of the server's choice.
    Method { name: String, challenge: Vec<u8> },
    /// A further message of the method.
    More(Vec<u8>),
}

/// The server's answer to a proof, with its sequence number; `None` if the login is accepted.
fn question(sequence: u8, body: &[u8]) -> Result<Option<(u8, LoginQuestion)>, SessionError> {
    let mut reader = PacketReader(body);
    match reader.byte()? {
        0x00 => Ok(None),
        0xff => Err(session_error(MysqlRefusal::read(body)?)),
        0x01 => Ok(Some((sequence, LoginQuestion::More(reader.0.to_vec())))),
        0xfe => {
            let name = String::from_utf8_lossy(reader.zero_ended()?).into_owned();
            let challenge = without_end(reader.0).to_vec();
            Ok(Some((sequence, LoginQuestion::Method { name, challenge })))
        }
        other => Err(Malformed::new(format!("{other:#04x} begins an answer to a login")).into()),
    }
}

/// A challenge without the byte that ends it. Challenges are of random bytes, so only the length shows whether there is one.
fn without_end(challenge: &[u8]) -> &[u8] {
    match challenge {
        [rest @ .., 0] if CHALLENGE_LENGTHS.contains(&rest.len()) => rest,
        whole => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Recorded from MariaDB 10.11.
    const MARIADB: &[u8] = b"\x0a5.5.5-10.11.19-MariaDB-0+deb12u1\0\x03\0\0\0gK$mz@n)\0\xfe\xf7\x08\x02\0\xff\x81\x15\
        \0\0\0\0\0\0\x1d\0\0\0\"jq{53A,Y[>d\0mysql_native_password\0";

    #[test]
    fn a_greeting_tells_what_the_server_can() {
        let greeting = ServerGreeting::read(MARIADB).unwrap();
        assert_eq!(greeting.challenge, b"gK$mz@n)\"jq{53A,Y[>d");
        assert_eq!(greeting.method, "mysql_native_password");
        assert_eq!(greeting.capabilities & NEEDED, NEEDED);
        assert_eq!(greeting.features(), Features { no_eof: true, cached_columns: true, executes_all: true });
    }

    #[test]
    fn a_server_that_is_full_says_so() {
        let error = ServerGreeting::read(b"\xff\x10\x04Too many connections").unwrap_err();
        assert_eq!(error.to_string(), "1040: Too many connections");
    }

    #[test]
    fn a_question_names_the_method() {
        let asked = question(2, b"\xfemysql_native_password\x000123456789abcdefghij\0").unwrap().unwrap();
        let (name, challenge) = ("mysql_native_password".to_owned(), b"0123456789abcdefghij".to_vec());
        assert_eq!(asked, (2, LoginQuestion::Method { name, challenge }));
        assert_eq!(question(4, b"\x01\x03").unwrap().unwrap(), (4, LoginQuestion::More(vec![3])));
        assert!(question(2, b"\0\0\0\x02\0\0\0").unwrap().is_none());
        // MariaDB ends no challenge for a signature, and one of 256 has this last byte.
        let signed = [b"\xfeclient_ed25519\0".as_slice(), &[7; 31], b"\0"].concat();
        let (name, challenge) = ("client_ed25519".to_owned(), [&[7; 31], b"\0".as_slice()].concat());
        assert_eq!(question(2, &signed).unwrap().unwrap(), (2, LoginQuestion::Method { name, challenge }));
        let error = question(2, b"\xff\x15\x04#28000Access denied").err().unwrap();
        assert_eq!(error.to_string(), "1045: Access denied");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), cut in 0_usize..100) {
            let _ = (ServerGreeting::read(&bytes), ServerGreeting::read(&MARIADB[..cut.min(MARIADB.len())]), question(0, &bytes).is_ok());
        }
    }
}

//! The secret by which conductor and agent recognise each other where others could connect too.
//!
//! It is read from a file and never sent. Each side proves that it has the token, for two numbers drawn for this
//! conversation, so an eavesdropper cannot reuse the proof.

use crate::owned::{self, ForeignError};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const RANDOM_BYTES: &str = "/dev/urandom";
/// 128 bits.
const FEWEST_DIGITS: usize = 32;
/// No file of a token or a login is longer.
const LONGEST_FILE: u64 = 64 << 10;
/// Mode bits: the group and all others have some access.
const OPEN_TO_OTHERS: u32 = 0o077;
const MODE: u32 = 0o7777;

/// Drawn for one conversation.
pub(crate) type Nonce = [u8; 16];
pub(crate) type Proof = [u8; 32];

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("reading the token in {}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the token: {0}")]
    Foreign(#[from] ForeignError),
    #[error(
        "the token in {path} is open to other users (its mode is {mode:04o}), who could then command the agent; chmod 600 {path}, \
         and make another if somebody may have read it", path = .path.display()
    )]
    Exposed { path: PathBuf, mode: u32 },
    #[error(
        "{} holds no token of at least 128 bits: {FEWEST_DIGITS} hexadecimal digits or more on one line, as `openssl rand -hex 16` \
         prints them", .path.display()
    )]
    Weak { path: PathBuf },
}

/// The side that gives a proof. One side's proof is not valid for the other.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ProofSide {
    Conductor,
    Agent,
}

impl ProofSide {
    fn name(self) -> &'static [u8] {
        match self {
            Self::Conductor => b"conductor",
            Self::Agent => b"agent",
        }
    }
}

#[derive(Clone)]
pub struct Token(Hmac<Sha256>);

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token")
    }
}

impl Token {
    /// Reads it from a file that only we can access.
    pub fn of_file(path: &Path) -> Result<Self, TokenError> {
        let text = private_text(path)?;
        Self::parse(text.trim_end()).ok_or_else(|| TokenError::Weak { path: path.to_owned() })
    }

    /// A new one, with its text for the agent's file.
    pub fn drawn() -> io::Result<(Self, String)> {
        let text = format!("{:032x}", u128::from_be_bytes(random_bytes()?));
        let token = Self::parse(&text).ok_or(io::ErrorKind::InvalidData)?;
        Ok((token, text))
    }

    fn parse(text: &str) -> Option<Self> {
        let is_token = text.len() >= FEWEST_DIGITS && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        // A key of HMAC may have any length.
        is_token.then(|| Hmac::new_from_slice(text.as_bytes()).ok()).flatten().map(Self)
    }

    fn of_both(&self, side: ProofSide, agents: &Nonce, conductors: &Nonce) -> Hmac<Sha256> {
        self.0.clone().chain_update(side.name()).chain_update(agents).chain_update(conductors)
    }

    pub(crate) fn proof(&self, side: ProofSide, agents: &Nonce, conductors: &Nonce) -> Proof {
        self.of_both(side, agents, conductors).finalize().into_bytes().into()
    }

    /// Compares in constant time, so its duration reveals nothing about the right proof.
    pub(crate) fn is_proved(&self, side: ProofSide, agents: &Nonce, conductors: &Nonce, proof: &Proof) -> bool {
        self.of_both(side, agents, conductors).verify_slice(proof).is_ok()
    }
}

/// The text of a file that only we can access.
pub fn private_text(path: &Path) -> Result<String, TokenError> {
    let failing = |source| TokenError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failing)?;
    let metadata = file.metadata().map_err(failing)?;
    let mode = metadata.permissions().mode() & MODE;
    if mode & OPEN_TO_OTHERS != 0 {
        return Err(TokenError::Exposed { path: path.to_owned(), mode });
    }
    owned::judge(path, &metadata)?;
    let mut text = String::new();
    file.take(LONGEST_FILE).read_to_string(&mut text).map_err(failing)?;
    Ok(text)
}

/// Random bytes that nobody can guess.
pub fn random_bytes<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    File::open(RANDOM_BYTES)?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
pub(crate) fn token(digit: char) -> Token {
    Token::parse(&digit.to_string().repeat(FEWEST_DIGITS)).unwrap()
}

#[cfg(test)]
mod tests {
    use super::{ProofSide, Token, TokenError, token};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_long_enough_and_for_nobody_else_to_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let read = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Token::of_file(&path)
        };
        let digits = "0123456789abcdef0123456789ABCDEF";
        assert_eq!(format!("{:?}", read(&format!("{digits}\n"), 0o600).unwrap()), "Token");
        for weak in ["", &digits[1..], "not hexadecimal at all, however long it may be", &format!("{digits}\n{digits}")]
        {
            let error = read(weak, 0o400).unwrap_err().to_string();
            assert!(error.contains("at least 128 bits") && !error.contains("hexadecimal at all"), "{error}");
        }
        for mode in [0o640, 0o604, 0o620] {
            assert!(matches!(read(digits, mode), Err(TokenError::Exposed { .. })), "{mode:o}");
        }
        fs::remove_file(&path).unwrap();
        assert!(matches!(Token::of_file(&path), Err(TokenError::Io { .. })));
    }

    #[test]
    fn only_the_same_token_proves_itself_and_only_once_and_for_one_side() {
        let (ours, agents, conductors) = (token('a'), [1; 16], [2; 16]);
        let proof = ours.proof(ProofSide::Conductor, &agents, &conductors);
        assert!(ours.is_proved(ProofSide::Conductor, &agents, &conductors, &proof));
        assert!(!ours.is_proved(ProofSide::Agent, &agents, &conductors, &proof), "a proof that is sent back");
        assert!(
            !ours.is_proved(ProofSide::Conductor, &[3; 16], &conductors, &proof),
            "a proof of another conversation"
        );
        assert!(!token('b').is_proved(ProofSide::Conductor, &agents, &conductors, &proof));
        // Computed with Python's hmac and hashlib.
        assert_eq!(proof[..4], [0x37, 0x8b, 0x52, 0x82]);
    }
}

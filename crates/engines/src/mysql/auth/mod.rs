//! Proves who we are, by each of the server's authentication methods. Bytes in, bytes out.
//!
//! Not supported: sending the password under the server's public key, as `caching_sha2_password` and `sha256_password`
//! do without encryption. A key that comes from the server itself does not prove whose it is.

mod caching_sha2;
mod ed25519;
mod native;

use crate::session::SessionError;

/// The method to begin with if we cannot use the one that the server names first.
pub const FALLBACK: &str = "mysql_native_password";

const CACHING: &str = "caching_sha2_password";

const METHODS: &[&str] =
    &[FALLBACK, CACHING, "client_ed25519", "sha256_password", "mysql_clear_password", "unix_socket", "auth_socket"];

/// The password, and whether the connection may carry it.
#[derive(Debug, Clone, Copy)]
pub struct Applicant<'a> {
    pub password: Option<&'a str>,
    /// The password itself may be sent: the connection is private and the server verified, or the user has allowed it.
    pub trusted: bool,
}

/// Whether a proof by this method can be sent at once.
pub fn is_known(method: &str, applicant: Applicant<'_>) -> bool {
    METHODS.contains(&method) && (applicant.trusted || !is_clear(method))
}

/// Methods that need the password itself.
fn is_clear(method: &str) -> bool {
    matches!(method, "sha256_password" | "mysql_clear_password")
}

/// The proof of the password for a server that sent this challenge.
pub fn proof(method: &str, challenge: &[u8], applicant: Applicant<'_>) -> Result<Vec<u8>, SessionError> {
    let password = applicant.password.unwrap_or_default();
    match method {
        FALLBACK => Ok(native::proof(challenge, password)),
        CACHING => Ok(caching_sha2::proof(challenge, password)),
        "client_ed25519" => Ok(ed25519::proof(challenge, password.as_bytes())),
        _ if is_clear(method) => clear(applicant),
        // The kernel shows the server which account is at the other end of the socket.
        "unix_socket" | "auth_socket" => Ok(Vec::new()),
        _ => Err(not_let_in(format!(
            "the server asks for the authentication method {method}, which is not spoken here; {} are",
            METHODS.join(", ")
        ))),
    }
}

/// The answer to a method's further message; `None` if the server continues by itself.
pub fn proof_again(method: &str, said: &[u8], applicant: Applicant<'_>) -> Result<Option<Vec<u8>>, SessionError> {
    match (method, said) {
        (CACHING, [caching_sha2::REMEMBERED]) => Ok(None),
        (CACHING, [caching_sha2::FORGOTTEN]) => clear(applicant).map(Some),
        _ => {
            Err(SessionError::Protocol(format!("{} more bytes by the method {method} are not understood", said.len())))
        }
    }
}

/// The password itself, with a zero byte at the end.
fn clear(applicant: Applicant<'_>) -> Result<Vec<u8>, SessionError> {
    if !applicant.trusted {
        let why = "the server asks for the password itself, and is not verified; use ssl-mode=verify_identity with \
                   ssl-ca=FILE, or a socket, or allow it by enable-cleartext-plugin=1";
        return Err(SessionError::Insecure { why: why.to_owned() });
    }
    Ok([applicant.password.unwrap_or_default().as_bytes(), b"\0"].concat())
}

pub fn not_let_in(message: String) -> SessionError {
    // The server's own code for a refused login.
    SessionError::Refused { code: "1045".to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBTFUL: Applicant<'_> = Applicant { password: Some("hunter2"), trusted: false };
    const TRUSTED: Applicant<'_> = Applicant { trusted: true, ..DOUBTFUL };

    #[test]
    fn the_password_itself_is_told_to_a_trusted_server_only() {
        for method in ["sha256_password", "mysql_clear_password"] {
            assert_eq!(proof(method, b"", TRUSTED).unwrap(), b"hunter2\0");
            assert!(matches!(proof(method, b"", DOUBTFUL), Err(SessionError::Insecure { .. })));
            assert!(is_known(method, TRUSTED) && !is_known(method, DOUBTFUL));
        }
        let asked = |applicant| proof_again(CACHING, &[caching_sha2::FORGOTTEN], applicant);
        assert_eq!(asked(TRUSTED).unwrap().unwrap(), b"hunter2\0");
        assert!(matches!(asked(DOUBTFUL), Err(SessionError::Insecure { .. })));
        assert!(proof_again(CACHING, &[caching_sha2::REMEMBERED], DOUBTFUL).unwrap().is_none());
    }

    #[test]
    fn what_is_not_spoken_is_named() {
        let error = proof("dialog", b"", TRUSTED).unwrap_err().to_string();
        assert!(error.contains("dialog") && error.contains("client_ed25519"), "{error}");
        assert!(proof_again(FALLBACK, &[4], TRUSTED).is_err());
    }
}

//! Proving who we are: what each of the server's methods wants to hear. Bytes in, bytes out.

mod native;

use crate::session::SessionError;

/// The method that is tried if we do not know the one that the server names first.
pub const FALLBACK: &str = "mysql_native_password";

const METHODS: &[&str] = &[FALLBACK, "unix_socket", "auth_socket"];

pub fn is_known(method: &str) -> bool {
    METHODS.contains(&method)
}

/// What proves the password to a server that sent this challenge.
pub fn proof(method: &str, challenge: &[u8], password: Option<&str>) -> Result<Vec<u8>, SessionError> {
    match method {
        "mysql_native_password" => Ok(native::proof(challenge, password.unwrap_or_default())),
        // The kernel tells the server whose process is at the other end of the socket.
        "unix_socket" | "auth_socket" => Ok(Vec::new()),
        _ => Err(not_let_in(format!(
            "the server asks for the authentication method {method}, which is not spoken here; {} are",
            METHODS.join(", ")
        ))),
    }
}

pub fn not_let_in(message: String) -> SessionError {
    // The server's own code for a login that was not accepted.
    SessionError::Refused { code: "1045".to_owned(), message }
}

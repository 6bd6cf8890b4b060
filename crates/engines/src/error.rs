//! Why a session or one of its statements failed.
//!
//! A server's details are in the lines after the first one of a message. Whoever prints an error prints one line.

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The database aborted this transaction so that another could go on; the same inputs may be tried again.
    #[error("{}", in_one_line(&format!("{code}: {message}")))]
    Retryable { code: String, message: String },
    /// The database refused the statement; a retry would not help.
    #[error("{}", in_one_line(&format!("{code}: {message}")))]
    Refused { code: String, message: String },
    #[error("connection lost: {0}")]
    Lost(#[source] std::io::Error),
    /// The connection would not be as secure as was asked for.
    #[error("no secure connection: {why}")]
    Insecure { why: String },
    /// The server's bytes do not follow the protocol.
    #[error("protocol error: {0}")]
    Protocol(String),
    /// An answer follows the protocol, and is larger than any that we take.
    #[error("the answer is too large for bakeoff: {0}")]
    TooLarge(String),
    /// A row or column that a statement promised is missing, or has another type.
    #[error("unexpected result of {statement}: {what}")]
    Unexpected { statement: &'static str, what: String },
}

impl SessionError {
    /// The server ended the connection, and said why.
    pub(crate) fn lost_because(code: String, message: String) -> Self {
        Self::Lost(std::io::Error::other(Self::Refused { code, message }.to_string()))
    }
}

fn in_one_line(message: &str) -> String {
    message.replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_cannot_print_lines_of_its_own() {
        let (code, message) = ("P0001".to_owned(), "odd\r\n✓ VM: ready".to_owned());
        let refused = SessionError::Refused { code: code.clone(), message: message.clone() };
        assert_eq!(refused.to_string(), "P0001: odd  ✓ VM: ready");
        let lost = SessionError::lost_because(code, message);
        assert_eq!(lost.to_string(), "connection lost: P0001: odd  ✓ VM: ready");
    }
}

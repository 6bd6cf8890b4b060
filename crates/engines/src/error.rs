//! Why a session or one of its statements failed.

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The database aborted this transaction so that another could go on; the same inputs may be tried again.
    #[error("{code}: {message}")]
    Retryable { code: String, message: String },
    /// The database refused the statement; a retry would not help.
    #[error("{code}: {message}")]
    Refused { code: String, message: String },
    #[error("connection lost: {0}")]
    Lost(#[source] std::io::Error),
    /// The connection would not be as secure as was asked for.
    #[error("no secure connection: {why}")]
    Insecure { why: String },
    /// The server's bytes do not follow the protocol.
    #[error("protocol error: {0}")]
    Protocol(String),
    /// A row or column that a statement promised is missing, or has another type.
    #[error("unexpected result of {statement}: {what}")]
    Unexpected { statement: &'static str, what: String },
}

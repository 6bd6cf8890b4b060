//! The answer to one request: the meaning of each message, however the caller waits.

use super::decode::{PostgresColumnKind, PostgresMessage, PostgresRefusal, changed, command, refusal, row};
use crate::session::{ResultSet, SessionError};
use crate::wire::Malformed;
use std::io;

/// Tags of the server's messages that matter here.
pub mod tag {
    pub const AUTHENTICATION: u8 = b'R';
    pub const COMMAND_COMPLETE: u8 = b'C';
    pub const COPY_BOTH: u8 = b'W';
    pub const COPY_IN: u8 = b'G';
    pub const COPY_OUT: u8 = b'H';
    pub const DATA_ROW: u8 = b'D';
    pub const ERROR: u8 = b'E';
    pub const PARAMETER_DESCRIPTION: u8 = b't';
    pub const READY: u8 = b'Z';
    pub const ROW_DESCRIPTION: u8 = b'T';
}

/// The state of the session's transaction, as each `ReadyForQuery` reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transaction {
    #[default]
    None,
    Open,
    /// A statement failed; the server accepts only a rollback.
    Failed,
}

/// The part of an answer that has been read so far.
#[derive(Debug, Default)]
pub struct PostgresReply {
    pub refusal: Option<PostgresRefusal>,
    pub transaction: Transaction,
    /// The server answered COMMIT with a rollback, because an earlier statement had failed.
    pub rolled_back: bool,
}

impl PostgresReply {
    /// Prepares for the next answer.
    pub fn start(&mut self) {
        self.refusal = None;
        self.rolled_back = false;
    }

    /// Takes the next message; true if the answer ends with it. Notices, changed parameters and similar messages may
    /// come at any time and are skipped.
    pub fn take(
        &mut self,
        message: PostgresMessage<'_>,
        columns: &[PostgresColumnKind],
        results: &mut ResultSet,
    ) -> Result<bool, Malformed> {
        match message.tag {
            tag::DATA_ROW => row(message.body, columns, results)?,
            tag::COMMAND_COMPLETE => {
                results.set_changed(changed(message.body));
                self.rolled_back = command(message.body) == "ROLLBACK";
            }
            tag::ERROR => self.refuse(refusal(message.body)?),
            tag::COPY_BOTH | tag::COPY_IN | tag::COPY_OUT => return Err(copies_unasked()),
            tag::READY => {
                self.transaction = transaction(message.body);
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }

    /// Keeps the first refusal, which is the cause. Later ones are consequences.
    pub fn refuse(&mut self, refusal: PostgresRefusal) {
        self.refusal.get_or_insert(refusal);
    }

    /// The result of the whole answer.
    pub fn outcome(&mut self) -> Result<(), SessionError> {
        self.refusal.take().map_or(Ok(()), |refusal| Err(session_error(refusal)))
    }

    /// The error for a lost connection: the server's last refusal if there is one, otherwise `error`.
    pub fn lost(&mut self, error: io::Error) -> SessionError {
        match self.refusal.take() {
            Some(PostgresRefusal { code, message, .. }) => SessionError::lost_because(code, message),
            None => SessionError::Lost(error),
        }
    }
}

/// The error for an unrequested copy: the server would wait for rows, or send them, without end.
pub fn copies_unasked() -> Malformed {
    Malformed::new("the server begins to copy rows, which it was not asked for")
}

pub fn transaction(body: &[u8]) -> Transaction {
    match body {
        b"T" => Transaction::Open,
        b"E" => Transaction::Failed,
        _ => Transaction::None,
    }
}

/// Converts a refusal into the error that engines share.
pub fn session_error(PostgresRefusal { fatal, code, message }: PostgresRefusal) -> SessionError {
    match code.as_str() {
        // Serialization failure, deadlock, lock not available: another transaction was in the way.
        "40001" | "40P01" | "55P03" => SessionError::Retryable { code, message },
        _ if fatal => SessionError::lost_because(code, message),
        _ => SessionError::Refused { code, message },
    }
}

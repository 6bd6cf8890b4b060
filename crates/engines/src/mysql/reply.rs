//! The answer to one request, packet by packet: the meaning of each, however the caller waits.

use super::decode::{MysqlRefusal, OkPacket};
use super::packet::{Features, Packet, PacketReader};
use crate::session::SessionError;
use crate::wire::Malformed;
use std::io;

/// The content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Nothing,
    /// The definitions of all columns follow, and replace those known so far.
    ColumnsFollow,
    Column(&'a [u8]),
    Row(&'a [u8]),
    /// The server asks for the rows of a file, in a packet with this sequence number.
    RowsWanted(u8),
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum AwaitedPacket {
    #[default]
    First,
    Columns(u64),
    EndOfColumns,
    Rows,
}

/// The part of an answer that has been read so far.
#[derive(Debug, Default)]
pub struct MysqlReply {
    features: Features,
    awaited: AwaitedPacket,
    refusal: Option<MysqlRefusal>,
    /// The last outcome. It is kept when the next answer begins, because it holds the transaction's state.
    pub outcome: OkPacket,
    /// Rows changed by all statements of the request.
    pub changed: u64,
}

/// A table has at most this many columns, and a result not many more.
const MOST_COLUMNS: u64 = u16::MAX as u64;

/// First bytes of packets.
mod first {
    pub const OK: u8 = 0x00;
    pub const ROWS_WANTED: u8 = 0xfb;
    pub const END: u8 = 0xfe;
    pub const REFUSAL: u8 = 0xff;
}

/// A row may also begin with the byte of [`first::END`], but then it is at least this long.
const LONGEST_END: usize = 0xff_ff_ff;

impl MysqlReply {
    pub fn new(features: Features) -> Self {
        Self { features, ..Self::default() }
    }

    /// Prepares for the next answer.
    pub fn start(&mut self) {
        self.awaited = AwaitedPacket::First;
        self.refusal = None;
        self.changed = 0;
    }

    /// Takes the next packet of an answer to a prepared statement (`binary`) or to a text.
    pub fn take<'a>(&mut self, packet: Packet<'a>, binary: bool) -> Result<Piece<'a>, Malformed> {
        let body = packet.body;
        let begins = *body.first().ok_or_else(|| Malformed::new("an empty packet in an answer"))?;
        match (self.awaited, begins) {
            (AwaitedPacket::First | AwaitedPacket::Rows, first::REFUSAL) => {
                self.refusal = Some(MysqlRefusal::read(body)?);
                Ok(Piece::Done)
            }
            (AwaitedPacket::First, first::OK) => Ok(self.end(OkPacket::read(body)?)),
            (AwaitedPacket::First, first::ROWS_WANTED) => Ok(Piece::RowsWanted(packet.sequence)),
            (AwaitedPacket::First, _) => self.columns(body, binary),
            (AwaitedPacket::Columns(left), _) => {
                self.awaited = self.after_column(left);
                Ok(Piece::Column(body))
            }
            (AwaitedPacket::EndOfColumns, _) => {
                self.awaited = AwaitedPacket::Rows;
                Ok(Piece::Nothing)
            }
            (AwaitedPacket::Rows, first::END) if body.len() < LONGEST_END => {
                let outcome = if self.features.no_eof { OkPacket::read(body)? } else { OkPacket::read_end(body)? };
                Ok(self.end(outcome))
            }
            (AwaitedPacket::Rows, _) => Ok(Piece::Row(body)),
        }
    }

    fn columns<'a>(&mut self, body: &'a [u8], binary: bool) -> Result<Piece<'a>, Malformed> {
        let mut reader = PacketReader(body);
        let count = reader.number()?;
        let known = self.features.cached_columns && binary && reader.byte()? == 0;
        self.awaited = match count {
            0 => return Err(Malformed::new("rows without columns")),
            _ if count > MOST_COLUMNS => return Err(Malformed::new(format!("rows of {count} columns announced"))),
            _ if known => AwaitedPacket::Rows,
            _ => AwaitedPacket::Columns(count),
        };
        Ok(if known { Piece::Nothing } else { Piece::ColumnsFollow })
    }

    fn after_column(&self, left: u64) -> AwaitedPacket {
        match left {
            0 | 1 if self.features.no_eof => AwaitedPacket::Rows,
            0 | 1 => AwaitedPacket::EndOfColumns,
            _ => AwaitedPacket::Columns(left - 1),
        }
    }

    fn end<'a>(&mut self, outcome: OkPacket) -> Piece<'a> {
        self.outcome = outcome;
        self.changed += outcome.changed;
        self.awaited = AwaitedPacket::First;
        if outcome.more_follow() { Piece::Nothing } else { Piece::Done }
    }

    /// The result of the whole answer.
    pub fn result(&mut self) -> Result<(), SessionError> {
        self.refusal.take().map_or(Ok(()), |refusal| Err(session_error(refusal)))
    }

    /// The error for a lost connection: the server's last refusal if there is one, otherwise `error`.
    pub fn lost(&mut self, error: io::Error) -> SessionError {
        match self.refusal.take() {
            Some(MysqlRefusal { code, message }) => SessionError::lost_because(code.to_string(), message),
            None => SessionError::Lost(error),
        }
    }
}

/// Converts a refusal into the error that engines share.
pub fn session_error(MysqlRefusal { code, message }: MysqlRefusal) -> SessionError {
    let code_text = || code.to_string();
    match code {
        // A row that another transaction has changed since our snapshot, a lock wait timeout, a deadlock.
        1020 | 1205 | 1213 => SessionError::Retryable { code: code_text(), message },
        // The server shuts down; this connection was killed; it was idle for too long.
        1053 | 1927 | 4031 => SessionError::lost_because(code_text(), message),
        _ => SessionError::Refused { code: code_text(), message },
    }
}

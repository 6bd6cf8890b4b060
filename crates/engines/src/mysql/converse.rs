//! Sends requests and waits for their answers: before anything is measured, and for administration.

use super::decode::{MysqlColumnKind, MysqlRefusal};
use super::encode::MysqlStatement;
use super::marks::MarkedPart;
use super::packet::{PacketReader, command};
use super::reply::{MysqlReply, Piece, session_error};
use super::wire::MysqlWire;
use crate::limit::ReplyLimit;
use crate::session::SessionError;
use crate::wire::Malformed;
use std::time::Instant;

/// Passes sequence number and body of the next packet to `read`, and waits for the packet until `deadline`.
pub fn next_body<T>(
    wire: &mut MysqlWire,
    deadline: Instant,
    read: impl Fn(u8, &[u8]) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    loop {
        if let Some(packet) = wire.next()? {
            return read(packet.sequence, packet.body);
        }
        wire.receive_some(deadline).map_err(SessionError::Lost)?;
    }
}

/// Sends the buffered request and passes each step of the answer to `hear`, until the answer ends or the server asks
/// for rows.
pub fn converse(
    wire: &mut MysqlWire,
    binary: bool,
    limit: ReplyLimit,
    hear: &mut dyn FnMut(Piece<'_>) -> Result<(), SessionError>,
) -> Result<AnswerEnd, SessionError> {
    let deadline = Instant::now() + limit.time;
    wire.expect_at_most(limit.bytes);
    let mut reply = MysqlReply::new(wire.agreed);
    let mut rows = 0;
    loop {
        while let Some(packet) = wire.next()? {
            match reply.take(packet, binary)? {
                Piece::Done => {
                    reply.result()?;
                    return Ok(AnswerEnd::Done { changed: reply.changed, warnings: reply.outcome.warnings });
                }
                Piece::RowsWanted(sequence) => return Ok(AnswerEnd::RowsWanted { sequence }),
                step => {
                    rows += u64::from(matches!(step, Piece::Row(_)));
                    limit.check_rows(rows)?;
                    hear(step)?;
                }
            }
        }
        wire.receive_some(deadline).map_err(|error| reply.lost(limit.explained(error)))?;
    }
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerEnd {
    Done { changed: u64, warnings: u16 },
    RowsWanted { sequence: u8 },
}

/// The server's first packet about a prepared statement.
struct Announced {
    id: u32,
    columns: u16,
    parameters: u16,
}

impl Announced {
    fn read(body: &[u8]) -> Result<Self, SessionError> {
        let mut reader = PacketReader(body);
        match reader.byte()? {
            0 => Ok(Self { id: reader.long()?, columns: reader.short()?, parameters: reader.short()? }),
            0xff => Err(session_error(MysqlRefusal::read(body)?)),
            other => Err(Malformed::new(format!("{other:#04x} begins the answer to a preparation")).into()),
        }
    }
}

/// Prepares one statement.
pub fn prepare(wire: &mut MysqlWire, part: &MarkedPart, limit: ReplyLimit) -> Result<MysqlStatement, SessionError> {
    let deadline = Instant::now() + limit.time;
    wire.expect_at_most(limit.bytes);
    wire.command(command::PREPARE, &part.sql)?;
    let announced = next_body(wire, deadline, |_, body| Announced::read(body))?;
    for _ in 0..announced.parameters {
        next_body(wire, deadline, |_, _| Ok(()))?;
    }
    end_of_definitions(wire, announced.parameters, deadline)?;
    let mut columns = Vec::with_capacity(announced.columns.into());
    for _ in 0..announced.columns {
        columns.push(next_body(wire, deadline, |_, body| Ok(MysqlColumnKind::read(body)?))?);
    }
    end_of_definitions(wire, announced.columns, deadline)?;
    let found = usize::from(announced.parameters);
    if found != part.values.len() {
        let what = format!("the server found {found} parameters where {} were marked", part.values.len());
        return Err(SessionError::Protocol(what));
    }
    Ok(MysqlStatement::new(announced.id, part.values.clone(), columns))
}

/// Older servers end each list of definitions with a packet.
fn end_of_definitions(wire: &mut MysqlWire, count: u16, deadline: Instant) -> Result<(), SessionError> {
    if count > 0 && !wire.agreed.no_eof {
        next_body(wire, deadline, |_, _| Ok(()))?;
    }
    Ok(())
}

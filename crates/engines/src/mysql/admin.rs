//! Administration over a blocking connection: scripts, scans, and loading by LOAD DATA LOCAL without a file.

use super::converse::{AnswerEnd, converse, prepare};
use super::counters;
use super::decode::{MysqlColumnKind, row};
use super::encode::put_rows;
use super::handshake::{ConnectionPurpose, open};
use super::marks::MarkedPart;
use super::packet::{command, put};
use super::reply::Piece;
use super::wire::MysqlWire;
use crate::admin::{self, Admin, AdminSql, Canceller, CountersOf, ScanBatch};
use crate::limit::ReplyLimit;
use crate::remote::Remote;
use crate::rows::RowSink;
use crate::server::Counters;
use crate::session::{ResultSet, SessionError};
use crate::tls::Encryption;
use bytes::BufMut;
use std::time::Instant;

/// Rows are sent once this many bytes are written: enough to make the system call cheap, few enough for the cache.
const ROWS_CHUNK_BYTES: usize = 256 << 10;

const SQL: AdminSql = AdminSql {
    settle: include_str!("sql/settle.sql"),
    shape: include_str!("sql/shape.sql"),
    effective: Some(include_str!("sql/effective.sql")),
};

#[derive(Debug)]
pub struct MysqlAdmin {
    wire: MysqlWire,
    remote: Remote,
}

pub fn open_admin(remote: &Remote) -> Result<MysqlAdmin, SessionError> {
    let encryption = Encryption::prepare(remote)?;
    Ok(MysqlAdmin {
        wire: open(remote, encryption.as_ref(), ConnectionPurpose::Administration)?,
        remote: remote.clone(),
    })
}

impl MysqlAdmin {
    fn query(&mut self, sql: &str) -> Result<AnswerEnd, SessionError> {
        self.wire.command(command::QUERY, sql)?;
        converse(&mut self.wire, false, ReplyLimit::WORK, &mut |_| Ok(()))
    }

    /// Sends rows until there are no more; the server does not answer in between. Returns the number of rows.
    fn send_rows(&mut self, asked: u8, fill: &mut dyn FnMut(&mut dyn RowSink) -> bool) -> Result<u64, SessionError> {
        let (mut sequence, mut rows, mut more) = (asked.wrapping_add(1), 0, true);
        while more {
            let some = put_rows(self.wire.outgoing(), sequence, &mut |sink| {
                while more && sink.bytes().len() < ROWS_CHUNK_BYTES {
                    more = fill(sink);
                }
                rows += sink.rows();
            })?;
            sequence = sequence.wrapping_add(some.into());
            self.wire.send_all(Instant::now() + ReplyLimit::TAKING_ROWS).map_err(SessionError::Lost)?;
        }
        put(self.wire.outgoing(), sequence, |_| ())?;
        Ok(rows)
    }

    /// Loads within an open transaction. With LOCAL the server turns an error in a row into a warning, and drops the
    /// row or takes a part of it. So a single warning is a failure.
    fn load_all(&mut self, sql: &str, fill: &mut dyn FnMut(&mut dyn RowSink) -> bool) -> Result<u64, SessionError> {
        let AnswerEnd::RowsWanted { sequence } = self.query(sql)? else {
            return Err(SessionError::Protocol("the server does not ask for the rows to load".to_owned()));
        };
        let rows = self.send_rows(sequence, fill)?;
        match converse(&mut self.wire, false, ReplyLimit::WORK, &mut |_| Ok(()))? {
            AnswerEnd::Done { changed, warnings: 0 } if changed == rows => Ok(rows),
            AnswerEnd::Done { changed, .. } => Err(self.warned(rows, changed)),
            AnswerEnd::RowsWanted { .. } => Err(SessionError::Protocol("the server asks for rows twice".to_owned())),
        }
    }

    fn warned(&mut self, sent: u64, taken: u64) -> SessionError {
        let mut code = String::new();
        let mut message = format!("of {sent} rows {taken} were taken");
        let shown = self.ask("SHOW WARNINGS LIMIT 1", ReplyLimit::QUESTION, &mut |rows, row| {
            if let (Ok(number), Ok(text)) = (rows.integer(row, 1), rows.text(row, 2)) {
                code = number.to_string();
                message = format!("{text} ({message})");
            }
        });
        shown.map_or_else(|error| error, |()| SessionError::Refused { code, message })
    }
}

impl Admin for MysqlAdmin {
    fn script(&mut self, sql: &str) -> Result<(), SessionError> {
        /// A script may have no statement, and the server refuses an empty text.
        const NOTHING: &str = "1065";
        match self.query(sql) {
            Ok(AnswerEnd::Done { .. }) => Ok(()),
            Err(SessionError::Refused { code, .. }) if code == NOTHING => Ok(()),
            Err(error) => Err(error),
            Ok(AnswerEnd::RowsWanted { sequence }) => {
                put(self.wire.outgoing(), sequence.wrapping_add(1), |_| ())?;
                converse(&mut self.wire, false, ReplyLimit::WORK, &mut |_| Ok(()))?;
                Err(SessionError::Protocol("a script asks for a file".to_owned()))
            }
        }
    }

    fn ask(
        &mut self,
        sql: &str,
        limit: ReplyLimit,
        row: &mut dyn FnMut(&ResultSet, usize),
    ) -> Result<(), SessionError> {
        let begun = Instant::now();
        let part = MarkedPart { sql: sql.to_owned(), ..MarkedPart::default() };
        let mut statement = prepare(&mut self.wire, &part, limit.of_preparation())?;
        statement.execute(&[], self.wire.outgoing())?;
        let id = statement.id();
        let (mut columns, mut batch) = (statement.columns, ScanBatch::new(row));
        converse(&mut self.wire, true, limit.since(begun), &mut |step| {
            match step {
                Piece::ColumnsFollow => columns.clear(),
                Piece::Column(body) => columns.push(MysqlColumnKind::read(body)?),
                Piece::Row(body) => batch.take(|rows| self::row(body, &columns, rows))?,
                _ => {}
            }
            Ok(())
        })?;
        batch.hand_over();
        // CLOSE has no answer. It is sent with the next request.
        put(self.wire.outgoing(), 0, |out| {
            out.put_u8(command::CLOSE);
            out.put_u32_le(id);
        })?;
        Ok(())
    }

    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        fill: &mut dyn FnMut(&mut dyn RowSink) -> bool,
    ) -> Result<u64, SessionError> {
        let columns = columns.join(", ");
        // In hexadecimal, a backslash means itself in every sql_mode. Where it escapes nothing, it is not the default here either.
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET utf8mb4 FIELDS ESCAPED BY x'5C' ({columns})"
        );
        self.script("START TRANSACTION")?;
        let loaded = self.load_all(&sql, fill);
        match loaded {
            Ok(rows) => self.script("COMMIT").map(|()| rows),
            Err(error @ SessionError::Lost(_)) => Err(error),
            Err(error) => self.script("ROLLBACK").and(Err(error)),
        }
    }

    fn work_long(&mut self) -> Result<(), SessionError> {
        self.script(include_str!("sql/long_work.sql"))
    }

    fn canceller(&mut self) -> Result<Canceller, SessionError> {
        let remote = self.remote.clone();
        let sql = (include_str!("sql/session.sql"), include_str!("sql/cancel.sql"));
        admin::canceller(self, sql, move || open_admin(&remote))
    }

    fn sql(&self) -> &'static AdminSql {
        &SQL
    }

    fn counters(&mut self, of: CountersOf, limit: ReplyLimit) -> Result<Counters, SessionError> {
        counters::read(self, of, limit)
    }
}

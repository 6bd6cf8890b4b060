//! PostgreSQL's administration over a blocking connection: scripts, scans, and loading by COPY.

use super::counters;
use super::decode::{PostgresColumnKind, PostgresRefusal, changed, column_types, refusal, row};
use super::encode::copy_rows;
use super::handshake::{converse, open};
use super::reply::{copies_unasked, session_error, tag};
use super::wire::PostgresWire;
use crate::admin::{self, Admin, AdminSql, Canceller, CountersOf, ScanBatch};
use crate::limit::ReplyLimit;
use crate::remote::Remote;
use crate::rows::RowSink;
use crate::server::Counters;
use crate::session::{ResultSet, SessionError};
use crate::tls::Encryption;
use postgres_protocol::message::frontend;
use std::time::Instant;

/// Rows are sent once this many bytes are written: enough to make the system call cheap, few enough for the cache.
const COPY_CHUNK_BYTES: usize = 256 << 10;

const SQL: AdminSql = AdminSql {
    settle: include_str!("sql/settle.sql"),
    shape: include_str!("sql/shape.sql"),
    effective: Some(include_str!("sql/effective.sql")),
};

#[derive(Debug)]
pub struct PostgresAdmin {
    wire: PostgresWire,
    remote: Remote,
}

pub fn open_admin(remote: &Remote) -> Result<PostgresAdmin, SessionError> {
    let encryption = Encryption::prepare(remote)?;
    Ok(PostgresAdmin { wire: open(remote, encryption.as_ref())?, remote: remote.clone() })
}

impl PostgresAdmin {
    /// Parses and describes the unnamed statement.
    fn describe(&mut self, sql: &str, limit: ReplyLimit) -> Result<Vec<PostgresColumnKind>, SessionError> {
        let out = self.wire.outgoing();
        frontend::parse("", sql, [], out)
            .and_then(|()| frontend::describe(b'S', "", out))
            .map_err(|error| SessionError::Protocol(error.to_string()))?;
        frontend::sync(out);
        let mut columns = Vec::new();
        converse(&mut self.wire, limit.of_preparation(), &mut |message| {
            if message.tag == tag::ROW_DESCRIPTION {
                columns = column_types(message.body)?.into_iter().map(PostgresColumnKind::of_type).collect();
            }
            Ok(())
        })?;
        Ok(columns)
    }

    fn begin_copy(&mut self, sql: &str) -> Result<(), SessionError> {
        let deadline = Instant::now() + ReplyLimit::WORK.time;
        self.wire.expect_at_most(ReplyLimit::WORK.bytes);
        frontend::query(sql, self.wire.outgoing()).map_err(|error| SessionError::Protocol(error.to_string()))?;
        loop {
            while let Some(message) = self.wire.next()? {
                match message.tag {
                    tag::COPY_IN => return Ok(()),
                    tag::ERROR => {
                        let refusal = refusal(message.body)?;
                        return Err(self.refused(refusal));
                    }
                    tag::COPY_BOTH | tag::COPY_OUT => return Err(copies_unasked().into()),
                    tag::READY => {
                        return Err(SessionError::Protocol("the server does not ask for the rows to load".to_owned()));
                    }
                    _ => {}
                }
            }
            self.wire.receive_some(deadline).map_err(SessionError::Lost)?;
        }
    }

    /// Sends rows until there are no more, or until the server refuses one, because the rest would be wasted then.
    fn send_rows(&mut self, fill: &mut dyn FnMut(&mut dyn RowSink) -> bool) -> Result<(), SessionError> {
        let mut more = true;
        while more {
            while more && self.wire.outgoing().len() < COPY_CHUNK_BYTES {
                more = copy_rows(self.wire.outgoing(), fill).map_err(SessionError::Lost)?;
            }
            self.wire.send_all(Instant::now() + ReplyLimit::TAKING_ROWS).map_err(SessionError::Lost)?;
            self.look_for_refusal()?;
        }
        Ok(())
    }

    fn look_for_refusal(&mut self) -> Result<(), SessionError> {
        while self.wire.receive().map_err(SessionError::Lost)? {
            while let Some(message) = self.wire.next()? {
                if message.tag == tag::ERROR {
                    let refusal = refusal(message.body)?;
                    return Err(self.refused(refusal));
                }
            }
        }
        Ok(())
    }

    /// Reads a refused answer to its end, so that the connection stays usable.
    fn refused(&mut self, refusal: PostgresRefusal) -> SessionError {
        match converse(&mut self.wire, ReplyLimit::WORK, &mut |_| Ok(())) {
            Ok(_) | Err(SessionError::Lost(_)) => session_error(refusal),
            Err(error) => error,
        }
    }
}

impl Admin for PostgresAdmin {
    fn script(&mut self, sql: &str) -> Result<(), SessionError> {
        frontend::query(sql, self.wire.outgoing()).map_err(|error| SessionError::Protocol(error.to_string()))?;
        converse(&mut self.wire, ReplyLimit::WORK, &mut |_| Ok(())).map(|_| ())
    }

    fn ask(
        &mut self,
        sql: &str,
        limit: ReplyLimit,
        row: &mut dyn FnMut(&ResultSet, usize),
    ) -> Result<(), SessionError> {
        let begun = Instant::now();
        let columns = self.describe(sql, limit)?;
        bind_and_execute(&columns, &mut self.wire).map_err(|error| SessionError::Protocol(error.to_string()))?;
        let mut batch = ScanBatch::new(row);
        converse(&mut self.wire, limit.since(begun), &mut |message| {
            if message.tag == tag::DATA_ROW {
                batch.take(|rows| self::row(message.body, &columns, rows))?;
            }
            Ok(())
        })?;
        batch.hand_over();
        Ok(())
    }

    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        fill: &mut dyn FnMut(&mut dyn RowSink) -> bool,
    ) -> Result<u64, SessionError> {
        self.begin_copy(&format!("COPY {table} ({}) FROM STDIN", columns.join(", ")))?;
        self.send_rows(fill)?;
        frontend::copy_done(self.wire.outgoing());
        let mut loaded = 0;
        converse(&mut self.wire, ReplyLimit::WORK, &mut |message| {
            if message.tag == tag::COMMAND_COMPLETE {
                loaded = changed(message.body);
            }
            Ok(())
        })?;
        Ok(loaded)
    }

    fn work_long(&mut self) -> Result<(), SessionError> {
        self.script(include_str!("sql/long_work.sql"))?;
        match self.ask(include_str!("sql/end_with_client.sql"), ReplyLimit::QUESTION, &mut |_, _| ()) {
            // Servers of some systems cannot.
            Ok(()) | Err(SessionError::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
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

fn bind_and_execute(columns: &[PostgresColumnKind], wire: &mut PostgresWire) -> std::io::Result<()> {
    let out = wire.outgoing();
    let formats = columns.iter().map(|column| column.format());
    let no_values = std::iter::empty::<()>();
    let bound = frontend::bind("", "", [], no_values, |(), _| Ok(postgres_protocol::IsNull::Yes), formats, out);
    bound.map_err(|error| match error {
        frontend::BindError::Conversion(error) => std::io::Error::other(error),
        frontend::BindError::Serialization(error) => error,
    })?;
    frontend::execute("", 0, out)?;
    frontend::sync(out);
    Ok(())
}

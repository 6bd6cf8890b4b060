//! Opening SQLite's file as its settings say, and telling its errors and values in our words.

use super::settings::DatabaseFile;
use crate::session::{Param, ResultSet, SessionError};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use std::io;
use std::time::Duration;

/// Opens the file with the settings that belong to a connection (the journal mode belongs to the file).
pub(super) fn open(database: &DatabaseFile, busy_timeout: Option<Duration>) -> Result<Connection, SessionError> {
    let DatabaseFile { file, synchronous, cache_bytes, busy_timeout_ms, wal_autocheckpoint_pages } = database;
    // Each connection stays on one thread, so SQLite needs no lock around it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(busy_timeout.unwrap_or(Duration::from_millis(*busy_timeout_ms)))?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "cache_size", cache_size(*cache_bytes))?;
        connection.pragma_update(None, "wal_autocheckpoint", wal_autocheckpoint_pages.cast_signed())?;
        Ok(connection)
    };
    open().map_err(|error| session_error(&error))
}

/// SQLite counts a cache in KiB if the number is negative, else in pages.
fn cache_size(bytes: u64) -> i64 {
    -(bytes / 1024).cast_signed()
}

pub(super) fn session_error(error: &rusqlite::Error) -> SessionError {
    let rusqlite::Error::SqliteFailure(failure, message) = error else {
        return SessionError::Refused { code: "SQLITE".to_owned(), message: error.to_string() };
    };
    let code = format!("SQLITE {}", failure.extended_code);
    let message = message.clone().unwrap_or_else(|| failure.to_string());
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => SessionError::Retryable { code, message },
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
            SessionError::Lost(io::Error::other(format!("{code}: {message}")))
        }
        _ => SessionError::Refused { code, message },
    }
}

/// A parameter as SQLite takes it.
pub(super) struct Bound<'a>(pub Param<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Param::Integer(value) => ValueRef::Integer(value),
            Param::Text(value) => ValueRef::Text(value.as_bytes()),
            Param::Null => ValueRef::Null,
        }))
    }
}

/// Appends a row. A floating-point value becomes text, as every engine here shows one.
pub(super) fn push_row(row: &rusqlite::Row<'_>, columns: usize, results: &mut ResultSet) -> rusqlite::Result<()> {
    for column in 0..columns {
        match row.get_ref(column)? {
            ValueRef::Null => results.push_null(),
            ValueRef::Integer(value) => results.push_integer(value),
            ValueRef::Real(value) => results.push_text(&value.to_string()),
            ValueRef::Text(bytes) => results.push_text(std::str::from_utf8(bytes)?),
            ValueRef::Blob(_) => {
                let kind = rusqlite::types::Type::Blob;
                return Err(rusqlite::Error::InvalidColumnType(column, "text or a number".to_owned(), kind));
            }
        }
    }
    results.end_row();
    Ok(())
}

//! Opens SQLite's file with its settings, and converts errors and values into the forms that engines share.

use super::functions;
use super::settings::DatabaseFile;
use crate::session::{Date, Decimal, Param, ResultSet, SessionError};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement};
use std::io;
use std::time::Duration;

/// Ways of the journal that belong to a connection; the others belong to the file.
const OF_A_CONNECTION: &[&str] = &["truncate", "persist"];

/// Opens the file with the settings that belong to a connection.
pub(super) fn open(database: &DatabaseFile, busy_timeout: Option<Duration>) -> Result<Connection, SessionError> {
    let DatabaseFile { file, journal_mode, synchronous, cache_bytes, busy_timeout_ms, wal_autocheckpoint_pages } =
        database;
    // Each connection stays on one thread, so SQLite needs no lock around it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(file, flags)?;
        functions::add(&connection)?;
        connection.busy_timeout(busy_timeout.unwrap_or(Duration::from_millis(*busy_timeout_ms)))?;
        if OF_A_CONNECTION.contains(&journal_mode.as_str()) {
            connection.pragma_update(None, "journal_mode", journal_mode)?;
        }
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "cache_size", cache_size(*cache_bytes))?;
        connection.pragma_update(None, "wal_autocheckpoint", wal_autocheckpoint_pages.cast_signed())?;
        Ok(connection)
    };
    open().map_err(|error| session_error(&error))
}

/// SQLite reads a negative cache size as KiB, and a positive one as pages.
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

/// Binds a value to a parameter: a decimal as its units, a date as a text.
pub(super) fn bind(statement: &mut Statement<'_>, index: usize, value: Param<'_>) -> rusqlite::Result<()> {
    match value {
        Param::Integer(value) => statement.raw_bind_parameter(index, value),
        Param::Decimal(value) => statement.raw_bind_parameter(index, stored(value)?),
        Param::Date(value) => statement.raw_bind_parameter(index, std::str::from_utf8(&value.shown())?),
        Param::Text(value) => statement.raw_bind_parameter(index, value),
        Param::Null => statement.raw_bind_parameter(index, rusqlite::types::Null),
    }
}

/// SQLite's integers have 64 bits.
fn stored(value: Decimal) -> rusqlite::Result<i64> {
    i64::try_from(value.units()).map_err(|error| refused(&format!("{value} in units: {error}")))
}

/// A value that SQLite cannot take.
pub(super) fn refused(why: &str) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(why.into())
}

/// The declared type of a column, for types that SQLite itself lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared {
    Decimal { scale: u8 },
    Date,
    Other,
}

impl Declared {
    pub fn of_columns(statement: &Statement<'_>) -> Vec<Self> {
        statement.columns().map(|column| column.decl_type().map_or(Self::Other, Self::read)).collect()
    }

    fn read(declaration: &str) -> Self {
        let (name, rest) = declaration.split_once('(').unwrap_or((declaration, ""));
        let name = name.trim().to_ascii_uppercase();
        if name == "DATE" {
            return Self::Date;
        }
        let scale = rest.trim_end().trim_end_matches(')').split_once(',').map_or("0", |(_, scale)| scale).trim();
        match scale.parse() {
            Ok(scale) if name == "DECIMAL" || name == "NUMERIC" => Self::Decimal { scale },
            _ => Self::Other,
        }
    }
}

/// Appends a row. A floating-point value becomes text, as on every engine here.
pub(super) fn push_row(row: &rusqlite::Row<'_>, columns: &[Declared], results: &mut ResultSet) -> rusqlite::Result<()> {
    for (column, declared) in columns.iter().enumerate() {
        match row.get_ref(column)? {
            ValueRef::Null => results.push_null(),
            ValueRef::Integer(value) => match *declared {
                Declared::Decimal { scale } => results.push_decimal(Decimal::new(value.into(), scale)),
                _ => results.push_integer(value),
            },
            ValueRef::Real(value) => results.push_text(&value.to_string()),
            ValueRef::Text(bytes) => {
                let text = std::str::from_utf8(bytes)?;
                match *declared {
                    Declared::Date if let Some(date) = Date::parse(text) => results.push_date(date),
                    _ => results.push_text(text),
                }
            }
            ValueRef::Blob(_) => {
                let kind = rusqlite::types::Type::Blob;
                return Err(rusqlite::Error::InvalidColumnType(column, "text or a number".to_owned(), kind));
            }
        }
    }
    results.end_row();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_tell_decimals_and_dates() {
        let decimal = |scale| Declared::Decimal { scale };
        for (declaration, declared) in [
            ("DECIMAL(12,2)", decimal(2)),
            ("numeric (15 , 4) ", decimal(4)),
            ("DECIMAL(9)", decimal(0)),
            ("DECIMAL", decimal(0)),
            ("Date", Declared::Date),
            ("DATETIME", Declared::Other),
            ("DECIMAL(12,-2)", Declared::Other),
            ("VARCHAR(12,2)", Declared::Other),
            ("", Declared::Other),
        ] {
            assert_eq!(Declared::read(declaration), declared, "{declaration}");
        }
    }
}

//! Writes PostgreSQL's messages: a prepared statement with its values, and rows of a COPY.

use super::decode::PostgresColumnKind;
use crate::rows::{RowSink, TabbedRows};
use crate::session::{Param, SessionError};
use bytes::{BufMut, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};
use std::error::Error;
use std::fmt::Write;
use std::io;

/// How a parameter's value is sent, depending on the type that the server found for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    Int2,
    Int4,
    Int8,
    /// Everything else, in its text form.
    Text,
}

impl ParameterKind {
    pub fn of_type(oid: u32) -> Self {
        match oid {
            21 => Self::Int2,
            23 => Self::Int4,
            20 => Self::Int8,
            _ => Self::Text,
        }
    }

    /// The protocol's format code for this value: 1 is binary, 0 is text.
    fn format(self, value: Param<'_>) -> i16 {
        i16::from(self != Self::Text && matches!(value, Param::Integer(_)))
    }
}

/// Everything needed to execute a prepared statement.
#[derive(Debug, Default)]
pub struct PostgresStatement {
    /// Its name in errors.
    pub name: &'static str,
    /// Its name at the server.
    pub server_name: String,
    pub parameters: Vec<ParameterKind>,
    pub columns: Vec<PostgresColumnKind>,
}

impl PostgresStatement {
    /// Appends Bind, Execute and Sync. Appends nothing if a value does not fit.
    pub fn execute(&self, params: &[Param<'_>], out: &mut BytesMut) -> Result<(), SessionError> {
        self.execute_in_batch(params, out)?;
        frontend::sync(out);
        Ok(())
    }

    /// The same without Sync, for a request that others follow. After one that fails, the server skips all up to the
    /// next Sync.
    pub fn execute_in_batch(&self, params: &[Param<'_>], out: &mut BytesMut) -> Result<(), SessionError> {
        if params.len() != self.parameters.len() {
            let what = format!("{} values for {} parameters", params.len(), self.parameters.len());
            return Err(SessionError::Unexpected { statement: self.name, what });
        }
        whole_or_nothing(self.name, out, |out| self.append(params, out))
    }

    fn append(&self, params: &[Param<'_>], out: &mut BytesMut) -> Result<(), BindError> {
        let values = || self.parameters.iter().copied().zip(params.iter().copied());
        let formats = values().map(|(kind, value)| kind.format(value));
        let results = self.columns.iter().map(|column| column.format());
        frontend::bind("", &self.server_name, formats, values(), write_value, results, out)?;
        frontend::execute("", 0, out)?;
        Ok(())
    }
}

/// Appends Parse, Bind, Describe, Execute and Sync of an unnamed statement, all at once. So its columns are known only
/// from the answer, and every value comes in its text form.
pub fn execute_text(name: &'static str, sql: &str, out: &mut BytesMut) -> Result<(), SessionError> {
    whole_or_nothing(name, out, |out| {
        let no_values = std::iter::empty::<()>();
        frontend::parse("", sql, [], out)?;
        frontend::bind("", "", [], no_values, |(), _| Ok(IsNull::Yes), [], out)?;
        frontend::describe(b'P', "", out)?;
        frontend::execute("", 0, out)?;
        frontend::sync(out);
        Ok(())
    })
}

fn whole_or_nothing(
    name: &'static str,
    out: &mut BytesMut,
    append: impl FnOnce(&mut BytesMut) -> Result<(), BindError>,
) -> Result<(), SessionError> {
    let before = out.len();
    append(out).map_err(|error| {
        out.truncate(before);
        let what = match error {
            BindError::Conversion(error) => error.to_string(),
            BindError::Serialization(error) => error.to_string(),
        };
        SessionError::Unexpected { statement: name, what }
    })
}

fn write_value(
    (kind, value): (ParameterKind, Param<'_>),
    out: &mut BytesMut,
) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
    match (kind, value) {
        (_, Param::Null) => return Ok(IsNull::Yes),
        (_, Param::Text(text)) => out.put_slice(text.as_bytes()),
        (_, Param::Decimal(value)) => out.put_slice(value.shown().as_bytes()),
        (_, Param::Date(value)) => out.put_slice(&value.shown()),
        (ParameterKind::Int2, Param::Integer(value)) => out.put_i16(i16::try_from(value)?),
        (ParameterKind::Int4, Param::Integer(value)) => out.put_i32(i32::try_from(value)?),
        (ParameterKind::Int8, Param::Integer(value)) => out.put_i64(value),
        (ParameterKind::Text, Param::Integer(value)) => write!(out, "{value}")?,
    }
    Ok(IsNull::No)
}

/// Appends one `CopyData` message with the rows that `fill` writes. Returns what `fill` returns: whether there are
/// more. A message without rows is removed again.
pub fn copy_rows(out: &mut BytesMut, fill: &mut dyn FnMut(&mut dyn RowSink) -> bool) -> io::Result<bool> {
    /// Tag and length.
    const HEADER: usize = 5;
    let message = out.len();
    out.put_bytes(0, HEADER);
    let more = fill(&mut TabbedRows::new(&mut *out));
    let length = out.len() - message - 1;
    if out.len() == message + HEADER {
        out.truncate(message);
        return Ok(more);
    }
    let length = u32::try_from(length).map_err(io::Error::other)?;
    let header = &mut out[message..message + HEADER];
    header[0] = b'd';
    header[1..].copy_from_slice(&length.to_be_bytes());
    Ok(more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Date, Decimal};

    #[test]
    fn copied_rows_are_one_message() {
        let mut out = BytesMut::from(b"before".as_slice());
        let more = copy_rows(&mut out, &mut |sink| {
            sink.integer(-7);
            sink.text("a\tb");
            sink.end_row();
            true
        });
        assert!(more.unwrap());
        assert_eq!(out, b"befored\0\0\0\x0c-7\ta\\tb\n".as_slice());
    }

    #[test]
    fn no_rows_are_no_message() {
        let mut out = BytesMut::new();
        assert!(!copy_rows(&mut out, &mut |_| false).unwrap());
        assert!(out.is_empty());
    }

    fn prepared(parameters: &[ParameterKind], columns: &[PostgresColumnKind]) -> PostgresStatement {
        let (parameters, columns) = (parameters.to_vec(), columns.to_vec());
        PostgresStatement { name: "stock", server_name: "s7".to_owned(), parameters, columns }
    }

    #[test]
    fn a_statement_is_bind_execute_sync() {
        let statement = prepared(
            &[ParameterKind::Int2, ParameterKind::Int8, ParameterKind::Text, ParameterKind::Text, ParameterKind::Int4],
            &[PostgresColumnKind::Integer, PostgresColumnKind::Text],
        );
        let params = [Param::Integer(-2), Param::Integer(3), Param::Text("x"), Param::Integer(40), Param::Null];
        let mut out = BytesMut::new();
        statement.execute(&params, &mut out).unwrap();
        let bind = [
            b"B\0\0\0\x43\0s7\0\0\x05\0\x01\0\x01\0\0\0\0\0\0".as_slice(),
            b"\0\x05\0\0\0\x02\xff\xfe\0\0\0\x08\0\0\0\0\0\0\0\x03\0\0\0\x01x\0\0\0\x0240\xff\xff\xff\xff",
            b"\0\x02\0\x01\0\0",
        ]
        .concat();
        let length = u8::try_from(bind.len() - 1).unwrap();
        let mut expected = bind;
        expected[4] = length;
        expected.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(out, expected);
    }

    #[test]
    fn decimals_and_dates_are_sent_as_texts() {
        let statement = prepared(&[ParameterKind::Text, ParameterKind::Int8], &[]);
        let values = [Param::Date(Date::parse("2026-11-21").unwrap()), Param::Decimal(Decimal::new(-1250, 2))];
        let mut out = BytesMut::new();
        statement.execute(&values, &mut out).unwrap();
        let values = b"\0\x02\0\0\0\0\0\x02\0\0\0\x0a2026-11-21\0\0\0\x06-12.50\0\0E".as_slice();
        assert!(out.windows(values.len()).any(|part| part == values), "{out:?}");
    }

    #[test]
    fn a_text_is_parsed_bound_described_and_executed() {
        let mut out = BytesMut::from(b"before".as_slice());
        execute_text("q1", "SELECT 1", &mut out).unwrap();
        let parsed = b"beforeP\0\0\0\x10\0SELECT 1\0\0\0".as_slice();
        let bound = b"B\0\0\0\x0c\0\0\0\0\0\0\0\0D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
        assert_eq!(out, [parsed, bound].concat());
        let error = execute_text("q1", "SELECT '\0'", &mut out).unwrap_err();
        assert!(matches!(error, SessionError::Unexpected { statement: "q1", .. }), "{error}");
        assert_eq!(out, [parsed, bound].concat());
    }

    #[test]
    fn a_value_that_does_not_fit_leaves_nothing_behind() {
        let statement = prepared(&[ParameterKind::Int2], &[]);
        let mut out = BytesMut::from(b"before".as_slice());
        let error = statement.execute(&[Param::Integer(40_000)], &mut out).unwrap_err();
        assert!(matches!(error, SessionError::Unexpected { statement: "stock", .. }), "{error}");
        let error = statement.execute(&[], &mut out).unwrap_err();
        assert!(error.to_string().contains("0 values for 1 parameters"), "{error}");
        assert_eq!(out, b"before".as_slice());
    }
}

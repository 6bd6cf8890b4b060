//! Writes requests: a prepared statement with its values, and rows of a file that the server loads.

use super::decode::MysqlColumnKind;
use super::packet::{command, put, put_number};
use crate::rows::TabbedRows;
use crate::session::{Date, Param};
use crate::wire::Malformed;
use bytes::{BufMut, BytesMut};
use std::time::Duration;

/// Protocol numbers of the types of values.
mod kind {
    pub const NULL: u8 = 6;
    pub const INTEGER: u8 = 8;
    pub const DATE: u8 = 10;
    pub const DECIMAL: u8 = 246;
    pub const TEXT: u8 = 253;
}

/// A statement that the server has prepared.
#[derive(Debug)]
pub struct MysqlStatement {
    id: u32,
    /// For each mark, the index of our parameter.
    values: Vec<usize>,
    /// The types of values that were last sent to the server, which keeps them.
    types: Vec<u8>,
    types_known: bool,
    pub columns: Vec<MysqlColumnKind>,
}

impl MysqlStatement {
    pub fn new(id: u32, values: Vec<usize>, columns: Vec<MysqlColumnKind>) -> Self {
        let types = vec![kind::NULL; values.len()];
        Self { id, values, types, types_known: false, columns }
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    /// The server may have missed the types that were last sent, so they will be sent again.
    pub fn forget_types(&mut self) {
        self.types_known = false;
    }

    /// Appends the request to execute it. There must be as many values as the statement has parameters.
    pub fn execute(&mut self, params: &[Param<'_>], out: &mut BytesMut) -> Result<(), Malformed> {
        const NO_CURSOR: u8 = 0;
        const ONCE: u32 = 1;
        self.note_types(params);
        let appended = put(out, 0, |out| {
            out.put_u8(command::EXECUTE);
            out.put_u32_le(self.id);
            out.put_u8(NO_CURSOR);
            out.put_u32_le(ONCE);
            if !self.values.is_empty() {
                self.put_values(params, out);
            }
        });
        self.types_known = appended.is_ok();
        appended
    }

    /// Appends one request to execute it with each of these rows of values. Returns false, and appends nothing, if the
    /// values of a parameter have several types.
    pub fn execute_all<'a, R>(
        &mut self,
        rows: impl Iterator<Item = R> + Clone,
        out: &mut BytesMut,
    ) -> Result<bool, Malformed>
    where
        R: Iterator<Item = Param<'a>>,
    {
        const TELLS_TYPES: u16 = 128;
        const SIGNED: u8 = 0;
        let mut types = vec![kind::NULL; self.values.len()];
        let mut params = Vec::new();
        for row in rows.clone() {
            params.clear();
            params.extend(row);
            for (value, known) in self.values.iter().zip(&mut types) {
                let found = kind_of(params[*value]);
                if found != kind::NULL && *known != kind::NULL && found != *known {
                    return Ok(false);
                }
                *known = (*known).max(found);
            }
        }
        self.types_known = false;
        let start = out.len();
        let appended = put(out, 0, |out| {
            out.put_u8(command::EXECUTE_ALL);
            out.put_u32_le(self.id);
            out.put_u16_le(TELLS_TYPES);
            for kind in &types {
                out.put_slice(&[*kind, SIGNED]);
            }
            for row in rows {
                params.clear();
                params.extend(row);
                for value in &self.values {
                    put_indicated(params[*value], out);
                }
            }
        });
        if appended.is_err() {
            out.truncate(start);
        }
        appended.map(|()| true)
    }

    fn note_types(&mut self, params: &[Param<'_>]) {
        for (value, known) in self.values.iter().zip(&mut self.types) {
            let found = kind_of(params[*value]);
            // Nulls are sent apart from the types.
            if found == kind::NULL {
                continue;
            }
            self.types_known &= *known == found;
            *known = found;
        }
    }

    fn put_values(&self, params: &[Param<'_>], out: &mut BytesMut) {
        const SIGNED: u8 = 0;
        let nulls = out.len();
        out.put_bytes(0, self.values.len().div_ceil(8));
        out.put_u8(u8::from(!self.types_known));
        if !self.types_known {
            for kind in &self.types {
                out.put_slice(&[*kind, SIGNED]);
            }
        }
        for (place, value) in self.values.iter().enumerate() {
            match params[*value] {
                Param::Null => out[nulls + place / 8] |= 1 << (place % 8),
                value => put_value(value, out),
            }
        }
    }
}

fn kind_of(value: Param<'_>) -> u8 {
    match value {
        Param::Null => kind::NULL,
        Param::Integer(_) => kind::INTEGER,
        Param::Decimal(_) => kind::DECIMAL,
        Param::Date(_) => kind::DATE,
        Param::Text(_) => kind::TEXT,
    }
}

/// A value with a byte in front that says whether it is null.
fn put_indicated(value: Param<'_>, out: &mut BytesMut) {
    const IS_NULL: u8 = 1;
    out.put_u8(if value == Param::Null { IS_NULL } else { 0 });
    put_value(value, out);
}

/// Appends nothing for a null.
fn put_value(value: Param<'_>, out: &mut BytesMut) {
    match value {
        Param::Null => {}
        Param::Integer(value) => out.put_i64_le(value),
        Param::Decimal(value) => put_counted(value.shown().as_bytes(), out),
        Param::Date(value) => put_date(value, out),
        Param::Text(text) => put_counted(text.as_bytes(), out),
    }
}

fn put_counted(bytes: &[u8], out: &mut BytesMut) {
    put_number(out, bytes.len());
    out.put_slice(bytes);
}

fn put_date(value: Date, out: &mut BytesMut) {
    /// The length of a date without a time of day.
    const LENGTH: u8 = 4;
    let (year, month, day) = value.year_month_day();
    out.put_u8(LENGTH);
    out.put_slice(&year.to_le_bytes()[..2]);
    out.put_slice(&[month.to_le_bytes()[0], day.to_le_bytes()[0]]);
}

/// Appends one packet with the rows that `fill` writes, for the server to load. Without rows it appends nothing,
/// because an empty packet ends the load. Returns whether there were rows.
pub fn put_rows(
    out: &mut BytesMut,
    sequence: u8,
    fill: &mut dyn FnMut(&mut TabbedRows<&mut BytesMut>),
) -> Result<bool, Malformed> {
    let (start, mut some) = (out.len(), false);
    put(out, sequence, |out| {
        let mut rows = TabbedRows::new(out);
        fill(&mut rows);
        some = rows.rows() > 0;
    })?;
    if !some {
        out.truncate(start);
    }
    Ok(some)
}

/// The text that limits how long statements may take. Each product executes one of the two comments, and MySQL's limit holds for
/// statements that only read.
pub fn limit_of_statements(limit: Duration) -> String {
    let (seconds, milliseconds) = (limit.as_secs_f64(), limit.as_millis());
    format!("SET /*M!100101 max_statement_time = {seconds} */ /*!50708 max_execution_time = {milliseconds} */")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::RowSink;
    use crate::session::Decimal;

    fn executed(statement: &mut MysqlStatement, params: &[Param<'_>]) -> Vec<u8> {
        let mut out = BytesMut::new();
        statement.execute(params, &mut out).unwrap();
        out.to_vec()
    }

    #[test]
    fn types_are_told_once_and_again_when_they_change() {
        let mut statement = MysqlStatement::new(0x0102, vec![1, 0, 1], Vec::new());
        let head = b"\x17\x02\x01\0\0\0\x01\0\0\0";
        let first = executed(&mut statement, &[Param::Text("ab"), Param::Integer(-2)]);
        let minus_two = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        let told = b"\0\x01\x08\0\xfd\0\x08\0".as_slice();
        let values = [minus_two.as_slice(), b"\x02ab", &minus_two].concat();
        assert_eq!(first, [b"\x25\0\0\0".as_slice(), head, told, &values].concat());

        let nulls = executed(&mut statement, &[Param::Null, Param::Integer(-2)]);
        assert_eq!(nulls, [b"\x1c\0\0\0".as_slice(), head, b"\x02\0", &minus_two, &minus_two].concat());

        let other = executed(&mut statement, &[Param::Integer(-2), Param::Null]);
        assert_eq!(other, [b"\x1a\0\0\0".as_slice(), head, b"\x05\x01\x08\0\x08\0\x08\0", &minus_two].concat());

        statement.forget_types();
        let again = executed(&mut statement, &[Param::Integer(-2), Param::Null]);
        assert_eq!(again, other);
    }

    #[test]
    fn decimals_are_told_in_digits_and_dates_in_numbers() {
        let mut statement = MysqlStatement::new(7, vec![0, 1], Vec::new());
        let values = [Param::Decimal(Decimal::new(-1250, 2)), Param::Date(Date::parse("2026-11-21").unwrap())];
        let told = executed(&mut statement, &values);
        assert!(told.ends_with(b"\0\x01\xf6\0\x0a\0\x06-12.50\x04\xea\x07\x0b\x15"), "{told:?}");
    }

    #[test]
    fn a_statement_without_parameters_is_its_head() {
        assert_eq!(
            executed(&mut MysqlStatement::new(7, Vec::new(), Vec::new()), &[]),
            b"\x0a\0\0\0\x17\x07\0\0\0\0\x01\0\0\0"
        );
    }

    #[test]
    fn many_rows_of_values_are_one_request() {
        let mut statement = MysqlStatement::new(7, vec![1, 0], Vec::new());
        let rows = [[Param::Text("ab"), Param::Integer(-2)], [Param::Null, Param::Integer(3)]];
        let mut out = BytesMut::new();
        assert!(statement.execute_all(rows.iter().map(|row| row.iter().copied()), &mut out).unwrap());
        let (head, types) = (b"\xfa\x07\0\0\0\x80\0".as_slice(), b"\x08\0\xfd\0".as_slice());
        let values = [b"\0\xfe".as_slice(), &[0xff; 7], b"\0\x02ab\0\x03\0\0\0\0\0\0\0\x01"].concat();
        assert_eq!(out, [b"\x22\0\0\0".as_slice(), head, types, &values].concat());

        let mixed = [[Param::Integer(1), Param::Null], [Param::Text("x"), Param::Null]];
        assert!(!statement.execute_all(mixed.iter().map(|row| row.iter().copied()), &mut out).unwrap());
        assert_eq!(out.len(), 4 + 0x22, "nothing was appended");
    }

    #[test]
    fn a_packet_of_no_rows_would_end_the_load() {
        let mut out = BytesMut::new();
        assert!(!put_rows(&mut out, 3, &mut |_| ()).unwrap());
        assert!(out.is_empty());
        let put = put_rows(&mut out, 3, &mut |rows| {
            rows.integer(4);
            rows.end_row();
        });
        assert!(put.unwrap());
        assert_eq!(out, b"\x02\0\0\x034\n".as_slice());
    }

    #[test]
    fn a_value_that_is_too_long_leaves_nothing_behind() {
        let mut statement = MysqlStatement::new(7, vec![0], Vec::new());
        let mut out = BytesMut::from(b"before".as_slice());
        let long = "x".repeat(16 << 20);
        assert!(statement.execute(&[Param::Text(&long)], &mut out).is_err());
        assert_eq!(out, b"before".as_slice());
        assert!(executed(&mut statement, &[Param::Text("x")]).ends_with(b"\0\x01\xfd\0\x01x"));
    }
}

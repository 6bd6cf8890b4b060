//! Rows on their way into a table, whatever the table, and the text form for bulk loading.

use crate::session::{Date, Decimal};
use bytes::{BufMut, BytesMut};
use std::fmt::Write;

/// Takes rows cell by cell. The same producer feeds a COPY stream, bound inserts, a checksum or a text file.
pub trait RowSink {
    fn integer(&mut self, value: i64);
    fn decimal(&mut self, value: Decimal);
    fn date(&mut self, value: Date);
    fn text(&mut self, value: &str);
    fn null(&mut self);
    fn end_row(&mut self);
}

/// Rows as text: tabs between cells, a newline after each row, `\N` for null, and a backslash before characters that
/// would be mistaken for these. PostgreSQL's COPY and MariaDB's LOAD DATA both accept this form.
pub(crate) struct TabbedRows<'a> {
    out: &'a mut BytesMut,
    first_cell: bool,
    rows: u64,
}

impl<'a> TabbedRows<'a> {
    pub(crate) fn new(out: &'a mut BytesMut) -> Self {
        Self { out, first_cell: true, rows: 0 }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes written so far, including what was there before.
    pub(crate) fn bytes(&self) -> usize {
        self.out.len()
    }

    fn next_cell(&mut self) {
        if !self.first_cell {
            self.out.put_u8(b'\t');
        }
        self.first_cell = false;
    }
}

impl RowSink for TabbedRows<'_> {
    fn integer(&mut self, value: i64) {
        self.next_cell();
        // Writing to memory cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn decimal(&mut self, value: Decimal) {
        self.next_cell();
        self.out.put_slice(value.shown().as_bytes());
    }

    fn date(&mut self, value: Date) {
        self.next_cell();
        self.out.put_slice(&value.shown());
    }

    fn text(&mut self, value: &str) {
        self.next_cell();
        let mut rest = value.as_bytes();
        while let Some((at, escape)) = first_escape(rest) {
            self.out.put_slice(&rest[..at]);
            self.out.put_slice(&[b'\\', escape]);
            rest = &rest[at + 1..];
        }
        self.out.put_slice(rest);
    }

    fn null(&mut self) {
        self.next_cell();
        self.out.put_slice(b"\\N");
    }

    fn end_row(&mut self) {
        self.out.put_u8(b'\n');
        self.first_cell = true;
        self.rows += 1;
    }
}

/// The first byte with a special meaning in this form, and the letter that stands for it after a backslash.
fn first_escape(bytes: &[u8]) -> Option<(usize, u8)> {
    bytes.iter().enumerate().find_map(|(at, byte)| match byte {
        b'\\' => Some((at, b'\\')),
        b'\t' => Some((at, b't')),
        b'\n' => Some((at, b'n')),
        b'\r' => Some((at, b'r')),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_means_something_is_escaped() {
        let mut out = BytesMut::new();
        let mut sink = TabbedRows::new(&mut out);
        sink.integer(-7);
        sink.text("a\tb\nc\\d\re\u{e9}");
        sink.null();
        sink.end_row();
        sink.text("\\N");
        sink.text("");
        sink.integer(i64::MIN);
        sink.decimal(Decimal::new(-5, 2));
        sink.date(Date::parse("2026-11-21").unwrap());
        sink.end_row();
        assert_eq!(sink.rows(), 2);
        let text = "-7\ta\\tb\\nc\\\\d\\re\u{e9}\t\\N\n\\\\N\t\t-9223372036854775808\t-0.05\t2026-11-21\n";
        assert_eq!(out, text.as_bytes());
    }
}

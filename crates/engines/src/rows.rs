//! Rows on their way into a table, whatever the table, and the text form for bulk loading.

use crate::session::{Date, Decimal, Param};
use bytes::{BufMut, BytesMut};
use std::borrow::BorrowMut;

/// Takes rows cell by cell. The same producer feeds a COPY stream, bound inserts, a checksum or a text file.
pub trait RowSink {
    fn value(&mut self, value: Param<'_>);
    fn end_row(&mut self);

    fn integer(&mut self, value: i64) {
        self.value(Param::Integer(value));
    }

    fn decimal(&mut self, value: Decimal) {
        self.value(Param::Decimal(value));
    }

    fn date(&mut self, value: Date) {
        self.value(Param::Date(value));
    }

    fn text(&mut self, value: &str) {
        self.value(Param::Text(value));
    }

    fn null(&mut self) {
        self.value(Param::Null);
    }
}

/// Rows as text: tabs between cells, a newline after each row, `\N` for null, and a backslash before characters that
/// would be mistaken for these. PostgreSQL's COPY and MariaDB's LOAD DATA both accept this form.
#[derive(Debug, Default)]
pub struct TabbedRows<B> {
    out: B,
    in_row: bool,
    rows: u64,
}

/// Rows as text, collected in memory until the caller clears them.
pub type TextRows = TabbedRows<BytesMut>;

impl<B: BorrowMut<BytesMut>> TabbedRows<B> {
    /// Writes behind the bytes that are there.
    pub(crate) fn new(out: B) -> Self {
        Self { out, in_row: false, rows: 0 }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub fn bytes(&self) -> &[u8] {
        let out: &BytesMut = self.out.borrow();
        out
    }

    pub fn clear(&mut self) {
        self.out.borrow_mut().clear();
    }
}

impl<B: BorrowMut<BytesMut>> RowSink for TabbedRows<B> {
    fn value(&mut self, value: Param<'_>) {
        let out = self.out.borrow_mut();
        if self.in_row {
            out.put_u8(b'\t');
        }
        self.in_row = true;
        match value {
            Param::Integer(value) => out.put_slice(itoa::Buffer::new().format(value).as_bytes()),
            Param::Decimal(value) => out.put_slice(value.shown().as_bytes()),
            Param::Date(value) => out.put_slice(&value.shown()),
            Param::Text(value) => put_text(out, value),
            Param::Null => out.put_slice(b"\\N"),
        }
    }

    fn end_row(&mut self) {
        self.out.borrow_mut().put_u8(b'\n');
        self.in_row = false;
        self.rows += 1;
    }
}

fn put_text(out: &mut BytesMut, value: &str) {
    let mut rest = value.as_bytes();
    while let Some((at, escape)) = first_escape(rest) {
        out.put_slice(&rest[..at]);
        out.put_slice(&[b'\\', escape]);
        rest = &rest[at + 1..];
    }
    out.put_slice(rest);
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

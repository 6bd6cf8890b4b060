//! Whether two places hold the same rows: a checksum that does not depend on order, and the text form that it hashes.
//!
//! The text form is that of PostgreSQL's COPY, which other tools read, too: tabs between cells, null as `\N`, and a
//! backslash before what would be taken for either. Trailing blanks of a text do not count, because CHAR columns give
//! back more, fewer or as many as they got, depending on the engine; nor do the zeros that fill it where a database's character set is
//! binary. Trailing zeros of a decimal's fraction do not
//! count either: a column gives back as many as it is declared with. Each row is hashed by XXH3-64 and the hashes are
//! added up. So parts may be made in any order or in parallel, and a database may return its rows in any order.

use crate::dataset::{Checksum, DataTable, Dataset, RowSource, TablePart};
use engines::admin::Admin;
use engines::rows::RowSink;
use engines::session::{Date, Decimal, Param, SessionError};
use xxhash_rust::xxh3::xxh3_64;

const NULL: &[u8] = b"\\N";

/// Rows as lines of text, collected in memory until the caller clears them.
#[derive(Debug, Default)]
pub struct TextRows {
    bytes: Vec<u8>,
    in_row: bool,
}

impl TextRows {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    fn separate(&mut self) {
        if self.in_row {
            self.bytes.push(b'\t');
        }
        self.in_row = true;
    }
}

impl RowSink for TextRows {
    fn integer(&mut self, value: i64) {
        self.separate();
        push_integer(&mut self.bytes, value);
    }

    fn decimal(&mut self, value: Decimal) {
        self.separate();
        self.bytes.extend_from_slice(value.shown().as_bytes());
    }

    fn date(&mut self, value: Date) {
        self.separate();
        self.bytes.extend_from_slice(&value.shown());
    }

    fn text(&mut self, value: &str) {
        self.separate();
        push_text(&mut self.bytes, value);
    }

    fn null(&mut self) {
        self.separate();
        self.bytes.extend_from_slice(NULL);
    }

    fn end_row(&mut self) {
        self.bytes.push(b'\n');
        self.in_row = false;
    }
}

/// Adds up the checksum of the rows that it gets.
#[derive(Debug, Default)]
pub struct ChecksumRows {
    row: TextRows,
    checksum: Checksum,
}

impl ChecksumRows {
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }
}

impl RowSink for ChecksumRows {
    fn integer(&mut self, value: i64) {
        self.row.integer(value);
    }

    fn decimal(&mut self, value: Decimal) {
        self.row.decimal(value.shortest());
    }

    fn date(&mut self, value: Date) {
        self.row.date(value);
    }

    fn text(&mut self, value: &str) {
        self.row.text(value.trim_end_matches([' ', '\0']));
    }

    fn null(&mut self) {
        self.row.null();
    }

    fn end_row(&mut self) {
        self.row.end_row();
        self.checksum = self.checksum.and(Checksum { rows: 1, sum: xxh3_64(self.row.bytes()) });
        self.row.clear();
    }
}

impl Checksum {
    /// The checksum of both sets of rows together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { rows: self.rows + other.rows, sum: self.sum.wrapping_add(other.sum) }
    }
}

/// Checksum of all rows of a source.
pub fn of_source(source: &mut dyn RowSource) -> Checksum {
    let mut rows = ChecksumRows::default();
    while source.fill(&mut rows) {}
    rows.checksum()
}

/// The checksum that a loaded table must have, computed by this many threads.
pub fn expected(dataset: &dyn Dataset, table: &DataTable, threads: u32) -> Checksum {
    let count = threads.max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..count)
            .map(|index| scope.spawn(move || of_source(&mut *dataset.rows(&table.name, TablePart { index, count }))))
            .collect();
        parts.into_iter().fold(Checksum::default(), |sum, part| match part.join() {
            Ok(part) => sum.and(part),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// The checksum of a table in a database.
pub fn stored(admin: &mut dyn Admin, table: &DataTable) -> Result<Checksum, SessionError> {
    let mut rows = ChecksumRows::default();
    let query = format!("SELECT {} FROM {}", table.columns.join(", "), table.name);
    admin.scan(&query, &mut |set, row| {
        for column in 0..table.columns.len() {
            match set.value(row, column) {
                Some(Param::Integer(value)) => rows.integer(value),
                Some(Param::Decimal(value)) => rows.decimal(value),
                Some(Param::Date(value)) => rows.date(value),
                Some(Param::Text(value)) => rows.text(value),
                Some(Param::Null) | None => rows.null(),
            }
        }
        rows.end_row();
    })?;
    Ok(rows.checksum())
}

fn push_integer(bytes: &mut Vec<u8>, value: i64) {
    /// Digits of the largest magnitude of a 64-bit integer.
    const DIGITS: usize = 20;
    let mut digits = [0; DIGITS];
    let mut start = DIGITS;
    let mut left = value.unsigned_abs();
    loop {
        start -= 1;
        digits[start] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if value < 0 {
        bytes.push(b'-');
    }
    bytes.extend_from_slice(&digits[start..]);
}

fn push_text(bytes: &mut Vec<u8>, value: &str) {
    let needs_escape = |byte: &u8| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r');
    if !value.as_bytes().iter().any(needs_escape) {
        bytes.extend_from_slice(value.as_bytes());
        return;
    }
    for &byte in value.as_bytes() {
        match byte {
            b'\\' => bytes.extend_from_slice(b"\\\\"),
            b'\t' => bytes.extend_from_slice(b"\\t"),
            b'\n' => bytes.extend_from_slice(b"\\n"),
            b'\r' => bytes.extend_from_slice(b"\\r"),
            other => bytes.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sink: &mut dyn RowSink, number: i64, text: &str) {
        sink.integer(number);
        sink.text(text);
        sink.null();
        sink.end_row();
    }

    #[test]
    fn rows_are_lines_that_copy_reads() {
        let mut text = TextRows::default();
        row(&mut text, -7, "plain");
        row(&mut text, i64::MIN, "a\tb\\c\nd\re");
        let expected = "-7\tplain\t\\N\n-9223372036854775808\ta\\tb\\\\c\\nd\\re\t\\N\n";
        assert_eq!(std::str::from_utf8(text.bytes()).unwrap(), expected);
    }

    #[test]
    fn a_checksum_is_the_sum_of_the_hashes_of_the_lines() {
        let mut sums = ChecksumRows::default();
        row(&mut sums, 1, "a");
        row(&mut sums, 2, "b");
        let by_hand = xxh3_64(b"1\ta\t\\N\n").wrapping_add(xxh3_64(b"2\tb\t\\N\n"));
        assert_eq!(sums.checksum(), Checksum { rows: 2, sum: by_hand });
    }

    #[test]
    fn blanks_at_the_end_of_a_text_do_not_count() {
        let of = |text: &str| {
            let mut sums = ChecksumRows::default();
            row(&mut sums, 1, text);
            sums.checksum()
        };
        assert_eq!(of("a b"), of("a b  "));
        assert_eq!(of(""), of(" "));
        assert_ne!(of("a b"), of(" a b"));
        assert_ne!(of("a b"), of("ab"));
    }

    #[test]
    fn zeros_at_the_end_of_a_decimal_do_not_count() {
        let of = |units, scale| {
            let mut sums = ChecksumRows::default();
            sums.decimal(Decimal::new(units, scale));
            sums.date(Date::parse("2026-11-21").unwrap());
            sums.end_row();
            sums.checksum().sum
        };
        assert_eq!((of(150, 2), of(15, 1)), (xxh3_64(b"1.5\t2026-11-21\n"), of(150, 2)));
        assert_eq!((of(700, 2), of(7, 0)), (xxh3_64(b"7\t2026-11-21\n"), of(700, 2)));
        assert_ne!(of(150, 2), of(151, 2));
        let mut text = TextRows::default();
        text.decimal(Decimal::new(-150, 2));
        assert_eq!(text.bytes(), b"-1.50");
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_their_content_does() {
        let of = |rows: &[(i64, &str)]| {
            let mut sums = ChecksumRows::default();
            for &(number, text) in rows {
                row(&mut sums, number, text);
            }
            sums.checksum()
        };
        assert_eq!(of(&[(1, "a"), (2, "b")]), of(&[(2, "b"), (1, "a")]));
        assert_ne!(of(&[(1, "a"), (2, "b")]), of(&[(1, "b"), (2, "a")]));
        assert_ne!(of(&[(1, "a")]), of(&[(1, "a"), (1, "a")]));
    }
}

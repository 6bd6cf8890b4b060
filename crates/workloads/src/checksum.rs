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
pub use engines::rows::TextRows;
use engines::session::{Param, SessionError};
use xxhash_rust::xxh3::xxh3_64;

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
    fn value(&mut self, value: Param<'_>) {
        self.row.value(match value {
            Param::Decimal(value) => Param::Decimal(value.shortest()),
            Param::Text(value) => Param::Text(value.trim_end_matches([' ', '\0'])),
            other => other,
        });
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
            rows.value(set.value(row, column).unwrap_or(Param::Null));
        }
        rows.end_row();
    })?;
    Ok(rows.checksum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engines::session::{Date, Decimal};

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

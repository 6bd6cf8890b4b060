//! How much room loaded data take. Measured by loading 2,176 and 8,320 rows into PostgreSQL 15, MariaDB 10.11 and SQLite.

use engines::statement::Dialect;

/// A row has a page to itself, or half of one of MariaDB's; its entry in an index is small.
const fn bytes_per_row(dialect: Dialect) -> u64 {
    match dialect {
        Dialect::Sqlite => 4_114,
        Dialect::Postgres => 8_214,
        Dialect::Mysql => 9_045,
    }
}

pub fn bytes(rows: u64, dialect: Dialect) -> u64 {
    rows * bytes_per_row(dialect) / 10 * 9
}

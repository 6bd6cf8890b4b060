//! How much room loaded data take. Measured by loading 10,000 and 100,000 rows into PostgreSQL 15, MariaDB 10.11 and SQLite.

use engines::statement::Dialect;

/// With the key and the index on `k`, which is a tenth at most; tables of the test `bulk_insert` begin without rows.
const fn bytes_per_row(dialect: Dialect) -> u64 {
    match dialect {
        Dialect::Sqlite => 222,
        Dialect::Postgres => 254,
        Dialect::Mysql => 233,
    }
}

pub fn bytes(rows: u64, dialect: Dialect) -> u64 {
    rows * bytes_per_row(dialect) / 10 * 9
}

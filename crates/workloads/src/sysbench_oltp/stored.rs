//! Space that loaded data take, measured by loading 10,000 and 100,000 rows into PostgreSQL 15, MariaDB 10.11 and SQLite.

use engines::statement::{ByDialect, Dialect};

/// With the primary key and the index on `k`, which is a tenth at most; tables of `bulk_insert` begin without rows.
const BYTES_PER_ROW: ByDialect<u64> = ByDialect { sqlite: 222, postgres: 254, mysql: 233 };

pub fn bytes(rows: u64, dialect: Dialect) -> u64 {
    rows * BYTES_PER_ROW.of(dialect) / 10 * 9
}

//! Space that loaded data take, measured by loading one and three warehouses into PostgreSQL 15, MariaDB 10.11 and SQLite.

use engines::statement::{ByDialect, Dialect};

/// Bytes that all warehouses share (the items, and each table's minimum), and bytes of each warehouse.
const MEASURED: ByDialect<(u64, u64)> =
    ByDialect { sqlite: (6_400_000, 74_000_000), postgres: (14_500_000, 119_600_000), mysql: (59_000_000, 95_200_000) };

pub fn bytes(warehouses: u32, dialect: Dialect) -> u64 {
    let (shared, each) = *MEASURED.of(dialect);
    (shared + u64::from(warehouses) * each) / 10 * 9
}

//! How much room loaded data take. Measured by loading one and three warehouses into PostgreSQL 15, MariaDB 10.11 and SQLite.

use engines::statement::{ByDialect, Dialect};

/// Bytes of the items, which all warehouses share, and of what each table takes however few its rows; and of each warehouse.
const MEASURED: ByDialect<(u64, u64)> =
    ByDialect { sqlite: (6_400_000, 74_000_000), postgres: (14_500_000, 119_600_000), mysql: (59_000_000, 95_200_000) };

pub fn bytes(warehouses: u32, dialect: Dialect) -> u64 {
    let (shared, each) = *MEASURED.of(dialect);
    (shared + u64::from(warehouses) * each) / 10 * 9
}

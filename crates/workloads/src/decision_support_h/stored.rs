//! Space that loaded data take with their keys and indexes, measured by loading scales 0.01 and 0.1 into PostgreSQL 15,
//! MariaDB 10.11 and SQLite.

use super::scale::Scale;
use engines::statement::{ByDialect, Dialect};

struct Measured {
    /// Whatever the scale: the least that files take.
    shared: u64,
    /// For each hundredth of the scale.
    hundredth: u64,
}

const MEASURED: ByDialect<Measured> = ByDialect {
    sqlite: Measured { shared: 0, hundredth: 15_500_000 },
    postgres: Measured { shared: 900_000, hundredth: 17_560_000 },
    mysql: Measured { shared: 20_460_000, hundredth: 20_540_000 },
};

pub fn bytes(scale: Scale, dialect: Dialect) -> u64 {
    let measured = MEASURED.of(dialect);
    (measured.shared + measured.hundredth * u64::from(scale.hundredths())) / 10 * 9
}

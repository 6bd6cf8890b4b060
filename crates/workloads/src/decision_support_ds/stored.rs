//! Space that loaded data take with their keys and indexes, measured by loading scales 0.01, 0.1 and 1 into PostgreSQL 15,
//! MariaDB 10.11 and SQLite.

use crate::decision_support::scale::DataScale;
use engines::statement::{ByDialect, Dialect};

/// The measured scales, in hundredths.
const SCALES: [u64; 3] = [1, 10, 100];
const MEASURED: ByDialect<[u64; SCALES.len()]> = ByDialect {
    sqlite: [140_910_000, 191_050_000, 1_357_900_000],
    postgres: [342_100_000, 415_700_000, 2_601_300_000],
    mysql: [348_450_000, 464_890_000, 2_658_600_000],
};
/// Dimensions grow less than the scale, and even at scale 1000 the rows take more than this part of what they would take
/// otherwise.
const TENTHS_OF_LARGE: u64 = 8;

pub fn bytes(scale: DataScale, dialect: Dialect) -> u64 {
    let (scale, [least, small, one]) = (u64::from(scale.hundredths()), *MEASURED.of(dialect));
    let between = |from: usize, low: u64, high: u64| {
        low + (high - low) * (scale - SCALES[from]) / (SCALES[from + 1] - SCALES[from])
    };
    let measured = match scale {
        ..10 => between(0, least, small),
        10..=100 => between(1, small, one),
        _ => one.max(one * scale / 1_000 * TENTHS_OF_LARGE),
    };
    measured / 10 * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_data_take_more_room() {
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
            let bytes = |of: f64| bytes(DataScale::of(of).unwrap(), dialect);
            let grown: Vec<_> = [0.01, 0.05, 0.1, 0.5, 1.0, 1.01, 3.0, 1_000.0].map(bytes).to_vec();
            assert!(grown.is_sorted(), "{grown:?}");
            assert_eq!(bytes(0.1), MEASURED.of(dialect)[1] / 10 * 9);
            assert_eq!(bytes(1.0), MEASURED.of(dialect)[2] / 10 * 9);
        }
    }
}

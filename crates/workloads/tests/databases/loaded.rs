//! Tables as they are after loading: all there, and equal on every engine.

use crate::database::Database;
use workloads::checksum;
use workloads::dataset::{Checksum, DataTable, Dataset, TablePart};

/// Loads these tables in uneven parts.
pub fn in_parts<'a>(database: &Database, dataset: &dyn Dataset, tables: impl IntoIterator<Item = &'a DataTable>) {
    for table in tables {
        let loaded: u64 = (0..3).map(|index| database.load(dataset, table, TablePart { index, count: 3 })).sum();
        assert_eq!(loaded, dataset.expected_rows(table), "{}", table.name);
    }
}

/// The stored rows must equal what the generator makes as one part. The generator makes them again, table by table, only if their sum
/// is another than the known one.
pub fn are_as_made<'a>(
    database: &Database,
    dataset: &dyn Dataset,
    tables: impl IntoIterator<Item = &'a DataTable>,
    known: &str,
) {
    let mut admin = database.admin();
    let stored: Vec<_> =
        tables.into_iter().map(|table| (table, checksum::stored(admin.as_mut(), table).unwrap())).collect();
    let all = stored.iter().fold(0, |all: u64, (_, Checksum { rows, sum })| all.rotate_left(7) ^ sum ^ rows);
    let all = format!("{all:016x}");
    if all != known {
        for (table, stored) in stored {
            assert_eq!(stored, checksum::expected(dataset, table, 2), "{}", table.name);
        }
    }
    assert_eq!(all, known, "all rows are as made, and others than they were");
}

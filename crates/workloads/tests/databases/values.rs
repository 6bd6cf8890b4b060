//! Checksums of decimals and dates are the same on every engine, and equal those of the rows that were made.

use crate::database::Database;
use engines::rows::RowSink;
use engines::session::{Date, Decimal};
use workloads::checksum::{ChecksumRows, stored};
use workloads::dataset::DataTable;

const ROWS: i32 = 1000;

fn put(number: i32, sink: &mut dyn RowSink) {
    sink.integer(number.into());
    // With as many digits as the column has, or fewer; a column gives back as many as it is declared with.
    sink.decimal(Decimal::new(i128::from(number) * 12_345_678_901 - 600_000_000_000, u8::from(number % 2 == 0) + 1));
    match number % 10 {
        0 => sink.null(),
        _ => sink.decimal(Decimal::new(number.into(), 0)),
    }
    match Date::from_days(number * 1000) {
        Some(date) if number % 7 > 0 => sink.date(date),
        _ => sink.null(),
    }
    sink.end_row();
}

pub fn checksums_are_those_of_the_rows(database: &Database) {
    let mut admin = database.admin();
    admin.script("CREATE TABLE priced (id BIGINT, price DECIMAL(17, 2), rate DECIMAL(12, 6), day DATE)").unwrap();
    let table = DataTable { name: "priced".into(), columns: &["id", "price", "rate", "day"], key: &["id"] };
    let mut fill = |sink: &mut dyn RowSink| {
        (0..ROWS).for_each(|number| put(number, sink));
        false
    };
    let mut expected = ChecksumRows::default();
    fill(&mut expected);
    assert_eq!(admin.load(&table.name, table.columns, &mut fill).unwrap(), u64::from(ROWS.unsigned_abs()));
    assert_eq!(stored(&mut *admin, &table).unwrap(), expected.checksum());
    admin.script("UPDATE priced SET day = NULL WHERE id = 1").unwrap();
    assert_ne!(stored(&mut *admin, &table).unwrap(), expected.checksum());
}

//! The tables: each schema has one that is read and updated by key, and one that is scanned.

use crate::dataset::Table;
use std::borrow::Cow;

/// In the order in which rows are made.
pub const COLUMNS: &[&str] = &[
    "custid", "changes", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12", "c13", "c14", "c15",
    "c16", "c17", "c18", "c19", "c20",
];

/// What a table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Read and updated at random places.
    Ranges,
    /// Read from one end to the other, and never changed.
    Scans,
}

/// The table of a schema; schemas are counted from 1.
pub fn name(schema: u32, purpose: Purpose) -> String {
    match purpose {
        Purpose::Ranges => format!("slob{schema}"),
        Purpose::Scans => format!("slob{schema}_scan"),
    }
}

/// Those for scans come first: they are small, so mistakes show early.
pub fn tables(schemas: u32) -> Vec<Table> {
    let of = |purpose| (1..=schemas).map(move |schema| name(schema, purpose));
    let names = of(Purpose::Scans).chain(of(Purpose::Ranges));
    names.map(|name| Table { name: Cow::Owned(name), columns: COLUMNS, key: &["custid"] }).collect()
}

/// Schema and purpose of a table by its name.
pub fn parse(name: &str) -> Option<(u32, Purpose)> {
    let rest = name.strip_prefix("slob")?;
    let (number, purpose) = match rest.strip_suffix("_scan") {
        Some(number) => (number, Purpose::Scans),
        None => (rest, Purpose::Ranges),
    };
    Some((number.parse().ok()?, purpose))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_again() {
        let names: Vec<String> = tables(2).into_iter().map(|table| table.name.into_owned()).collect();
        assert_eq!(names, ["slob1_scan", "slob2_scan", "slob1", "slob2"]);
        assert_eq!(parse("slob2_scan"), Some((2, Purpose::Scans)));
        assert_eq!(parse("slob12"), Some((12, Purpose::Ranges)));
        assert_eq!(parse("slobs"), None);
        assert_eq!(parse("order_line"), None);
    }
}

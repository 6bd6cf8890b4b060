//! The rows against golden checksums: an update of the generator must not change them.

use super::super::{DataScale, DecisionSupportH, DecisionSupportHSettings};
use super::lines;
use crate::checksum::{TextRows, expected, of_source};
use crate::dataset::{Checksum, Dataset, TablePart};

fn smallest() -> DecisionSupportH {
    DecisionSupportH::new(DecisionSupportHSettings::plain(DataScale::of(0.01).unwrap())).unwrap()
}

/// At scale 0.01.
const GOLDEN: &[(&str, u64, u64)] = &[
    ("region", 5, 0x1674_80d7_8822_b356),
    ("nation", 25, 0x5103_5a98_be8c_83b1),
    ("supplier", 100, 0x99db_a91f_7dc4_2f94),
    ("customer", 1500, 0x2b9e_c8af_d703_bbe5),
    ("part", 2000, 0x991a_ab88_62e9_cd63),
    ("partsupp", 8000, 0x2998_ae0c_d56a_3c89),
    ("orders", 15_000, 0x042d_7298_86f7_50a4),
    ("lineitem", 60_175, 0xf885_9f57_7b3d_7390),
    ("refresh_sets", 1, 0xe734_177d_bc15_54c2),
];

#[test]
fn every_table_has_its_rows() {
    let workload = smallest();
    let found: Vec<_> = workload
        .tables()
        .iter()
        .map(|table| {
            let Checksum { rows, sum } = of_source(&mut *workload.rows(&table.name, TablePart { index: 0, count: 1 }));
            assert_eq!(rows, workload.expected_rows(table), "{}", table.name);
            (&*table.name, rows, sum)
        })
        .collect();
    assert_eq!(found, GOLDEN);
}

#[test]
fn every_split_gives_the_same_table() {
    // Large enough for several chunks of every table that grows.
    let workload = DecisionSupportH::new(DecisionSupportHSettings::plain(DataScale::of(0.11).unwrap())).unwrap();
    for table in workload.tables().iter().filter(|table| ["customer", "part", "orders"].contains(&&*table.name)) {
        let whole = of_source(&mut *workload.rows(&table.name, TablePart { index: 0, count: 1 }));
        assert_eq!(whole, expected(&workload, table, 3), "{}", table.name);
        assert_eq!(whole.rows, workload.expected_rows(table), "{}", table.name);
    }
}

#[test]
fn golden_rows() {
    let workload = smallest();
    let first = |table: &str| {
        let mut text = TextRows::default();
        workload.rows(table, TablePart { index: 0, count: 1 }).fill(&mut text);
        std::str::from_utf8(text.bytes()).unwrap().lines().next().unwrap().replace('\t', "|")
    };
    let line = "1|1552|93|1|17.00|24710.35|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22|DELIVER IN PERSON|TRUCK|egular courts \
        above the";
    assert_eq!(first("lineitem"), line);
    assert_eq!(first("refresh_sets"), "1|0|0");
}

#[test]
fn lines_are_counted_without_making_them() {
    assert_eq!([0.01, 0.1].map(|scale| lines(DataScale::of(scale).unwrap())), [60_175, 600_572]);
}

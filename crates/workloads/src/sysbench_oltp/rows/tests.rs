//! The rows of small tables, byte for byte, and the rules that they follow.

use super::*;
use crate::checksum::{TextRows, expected, of_source};
use crate::dataset::{Checksum, Dataset};
use proptest::prelude::*;
use serde_json::{Value, json};

fn workload(table: &Value) -> SysbenchOltp {
    SysbenchOltp::from_table(table.as_object().unwrap()).unwrap()
}

fn lines(workload: &SysbenchOltp, table: &str, part: TablePart) -> Vec<String> {
    let mut text = TextRows::default();
    let mut source = workload.rows(table, part);
    while source.fill(&mut text) {}
    std::str::from_utf8(text.bytes()).unwrap().lines().map(str::to_owned).collect()
}

const WHOLE: TablePart = TablePart { index: 0, count: 1 };

#[test]
fn first_rows() {
    let of_10 = lines(&workload(&json!({ "tables": 2 })), "sbtest2", WHOLE);
    assert_eq!(of_10[..2].join("\n"), include_str!("golden.tsv").trim_end());
    let of_048 = lines(&workload(&json!({ "mode": "0.4.8" })), "sbtest", WHOLE);
    assert_eq!(of_048[9_999], format!("10000\t0\t \t{PAD_LOADED}"));
}

#[test]
fn checksums_of_the_default_tables() {
    let sums = |table: &Value| {
        let workload = workload(table);
        workload.tables().iter().map(|table| expected(&workload, table, 2)).collect::<Vec<_>>()
    };
    assert_eq!(sums(&json!({})), [Checksum { rows: 10_000, sum: 16_362_869_083_431_891_983 }]);
    assert_eq!(sums(&json!({ "mode": "0.4.8" })), [Checksum { rows: 10_000, sum: 9_698_958_534_733_090_862 }]);
}

#[test]
fn ids_are_all_numbers_and_keys_are_as_skewed_as_the_ids_of_transactions() {
    let keys = |rand_type: &str| {
        let workload = workload(&json!({ "table_size": 20_500, "rand_type": rand_type }));
        let rows = lines(&workload, "sbtest1", WHOLE);
        let cells = |row: &String| row.split('\t').take(2).map(|cell| cell.parse().unwrap()).collect::<Vec<i64>>();
        let numbers: Vec<Vec<i64>> = rows.iter().map(cells).collect();
        assert!(numbers.iter().map(|numbers| numbers[0]).eq(1..=20_500));
        numbers.into_iter().map(|numbers| numbers[1]).collect::<Vec<i64>>()
    };
    let in_the_middle = |keys: &[i64]| keys.iter().filter(|key| (10_148..=10_352).contains(*key)).count();
    assert!((15_000..16_500).contains(&in_the_middle(&keys("special"))));
    assert!((150..260).contains(&in_the_middle(&keys("uniform"))));
}

#[test]
fn tables_differ_and_the_seed_makes_others() {
    let rows = lines(&workload(&json!({ "tables": 2 })), "sbtest1", WHOLE);
    assert_ne!(rows, lines(&workload(&json!({ "tables": 2 })), "sbtest2", WHOLE));
    assert_ne!(rows, lines(&workload(&json!({ "data_seed": 43 })), "sbtest1", WHOLE));
    assert!(lines(&workload(&json!({})), "sbtest2", WHOLE).is_empty(), "there is one table only");
}

#[test]
fn tests_that_fill_tables_begin_with_empty_ones() {
    for table in [json!({ "test": "bulk_insert" }), json!({ "test": "insert", "auto_inc": false })] {
        assert!(lines(&workload(&table), "sbtest1", WHOLE).is_empty(), "{table}");
    }
    assert_eq!(lines(&workload(&json!({ "test": "insert" })), "sbtest1", WHOLE).len(), 10_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_split_gives_the_same_rows(table_size in 1_u32..5_000, count in 1_u32..9, seed in 0_i64..100) {
        let workload = workload(&json!({ "table_size": table_size, "data_seed": seed }));
        let parts: Vec<String> =
            (0..count).flat_map(|index| lines(&workload, "sbtest1", TablePart { index, count })).collect();
        prop_assert_eq!(parts.len(), usize::try_from(table_size).unwrap());
        prop_assert_eq!(parts, lines(&workload, "sbtest1", WHOLE));
        let whole = of_source(&mut *workload.rows("sbtest1", WHOLE));
        prop_assert_eq!(whole, expected(&workload, &workload.tables()[0], 3));
    }
}

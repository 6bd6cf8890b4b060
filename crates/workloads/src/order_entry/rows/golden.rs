//! The rows of a small data set, byte for byte, and the rules that they follow.
//!
//! A difference here means that every loaded data set and every stored checksum changes. Such a change must be
//! deliberate.

use super::super::definition::{CUSTOMERS, ORDERS};
use super::super::{OrderEntry, OrderEntrySettings};
use crate::checksum::{TextRows, expected, of_source};
use crate::dataset::{Checksum, Dataset, TablePart};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn workload(warehouses: u32, data_seed: u64) -> OrderEntry {
    OrderEntry::new(OrderEntrySettings::plain(warehouses, data_seed)).unwrap()
}

/// The first lines of text of one part, at most `limit`.
fn lines(workload: &OrderEntry, table: &str, part: TablePart, limit: usize) -> Vec<String> {
    let mut source = workload.rows(table, part);
    let mut text = TextRows::default();
    let mut found = Vec::new();
    let mut more = true;
    while more && found.len() < limit {
        more = source.fill(&mut text);
        found.extend(std::str::from_utf8(text.bytes()).unwrap().lines().map(str::to_owned));
        text.clear();
    }
    found.truncate(limit);
    found
}

const WHOLE: TablePart = TablePart { index: 0, count: 1 };

fn first(table: &str) -> String {
    lines(&workload(1, 42), table, WHOLE, 1).concat()
}

fn cells(line: &str) -> Vec<&str> {
    line.split('\t').collect()
}

fn number(cell: &str) -> i64 {
    cell.parse().unwrap()
}

#[test]
fn first_rows() {
    let found: Vec<String> = workload(1, 42).tables().iter().map(|table| first(&table.name)).collect();
    assert_eq!(found.join("\n"), include_str!("golden.tsv").trim_end());
}

#[test]
fn checksums_of_one_warehouse() {
    let workload = workload(1, 42);
    let found: Vec<(&str, Checksum)> =
        workload.tables().iter().map(|table| (&*table.name, expected(&workload, table, 2))).collect();
    let of = |rows, sum| Checksum { rows, sum };
    let known = [
        ("warehouse", of(1, 0x5656_23b6_6adb_de1d)),
        ("district", of(10, 0x259d_0b5b_d5d5_5f62)),
        ("item", of(100_000, 0x9b07_8ec9_6251_a8ae)),
        ("customer", of(30_000, 0x9625_62af_83fd_4299)),
        ("history", of(30_000, 0xb47a_9ec2_0a53_d1ae)),
        ("orders", of(30_000, 0x9b9c_3d9c_5b87_517f)),
        ("new_order", of(9_000, 0xa85d_ad0a_75c0_5455)),
        ("order_line", of(301_592, 0x300d_d684_cba7_d6e1)),
        ("stock", of(100_000, 0x50b9_1db7_da4f_671d)),
    ];
    assert_eq!(found, known);
    for ((_, checksum), table) in found.iter().zip(workload.tables()) {
        assert_eq!(checksum.rows, workload.expected_rows(table), "{}", table.name);
    }
}

#[test]
fn a_table_of_another_name_has_no_rows() {
    assert!(lines(&workload(1, 42), "none", WHOLE, 1).is_empty());
}

#[test]
fn customers_follow_their_rules() {
    let customers = lines(&workload(1, 7), "customer", WHOLE, CUSTOMERS as usize);
    let bad_credits = customers.iter().filter(|line| cells(line)[13] == "BC").count();
    assert_eq!(bad_credits, 300);
    let names: BTreeSet<&str> = customers[..1_000].iter().map(|line| cells(line)[5]).collect();
    assert_eq!(names.len(), 1_000);
    assert_eq!(cells(&customers[371])[5], "PRICALLYOUGHT");
    for (id, line) in (1..).zip(&customers) {
        let cells = cells(line);
        assert_eq!((cells[0], cells[1], number(cells[2])), ("1", "1", id));
        assert!((8..=16).contains(&cells[3].len()), "{line}");
        assert_eq!((cells[4], cells[9].len(), cells[11].len()), ("OE", 2, 16));
        assert!(cells[10].len() == 9 && cells[10].ends_with("11111"), "{line}");
        assert!((0..=5_000).contains(&number(cells[15])), "{line}");
        assert_eq!(cells[16..20], ["-1000", "1000", "1", "0"]);
        assert!((300..=500).contains(&cells[20].len()), "{line}");
    }
}

#[test]
fn orders_and_their_lines_belong_together() {
    let workload = workload(1, 7);
    let orders = lines(&workload, "orders", WHOLE, ORDERS as usize);
    let customers: BTreeSet<i64> = orders.iter().map(|line| number(cells(line)[3])).collect();
    assert_eq!(customers, (1..=i64::from(CUSTOMERS)).collect());
    let promised: usize = orders.iter().map(|line| usize::try_from(number(cells(line)[6])).unwrap()).sum();
    let lines = lines(&workload, "order_line", WHOLE, promised + 1);
    assert_eq!(cells(&lines[promised])[..4], ["1", "2", "1", "1"], "the next district follows");
    let mut rest = lines.as_slice();
    for (id, order) in (1..).zip(&orders) {
        let order = cells(order);
        let count = usize::try_from(number(order[6])).unwrap();
        assert!((5..=15).contains(&count));
        assert_eq!(order[5] == r"\N", id >= 2_101, "carrier of {id}");
        for (line_number, line) in (1..).zip(&rest[..count]) {
            let line = cells(line);
            assert_eq!([number(line[2]), number(line[3])], [id, line_number]);
            assert!((1..=100_000).contains(&number(line[4])));
            assert_eq!((line[6] == r"\N", line[7]), (id >= 2_101, "5"));
            assert_eq!(number(line[8]) == 0, id < 2_101);
            assert_eq!(line[9].len(), 24);
        }
        rest = &rest[count..];
    }
}

#[test]
fn a_tenth_of_items_and_stocks_is_marked() {
    for (table, data) in [("item", 4), ("stock", 16)] {
        let found = lines(&workload(1, 7), table, TablePart { index: 0, count: 50 }, usize::MAX);
        assert_eq!(found.len(), 2_000);
        assert_eq!(found.iter().filter(|line| cells(line)[data].contains("ORIGINAL")).count(), 200);
        assert!(found.iter().all(|line| (26..=50).contains(&cells(line)[data].len())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]

    /// Parts of any number concatenate to the same rows; the tables chosen have chunks of each size.
    #[test]
    fn any_split_gives_the_same_rows(warehouses in 1_u32..4, seed: u64, count in 1_u32..60) {
        let workload = workload(warehouses, seed);
        for table in ["warehouse", "district", "new_order", "item"] {
            let whole = lines(&workload, table, WHOLE, usize::MAX);
            let parts = (0..count).flat_map(|index| lines(&workload, table, TablePart { index, count }, usize::MAX));
            prop_assert_eq!(whole, parts.collect::<Vec<_>>());
        }
    }

    #[test]
    fn any_split_gives_the_same_checksum(seed: u64, count in 2_u32..12) {
        let workload = workload(1, seed);
        let part = |index| of_source(&mut *workload.rows("orders", TablePart { index, count }));
        let parts = (0..count).map(part).fold(Checksum::default(), Checksum::and);
        prop_assert_eq!(parts, of_source(&mut *workload.rows("orders", WHOLE)));
    }
}

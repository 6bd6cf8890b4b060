//! The rows against golden checksums: an update of the generator must not change them.

use super::super::{DataScale, DecisionSupportDs, DecisionSupportDsSettings};
use super::counts::{AllCounts, SalesCounts};
use crate::checksum::{TextRows, expected, of_source};
use crate::dataset::{Dataset, TablePart};

fn smallest() -> DecisionSupportDs {
    DecisionSupportDs::new(DecisionSupportDsSettings::plain(DataScale::of(0.01).unwrap())).unwrap()
}

/// At scale 0.01.
const GOLDEN: &[(&str, u64, u64)] = &[
    ("income_band", 20, 0x6cc6_0f6c_0c48_2b39),
    ("ship_mode", 20, 0x245a_ddd9_8a39_0a8d),
    ("reason", 75, 0xb056_fdd4_178c_8432),
    ("date_dim", 73_049, 0xaa54_4b2c_e788_ac23),
    ("time_dim", 86_400, 0x38b8_9130_6872_6614),
    ("customer_demographics", 1_920_800, 0x2e51_afb6_531e_ff40),
    ("household_demographics", 7200, 0xfa9a_4e88_0e09_9163),
    ("customer_address", 1000, 0xc358_b177_76a6_321b),
    ("customer", 1000, 0xabec_85b8_1ccf_1943),
    ("item", 2000, 0x15b9_d594_4c6b_ab93),
    ("promotion", 3, 0x1999_b64b_d88b_f4ab),
    ("store", 2, 0x27e7_656b_a2cb_af47),
    ("call_center", 2, 0x89a0_a996_5043_898b),
    ("catalog_page", 11_718, 0xbc47_2730_132c_b8ac),
    ("web_site", 2, 0xf208_8ac3_eba2_44ea),
    ("web_page", 2, 0x4fe5_ffcb_dfb5_7140),
    ("warehouse", 1, 0xd635_8b9b_776a_5e5d),
    ("store_sales", 120_527, 0x10e9_1ac6_f5d1_615a),
    ("store_returns", 11_925, 0x6d47_33e0_17bb_63f0),
    ("catalog_sales", 89_807, 0xb2f0_cd56_266f_30d2),
    ("catalog_returns", 8923, 0x8c4d_34e6_54e8_0292),
    ("web_sales", 11_876, 0x13d5_7dc6_b608_3d40),
    ("web_returns", 1152, 0x5d42_1053_27db_0e28),
    ("inventory", 261_261, 0xfa7e_ea3f_cc04_f2a6),
    ("refresh_sets", 1, 0xa07d_9433_d0bc_9065),
    ("new_orders", 0, 0),
    ("new_lines", 0, 0),
    ("new_returns", 0, 0),
];

/// It has nearly two million rows at every scale.
const LARGEST: &str = "customer_demographics";

fn tables_have_their_rows(is_asked: fn(&str) -> bool) {
    let workload = smallest();
    let names: Vec<_> = workload.tables().iter().map(|table| &*table.name).collect();
    assert!(names.into_iter().eq(GOLDEN.iter().map(|(name, ..)| *name)));
    for (table, (name, rows, sum)) in workload.tables().iter().zip(GOLDEN).filter(|(_, (name, ..))| is_asked(name)) {
        let found = expected(&workload, table, 2);
        assert_eq!(found.rows, workload.expected_rows(table), "{name}");
        assert_eq!((found.rows, found.sum), (*rows, *sum), "{name}");
    }
}

#[test]
fn every_table_has_its_rows() {
    tables_have_their_rows(|name| name != LARGEST);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn the_largest_table_has_its_rows() {
    tables_have_their_rows(|name| name == LARGEST);
}

#[test]
fn every_split_gives_the_same_table() {
    // Large enough for several chunks of tables that grow, and with rows that keep their history.
    let workload = DecisionSupportDs::new(DecisionSupportDsSettings::plain(DataScale::of(0.3).unwrap())).unwrap();
    for table in workload.tables().iter().filter(|table| ["item", "customer", "web_returns"].contains(&&*table.name)) {
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
    let sale = "2451813|65495|1091|6|591617|3428|839|2|2|1|79|11.41|18.71|2.80|99.54|221.20|901.39|1478.09|6.08|99.54|121.66|127.74|\
        -779.73";
    assert_eq!(first("store_sales"), sale);
    assert_eq!(first("household_demographics"), "1|2|0-500|0|0");
    assert_eq!(first("refresh_sets"), "1|0");
}

#[test]
fn lines_are_counted_without_making_them() {
    let AllCounts { store, catalog, web } = AllCounts::at(DataScale::of(1.0).unwrap());
    assert_eq!(store, SalesCounts { sales: 2_880_404, returns: 287_514 });
    assert_eq!(catalog, SalesCounts { sales: 1_441_548, returns: 144_067 });
    assert_eq!(web, SalesCounts { sales: 719_384, returns: 71_763 });
}

//! Golden rows, the same rows for every split, and numbers of rows.

use super::*;
use crate::checksum::{self, TextRows};
use crate::dataset::Dataset;
use serde_json::json;

fn workload(customers: u32) -> Brokerage {
    let table = json!({
        "customers": customers, "initial_trade_days": 5, "scale_factor": 20_000, "news_bytes": 300,
    });
    Brokerage::from_table(table.as_object().unwrap()).unwrap()
}

fn text(workload: &Brokerage, table: &str, part: Part) -> String {
    let mut text = TextRows::default();
    let mut source = workload.rows(table, part);
    while source.fill(&mut text) {}
    String::from_utf8(text.bytes().to_vec()).unwrap()
}

#[test]
fn every_split_gives_the_same_rows() {
    let workload = workload(2_000);
    for table in workload.tables() {
        if table.name == "daily_market" {
            let whole = text(&workload, &table.name, Part { index: 3, count: 137 });
            let halves = [6, 7].map(|index| text(&workload, &table.name, Part { index, count: 274 }));
            assert!(whole == halves.concat(), "daily_market");
            continue;
        }
        let whole = text(&workload, &table.name, Part { index: 0, count: 1 });
        let parts: String = (0..3).map(|index| text(&workload, &table.name, Part { index, count: 3 })).collect();
        assert!(whole == parts, "{}", table.name);
    }
}

#[test]
fn tables_have_as_many_rows_as_in_the_original() {
    let workload = workload(1_000);
    let expected = |name: &str| {
        let table = workload.tables().iter().find(|table| table.name == name).unwrap();
        workload.expected_rows(table)
    };
    let fixed = [
        ("charge", 15),
        ("commission_rate", 240),
        ("exchange", 4),
        ("industry", 102),
        ("sector", 12),
        ("status_type", 5),
        ("taxrate", 320),
        ("trade_type", 5),
        ("zip_code", 14_741),
        ("customer", 1_000),
        ("customer_taxrate", 2_000),
        ("customer_account", 5_000),
        ("address", 1_504),
        ("broker", 10),
        ("company", 500),
        ("company_competitor", 1_500),
        ("daily_market", 893_925),
        ("financial", 10_000),
        ("last_trade", 685),
        ("news_item", 1_000),
        ("news_xref", 1_000),
        ("security", 685),
        ("watch_list", 1_000),
        ("trade", 7_200),
        ("settlement", 7_200),
        ("trade_request", 0),
    ];
    for (name, rows) in fixed {
        assert_eq!(expected(name), rows, "{name}");
    }
    assert!((7_000..7_200).contains(&expected("account_permission")), "{}", expected("account_permission"));
    assert!((97_000..103_000).contains(&expected("watch_item")), "{}", expected("watch_item"));
    for table in workload.tables().iter().filter(|table| table.name != "daily_market") {
        let made = checksum::of_source(&mut *workload.rows(&table.name, Part { index: 0, count: 1 }));
        assert_eq!(made.rows, workload.expected_rows(table), "{}", table.name);
    }
}

/// The first rows of tables, and of all tables that come from the trading.
#[test]
fn golden_rows() {
    let workload = workload(1_000);
    let first = |table: &str| text(&workload, table, Part { index: 0, count: 1 }).lines().next().unwrap().to_owned();
    let tables = [
        "zip_code",
        "taxrate",
        "industry",
        "exchange",
        "address",
        "company",
        "company_competitor",
        "security",
        "financial",
        "last_trade",
        "news_item",
        "customer",
        "customer_account",
        "account_permission",
        "watch_item",
        "broker",
        "trade",
        "trade_history",
        "settlement",
        "cash_transaction",
        "holding_summary",
        "holding",
        "holding_history",
    ];
    let found: Vec<_> = tables.iter().map(|table| format!("{table}: {}", first(table))).collect();
    let expected: Vec<_> = include_str!("golden.txt").lines().collect();
    assert_eq!(found, expected);
}

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

fn text(workload: &Brokerage, table: &str, part: TablePart) -> String {
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
            let whole = text(&workload, &table.name, TablePart { index: 3, count: 137 });
            let halves = [6, 7].map(|index| text(&workload, &table.name, TablePart { index, count: 274 }));
            assert!(whole == halves.concat(), "daily_market");
            continue;
        }
        let whole = text(&workload, &table.name, TablePart { index: 0, count: 1 });
        let parts: String = (0..3).map(|index| text(&workload, &table.name, TablePart { index, count: 3 })).collect();
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
        let made = checksum::of_source(&mut *workload.rows(&table.name, TablePart { index: 0, count: 1 }));
        assert_eq!(made.rows, workload.expected_rows(table), "{}", table.name);
    }
}

/// The first rows of tables, and of all tables that come from the trading.
#[test]
fn golden_rows() {
    let workload = workload(1_000);
    let first =
        |table: &str| text(&workload, table, TablePart { index: 0, count: 1 }).lines().next().unwrap().to_owned();
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

fn cells(table: &str) -> Vec<Vec<String>> {
    let lines = text(&workload(1_000), table, TablePart { index: 0, count: 1 });
    lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Whether a share of the rows is the expected one, but for chance.
fn is_about(rows: &[Vec<String>], holds: impl Fn(&[String]) -> bool, expected: f64) {
    let found = rows.iter().filter(|row| holds(row)).count() as f64 / rows.len() as f64;
    let deviation = (expected * (1.0 - expected) / rows.len() as f64).sqrt();
    assert!((found - expected).abs() < 4.0 * deviation, "{found} instead of {expected}");
}

#[test]
fn customers_have_their_shares() {
    let rows = cells("customer");
    is_about(&rows, |row| row[6] == "M", 0.49);
    for (tier, customers) in [("1", 200), ("2", 600), ("3", 200)] {
        assert_eq!(rows.iter().filter(|row| row[7] == tier).count(), customers);
    }
    // Ten years before the trading begins, and twenty-five.
    assert!(rows.iter().all(|row| row[8].as_str() < "1995-01-03" && row[8].as_str() > "1905-01-01"));
    is_about(&rows, |row| row[8].as_str() > "1980-01-03", 0.21);
    for (extension, share) in [(13, 0.25), (17, 0.15), (21, 0.05)] {
        is_about(&rows, |row| row[extension] != "\\N", share);
    }
    let domain = |mail: &str| mail.split_once('@').unwrap().1.to_owned();
    assert!(rows.iter().all(|row| domain(&row[22]) != domain(&row[23])));
    assert!(rows.iter().all(|row| row.iter().all(|cell| !cell.contains(" X "))));
    let tax_ids: std::collections::BTreeSet<_> = rows.iter().map(|row| &row[1]).collect();
    assert_eq!(tax_ids.len(), rows.len());
}

#[test]
fn addresses_companies_and_securities_have_their_shares() {
    let rows = cells("address");
    is_about(&rows, |row| row[2] == "\\N", 0.6);
    is_about(&rows, |row| row[2].starts_with("Apt. "), 0.3);
    is_about(&rows, |row| row[4] == "CANADA", 741.0 / 14_741.0);
    let rows = cells("security");
    is_about(&rows, |row| row[15] != "0", 0.6);
    assert!(rows.iter().all(|row| row[7] <= row[8] && row[8].as_str() < "2000-01-03"));
    let companies = cells("company");
    assert!(companies.iter().all(|row| (24..=150).contains(&row[7].len())));
    assert!(companies.iter().all(|row| row[8].as_str() < "2000-01-02" && row[8].as_str() > "1799-12-31"));
    let ratings: std::collections::BTreeSet<_> = companies.iter().map(|row| row[4].clone()).collect();
    assert!(ratings.contains("ABA") && ratings.contains("AAA") && ratings.len() <= 39, "{ratings:?}");
}

#[test]
fn watch_lists_belong_to_one_customer_each_and_have_different_securities() {
    let lists = cells("watch_list");
    let ids: std::collections::BTreeSet<_> = lists.iter().map(|row| row[0].clone()).collect();
    assert_eq!(ids.len(), 1_000);
    let items = cells("watch_item");
    let different: std::collections::BTreeSet<_> = items.iter().collect();
    assert_eq!(different.len(), items.len());
    let mut counts = std::collections::BTreeMap::<_, usize>::new();
    for row in &items {
        *counts.entry(&row[0]).or_default() += 1;
    }
    assert!(counts.len() == 1_000 && counts.values().all(|count| (50..=150).contains(count)));
}

#[test]
fn days_have_prices_in_their_ranges() {
    let rows = text(&workload(1_000), "daily_market", TablePart { index: 0, count: 685 });
    let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((rows.len(), rows[0][0], rows[1_304][0]), (1_305, "2000-01-03", "2004-12-31"));
    for row in rows {
        let [close, high, low, volume] = [2, 3, 4, 5].map(|column: usize| row[column].parse::<i64>().unwrap());
        assert!((2_000..=3_000).contains(&close) && (1_000..=10_000).contains(&volume));
        assert_eq!((high, low), (close * 105 / 100, close * 92 / 100));
    }
}

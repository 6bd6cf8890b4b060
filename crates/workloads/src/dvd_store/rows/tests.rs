//! The population against the rules for it, and against golden rows.

use super::super::settings::{DvdStoreSettings, DvdStoreVersion};
use super::super::size::DvdStoreSize;
use super::super::{DvdStore, definition};
use crate::checksum::{TextRows, of_source};
use crate::dataset::{Checksum, Dataset, TablePart};
use std::collections::{BTreeMap, BTreeSet};

fn shop(size: &str, version: DvdStoreVersion) -> DvdStore {
    DvdStore::new(DvdStoreSettings::plain(DvdStoreSize::parse(size).unwrap(), version)).unwrap()
}

/// The cells of all rows of a table.
fn rows(shop: &DvdStore, table: &str) -> Vec<Vec<String>> {
    let mut text = TextRows::default();
    let mut source = shop.rows(table, TablePart { index: 0, count: 1 });
    while source.fill(&mut text) {}
    let lines = std::str::from_utf8(text.bytes()).unwrap().lines();
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn numbers(rows: &[Vec<String>], column: usize) -> Vec<f64> {
    rows.iter().map(|row| row[column].parse().unwrap()).collect()
}

/// Smallest, largest and mean, the mean to within four of its own standard deviations for uniform values.
fn uniform(values: &[f64], low: f64, high: f64) {
    let (least, most) =
        values.iter().fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviation = (high - low + 1.0) / 12_f64.sqrt() / (values.len() as f64).sqrt();
    assert!(least >= low && most <= high, "{least} to {most} instead of {low} to {high}");
    assert!((mean - f64::midpoint(low, high)).abs() < 4.0 * deviation, "{mean} on average of {low} to {high}");
}

fn share(rows: &[Vec<String>], holds: impl Fn(&[String]) -> bool) -> f64 {
    rows.iter().filter(|row| holds(row)).count() as f64 / rows.len() as f64
}

/// Whether a share is the expected one, but for chance.
fn is_about(found: f64, expected: f64, of: usize) {
    let deviation = (expected * (1.0 - expected) / of as f64).sqrt();
    assert!((found - expected).abs() < 4.0 * deviation, "{found} instead of {expected}");
}

#[test]
fn golden_rows() {
    let shop = shop("1MB", DvdStoreVersion::Three);
    let first = |table: &str| rows(&shop, table)[0].join("|");
    for (table, expected) in GOLDEN {
        assert_eq!(first(table), *expected, "{table}");
    }
}

const GOLDEN: &[(&str, &str)] = &[
    (
        "customers",
        "1|QJDAAY|CXSYRUUFTE|3753943535 Film Row|\\N|QWLTAMR|WI|59168|US|1|CXSYRUUFTE@mail.dvd|3753943535|5|4168453982625374|2018/09|user1|password|90|80000|F",
    ),
    ("products", "1|3|ACORN ACORN|EVELYN DURANT|24.99|0|79|1"),
    ("inventory", "1|309|6"),
    ("orders", "1|2013-01-07|269|208.35|17.19|225.54"),
    ("orderlines", "1|1|656|3|2013-01-07"),
    ("cust_hist", "269|1|656"),
    ("membership", "4|3|2017-12-15"),
    ("reviews_helpfulness", "1|1|799|9"),
];

#[test]
fn any_split_gives_the_same_rows() {
    let shop = shop("3MB", DvdStoreVersion::Three);
    for table in shop.tables() {
        let of = |index, count| of_source(&mut *shop.rows(&table.name, TablePart { index, count }));
        let whole = of(0, 1);
        assert_eq!(whole.rows, shop.expected_rows(table), "{}", table.name);
        let parts = (0..7).fold(Checksum::default(), |sum, index| sum.and(of(index, 7)));
        assert_eq!(parts, whole, "{}", table.name);
    }
}

#[test]
fn customers_are_at_home_or_abroad_and_drawn_as_the_definition_says() {
    let rows = rows(&shop("5MB", DvdStoreVersion::Two), "customers");
    let (home, abroad) = rows.split_at(5_000);
    assert!(home.iter().all(|row| row[8] == "US" && row[9] == "1" && row[7].len() == 5 && row[6].len() == 2));
    assert!(abroad.iter().all(|row| row[9] == "2" && row[7] == "00000" && row[6] == "\\N"));
    let different =
        |rows: &[Vec<String>], column: usize| rows.iter().map(|row| row[column].clone()).collect::<BTreeSet<_>>();
    assert_eq!((different(home, 6).len(), different(abroad, 8).len()), (51, 10));
    for (place, row) in rows.iter().enumerate() {
        let lengths =
            [row[1].len(), row[2].len(), row[3].len(), row[5].len(), row[10].len(), row[11].len(), row[13].len()];
        assert_eq!(lengths, [6, 10, 19, 7, 19, 10, 16], "{row:?}");
        assert_eq!((row[15].as_str(), row[16].as_str()), (format!("user{}", place + 1).as_str(), "password"));
        assert_eq!(row[10], format!("{}{}", row[2], definition::MAIL));
        let (year, month) = row[14].split_once('/').unwrap();
        assert!((2_008..=2_012).contains(&year.parse().unwrap()) && (1..=12).contains(&month.parse::<u32>().unwrap()));
    }
    uniform(&numbers(&rows, 12), 1.0, 5.0);
    uniform(&numbers(&rows, 17), 18.0, 90.0);
    uniform(&numbers(&rows, 18).iter().map(|income| income / 20_000.0).collect::<Vec<_>>(), 1.0, 5.0);
    is_about(share(&rows, |row| row[19] == "M"), 0.5, rows.len());
}

#[test]
fn orders_of_a_month_follow_each_other_and_have_one_to_nine_lines() {
    let shop = shop("5MB", DvdStoreVersion::Two);
    let (orders, lines, history) = (rows(&shop, "orders"), rows(&shop, "orderlines"), rows(&shop, "cust_hist"));
    for (place, row) in orders.iter().enumerate() {
        assert_eq!(row[1][..7], format!("2009-{:02}", place / 500 + 1), "order {}", place + 1);
        let cents = |column: usize| row[column].replace('.', "").parse::<i64>().unwrap();
        assert_eq!((cents(4), cents(5)), (definition::tax_cents(cents(3)), cents(3) + cents(4)));
    }
    uniform(&numbers(&orders, 2), 1.0, 10_000.0);
    uniform(&numbers(&orders, 3).iter().map(|amount| amount * 100.0).collect::<Vec<_>>(), 1.0, 40_000.0);
    let mut of_orders: BTreeMap<&str, f64> = BTreeMap::new();
    for line in &lines {
        *of_orders.entry(&line[1]).or_default() += 1.0;
    }
    assert_eq!(of_orders.len(), orders.len());
    uniform(&of_orders.into_values().collect::<Vec<_>>(), 1.0, 9.0);
    uniform(&numbers(&lines, 2), 1.0, 5_000.0);
    uniform(&numbers(&lines, 3), 1.0, 3.0);
    for (line, entry) in lines.iter().zip(&history) {
        let order: usize = line[1].parse().unwrap();
        let order = &orders[order - 1];
        assert_eq!((&line[4], &entry[0], &entry[1], &entry[2]), (&order[1], &order[2], &line[1], &line[2]));
    }
    let mut sold: BTreeMap<&str, u32> = BTreeMap::new();
    for line in &lines {
        *sold.entry(&line[2]).or_default() += line[3].parse::<u32>().unwrap();
    }
    for row in rows(&shop, "inventory") {
        assert_eq!(
            row[2].parse::<u32>().unwrap(),
            sold.get(row[0].as_str()).copied().unwrap_or(0),
            "product {}",
            row[0]
        );
    }
}

#[test]
fn products_have_the_prices_offers_and_stocks_of_the_definition() {
    let shop = shop("20MB", DvdStoreVersion::Three);
    let (products, stock) = (rows(&shop, "products"), rows(&shop, "inventory"));
    uniform(&numbers(&products, 1), 1.0, 16.0);
    uniform(&numbers(&products, 4).iter().map(|price| price - 0.99).collect::<Vec<_>>(), 9.0, 29.0);
    is_about(share(&products, |row| row[5] == "1"), 0.01, products.len());
    uniform(&numbers(&products, 6), 1.0, 20_000.0);
    uniform(&numbers(&products, 7), 0.0, 3.0);
    let (hot, usual): (Vec<_>, Vec<_>) =
        stock.into_iter().partition(|row| row[0].parse::<u32>().unwrap().is_multiple_of(10_000));
    assert!(hot.len() == 2 && numbers(&hot, 1).iter().all(|left| left % 10.0 == 0.0 && *left <= 5_000.0));
    uniform(&numbers(&usual, 1), 0.0, 500.0);
    let words: BTreeSet<&str> = products.iter().map(|row| row[2].split(' ').next().unwrap()).collect();
    assert_eq!(words.len(), 20, "a thousand titles begin with the same word");
    let (at_start, later) = shop.shortage();
    // Of 501 stocks, those of 0, 1 and 2 refuse all, two thirds and a third of the quantities.
    assert!((0.003..0.005).contains(&at_start) && (0.001..0.003).contains(&later), "{at_start} {later}");
}

#[test]
fn one_customer_in_ten_is_a_member_and_reviews_have_two_to_39_ratings() {
    let shop = shop("1MB", DvdStoreVersion::Three);
    let (members, reviews, ratings) =
        (rows(&shop, "membership"), rows(&shop, "reviews"), rows(&shop, "reviews_helpfulness"));
    for (place, row) in members.iter().enumerate() {
        let customer: usize = row[0].parse().unwrap();
        assert_eq!((customer - 1) / 10, place, "one of each ten");
        assert!(row[2].ends_with("-15") && ("2015".."2020").contains(&&row[2][..4]), "{}", row[2]);
    }
    assert_eq!(members.len(), 200);
    assert_eq!(reviews.len(), 20 * 1_000);
    uniform(&numbers(&reviews, 1), 1.0, 1_000.0);
    uniform(&numbers(&reviews, 3), 1.0, 5.0);
    assert!(reviews.iter().all(|row| row[2].starts_with("2013-") && row[5].split(' ').count() == 3));
    let words: Vec<f64> = reviews.iter().map(|row| row[6].split(' ').count() as f64).collect();
    uniform(&words, 6.0, 129.0);
    let mut of_reviews: BTreeMap<&str, f64> = BTreeMap::new();
    for row in &ratings {
        *of_reviews.entry(&row[1]).or_default() += 1.0;
    }
    uniform(&of_reviews.into_values().collect::<Vec<_>>(), 2.0, 39.0);
    uniform(&numbers(&ratings, 3), 1.0, 10.0);
    let ids: Vec<u64> = ratings.iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(ids.iter().copied().eq(1..=ids.len() as u64), "ids have no gaps");
}

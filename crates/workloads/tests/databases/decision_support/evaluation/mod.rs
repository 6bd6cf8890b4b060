//! The answers to the 22 questions by plain loops over the generator's rows, for the parameters of validation.
//!
//! Nothing here is shared with the workload: neither its SQL nor its parameters. So a mistake in either shows as a difference.

mod customers;
mod markets;
mod parts;
mod sums;

use engines::session::{Date, Decimal, Param, ResultSet};
use std::collections::HashMap;
use tpchgen::dates::TPCHDate;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order, OrderGenerator, Part,
    PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator, Supplier, SupplierGenerator,
};

/// All rows of all tables. Keys of suppliers, customers and parts count from 1.
pub struct Rows {
    regions: Vec<Region<'static>>,
    nations: Vec<Nation<'static>>,
    suppliers: Vec<Supplier>,
    customers: Vec<Customer<'static>>,
    parts: Vec<Part<'static>>,
    offers: Vec<PartSupp<'static>>,
    orders: Vec<Order<'static>>,
    lines: Vec<LineItem<'static>>,
    order_places: HashMap<i64, usize>,
    hundredths: i128,
}

/// A cell of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Text(String),
    Date(i32),
    /// Units and digits after the point.
    Exact(i128, u8),
    /// A number divided by another.
    Ratio(i128, i128),
    Null,
}

pub type Answer = Vec<Vec<Cell>>;

impl Rows {
    pub fn at(scale: f64, hundredths: i128) -> Self {
        let orders: Vec<_> = OrderGenerator::new(scale, 1, 1).iter().collect();
        Self {
            regions: RegionGenerator::new(scale, 1, 1).iter().collect(),
            nations: NationGenerator::new(scale, 1, 1).iter().collect(),
            suppliers: SupplierGenerator::new(scale, 1, 1).iter().collect(),
            customers: CustomerGenerator::new(scale, 1, 1).iter().collect(),
            parts: PartGenerator::new(scale, 1, 1).iter().collect(),
            offers: PartSuppGenerator::new(scale, 1, 1).iter().collect(),
            lines: LineItemGenerator::new(scale, 1, 1).iter().collect(),
            order_places: orders.iter().map(|order| order.o_orderkey).zip(0..).collect(),
            orders,
            hundredths,
        }
    }

    /// The answer to a question, counted from 1.
    pub fn answer(&self, question: u8) -> Answer {
        match question {
            1 => sums::h01(self),
            2 => parts::h02(self),
            3 => customers::h03(self),
            4 => sums::h04(self),
            5 => markets::h05(self),
            6 => sums::h06(self),
            7 => markets::h07(self),
            8 => markets::h08(self),
            9 => markets::h09(self),
            10 => customers::h10(self),
            11 => parts::h11(self),
            12 => sums::h12(self),
            13 => customers::h13(self),
            14 => sums::h14(self),
            15 => sums::h15(self),
            16 => parts::h16(self),
            17 => parts::h17(self),
            18 => customers::h18(self),
            19 => parts::h19(self),
            20 => parts::h20(self),
            21 => markets::h21(self),
            _ => customers::h22(self),
        }
    }

    fn supplier(&self, key: i64) -> &Supplier {
        &self.suppliers[place(key)]
    }

    fn customer(&self, key: i64) -> &Customer<'static> {
        &self.customers[place(key)]
    }

    fn part(&self, key: i64) -> &Part<'static> {
        &self.parts[place(key)]
    }

    fn order(&self, key: i64) -> &Order<'static> {
        &self.orders[self.order_places[&key]]
    }

    fn nation(&self, key: i64) -> &'static str {
        self.nations[usize::try_from(key).unwrap()].n_name
    }

    fn region_of(&self, nation: i64) -> &'static str {
        let region = self.nations[usize::try_from(nation).unwrap()].n_regionkey;
        self.regions[usize::try_from(region).unwrap()].r_name
    }

    fn offer(&self, part: i64, supplier: i64) -> &PartSupp<'static> {
        let first = 4 * place(part);
        self.offers[first..first + 4].iter().find(|offer| offer.ps_suppkey == supplier).unwrap()
    }
}

fn place(key: i64) -> usize {
    usize::try_from(key - 1).unwrap()
}

/// Money after the discount, in units of ten to the minus four.
fn revenue(line: &LineItem<'_>) -> i128 {
    i128::from(line.l_extendedprice.0) * i128::from(100 - line.l_discount.0)
}

fn day(text: &str) -> i32 {
    Date::parse(text).unwrap().days()
}

fn is_within(date: TPCHDate, since: &str, before: &str) -> bool {
    (day(since)..day(before)).contains(&date.to_unix_epoch())
}

fn year(date: TPCHDate) -> i128 {
    i128::from(date.to_ymd().0) + 1900
}

/// Whether the words occur in this order.
fn has(text: &str, first: &str, second: &str) -> bool {
    text.find(first).is_some_and(|at| text[at + first.len()..].contains(second))
}

fn text(value: &(impl ToString + ?Sized)) -> Cell {
    Cell::Text(value.to_string())
}

fn whole(value: impl Into<i128>) -> Cell {
    Cell::Exact(value.into(), 0)
}

fn money(cents: i64) -> Cell {
    Cell::Exact(cents.into(), 2)
}

/// Whether a cell that a database gave is the expected one, but for blanks at the end of a text. Averages and ratios may have lost their seventh digit after the
/// point, since MariaDB gives six of an average of money.
pub fn is_equal(expected: &Cell, set: &ResultSet, row: usize, column: usize) -> bool {
    let decimal = || match set.value(row, column) {
        Some(Param::Integer(value)) => Some(Decimal::new(value.into(), 0)),
        _ => set.decimal(row, column).ok(),
    };
    match expected {
        Cell::Text(expected) => set.text(row, column).is_ok_and(|found| found.trim_end() == expected.trim_end()),
        Cell::Date(expected) => set.date(row, column).is_ok_and(|found| found.days() == *expected),
        Cell::Exact(units, scale) => decimal() == Some(Decimal::new(*units, *scale)),
        Cell::Ratio(number, of) => decimal().is_some_and(|found| {
            let found: f64 = found.to_string().parse().unwrap();
            (found - *number as f64 / *of as f64).abs() < 1e-6
        }),
        Cell::Null => set.is_null(row, column),
    }
}

/// The number of rows, and the sum of all numbers, averages and ratios with four digits after the point.
pub fn figures(answer: &Answer) -> (u64, Decimal) {
    let units = |cell: &Cell| match cell {
        Cell::Exact(units, scale) => units * 10_i128.pow(6 - u32::from(*scale)),
        Cell::Ratio(number, of) => (2 * number * 10_000 + of) / (2 * of) * 100,
        Cell::Text(_) | Cell::Date(_) | Cell::Null => 0,
    };
    (answer.len() as u64, Decimal::new(answer.iter().flatten().map(units).sum(), 6))
}

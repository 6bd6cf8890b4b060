//! The new orders of a refresh set, and what of them is returned.

use super::sets::{RefreshWindow, windows};
use super::things::{Things, id};
use crate::decision_support::scale::DataScale;
use crate::random::RandomStream;
use engines::session::{Date, Decimal, Param};
use std::ops::RangeInclusive;
use tpcdsgen::config::Table;

/// Julian days at the first day of `Date`.
const JULIAN_DAYS: i32 = 2_440_588;
/// A hundredth of the loaded orders is more than a set has, so the numbers of a set's orders do not reach those of the next.
const SETS_OF_NUMBERS: u64 = 100;

const SECONDS_OF_A_DAY: u64 = 86_400;
const QUANTITIES: RangeInclusive<i64> = 1..=100;
const SHIPPED_AFTER: RangeInclusive<i64> = 2..=90;
const RETURNED_AFTER: RangeInclusive<i64> = 1..=60;
const CENTS_OF_A_FEE: RangeInclusive<i64> = 50..=10_000;
/// Of an item without a price.
const CENTS_WITHOUT_PRICE: i64 = 1_000;
/// One of so many.
const RETURNED: u64 = 10;
const WITH_COUPON: u64 = 5;
const FOR_SOMEBODY_ELSE: u64 = 10;
const TAX_PERCENT: i64 = 5;

/// The orders are the same in every run.
const SEED: u64 = 0;

/// Where a retailer sells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SalesChannel {
    Store,
    Catalog,
    Web,
}

impl SalesChannel {
    const fn sales(self) -> Table {
        match self {
            Self::Store => Table::StoreSales,
            Self::Catalog => Table::CatalogSales,
            Self::Web => Table::WebSales,
        }
    }

    /// Lines of a new order.
    pub const fn lines(self) -> u64 {
        match self {
            Self::Store | Self::Web => 12,
            Self::Catalog => 9,
        }
    }

    /// The highest number that a loaded order has.
    pub fn loaded(self, scale: DataScale) -> u64 {
        scale.rows(self.sales())
    }

    /// How many orders a set has, by its days: as many as fall on these days among the loaded ones.
    fn days(self, scale: DataScale, set: u32) -> Vec<(Date, u64)> {
        let session = scale.session();
        let orders =
            |day: Date| session.get_scaling().get_row_count_for_date(self.sales(), (day.days() + JULIAN_DAYS).into());
        windows(set).into_iter().flat_map(RefreshWindow::sales).map(|day| (day, orders(day))).collect()
    }

    /// The number of orders of a set.
    pub fn orders(self, scale: DataScale, set: u32) -> u64 {
        self.days(scale, set).iter().map(|(_, orders)| orders).sum()
    }
}

pub struct StagedOrder {
    number: i64,
    day: Date,
    time: Time,
    place: String,
    customer: String,
    receiver: String,
    ship_mode: String,
    pub lines: Vec<StagedLine>,
}

pub struct StagedLine {
    order: i64,
    number: i64,
    item: String,
    promotion: String,
    page: String,
    warehouse: String,
    ship_day: Date,
    quantity: i64,
    price: i64,
    coupon: i64,
    ship_cost: i64,
    back: Option<Return>,
}

/// What is special about a line that is returned. Money is in cents.
struct Return {
    day: Date,
    time: Time,
    reason: String,
    customer: String,
    quantity: i64,
    tax: i64,
    fee: i64,
    ship_cost: i64,
    cash: i64,
    charge: i64,
}

#[derive(Clone, Copy)]
struct Time {
    hour: i64,
    minute: i64,
    second: i64,
}

impl StagedOrder {
    pub fn params(&self) -> [Param<'_>; 9] {
        [
            Param::Integer(self.number),
            Param::Date(self.day),
            Param::Integer(self.time.hour),
            Param::Integer(self.time.minute),
            Param::Integer(self.time.second),
            Param::Text(&self.place),
            Param::Text(&self.customer),
            Param::Text(&self.receiver),
            Param::Text(&self.ship_mode),
        ]
    }

    /// The lines that are returned.
    pub fn returns(&self) -> impl Iterator<Item = [Param<'_>; 22]> {
        self.lines.iter().filter_map(|line| Some(line.returned(self, line.back.as_ref()?)))
    }
}

impl StagedLine {
    pub fn params(&self) -> [Param<'_>; 11] {
        [
            Param::Integer(self.order),
            Param::Integer(self.number),
            Param::Text(&self.item),
            Param::Text(&self.promotion),
            Param::Text(&self.page),
            Param::Text(&self.warehouse),
            Param::Date(self.ship_day),
            Param::Integer(self.quantity),
            cents(self.price),
            cents(self.coupon),
            cents(self.ship_cost),
        ]
    }

    /// What is paid back is split into cash, a charge that is reversed, and a credit.
    fn returned<'a>(&'a self, order: &'a StagedOrder, back: &'a Return) -> [Param<'a>; 22] {
        let amount = self.price * back.quantity;
        [
            Param::Integer(self.order),
            Param::Integer(self.number),
            Param::Text(&self.item),
            Param::Date(back.day),
            Param::Integer(back.time.hour),
            Param::Integer(back.time.minute),
            Param::Integer(back.time.second),
            Param::Text(&order.place),
            Param::Text(&self.page),
            Param::Text(&order.ship_mode),
            Param::Text(&self.warehouse),
            Param::Text(&back.reason),
            Param::Text(&order.customer),
            Param::Text(&back.customer),
            Param::Integer(back.quantity),
            cents(amount),
            cents(back.tax),
            cents(back.fee),
            cents(back.ship_cost),
            cents(back.cash),
            cents(back.charge),
            cents(amount - back.cash - back.charge),
        ]
    }
}

fn cents(of: i64) -> Param<'static> {
    Param::Decimal(Decimal::new(of.into(), 2))
}

/// The orders that a set inserts.
pub fn new_orders(
    things: &Things,
    scale: DataScale,
    channel: SalesChannel,
    set: u32,
) -> impl Iterator<Item = StagedOrder> {
    let loaded = channel.loaded(scale);
    let before = loaded + u64::from(set.saturating_sub(1)) * (loaded / SETS_OF_NUMBERS);
    let days = channel.days(scale, set).into_iter();
    let days = days.flat_map(|(day, orders)| (0..orders).map(move |_| day));
    days.zip(1..).map(move |(day, place)| {
        // No scale has so many orders that a set's do not fit.
        let keys = [set << 2 | channel as u32, u32::try_from(place).unwrap_or(u32::MAX)];
        let drawn = RandomStream::new(SEED, "orders of refresh sets", keys);
        OrderDraw { things, channel, drawn }.order(day, (before + place).cast_signed())
    })
}

/// One order that is drawn.
struct OrderDraw<'a> {
    things: &'a Things,
    channel: SalesChannel,
    drawn: RandomStream,
}

impl OrderDraw<'_> {
    fn order(mut self, day: Date, number: i64) -> StagedOrder {
        let places = match self.channel {
            SalesChannel::Store => &self.things.stores,
            SalesChannel::Catalog => &self.things.call_centers,
            SalesChannel::Web => &self.things.web_sites,
        };
        let place = self.one_of(places);
        let customer = self.number(Table::Customer);
        let receiver = self.customer(&customer, FOR_SOMEBODY_ELSE);
        let (time, ship_mode) = (self.time(), self.number(Table::ShipMode));
        let items = self.items();
        let lines = items.into_iter().zip(1..).map(|(item, line)| self.line(&customer, day, (number, line), item));
        let lines = lines.collect();
        StagedOrder { number, day, time, place, customer, receiver, ship_mode, lines }
    }

    /// As many different items as the order has lines.
    fn items(&mut self) -> Vec<usize> {
        let mut items = Vec::new();
        while (items.len() as u64) < self.channel.lines() {
            let item = self.place(self.things.items.len());
            if !items.contains(&item) {
                items.push(item);
            }
        }
        items
    }

    fn line(&mut self, customer: &str, day: Date, (order, number): (i64, i64), item: usize) -> StagedLine {
        let (item, listed) = &self.things.items[item];
        let listed = listed.unwrap_or(CENTS_WITHOUT_PRICE);
        let quantity = self.drawn.uniform(*QUANTITIES.start(), *QUANTITIES.end());
        let price = self.share(listed);
        let coupon = if self.drawn.once_in(WITH_COUPON) { self.share(price * quantity) } else { 0 };
        let page = match self.channel {
            SalesChannel::Store | SalesChannel::Catalog => self.number(Table::CatalogPage),
            SalesChannel::Web => self.one_of(&self.things.web_pages),
        };
        let mut line = StagedLine {
            order,
            number,
            item: item.clone(),
            promotion: self.number(Table::Promotion),
            page,
            warehouse: self.number(Table::Warehouse),
            ship_day: self.later(day, SHIPPED_AFTER),
            quantity,
            price,
            coupon,
            ship_cost: self.share(listed / 2),
            back: None,
        };
        line.back = self.drawn.once_in(RETURNED).then(|| self.back(customer, &line));
        line
    }

    fn back(&mut self, customer: &str, line: &StagedLine) -> Return {
        let quantity = self.drawn.uniform(1, line.quantity);
        let amount = line.price * quantity;
        let cash = self.share(amount);
        Return {
            day: self.later(line.ship_day, RETURNED_AFTER),
            time: self.time(),
            reason: self.number(Table::Reason),
            customer: self.customer(customer, FOR_SOMEBODY_ELSE),
            quantity,
            tax: amount * TAX_PERCENT / 100,
            fee: self.drawn.uniform(*CENTS_OF_A_FEE.start(), *CENTS_OF_A_FEE.end()),
            ship_cost: line.ship_cost * quantity,
            cash,
            charge: self.share(amount - cash),
        }
    }

    /// Whole hundredths of an amount, from none to all.
    fn share(&mut self, amount: i64) -> i64 {
        amount * self.drawn.uniform(0, 100) / 100
    }

    fn later(&mut self, day: Date, by: RangeInclusive<i64>) -> Date {
        let days = i32::try_from(self.drawn.uniform(*by.start(), *by.end())).unwrap_or(0);
        Date::from_days(day.days() + days).unwrap_or(day)
    }

    fn time(&mut self) -> Time {
        let second = self.drawn.below(SECONDS_OF_A_DAY).cast_signed();
        Time { hour: second / 3_600, minute: second / 60 % 60, second: second % 60 }
    }

    /// A customer, or one of `one_in` times somebody else.
    fn customer(&mut self, customer: &str, one_in: u64) -> String {
        if self.drawn.once_in(one_in) { self.number(Table::Customer) } else { customer.to_owned() }
    }

    fn number(&mut self, table: Table) -> String {
        id(self.drawn.below(self.things.count(table)) + 1)
    }

    fn one_of(&mut self, ids: &[String]) -> String {
        ids[self.place(ids.len())].clone()
    }

    fn place(&mut self, count: usize) -> usize {
        usize::try_from(self.drawn.below(count as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sets::SETS_MAX;
    use super::*;

    fn scale(of: f64) -> DataScale {
        DataScale::of(of).unwrap()
    }

    #[test]
    fn a_set_has_as_many_orders_as_the_loaded_data_have_on_its_days() {
        let of_days =
            |channel: SalesChannel| channel.days(scale(1.0), 1).iter().map(|(_, orders)| *orders).collect::<Vec<_>>();
        assert_eq!(of_days(SalesChannel::Store), [76, 76, 173, 173, 262, 262]);
        let orders = [SalesChannel::Store, SalesChannel::Catalog, SalesChannel::Web]
            .map(|channel| channel.orders(scale(1.0), 1));
        // The original has 1022, 682 and 256 in a set, of which other days are rounded.
        assert_eq!(orders, [1_022, 680, 254]);
    }

    #[test]
    fn numbers_of_orders_do_not_reach_those_of_the_next_set() {
        for of in [0.01, 0.29, 1.0, 1_000.0] {
            for channel in [SalesChannel::Store, SalesChannel::Catalog, SalesChannel::Web] {
                let room = channel.loaded(scale(of)) / SETS_OF_NUMBERS;
                assert!((1..=SETS_MAX).all(|set| channel.orders(scale(of), set) <= room), "{of} {channel:?}");
            }
        }
    }

    #[test]
    fn an_order_has_different_items_and_returns_what_was_bought() {
        let things = Things::at(scale(0.01));
        let mut returned = 0;
        for channel in [SalesChannel::Store, SalesChannel::Catalog, SalesChannel::Web] {
            let orders: Vec<_> = new_orders(&things, scale(0.01), channel, 1).collect();
            assert_eq!(orders.len() as u64, channel.orders(scale(0.01), 1));
            for order in &orders {
                let items: std::collections::BTreeSet<_> = order.lines.iter().map(|line| &line.item).collect();
                assert_eq!(items.len() as u64, channel.lines());
                for line in &order.lines {
                    let Some(back) = &line.back else { continue };
                    returned += 1;
                    assert!(back.quantity <= line.quantity && back.day > line.ship_day);
                    assert!(back.cash + back.charge <= line.price * back.quantity);
                }
                assert!(
                    order
                        .lines
                        .iter()
                        .all(|line| line.coupon <= line.price * line.quantity && line.order == order.number)
                );
            }
        }
        assert!((50..150).contains(&returned), "{returned}");
    }

    #[test]
    fn golden_order() {
        let things = Things::at(scale(0.01));
        let first = new_orders(&things, scale(0.01), SalesChannel::Catalog, 2).next().unwrap();
        let order = "[Integer(10101), Date(1999-01-30), Integer(20), Integer(13), Integer(19), Text(\"AAAAAAAABAAAAAAA\"), \
            Text(\"AAAAAAAAHPAAAAAA\"), Text(\"AAAAAAAAHPAAAAAA\"), Text(\"AAAAAAAAGAAAAAAA\")]";
        assert_eq!(format!("{:?}", first.params()), order);
        let line = "[Integer(10101), Integer(1), Text(\"AAAAAAAAOADAAAAA\"), Text(\"AAAAAAAACAAAAAAA\"), Text(\"AAAAAAAAPFFAAAAA\"), \
            Text(\"AAAAAAAABAAAAAAA\"), Date(1999-04-22), Integer(5), Decimal(0.15), Decimal(0.40), Decimal(0.63)]";
        assert_eq!(format!("{:?}", first.lines[0].params()), line);
    }
}

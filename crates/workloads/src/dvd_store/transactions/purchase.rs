//! The purchase: prices, the order, and for each item its stock, a line, and an entry in the customer's history.

use super::super::definition::{money, tax_cents};
use super::super::inputs::CartItem;
use super::super::settings::LONGEST;
use super::super::statements::{DvdStoreStatement, DvdStoreStatements};
use super::{Visit, inserted, number, today, unexpected};
use crate::random::Letters;
use crate::requests::Requests;
use engines::session::{Access, Date, Param, ResultSet, Session, SessionError};

/// Room for the products of a cart, with commas between them. The largest has eight digits.
const LIST_MAX: usize = LONGEST * 9;

impl<S: Session> Visit<'_, '_, S> {
    /// Returns the order's id, or `None` if it was rolled back because there is too little in stock.
    pub async fn purchase(&mut self, cart: &[CartItem], customer: i64) -> Result<Option<i64>, SessionError> {
        let statements = &self.shop.statements;
        let (requests, session) = self.requests();
        let mut buying =
            Buying { statements, requests, session, cart, customer: Param::Integer(customer), today: today() };
        if buying.requests.are_together() { buying.together().await } else { buying.one_by_one().await }
    }

    pub async fn call_purchase(&mut self, cart: &[CartItem], customer: i64) -> Result<Option<i64>, SessionError> {
        let (items, quantities) = (list(cart, |item| item.product), list(cart, |item| item.quantity));
        let lists = [Param::Text(items.as_str()), Param::Text(quantities.as_str())];
        let params = [Param::Integer(customer), Param::Date(today()), lists[0], lists[1]];
        let answer = self.ask(DvdStoreStatement::CallPurchase, &params).await?;
        if answer.rows() != 1 {
            return Err(unexpected(DvdStoreStatement::CallPurchase, format!("{} rows instead of 1", answer.rows())));
        }
        let order = answer.integer(0, 0)?;
        if answer.is_null(0, 1) {
            return Ok(None);
        }
        answer.decimal(0, 1)?;
        Ok(Some(order))
    }
}

struct Buying<'a, S> {
    statements: &'a DvdStoreStatements,
    requests: Requests<'a>,
    session: &'a mut S,
    cart: &'a [CartItem],
    customer: Param<'a>,
    today: Date,
}

impl<S: Session> Buying<'_, S> {
    /// The order of the original: the order comes first, then item after item, up to one that is not in stock.
    async fn one_by_one(&mut self) -> Result<Option<i64>, SessionError> {
        self.requests.begin(Access::ReadWrite);
        let prices = self.ask_for_prices();
        self.requests.send(self.session).await?;
        let net = self.net_cents(prices)?;
        self.requests.clear();
        let entered = self.enter(net);
        self.requests.send(self.session).await?;
        let order = inserted(self.requests.answer(entered))?;
        for (number_of_line, item) in (1..).zip(self.cart) {
            self.requests.clear();
            let taken = self.take(*item);
            self.requests.send(self.session).await?;
            if self.requests.changed(taken..taken + 1) == 0 {
                self.session.rollback().await?;
                return Ok(None);
            }
            self.requests.clear();
            let (line, product) = (Param::Integer(number_of_line), number(item.product));
            let (order, today) = (Param::Integer(order), Param::Date(self.today));
            let line = self.add(DvdStoreStatement::InsertLine, &[line, order, product, number(item.quantity), today]);
            let entry = self.add(DvdStoreStatement::InsertHistory, &[self.customer, order, product]);
            self.requests.send(self.session).await?;
            self.requests.require_change(line)?;
            self.requests.require_change(entry)?;
        }
        self.session.commit().await?;
        Ok(Some(order))
    }

    /// Whether all items are in stock is known before the order is entered, so that it goes out with its lines and the commit.
    async fn together(&mut self) -> Result<Option<i64>, SessionError> {
        self.requests.begin(Access::ReadWrite);
        let prices = self.ask_for_prices();
        let first = self.requests.next_number();
        for item in self.cart {
            self.take(*item);
        }
        let stocks = first..self.requests.next_number();
        self.requests.send(self.session).await?;
        if self.requests.changed(stocks) < self.cart.len() as u64 {
            self.session.rollback().await?;
            return Ok(None);
        }
        let net = self.net_cents(prices)?;
        self.requests.clear();
        let entered = self.enter(net);
        let first_line = self.requests.next_number();
        for (line, item) in (1..).zip(self.cart) {
            let today = Param::Date(self.today);
            let params = [Param::Integer(line), number(item.product), number(item.quantity), today];
            self.add(DvdStoreStatement::InsertLineHere, &params);
        }
        let first_entry = self.requests.next_number();
        for item in self.cart {
            self.add(DvdStoreStatement::InsertHistoryHere, &[self.customer, number(item.product)]);
        }
        let judge = |requests: &Requests<'_>| {
            requests.require_changes(first_line..first_entry)?;
            requests.require_changes(first_entry..requests.next_number())?;
            inserted(requests.answer(entered))
        };
        self.requests.finish(self.session, judge).await.map(Some)
    }

    fn add(&mut self, sql: DvdStoreStatement, params: &[Param<'_>]) -> usize {
        self.requests.add(self.statements.id(sql), params)
    }

    fn ask_for_prices(&mut self) -> usize {
        let mut products = [Param::Null; LONGEST];
        for (place, product) in products.iter_mut().enumerate() {
            *product = number(self.cart[place.min(self.cart.len() - 1)].product);
        }
        self.add(DvdStoreStatement::Prices, &products)
    }

    /// What the items cost, without tax.
    fn net_cents(&self, prices: usize) -> Result<i64, SessionError> {
        let found = self.requests.answer(prices);
        let mut net = 0;
        for item in self.cart {
            let row =
                (0..found.rows()).find(|&row| found.integer(row, 0).is_ok_and(|id| id == i64::from(item.product)));
            let Some(row) = row else {
                return Err(self.requests.unexpected(prices, format!("no product {}", item.product)));
            };
            net += cents(found, row)? * i64::from(item.quantity);
        }
        Ok(net)
    }

    fn enter(&mut self, net: i64) -> usize {
        let tax = tax_cents(net);
        let [net, tax, total] = [net, tax, net + tax].map(|cents| Param::Decimal(money(cents)));
        self.add(DvdStoreStatement::InsertOrder, &[Param::Date(self.today), self.customer, net, tax, total])
    }

    fn take(&mut self, item: CartItem) -> usize {
        self.add(DvdStoreStatement::TakeStock, &[number(item.quantity), number(item.product)])
    }
}

fn cents(prices: &ResultSet, row: usize) -> Result<i64, SessionError> {
    let price = prices.decimal(row, 1)?;
    // The column has two digits after the point and ten before it.
    Ok(price.at_scale(2).and_then(|price| i64::try_from(price.units()).ok()).unwrap_or_default())
}

/// A number of each item, with commas between them.
fn list(cart: &[CartItem], number: impl Fn(CartItem) -> u32) -> Letters<LIST_MAX> {
    let mut list = Letters::default();
    for (place, item) in cart.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(list, "{comma}{}", number(*item));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_room_for_the_longest_cart() {
        let cart = [CartItem { product: 10_230_000, quantity: 3 }; LONGEST];
        assert!(list(&cart, |item| item.product).as_str().ends_with(",10230000"));
        assert_eq!(list(&cart[..2], |item| item.quantity).as_str(), "3,3");
    }
}

//! Conditions on the data, after loading and after a trial, as queries for rows that violate them.

use super::DvdStore;
use crate::condition::{Condition, DataCheck, QueryFiles, always};
use crate::judgement::Judgement;
use engines::session::SessionError;
use engines::statement::ByDialect;

pub const QUERIES: QueryFiles = QueryFiles {
    conditions: CONDITIONS,
    checks: include_str!("sql/checks.sql"),
    checks_of_sqlite: include_str!("sql/checks.sqlite.sql"),
    sums: &["customers", "orders", "stock"],
    ledger: include_str!("sql/ledger.sql"),
};

pub const QUERIES_OF_COMMUNITY: QueryFiles = QueryFiles {
    conditions: OF_COMMUNITY,
    checks: include_str!("sql/community.checks.sql"),
    checks_of_sqlite: "",
    sums: &["members", "reviews", "ratings"],
    ledger: include_str!("sql/community.ledger.sql"),
};

const CUSTOMER: &[&str] = &["customer"];
const ORDER: &[&str] = &["order"];
const LINE: &[&str] = &["order", "line"];
const PRODUCT: &[&str] = &["product"];

const CONDITIONS: &[Condition] = &[
    always(
        "loaded-customers",
        CUSTOMER,
        "The customers loaded have the names of their ids, and half of them live abroad.",
    ),
    always("order-totals", ORDER, "An order's total is its net amount and its tax."),
    always("order-taxes", ORDER, "An order's tax is 8.25 % of its net amount, rounded to the nearest cent."),
    always("order-amounts", ORDER, "The net amount of an order placed since loading is what its lines cost."),
    always("order-lines", ORDER, "An order has lines, numbered from 1 without gaps."),
    always("line-dates", LINE, "A line has the date of its order."),
    always("line-orders", LINE, "A line belongs to an order."),
    always("line-products", LINE, "A line has a product that exists."),
    always("order-customers", ORDER, "An order belongs to a customer."),
    always("history", ORDER, "The history of an order's customer has the products of its lines."),
    always("history-orders", ORDER, "An entry in a customer's history belongs to an order."),
    always("stock", PRODUCT, "No stock is below zero."),
    always("sales", PRODUCT, "The sales of a product are what all order lines have of it."),
    always("reorders", PRODUCT, "What was ordered again fills up a stock of less than 3."),
];

const OF_COMMUNITY: &[Condition] = &[
    always("members", CUSTOMER, "A member is a customer and has one of three levels."),
    always("reviews", &["review"], "A review is by a customer, about a product, and has 1 to 5 stars."),
    always("ratings", &["rating"], "A rating is by a customer, about a review, and from 1 to 10."),
];

const WIDE: ByDialect<&str> = ByDialect { sqlite: "INTEGER", postgres: "BIGINT", mysql: "SIGNED" };

pub fn judge_data(workload: &DvdStore, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
    let (size, is_loaded) = (workload.settings.db_size, check.is_after_load());
    let is_fixed = |table: &str| ["categories", "inventory"].contains(&table);
    let mut judged = vec![check.cardinalities(workload, |table| is_loaded || is_fixed(&table.name))?];
    judged.extend(check.contents(workload, &["categories", "products"])?);
    let numbers = [size.orders(), size.customers(), size.customers() / 2].map(|number| number.to_string());
    let [orders, customers, home] = numbers.each_ref().map(String::as_str);
    let wide = WIDE.of(check.dialect);
    let values = [("{orders}", orders), ("{customers}", customers), ("{home}", home), ("{wide}", wide)];
    judged.extend(check.conditions(&workload.queries, &values)?);
    Ok(judged)
}

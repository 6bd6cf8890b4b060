//! Conditions on the data, after loading and after a trial, as queries for rows that violate them.

use super::DvdStore;
use super::tables::{self, INVENTORY};
use crate::condition::{self, Condition, always};
use crate::dataset::{Dataset, Table};
use crate::sql::{self, SqlError, filled};
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect, Statement};
use record::check::{CheckResult, Moment, Verdict};

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

/// Names of the sums; see the ledger.
const SUMS: &[&str] = &["customers", "orders", "stock"];
const SUMS_OF_COMMUNITY: &[&str] = &["members", "reviews", "ratings"];

/// The queries of the conditions and of the ledger, parsed once.
#[derive(Debug)]
pub struct Checks {
    conditions: ByDialect<Vec<Statement>>,
    pub sums: Vec<Statement>,
}

impl Checks {
    pub fn read(has_community: bool) -> Result<Self, SqlError> {
        let names = |of: &[Condition]| of.iter().map(|condition| condition.name).collect::<Vec<_>>();
        let own = ByDialect { sqlite: include_str!("sql/checks.sqlite.sql"), postgres: "", mysql: "" };
        let conditions = own.try_map(|own| {
            let mut all = sql::statements(&names(CONDITIONS), include_str!("sql/checks.sql"), own)?;
            if has_community {
                all.extend(sql::statements(&names(OF_COMMUNITY), include_str!("sql/community.checks.sql"), "")?);
            }
            Ok(all)
        })?;
        let mut sums = sql::statements(SUMS, include_str!("sql/ledger.sql"), "")?;
        if has_community {
            sums.extend(sql::statements(SUMS_OF_COMMUNITY, include_str!("sql/community.ledger.sql"), "")?);
        }
        Ok(Self { conditions, sums })
    }
}

pub fn check(
    workload: &DvdStore,
    admin: &mut dyn Admin,
    dialect: Dialect,
    moment: Moment,
) -> Result<Vec<CheckResult>, SessionError> {
    let size = workload.settings.db_size;
    let (orders, customers, home) = (size.orders(), size.customers(), size.customers() / 2);
    let wide = ByDialect { sqlite: "INTEGER", postgres: "BIGINT", mysql: "SIGNED" };
    let numbers = [orders, customers, home].map(|number| number.to_string());
    let values = [
        ("{orders}", numbers[0].as_str()),
        ("{customers}", numbers[1].as_str()),
        ("{home}", numbers[2].as_str()),
        ("{wide}", wide.of(dialect)),
    ];
    let mut findings = vec![cardinalities(workload, admin, moment)?];
    for table in workload.tables().iter().filter(|table| ["categories", "products"].contains(&&*table.name)) {
        let rule = format!("Table {} has the rows that were loaded.", table.name);
        findings.push(finding(&table.name, &rule, moment, condition::contents(workload, table, admin)?));
    }
    let queries = workload.checks.conditions.of(dialect);
    for (condition, query) in CONDITIONS.iter().chain(OF_COMMUNITY).zip(queries) {
        let verdict = condition::judge(&filled(&query.sql, &values), condition.keys, admin)?;
        findings.push(finding(condition.name, condition.rule, moment, verdict));
    }
    Ok(findings)
}

fn cardinalities(workload: &DvdStore, admin: &mut dyn Admin, moment: Moment) -> Result<CheckResult, SessionError> {
    let is_fixed = |table: &&Table| [tables::CATEGORIES.name, INVENTORY.name].contains(&table.name);
    let tables = workload.tables().iter().filter(|table| moment == Moment::AfterLoad || is_fixed(table));
    let verdict = condition::counted(workload, tables, admin)?;
    Ok(finding("cardinalities", condition::rule_of_cardinalities(moment), moment, verdict))
}

/// A finding of this workload.
pub fn finding(name: &str, rule: &str, moment: Moment, verdict: Verdict) -> CheckResult {
    CheckResult { name: format!("{}/{name}", super::KIND), rule: rule.to_owned(), moment, verdict }
}

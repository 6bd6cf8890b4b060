//! Conditions on the data, after loading and after a trial, as queries for rows that violate them.

use super::DecisionSupportH;
use super::golden;
use super::refresh::Sets;
use super::tables::{self, LINEITEM, NATION, ORDERS, REGION};
use crate::condition;
use crate::dataset::Dataset;
use crate::decision_support::golden::{RULE, judge};
use crate::sql::{self, SqlError, filled};
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect, Statement};
use record::check::{CheckResult, Moment, Verdict};

struct Condition {
    name: &'static str,
    rule: &'static str,
    /// Names of the query's columns.
    keys: &'static [&'static str],
}

const fn condition(name: &'static str, keys: &'static [&'static str], rule: &'static str) -> Condition {
    Condition { name, rule, keys }
}

const ORDER: &[&str] = &["order"];
const LINE: &[&str] = &["order", "line"];
const OFFER: &[&str] = &["part", "supplier"];

const CONDITIONS: &[Condition] = &[
    condition(
        "order-totals",
        ORDER,
        "An order's total is the sum of its lines, each cut off to cents after the discount and again after the tax.",
    ),
    condition("order-lines", ORDER, "An order has 1 to 7 lines, numbered from 1 without gaps."),
    condition("order-status", ORDER, "An order is F if all its lines are, O if all are O, and P otherwise."),
    condition("order-customers", ORDER, "An order belongs to a customer, whose key is not divisible by 3."),
    condition("order-keys", ORDER, "The key of an order is one that loading or a refresh set gives."),
    condition("line-orders", LINE, "A line belongs to an order."),
    condition("line-offers", LINE, "A line is of a part from one of its suppliers."),
    condition("line-prices", LINE, "A line costs its quantity of the part's price."),
    condition("line-dates", LINE, "A line is shipped after it is ordered and received after it is shipped."),
    condition("offers", OFFER, "A part that is offered and its supplier exist."),
];

/// Names of the sums; see the ledger.
const SUMS: &[&str] = &["orders", "inserted", "deleted"];

/// The queries of the conditions and of the ledger, parsed once.
#[derive(Debug)]
pub struct Checks {
    conditions: ByDialect<Vec<Statement>>,
    pub sums: Vec<Statement>,
}

impl Checks {
    pub fn read() -> Result<Self, SqlError> {
        let names: Vec<_> = CONDITIONS.iter().map(|condition| condition.name).collect();
        let own = ByDialect { sqlite: include_str!("sql/checks.sqlite.sql"), postgres: "", mysql: "" };
        Ok(Self {
            conditions: own.try_map(|own| sql::statements(&names, include_str!("sql/checks.sql"), own))?,
            sums: sql::statements(SUMS, include_str!("sql/ledger.sql"), "")?,
        })
    }
}

pub fn check(
    workload: &DecisionSupportH,
    admin: &mut dyn Admin,
    dialect: Dialect,
    moment: Moment,
) -> Result<Vec<CheckResult>, SessionError> {
    let sets = Sets::read(admin)?;
    let mut findings = vec![cardinalities(workload, admin, moment, sets)?];
    for table in [&REGION, &NATION] {
        let rule = format!("Table {} has the rows that were loaded.", table.name);
        findings.push(finding(&table.name, &rule, moment, condition::contents(workload, table, admin)?));
    }
    let order_numbers = workload.settings.scale.orders().to_string();
    for (condition, query) in CONDITIONS.iter().zip(workload.checks.conditions.of(dialect)) {
        let query = filled(&query.sql, &[("{orders}", &order_numbers)]);
        let verdict = condition::judge(&query, condition.keys, admin)?;
        findings.push(finding(condition.name, condition.rule, moment, verdict));
    }
    if sets.are_unused() {
        findings.extend(answers(workload, admin, dialect, moment)?);
    }
    Ok(findings)
}

/// Asks all questions whose answers are known. They are known for some scales, and for loaded data only.
fn answers(
    workload: &DecisionSupportH,
    admin: &mut dyn Admin,
    dialect: Dialect,
    moment: Moment,
) -> Result<Option<CheckResult>, SessionError> {
    let Some(golden) = golden::answers(workload.settings.scale) else { return Ok(None) };
    let questions = &workload.questions;
    let question = |number| Ok(vec![questions.asked(number, &questions.validation(number), dialect)?]);
    let verdict = judge(admin, golden.iter().copied(), question)?;
    Ok(Some(finding("answers", RULE, moment, verdict)))
}

/// Refresh sets change how many orders and lines there are. The number of orders is then known, that of lines is not.
fn cardinalities(
    workload: &DecisionSupportH,
    admin: &mut dyn Admin,
    moment: Moment,
    sets: Sets,
) -> Result<CheckResult, SessionError> {
    let refreshed = workload.settings.scale.refreshed();
    let mut counted = Vec::new();
    for table in tables::TABLES {
        if table.name == LINEITEM.name && !sets.are_unused() {
            continue;
        }
        let loaded = workload.expected_rows(table);
        let is_orders = table.name == ORDERS.name;
        let expected = if is_orders { loaded + refreshed * sets.inserted - refreshed * sets.deleted } else { loaded };
        let mut found = Ok(0);
        let query = filled(include_str!("sql/rows.sql"), &[("{table}", &table.name)]);
        admin.ask(&query, Limit::WORK, &mut |set, row| found = set.integer(row, 0))?;
        counted.push((&*table.name, found?, expected));
    }
    let rule = "Every table has its number of rows; refresh sets that were used add and remove orders.";
    Ok(finding("cardinalities", rule, moment, condition::cardinalities(counted)))
}

/// A finding of this workload.
pub fn finding(name: &str, rule: &str, moment: Moment, verdict: Verdict) -> CheckResult {
    CheckResult { name: format!("{}/{name}", super::KIND), rule: rule.to_owned(), moment, verdict }
}

//! Conditions on the data, after loading and after a trial, as queries for rows that violate them.

use super::DecisionSupportDs;
use super::maintenance::orders::Channel;
use super::questions;
use super::scale::Scale;
use super::tables::{self, INCOME_BAND, NEW_ORDERS, REASON, SHIP_MODE, STORE, WAREHOUSE};
use crate::condition::{self, Condition, always};
use crate::decision_support::golden;
use crate::ledger;
use crate::sql::{self, SqlError, filled};
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::{Dialect, Statement};
use record::check::{CheckResult, Moment, Verdict};

const LINE: &[&str] = &["order", "item"];
const COUNTED: &[&str] = &["day", "item", "warehouse"];

const AMOUNTS: &str = "Amounts of a line follow from its quantity, its prices and its coupon.";
const ITEMS: &str = "A line is of an item.";
const RETURNS: &str = "What is returned was sold, at this price and in no smaller quantity.";

const CONDITIONS: &[Condition] = &[
    always("store-amounts", LINE, AMOUNTS),
    always("store-items", LINE, ITEMS),
    always("store-returns", LINE, RETURNS),
    always("catalog-amounts", LINE, AMOUNTS),
    always("catalog-items", LINE, ITEMS),
    always("catalog-returns", LINE, RETURNS),
    always("web-amounts", LINE, AMOUNTS),
    always("web-items", LINE, ITEMS),
    always("web-returns", LINE, RETURNS),
    always("inventory-days", COUNTED, "Inventory is counted on Thursdays, at most 1000 of an item."),
    always("inventory-items", COUNTED, "What is counted is an item, and where it is a warehouse."),
    always("item-histories", &["item"], "At most one row of an item is current."),
];

/// Names of the sums; see the ledger.
const SUMS: &[&str] = &["sets", "store", "catalog", "web"];

pub const CHANNELS: [(&str, Channel); 3] =
    [("store", Channel::Store), ("catalog", Channel::Catalog), ("web", Channel::Web)];

/// The queries of the conditions and of the ledger, parsed once.
#[derive(Debug)]
pub struct Checks {
    conditions: Vec<Statement>,
    pub sums: Vec<Statement>,
}

impl Checks {
    pub fn read(scale: Scale) -> Result<Self, SqlError> {
        let names: Vec<_> = CONDITIONS.iter().map(|condition| condition.name).collect();
        let loaded = CHANNELS.map(|(name, channel)| (format!("{{{name}}}"), channel.loaded(scale).to_string()));
        let loaded = loaded.each_ref().map(|(name, orders)| (&**name, &**orders));
        let sums = sql::statements(SUMS, include_str!("sql/ledger.sql"), "")?.into_iter();
        Ok(Self {
            conditions: sql::statements(&names, include_str!("sql/checks.sql"), "")?,
            sums: sums.map(|sum| Statement { sql: filled(&sum.sql, &loaded), ..sum }).collect(),
        })
    }
}

pub fn check(
    workload: &DecisionSupportDs,
    admin: &mut dyn Admin,
    dialect: Dialect,
    moment: Moment,
) -> Result<Vec<CheckResult>, SessionError> {
    let state = ledger::state(&workload.checks.sums, admin)?;
    let sum = |name: &str| state.get(name).copied().unwrap_or(0);
    let are_unused = sum("sets") == 0;
    // Refresh sets change the facts, and nothing else. What they bring does not stay where it is put first.
    let facts = tables::TABLES.iter().filter(|table| table.key.len() == 1 || are_unused);
    let staged = tables::TABLES.iter().skip_while(|table| table.name != NEW_ORDERS.name).filter(|_| !are_unused);
    let cardinalities = condition::counted(workload, facts.chain(staged), admin)?;
    let mut findings = vec![finding("cardinalities", condition::rule_of_cardinalities(moment), moment, cardinalities)];
    for table in [&INCOME_BAND, &SHIP_MODE, &REASON, &STORE, &WAREHOUSE] {
        let rule = format!("Table {} has the rows that were loaded.", table.name);
        findings.push(finding(&table.name, &rule, moment, condition::contents(workload, table, admin)?));
    }
    let sets = u32::try_from(sum("sets")).unwrap_or(0);
    let lines = CHANNELS.map(|(name, channel)| (name, sum(name), workload.new_lines(channel, 1..=sets)));
    let rule = "There are as many lines of new sales as the refresh sets have that were used.";
    findings.push(finding("new-sales", rule, moment, condition::cardinalities(lines)));
    for (condition, query) in CONDITIONS.iter().zip(&workload.checks.conditions) {
        let verdict = condition::judge(&query.sql, condition.keys, admin)?;
        findings.push(finding(condition.name, condition.rule, moment, verdict));
    }
    if are_unused && let Some(known) = questions::golden(workload.settings.scale) {
        let verdict = golden::judge(admin, known, |question| workload.validation(question, dialect))?;
        findings.push(finding("answers", golden::RULE, moment, verdict));
    }
    Ok(findings)
}

/// A finding of this workload.
pub fn finding(name: &str, rule: &str, moment: Moment, verdict: Verdict) -> CheckResult {
    CheckResult { name: format!("{}/{name}", super::KIND), rule: rule.to_owned(), moment, verdict }
}

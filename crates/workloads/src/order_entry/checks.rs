//! Conditions on the data, after loading and after a trial.
//!
//! Twelve of them are the consistency conditions of the definition, in our words. The others follow from what the
//! transactions of this workload do. All are queries for rows that violate them, so that a finding can name the rows.

use super::OrderEntry;
use super::definition::delta_is_allowed;
use super::finding::finding;
use super::ledger;
use super::tables::{ITEM, TABLES};
use crate::condition::{self, Condition, always};
use crate::dataset::Dataset;
use crate::sql::{self, SqlError};
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::{Dialect, Statement};
use record::check::{CheckResult, Moment, Verdict};

const WAREHOUSE: &[&str] = &["warehouse"];
const DISTRICT: &[&str] = &["warehouse", "district"];
const CUSTOMER: &[&str] = &["warehouse", "district", "customer"];
const ORDER: &[&str] = &["warehouse", "district", "order"];

const CONDITIONS: &[Condition] = &[
    always("consistency-01", WAREHOUSE, "A warehouse has taken in as much as its districts together."),
    always(
        "consistency-02",
        DISTRICT,
        "A district's next order number follows its newest order, which is also the newest in its queue, if any is queued.",
    ),
    always("consistency-03", DISTRICT, "The queue of a district has no gaps."),
    always("consistency-04", DISTRICT, "A district has as many order lines as its orders say."),
    always("consistency-05", ORDER, "An order has no carrier exactly while it is queued."),
    always("consistency-06", ORDER, "An order has as many lines as it says."),
    always(
        "consistency-07",
        &["warehouse", "district", "order", "line"],
        "A line has a delivery date exactly when its order has a carrier.",
    ),
    always("consistency-08", WAREHOUSE, "A warehouse has taken in what the payments made in it add up to."),
    always("consistency-09", DISTRICT, "A district has taken in what the payments made in it add up to."),
    always("consistency-10", CUSTOMER, "A customer's balance is what was delivered less what was paid."),
    always("consistency-11", DISTRICT, "The orders of a district that are not queued have a carrier."),
    Condition {
        name: "consistency-11-loaded",
        rule: "At the start, 2100 orders of a district are not queued.",
        keys: DISTRICT,
        only: Some(Moment::AfterLoad),
    },
    always("consistency-12", CUSTOMER, "A customer's balance and payments together are what was delivered."),
    always("references", ORDER, "Queue rows and order lines have an order, and orders a customer."),
    always("stock-quantity", &["warehouse", "item"], "The quantity of a stock stays between 10 and 100."),
    always(
        "stock-ledger",
        WAREHOUSE,
        "Stocks have counted the quantity, lines and remote lines of the orders since the start.",
    ),
    always("payment-ledger", DISTRICT, "The customers of a district have counted their payments."),
    always("delivery-ledger", DISTRICT, "The customers of a district have counted their deliveries since the start."),
    always(
        "customer-data",
        CUSTOMER,
        "The data of a customer has 300 to 500 characters; with bad credit the last twelve payments stand in it, otherwise none.",
    ),
];

/// The queries of the conditions and of the ledger, parsed once.
#[derive(Debug)]
pub struct Checks {
    conditions: Vec<Statement>,
    pub sums: Vec<Statement>,
}

impl Checks {
    pub fn read() -> Result<Self, SqlError> {
        let names: Vec<_> = CONDITIONS.iter().map(|condition| condition.name).collect();
        Ok(Self {
            conditions: sql::statements(&names, include_str!("sql/checks.sql"), "")?,
            sums: sql::statements(ledger::SUMS, include_str!("sql/ledger.sql"), "")?,
        })
    }
}

pub fn check(
    workload: &OrderEntry,
    admin: &mut dyn Admin,
    dialect: Dialect,
    moment: Moment,
) -> Result<Vec<CheckResult>, SessionError> {
    let mut findings = vec![cardinalities(workload, admin, moment)?, items(workload, admin, moment)?];
    if moment == Moment::AfterLoad {
        findings.push(distance_of_constants(workload));
    }
    for (condition, query) in CONDITIONS.iter().zip(&workload.checks.conditions) {
        if condition.only.is_none_or(|only| only == moment) {
            let query = sql::of_characters(query, dialect);
            let verdict = condition::judge(&query.sql, condition.keys, admin)?;
            findings.push(finding(condition.name, condition.rule, moment, verdict));
        }
    }
    Ok(findings)
}

/// Tables to which no transaction adds rows, and from which none takes any.
const FIXED: [&str; 5] = ["warehouse", "district", "customer", "item", "stock"];

fn cardinalities(workload: &OrderEntry, admin: &mut dyn Admin, moment: Moment) -> Result<CheckResult, SessionError> {
    let state = crate::ledger::state(&workload.checks.sums, admin)?;
    let tables = TABLES.iter().filter(|table| moment == Moment::AfterLoad || FIXED.contains(&&*table.name));
    let verdict = condition::cardinalities(tables.map(|table| {
        let found = state.get(&*table.name).copied().unwrap_or(0);
        (&*table.name, found, workload.expected_rows(table))
    }));
    Ok(finding("cardinalities", condition::rule_of_cardinalities(moment), moment, verdict))
}

/// Every scale has the same items.
fn items(workload: &OrderEntry, admin: &mut dyn Admin, moment: Moment) -> Result<CheckResult, SessionError> {
    let verdict = condition::contents(workload, &ITEM, admin)?;
    Ok(finding("items", "Items, their prices and their data are what was loaded.", moment, verdict))
}

fn distance_of_constants(workload: &OrderEntry) -> CheckResult {
    let (at_load, at_run) = (workload.constants.last_name_at_load, workload.constants.last_name_at_run);
    let seen = format!("loaded with {at_load}, run with {at_run}: {} apart", (at_run - at_load).abs());
    let verdict = if delta_is_allowed(at_load, at_run) {
        Verdict::Holds { seen: Some(seen) }
    } else {
        Verdict::Violated { seen }
    };
    let rule = "The constants of last names are 65 to 119 apart between loading and running, but not 96 or 112.";
    finding("last-name-constants", rule, Moment::AfterLoad, verdict)
}

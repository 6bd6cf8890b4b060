//! Conditions on the data, after loading and after a trial, as queries for rows that violate them.
//!
//! The first three are the consistency conditions of the definition. The others follow from what the transactions do.

use super::Brokerage;
use super::tables::TABLES;
use crate::condition::{self, Condition, always};
use crate::dataset::Table;
use crate::sql::{self, SqlError, filled};
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect, Statement};
use record::check::{CheckResult, Moment, Verdict};

const BROKER: &[&str] = &["broker"];
const POSITION: &[&str] = &["account", "security"];
const TRADE: &[&str] = &["trade"];
const LOT: &[&str] = &["lot"];
const ID: &[&str] = &["id"];

const CONDITIONS: &[Condition] = &[
    always("broker-trades", BROKER, "A broker has counted the completed trades of its accounts."),
    always("broker-commissions", BROKER, "A broker has added up the commissions of its accounts' completed trades."),
    always("holding-summaries", POSITION, "The lots of a security that an account holds are what its summary says."),
    always("holding-signs", POSITION, "An account has bought lots of a security or owes some, not both."),
    always("holding-trades", LOT, "A lot has the account, security, price and time of the trade that opened it."),
    always("holding-histories", LOT, "What trades added to a lot and took from it is what is left of it."),
    always(
        "traded-quantities",
        TRADE,
        "What a trade changed lots by is its quantity once it is completed, and nothing before.",
    ),
    always("settlements", TRADE, "A trade has a settlement exactly if it is completed."),
    always(
        "settlement-amounts",
        TRADE,
        "A settlement is the trade's worth less its costs and the tax that is withheld.",
    ),
    always("settlement-dates", TRADE, "A settlement is due two days after the trade."),
    always(
        "cash-transactions",
        TRADE,
        "A completed trade for cash, and no other, has a cash transaction with the settlement's amount and the trade's time.",
    ),
    always("trade-histories", TRADE, "A trade has gone through as many states as its type and its state ask for."),
    always("trade-states", TRADE, "A trade has the state and the time of the newest entry in its history."),
    always(
        "answers",
        TRADE,
        "The market has answered what was submitted a minute before, or waited for its price half an hour before, the last trade that it \
         has answered.",
    ),
    always("trade-requests", TRADE, "A trade has a request exactly while it is pending."),
    always("request-terms", TRADE, "A request has the terms of its trade and the broker of its account."),
    always(
        "trade-prices",
        TRADE,
        "A completed trade, and no other, has a price between 20 and 30 that keeps its limit.",
    ),
    always("trade-costs", TRADE, "A completed trade costs what its type, tier, exchange and quantity ask for."),
    always("last-trades", &["security"], "The last price of a security is between 20 and 30."),
    always("trade-references", ID, "What refers to a trade, account or security refers to one that exists."),
    always("customer-references", ID, "What belongs to a customer or an account belongs to one that exists."),
    always("market-references", ID, "What belongs to a company or a security belongs to one that exists."),
    always("owners", &["account"], "The owner of an account may trade in it."),
];

/// Names of the sums; see the ledger.
const SUMS: &[&str] =
    &["trades", "completed", "pending", "submitted", "canceled", "settlements", "brokered", "balances"];

/// Tables that no transaction changes, and that are small.
const CONSTANT: [&str; 7] =
    ["status_type", "zip_code", "sector", "industry", "trade_type", "charge", "commission_rate"];
/// Tables whose number of rows changes.
const GROWING: [&str; 8] = [
    "trade",
    "trade_history",
    "settlement",
    "cash_transaction",
    "holding_summary",
    "holding",
    "holding_history",
    "trade_request",
];

/// The day on which a settlement is due, counted from 1970.
const DUE: ByDialect<&str> = ByDialect {
    sqlite: "CAST(julianday(se_cash_due_date) - 2440587.5 AS INTEGER)",
    postgres: "CAST(se_cash_due_date - DATE '1970-01-01' AS BIGINT)",
    mysql: "DATEDIFF(se_cash_due_date, '1970-01-01')",
};

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
            sums: sql::statements(SUMS, include_str!("sql/ledger.sql"), "")?,
        })
    }
}

pub fn check(
    workload: &Brokerage,
    admin: &mut dyn Admin,
    dialect: Dialect,
    moment: Moment,
) -> Result<Vec<CheckResult>, SessionError> {
    let mut findings = vec![cardinalities(workload, admin, moment)?];
    for table in TABLES.iter().filter(|table| CONSTANT.contains(&&*table.name)) {
        let rule = format!("Table {} has the rows that were loaded.", table.name);
        findings.push(finding(&table.name, &rule, moment, condition::contents(workload, table, admin)?));
    }
    for (condition, query) in CONDITIONS.iter().zip(&workload.checks.conditions) {
        let query = filled(&query.sql, &[("{due}", DUE.of(dialect))]);
        let verdict = condition::judge(&query, condition.keys, admin)?;
        findings.push(finding(condition.name, condition.rule, moment, verdict));
    }
    Ok(findings)
}

fn cardinalities(workload: &Brokerage, admin: &mut dyn Admin, moment: Moment) -> Result<CheckResult, SessionError> {
    let grows = |table: &&Table| GROWING.contains(&&*table.name);
    let tables = TABLES.iter().filter(|table| moment == Moment::AfterLoad || !grows(table));
    let verdict = condition::counted(workload, tables, admin)?;
    Ok(finding("cardinalities", condition::rule_of_cardinalities(moment), moment, verdict))
}

/// A finding of this workload.
pub fn finding(name: &str, rule: &str, moment: Moment, verdict: Verdict) -> CheckResult {
    CheckResult { name: format!("{}/{name}", super::KIND), rule: rule.to_owned(), moment, verdict }
}

//! Conditions on the data, as queries for rows that violate them, and on what was acknowledged.
//!
//! The first three are the consistency conditions of the definition. The others follow from what the transactions do.

use super::Brokerage;
use super::work::BrokerageWork;
use crate::condition::{Condition, DataCheck, QueryFiles, always};
use crate::judgement::{Judgement, holds_if, judgement};
use crate::ledger::Ledger;
use engines::session::SessionError;
use engines::statement::ByDialect;

pub const QUERIES: QueryFiles = QueryFiles {
    conditions: CONDITIONS,
    checks: include_str!("sql/checks.sql"),
    checks_of_sqlite: "",
    sums: &["trades", "completed", "pending", "submitted", "canceled", "settlements", "brokered", "balances"],
    ledger: include_str!("sql/ledger.sql"),
};

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

pub fn judge_data(workload: &Brokerage, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
    let (is_loaded, due) = (check.is_after_load(), DUE.of(check.dialect));
    let mut judged = vec![check.cardinalities(workload, |table| is_loaded || !GROWING.contains(&&*table.name))?];
    judged.extend(check.contents(workload, &CONSTANT)?);
    judged.extend(check.conditions(&workload.queries, &[("{due}", due)])?);
    Ok(judged)
}

pub fn judge_ledger(ledger: &Ledger<'_>) -> Vec<Judgement> {
    let orders = ledger.acknowledged(BrokerageWork::TradeOrder.name(), 1);
    let results = ledger.acknowledged(BrokerageWork::TradeResult.name(), 1);
    let moved = ["completed", "pending", "submitted", "canceled"].map(|sum| ledger.moved(sum));
    let [completed, pending, submitted, canceled] = moved;
    let became = format!(
        "{} orders acknowledged; {completed} completed, {pending} more wait for their price, {submitted} more are with the \
         market, {canceled} more are canceled",
        orders.start()
    );
    vec![
        ledger.grew("acknowledged-orders", "There are as many new trades as orders were committed.", "trades", &orders),
        ledger.grew(
            "acknowledged-results",
            "As many trades were completed as results were acknowledged.",
            "completed",
            &results,
        ),
        ledger.grew(
            "settled-results",
            "There are as many new settlements as results were acknowledged.",
            "settlements",
            &results,
        ),
        ledger.grew(
            "brokered-results",
            "Brokers counted as many trades as results were acknowledged.",
            "brokered",
            &results,
        ),
        judgement(
            "open-orders",
            "An order has a result, waits for its price, is with the market, or was canceled.",
            holds_if(orders.contains(&moved.iter().sum()), became),
        ),
        judgement(
            "balances-follow",
            "The balance of each account moved by the cash transactions of its trades.",
            ledger.stays("balances", "balances less what was paid"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::KindTotals;
    use std::collections::BTreeMap;

    const NAMES: [&str; 8] =
        ["trades", "completed", "pending", "submitted", "canceled", "settlements", "brokered", "balances"];
    const BEFORE: [i64; 8] = [100, 90, 7, 3, 0, 90, 90, 7];
    /// Two orders that waited before were canceled.
    const RIGHT: [i64; 8] = [130, 110, 13, 5, 2, 110, 110, 7];

    fn violated(after: [i64; 8], failed: u64) -> Vec<String> {
        let sums = |values: [i64; 8]| -> BTreeMap<_, _> { NAMES.into_iter().map(str::to_owned).zip(values).collect() };
        let totals =
            |kind: &str, committed| KindTotals { kind: kind.to_owned(), committed, failed, ..Default::default() };
        let run = [totals("trade-order", 30), totals("trade-result", 20)];
        let findings = judge_ledger(&Ledger { before: &sums(BEFORE), after: &sums(after), whole_run: &run });
        findings.into_iter().filter(Judgement::is_violated).map(|finding| finding.name).collect()
    }

    #[test]
    fn each_sum_that_is_off_is_named() {
        assert!(violated(RIGHT, 0).is_empty());
        let names: [&[&str]; 8] = [
            &["acknowledged-orders"],
            &["acknowledged-results", "open-orders"],
            &["open-orders"],
            &["open-orders"],
            &["open-orders"],
            &["settled-results"],
            &["brokered-results"],
            &["balances-follow"],
        ];
        for (place, names) in names.into_iter().enumerate() {
            let mut wrong = RIGHT;
            wrong[place] += 1;
            assert_eq!(violated(wrong, 0), names);
        }
        let one_more = [131, 111, 13, 5, 2, 111, 111, 7];
        assert!(violated(one_more, 1).is_empty());
    }
}

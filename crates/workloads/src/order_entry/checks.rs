//! Conditions on the data, after loading and after a trial.
//!
//! Twelve of them are the consistency conditions of the definition, in our words. The others follow from what the
//! transactions of this workload do. All are queries for rows that violate them, so that a finding can name the rows.

use super::OrderEntry;
use super::definition::delta_is_allowed;
use super::tables::{ITEM, TABLES};
use crate::condition::{Condition, DataCheck, QueryFiles, always};
use crate::judgement::{Judgement, holds_if, judgement};
use engines::session::SessionError;
use record::check::Moment;

pub const QUERIES: QueryFiles = QueryFiles {
    conditions: CONDITIONS,
    checks: include_str!("sql/checks.sql"),
    checks_of_sqlite: "",
    sums: SUMS,
    ledger: include_str!("sql/ledger.sql"),
};

/// Names of the sums; a sum with a table's name is its number of rows.
const SUMS: &[&str] = &[
    "order-numbers",
    "warehouse",
    "district",
    "customer",
    "history",
    "orders",
    "new_order",
    "order_line",
    "item",
    "stock",
    "customer-deliveries",
    "stock-quantities",
];

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

/// Tables to which no transaction adds rows, and from which none takes any.
const FIXED: [&str; 5] = ["warehouse", "district", "customer", "item", "stock"];

pub fn judge_data(workload: &OrderEntry, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
    let is_loaded = check.is_after_load();
    let mut judged = vec![
        check.cardinalities(workload, |table| is_loaded || FIXED.contains(&&*table.name))?,
        items(workload, check)?,
    ];
    if is_loaded {
        judged.push(distance_of_constants(workload));
    }
    judged.extend(check.conditions(&workload.queries, &[])?);
    Ok(judged)
}

/// Every scale has the same items.
fn items(workload: &OrderEntry, check: &mut DataCheck<'_>) -> Result<Judgement, SessionError> {
    let verdict = check.contents_of(workload, &TABLES[ITEM])?;
    Ok(judgement("items", "Items, their prices and their data are what was loaded.", verdict))
}

fn distance_of_constants(workload: &OrderEntry) -> Judgement {
    let (at_load, at_run) = (workload.constants.last_name_at_load, workload.constants.last_name_at_run);
    let seen = format!("loaded with {at_load}, run with {at_run}: {} apart", (at_run - at_load).abs());
    let rule = "The constants of last names are 65 to 119 apart between loading and running, but not 96 or 112.";
    judgement("last-name-constants", rule, holds_if(delta_is_allowed(at_load, at_run), seen))
}

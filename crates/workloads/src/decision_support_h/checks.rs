//! Conditions on the data, as queries for rows that violate them, and on what was acknowledged and executed.

use super::DecisionSupportH;
use super::inputs::RefreshFunction;
use super::refresh::Sets;
use crate::condition::{self, Condition, DataCheck, QueryFiles, always};
use crate::dataset::Dataset;
use crate::judgement::{Judgement, judgement};
use crate::ledger::Ledger;
use engines::session::SessionError;

const ORDER: &[&str] = &["order"];
const LINE: &[&str] = &["order", "line"];
const OFFER: &[&str] = &["part", "supplier"];

pub const QUERIES: QueryFiles = QueryFiles {
    conditions: CONDITIONS,
    checks: include_str!("sql/checks.sql"),
    checks_of_sqlite: include_str!("sql/checks.sqlite.sql"),
    sums: &["orders", "inserted", "deleted"],
    ledger: include_str!("sql/ledger.sql"),
};

const CONDITIONS: &[Condition] = &[
    always(
        "order-totals",
        ORDER,
        "An order's total is the sum of its lines, each cut off to cents after the discount and again after the tax.",
    ),
    always("order-lines", ORDER, "An order has 1 to 7 lines, numbered from 1 without gaps."),
    always("order-status", ORDER, "An order is F if all its lines are, O if all are O, and P otherwise."),
    always("order-customers", ORDER, "An order belongs to a customer, whose key is not divisible by 3."),
    always("order-keys", ORDER, "The key of an order is one that loading or a refresh set gives."),
    always("line-orders", LINE, "A line belongs to an order."),
    always("line-offers", LINE, "A line is of a part from one of its suppliers."),
    always("line-prices", LINE, "A line costs its quantity of the part's price."),
    always("line-dates", LINE, "A line is shipped after it is ordered and received after it is shipped."),
    always("offers", OFFER, "A part that is offered and its supplier exist."),
];

pub fn judge_data(workload: &DecisionSupportH, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
    let sets = Sets::read(check.admin)?;
    let mut judged = vec![cardinalities(workload, check, sets)?];
    judged.extend(check.contents(workload, &["region", "nation"])?);
    let orders = workload.settings.scale.orders().to_string();
    judged.extend(check.conditions(&workload.queries, &[("{orders}", &orders)])?);
    if sets.are_unused() {
        judged.extend(workload.questions.judge_answers(check)?);
    }
    Ok(judged)
}

/// Refresh sets change how many orders and lines there are. The number of orders is then known, that of lines is not.
fn cardinalities(
    workload: &DecisionSupportH,
    check: &mut DataCheck<'_>,
    sets: Sets,
) -> Result<Judgement, SessionError> {
    let refreshed = workload.settings.scale.refreshed();
    let mut counted = Vec::new();
    for table in workload.tables().iter().filter(|table| table.name != "lineitem" || sets.are_unused()) {
        let loaded = workload.expected_rows(table);
        let is_orders = table.name == "orders";
        let expected = if is_orders { loaded + refreshed * sets.inserted - refreshed * sets.deleted } else { loaded };
        counted.push((&*table.name, check.count(table)?, expected));
    }
    let rule = "Every table has its number of rows; refresh sets that were used add and remove orders.";
    Ok(judgement("cardinalities", rule, condition::cardinalities(counted)))
}

pub fn judge_ledger(workload: &DecisionSupportH, ledger: &Ledger<'_>) -> Vec<Judgement> {
    let refreshed = workload.settings.scale.refreshed().cast_signed();
    let done = |function: RefreshFunction, each| ledger.acknowledged(function.name(), each);
    let new = done(RefreshFunction::NewSales, refreshed);
    let old = done(RefreshFunction::OldSales, refreshed);
    vec![
        ledger.grew(
            "acknowledged-orders",
            "The number of orders moved by those of the refresh sets that were inserted and deleted.",
            "orders",
            &(new.start() - old.end()..=new.end() - old.start()),
        ),
        ledger.grew(
            "acknowledged-new-sales",
            "As many refresh sets are counted as were inserted.",
            "inserted",
            &done(RefreshFunction::NewSales, 1),
        ),
        ledger.grew(
            "acknowledged-old-sales",
            "As many refresh sets are counted as were deleted.",
            "deleted",
            &done(RefreshFunction::OldSales, 1),
        ),
    ]
}

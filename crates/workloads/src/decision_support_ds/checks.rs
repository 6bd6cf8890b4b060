//! Conditions on the data, as queries for rows that violate them, and on what was acknowledged.

use super::DecisionSupportDs;
use super::maintenance::MaintenanceFunction;
use super::maintenance::orders::SalesChannel;
use crate::condition::{Condition, DataCheck, DataQueries, QueryFiles, always, cardinalities};
use crate::dataset::{DataTable, Dataset};
use crate::decision_support::scale::DataScale;
use crate::judgement::{Judgement, judgement};
use crate::ledger::Ledger;
use crate::sql::{SqlError, filled};
use engines::session::SessionError;

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

const QUERIES: QueryFiles = QueryFiles {
    conditions: CONDITIONS,
    checks: include_str!("sql/checks.sql"),
    checks_of_sqlite: "",
    sums: &["sets", "store", "catalog", "web"],
    ledger: include_str!("sql/ledger.sql"),
};

const CHANNELS: [(&str, SalesChannel, MaintenanceFunction); 3] = [
    ("store", SalesChannel::Store, MaintenanceFunction::InsertStoreSales),
    ("catalog", SalesChannel::Catalog, MaintenanceFunction::InsertCatalogSales),
    ("web", SalesChannel::Web, MaintenanceFunction::InsertWebSales),
];

pub fn read(scale: DataScale) -> Result<DataQueries, SqlError> {
    let mut queries = DataQueries::read(&[QUERIES])?;
    for (name, channel, _) in CHANNELS {
        let loaded = channel.loaded(scale).to_string();
        for sum in &mut queries.sums {
            sum.sql = filled(&sum.sql, &[(&format!("{{{name}}}"), &loaded)]);
        }
    }
    Ok(queries)
}

pub fn judge_data(workload: &DecisionSupportDs, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
    let state = workload.state(check.admin)?;
    let sum = |name: &str| state.get(name).copied().unwrap_or(0);
    let are_unused = sum("sets") == 0;
    // Refresh sets change the facts, and nothing else. What they bring does not stay where it is put first.
    let is_known = |table: &DataTable| table.key.len() == 1 || are_unused || table.name.starts_with("new_");
    let mut judged = vec![check.cardinalities(workload, is_known)?];
    judged.extend(check.contents(workload, &["income_band", "ship_mode", "reason", "store", "warehouse"])?);
    let sets = u32::try_from(sum("sets")).unwrap_or(0);
    let lines = CHANNELS.map(|(name, channel, _)| (name, sum(name), workload.new_lines(channel, 1..=sets)));
    let rule = "There are as many lines of new sales as the refresh sets have that were used.";
    judged.push(judgement("new-sales", rule, cardinalities(lines)));
    judged.extend(check.conditions(&workload.queries, &[])?);
    if are_unused {
        judged.extend(workload.questions.judge_answers(check)?);
    }
    Ok(judged)
}

pub fn judge_ledger(workload: &DecisionSupportDs, ledger: &Ledger<'_>) -> Vec<Judgement> {
    let taken = ledger.acknowledged(MaintenanceFunction::DeleteStore.name(), 1);
    let mut judged =
        vec![ledger.grew("acknowledged-sets", "As many refresh sets are counted as were taken.", "sets", &taken)];
    let before = u32::try_from(ledger.before.get("sets").copied().unwrap_or(0)).unwrap_or(0);
    for (name, channel, function) in CHANNELS {
        let lines = |sets: i64| {
            let last = before + u32::try_from(sets).unwrap_or(0);
            workload.new_lines(channel, before + 1..=last).cast_signed()
        };
        let sets = ledger.acknowledged(function.name(), 1);
        let rule = format!("As many lines of new {name} sales came as the refresh sets have that were inserted.");
        let allowed = lines(*sets.start())..=lines(*sets.end());
        judged.push(ledger.grew(&format!("acknowledged-{name}-sales"), &rule, name, &allowed));
    }
    judged
}

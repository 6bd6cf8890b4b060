//! Compares the database with what clients got acknowledged: every update adds one to each of its rows.

use super::finding;
use super::inputs::Operation;
use super::settings::Settings;
use super::statements::{Checks, about};
use super::tables::{Purpose, name};
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;

/// Name of the sum.
const CHANGES: &str = "changes";

pub fn state(
    settings: &Settings,
    checks: &Checks,
    admin: &mut dyn Admin,
) -> Result<BTreeMap<String, i64>, SessionError> {
    let mut changes = 0;
    for schema in 1..=settings.schemas {
        let mut found = Ok(0);
        let query = about(&checks.changes, &name(schema, Purpose::Ranges));
        admin.ask(&query, Limit::WORK, &mut |set, row| found = set.integer(row, 0))?;
        changes += found?;
    }
    Ok(BTreeMap::from([(CHANGES.to_owned(), changes)]))
}

pub fn reconcile(
    settings: &Settings,
    before: &BTreeMap<String, i64>,
    after: &BTreeMap<String, i64>,
    whole_run: &[KindTotals],
) -> Vec<CheckResult> {
    let sum = |state: &BTreeMap<String, i64>| state.get(CHANGES).copied().unwrap_or(0);
    let moved = sum(after) - sum(before);
    let updates = whole_run.iter().find(|totals| totals.kind == Operation::Update.name());
    let each = i64::from(settings.rows_per_range());
    let certain = updates.map_or(0, |totals| totals.committed).cast_signed() * each;
    // An update that failed for the client may still have been committed, if only its answer was lost.
    let doubtful = updates.map_or(0, |totals| totals.failed).cast_signed() * each;
    let seen = if doubtful == 0 {
        format!("{moved} in the database, {certain} acknowledged")
    } else {
        format!("{moved} in the database, {certain} to {} allowed", certain + doubtful)
    };
    let agrees = (certain..=certain + doubtful).contains(&moved);
    let verdict = if agrees { Verdict::Holds { seen: Some(seen) } } else { Verdict::Violated { seen } };
    let rule = "Rows were changed as often as acknowledged updates went through them.";
    vec![finding("acknowledged-updates", rule, Moment::AfterTrial, verdict)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn agrees(moved: i64, committed: u64, failed: u64) -> bool {
        let table = json!({ "work_unit": 11 });
        let settings = ::settings::read(table.as_object().unwrap(), super::super::settings::KEYS).unwrap();
        let sum = |changes: i64| BTreeMap::from([(CHANGES.to_owned(), changes)]);
        let totals =
            |kind: &str, committed| KindTotals { kind: kind.to_owned(), committed, failed, ..KindTotals::default() };
        let run = [totals("read", 1_000), totals("update", committed)];
        !reconcile(&settings, &sum(7), &sum(7 + moved), &run)[0].is_violated()
    }

    #[test]
    fn as_many_changes_as_were_acknowledged() {
        assert!(agrees(200, 20, 0));
        assert!(!agrees(199, 20, 0), "one was lost");
        assert!(!agrees(210, 20, 0), "one was made twice");
        assert!(agrees(210, 20, 1) && agrees(200, 20, 1), "one may or may not have been made");
    }
}

//! Compares the database with what clients got acknowledged: rows and sums before and after a run, and the
//! acknowledged totals.

use super::SysbenchOltp;
use super::settings::{SysbenchSettings, SysbenchTest};
use super::statements::BULK_ROWS;
use super::steps::Steps;
use crate::judgement::{Judgement, holds_if, judgement};
use crate::ledger::{Ledger, number};
use crate::sql::filled;
use engines::admin::Admin;
use engines::session::SessionError;
use record::check::Verdict;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

pub const ROWS: &str = "rows";
const SUM_OF_K: &str = "sum-of-k";
pub const SUMS: &[&str] = &[ROWS, SUM_OF_K];

/// The sums over all tables that the test changes by known amounts; others are left out, since each scans everything.
pub fn state(workload: &SysbenchOltp, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
    let is_known = |name: &str| name == ROWS || workload.settings.test == SysbenchTest::UpdateIndex;
    let mut state = BTreeMap::new();
    for name in SUMS.iter().filter(|name| is_known(name)) {
        let mut total = 0;
        for table in &workload.tables {
            total += sum(workload, name, &table.name, admin)?;
        }
        state.insert((*name).to_owned(), total);
    }
    Ok(state)
}

/// One of the sums over one table; 0 for an unknown name.
pub fn sum(workload: &SysbenchOltp, name: &str, table: &str, admin: &mut dyn Admin) -> Result<i64, SessionError> {
    let query = workload.queries.sums.iter().find(|query| query.name == name);
    query.map_or(Ok(0), |query| number(admin, &filled(&query.sql, &[("{table}", table)])))
}

pub fn judge_ledger(settings: &SysbenchSettings, steps: &Steps, ledger: &Ledger<'_>) -> Vec<Judgement> {
    let certain = ledger.whole_run.iter().map(|totals| totals.committed).sum::<u64>().cast_signed();
    // A transaction that failed for the client may still have been committed, if only its answer was lost.
    let doubtful = ledger.whole_run.iter().map(|totals| totals.failed).sum::<u64>().cast_signed();
    let mut judged = vec![rows(settings, steps, ledger.moved(ROWS), certain, doubtful)];
    if settings.test == SysbenchTest::UpdateIndex {
        let each = i64::from(steps.index_updates);
        let allowed = certain * each..=(certain + doubtful) * each;
        let rule = "The sum of k grew by one for every acknowledged update.";
        judged.push(compare("acknowledged-updates", rule, ledger.moved(SUM_OF_K), &allowed));
    }
    judged
}

fn rows(settings: &SysbenchSettings, steps: &Steps, moved: i64, certain: i64, doubtful: i64) -> Judgement {
    let all = certain + doubtful;
    let rewritten = i64::from(steps.delete_inserts);
    let (name, rule, allowed) = match settings.test {
        SysbenchTest::Insert => {
            ("acknowledged-inserts", "There are as many new rows as were acknowledged.", certain..=all)
        }
        SysbenchTest::BulkInsert => {
            let each = i64::try_from(BULK_ROWS).unwrap_or(i64::MAX);
            ("acknowledged-inserts", "There are as many new rows as were acknowledged.", certain * each..=all * each)
        }
        SysbenchTest::Delete => {
            ("acknowledged-deletes", "No more rows are gone than deletes were acknowledged.", -all..=0)
        }
        _ if settings.secondary && rewritten > 0 => {
            let why = "without a primary key, two transactions may delete one row and both insert it again".to_owned();
            let rule = "Every deleted row was inserted again.";
            return judgement("constant-rows", rule, Verdict::Undecided { why });
        }
        // Outside a transaction, a failure may come between the delete and the insert.
        _ if steps.leaves_gaps() => {
            ("constant-rows", "Every deleted row was inserted again.", -doubtful * rewritten..=0)
        }
        _ => ("constant-rows", "There are as many rows as before.", 0..=0),
    };
    compare(name, rule, moved, &allowed)
}

fn compare(name: &str, rule: &str, moved: i64, allowed: &RangeInclusive<i64>) -> Judgement {
    let seen = if allowed.start() == allowed.end() {
        format!("moved by {moved}, {} expected", allowed.start())
    } else {
        format!("moved by {moved}, {} to {} allowed", allowed.start(), allowed.end())
    };
    judgement(name, rule, holds_if(allowed.contains(&moved), seen))
}

#[cfg(test)]
mod tests {
    use super::super::settings::KEYS;
    use super::*;
    use record::trial::KindTotals;
    use serde_json::{Value, json};

    /// Names of the findings that are violated after 100 acknowledged transactions and `failed` others.
    fn violated(table: &Value, rows: i64, sum_of_k: i64, failed: u64) -> Vec<String> {
        let settings: SysbenchSettings = settings::read(table.as_object().unwrap(), KEYS).unwrap();
        let sums = |rows, sum: i64| BTreeMap::from([("rows".to_owned(), rows), ("sum-of-k".to_owned(), sum)]);
        let run = [KindTotals { kind: "test".to_owned(), committed: 100, failed, ..KindTotals::default() }];
        let (before, after) = (sums(1_000, 5_000), sums(1_000 + rows, 5_000 + sum_of_k));
        let ledger = Ledger { before: &before, after: &after, whole_run: &run };
        let findings = judge_ledger(&settings, &Steps::of(&settings), &ledger);
        findings.into_iter().filter(Judgement::is_violated).map(|finding| finding.name).collect()
    }

    #[test]
    fn what_moves_must_move_by_what_was_acknowledged() {
        let cases = [
            (json!({}), 0, 1),
            (json!({ "test": "insert" }), 100, 99),
            (json!({ "test": "bulk_insert" }), 25_000, 24_999),
            (json!({ "test": "delete" }), -100, -101),
            (json!({ "test": "delete" }), -1, 1),
            (json!({ "test": "write_only", "skip_trx": true }), 0, -1),
        ];
        for (table, right, wrong) in cases {
            assert!(violated(&table, right, 0, 0).is_empty(), "{table}");
            assert_eq!(violated(&table, wrong, 0, 0).len(), 1, "{table}");
        }
    }

    #[test]
    fn index_updates_are_in_the_sum_of_k() {
        let table = json!({ "test": "update_index", "index_updates": 3 });
        assert!(violated(&table, 0, 300, 0).is_empty());
        assert_eq!(violated(&table, 0, 299, 0), ["acknowledged-updates"]);
        assert!(violated(&table, 0, 303, 1).is_empty());
    }

    #[test]
    fn what_failed_may_or_may_not_be_there() {
        assert!(violated(&json!({ "test": "insert" }), 103, 0, 5).is_empty());
        assert_eq!(violated(&json!({ "test": "insert" }), 106, 0, 5).len(), 1);
        assert!(violated(&json!({ "skip_trx": true }), -2, 0, 2).is_empty());
        assert_eq!(violated(&json!({}), -2, 0, 2).len(), 1, "a transaction is whole or not there");
    }
}

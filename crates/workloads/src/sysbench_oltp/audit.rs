//! Whether what was executed in the measured window has the statements of the test. Chance plays no part in it: all
//! transactions have the same statements.

use super::settings::SysbenchSettings;
use super::steps::Steps;
use super::tally::SysbenchCounter;
use crate::execution::Execution;
use crate::judgement::{Judgement, holds_if, judgement};
use record::check::Verdict;
use record::trial::KindTotals;

pub fn judge_window(settings: &SysbenchSettings, steps: &Steps, execution: &Execution<'_>) -> Vec<Judgement> {
    let counted = |counter: SysbenchCounter| execution.counted(counter.name());
    let transactions: u64 = execution.kinds.iter().map(KindTotals::finished).sum();
    let expected = steps.queries();
    let (reads, writes, others) =
        (counted(SysbenchCounter::Reads), counted(SysbenchCounter::Writes), counted(SysbenchCounter::Others));
    let missed = counted(SysbenchCounter::MissedChanges);
    let finish = |name: &str, rule: &str, holds: bool, seen: String| {
        let nothing = Verdict::Undecided { why: "nothing was executed".to_owned() };
        judgement(name, rule, if transactions == 0 { nothing } else { holds_if(holds, seen) })
    };
    let exactly = |name: &str, what: &str, found: u64, each: u32| {
        let wanted = transactions * u64::from(each);
        let rule = format!("A transaction has {each} {what}.");
        finish(name, &rule, found == wanted, format!("{found} in {transactions} transactions"))
    };
    let mut judged = vec![
        finish(
            "queries",
            "Queries that read, write and do neither are all queries.",
            reads + writes + others == counted(SysbenchCounter::Queries),
            format!("{reads} + {writes} + {others}, {} asked", counted(SysbenchCounter::Queries)),
        ),
        exactly("reads", "queries that read", reads, expected.reads),
        exactly("writes", "queries that write or miss their row", writes + missed, expected.writes),
        exactly(
            "others",
            "other queries besides those that miss their row",
            others.saturating_sub(missed),
            expected.others,
        ),
    ];
    if steps.delete_inserts + steps.deletes == 0 {
        let seen = format!("{missed} of {} changes found no row", missed + writes);
        judged.push(finish("missed-changes", "Every change finds its row.", missed == 0, seen));
    }
    let (rule, wrong) = ("Every select returns the rows that there are.", counted(SysbenchCounter::WrongSelects));
    let seen = format!("{wrong} of {reads} selects returned another number of rows");
    judged.push(if steps.leaves_gaps() || settings.secondary && steps.delete_inserts > 0 {
        let why = format!("{seen}, and rows come and go between transactions");
        judgement("selects", rule, Verdict::Undecided { why })
    } else {
        finish("selects", rule, wrong == 0, seen)
    });
    judged
}

#[cfg(test)]
mod tests {
    use super::super::settings::KEYS;
    use super::*;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn judged(settings: &SysbenchSettings, kinds: &[KindTotals], tally: &BTreeMap<String, u64>) -> Vec<Judgement> {
        judge_window(settings, &Steps::of(settings), &Execution { kinds, tally, waiting: 0 })
    }

    fn names(table: &Value, tally: [u64; 6], chosen: fn(&Verdict) -> bool) -> Vec<String> {
        let settings: SysbenchSettings = settings::read(table.as_object().unwrap(), KEYS).unwrap();
        let tally = SysbenchCounter::NAMES.iter().map(|name| (*name).to_owned()).zip(tally).collect();
        let kinds = [KindTotals { kind: "read_write".to_owned(), committed: 10, ..KindTotals::default() }];
        let findings = judged(&settings, &kinds, &tally);
        findings.into_iter().filter(|finding| chosen(&finding.verdict)).map(|finding| finding.name).collect()
    }

    fn violated(table: &Value, tally: [u64; 6]) -> Vec<String> {
        names(table, tally, |verdict| matches!(verdict, Verdict::Violated { .. }))
    }

    #[test]
    fn fourteen_four_and_two() {
        assert!(violated(&json!({}), [200, 140, 40, 20, 0, 0]).is_empty());
        assert!(violated(&json!({ "mode": "0.4.8" }), [210, 140, 50, 20, 0, 0]).is_empty());
        assert!(violated(&json!({}), [200, 140, 37, 23, 3, 0]).is_empty(), "three changes missed their rows");
    }

    #[test]
    fn each_count_that_is_off_is_named() {
        for (tally, name) in [
            ([201, 140, 40, 20, 0, 0], "queries"),
            ([199, 139, 40, 20, 0, 0], "reads"),
            ([199, 140, 39, 20, 0, 0], "writes"),
            ([199, 140, 40, 19, 0, 0], "others"),
            ([200, 140, 40, 20, 0, 1], "selects"),
        ] {
            assert_eq!(violated(&json!({}), tally), [name]);
        }
    }

    #[test]
    fn where_nothing_is_deleted_nothing_may_be_missed() {
        let table = json!({ "test": "update_index" });
        assert!(violated(&table, [10, 0, 10, 0, 0, 0]).is_empty());
        assert_eq!(violated(&table, [10, 0, 9, 1, 1, 0]), ["missed-changes"]);
        assert!(violated(&json!({ "test": "delete" }), [10, 0, 2, 8, 8, 0]).is_empty());
    }

    #[test]
    fn nothing_is_decided_from_nothing() {
        let settings: SysbenchSettings = settings::read(json!({}).as_object().unwrap(), KEYS).unwrap();
        let findings = judged(&settings, &[], &BTreeMap::new());
        assert!(findings.iter().all(|finding| matches!(finding.verdict, Verdict::Undecided { .. })), "{findings:#?}");
    }

    #[test]
    fn selects_are_not_judged_where_rows_come_and_go() {
        let undecided =
            |table: &Value, tally| names(table, tally, |verdict| matches!(verdict, Verdict::Undecided { .. }));
        assert_eq!(undecided(&json!({ "skip_trx": true }), [180, 140, 40, 0, 0, 9]), ["selects"]);
        assert!(undecided(&json!({}), [200, 140, 40, 20, 0, 0]).is_empty());
    }
}

//! Sums over the data before and after a run, beside what clients got acknowledged between the two.

use crate::judgement::{Judgement, holds_if, judgement};
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::session::SessionError;
use record::check::Verdict;
use record::trial::KindTotals;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The number that a query returns; 0 for null, which is the sum over no rows.
pub fn number(admin: &mut dyn Admin, query: &str) -> Result<i64, SessionError> {
    let mut found = Ok(0);
    admin.ask(query, ReplyLimit::WORK, &mut |set, row| {
        found = if set.is_null(row, 0) { Ok(0) } else { set.integer(row, 0) };
    })?;
    found
}

/// A run between two states.
#[derive(Debug, Clone, Copy)]
pub struct Ledger<'a> {
    pub before: &'a BTreeMap<String, i64>,
    pub after: &'a BTreeMap<String, i64>,
    /// Totals of all transactions between the two.
    pub whole_run: &'a [KindTotals],
}

impl Ledger<'_> {
    /// By how much a sum grew.
    pub fn moved(&self, sum: &str) -> i64 {
        let of = |state: &BTreeMap<String, i64>| state.get(sum).copied().unwrap_or(0);
        of(self.after) - of(self.before)
    }

    /// What transactions of a kind may have added, if each that was committed adds this much. One that failed for the
    /// client may still have been committed, if only its answer was lost.
    pub fn acknowledged(&self, kind: &str, each: i64) -> RangeInclusive<i64> {
        let totals = self.whole_run.iter().find(|totals| totals.kind == kind);
        let certain = totals.map_or(0, |totals| totals.committed).cast_signed();
        let doubtful = totals.map_or(0, |totals| totals.failed).cast_signed();
        certain * each..=(certain + doubtful) * each
    }

    /// Judges by how much a sum grew.
    pub fn grew(&self, name: &str, rule: &str, sum: &str, allowed: &RangeInclusive<i64>) -> Judgement {
        judgement(name, rule, compare(self.moved(sum), allowed))
    }

    /// Whether a sum that must stay the same did.
    pub fn stays(&self, sum: &str, what: &str) -> Verdict {
        match (self.before.get(sum), self.after.get(sum)) {
            (Some(before), Some(after)) if before == after => Verdict::Holds { seen: None },
            (Some(before), Some(after)) => {
                Verdict::Violated { seen: format!("{what} add up to checksum {after} instead of {before}") }
            }
            _ => Verdict::Undecided {
                why: "an older bakeoff loaded the data and did not add the quantities up".to_owned(),
            },
        }
    }
}

/// Whether something moved by as much as is allowed.
pub fn compare(moved: i64, allowed: &RangeInclusive<i64>) -> Verdict {
    let seen = if allowed.start() == allowed.end() {
        format!("{moved} in the database, {} acknowledged", allowed.start())
    } else {
        format!("{moved} in the database, {} to {} allowed", allowed.start(), allowed.end())
    };
    holds_if(allowed.contains(&moved), seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_nobody_added_up_at_the_start_decide_nothing() {
        let sums = |value: Option<i64>| value.map(|value| ("stock".to_owned(), value)).into_iter().collect();
        let of = |before, after| {
            let (before, after) = (sums(before), sums(after));
            Ledger { before: &before, after: &after, whole_run: &[] }.stays("stock", "what is left and what was taken")
        };
        assert_eq!(of(Some(7), Some(7)), Verdict::Holds { seen: None });
        assert!(matches!(of(Some(7), Some(8)), Verdict::Violated { seen } if seen.contains("checksum 8 instead of 7")));
        assert!(matches!(of(None, Some(8)), Verdict::Undecided { .. }));
    }

    #[test]
    fn a_transaction_that_failed_may_or_may_not_have_been_committed() {
        let totals = KindTotals { kind: "order".to_owned(), committed: 20, failed: 1, ..KindTotals::default() };
        let (nothing, run) = (BTreeMap::new(), [totals]);
        let ledger = Ledger { before: &nothing, after: &nothing, whole_run: &run };
        assert_eq!((ledger.acknowledged("order", 2), ledger.acknowledged("visit", 2)), (40..=42, 0..=0));
        assert!(matches!(compare(41, &(40..=42)), Verdict::Holds { .. }));
        assert!(matches!(compare(43, &(40..=42)), Verdict::Violated { .. }));
    }
}

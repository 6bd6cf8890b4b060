//! Whether the database moved by what was acknowledged, and whether every question was answered.

use super::checks::finding;
use super::settings::Settings;
use super::tally::{KINDS, NEW_SALES, OLD_SALES};
use crate::decision_support::audit;
use crate::ledger::{Ledger, compare};
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;
use std::ops::RangeInclusive;

pub fn reconcile(ledger: &Ledger<'_>, settings: &Settings) -> Vec<CheckResult> {
    let refreshed = settings.scale.refreshed().cast_signed();
    let (new, old) = (ledger.acknowledged(NEW_SALES, refreshed), ledger.acknowledged(OLD_SALES, refreshed));
    let compared = |name: &str, rule: &str, sum: &str, allowed: RangeInclusive<i64>| {
        finding(name, rule, Moment::AfterTrial, compare(ledger.moved(sum), &allowed))
    };
    vec![
        compared(
            "acknowledged-orders",
            "The number of orders moved by those of the refresh sets that were inserted and deleted.",
            "orders",
            new.start() - old.end()..=new.end() - old.start(),
        ),
        compared(
            "acknowledged-new-sales",
            "As many refresh sets are counted as were inserted.",
            "inserted",
            ledger.acknowledged(NEW_SALES, 1),
        ),
        compared(
            "acknowledged-old-sales",
            "As many refresh sets are counted as were deleted.",
            "deleted",
            ledger.acknowledged(OLD_SALES, 1),
        ),
    ]
}

/// In each trial, the power phase and every query stream ask each question once. There are as many pairs of refresh functions.
pub fn audit(settings: &Settings, kinds: &[KindTotals]) -> Vec<CheckResult> {
    let streams = u64::from(settings.streams()) + 1;
    let questions = KINDS.iter().filter(|kind| kind.counted).map(|kind| kind.name);
    vec![
        finding(
            "answered",
            "Every stream has an answer to each question within its limit of time.",
            Moment::AfterTrial,
            audit::answered(kinds, questions, streams),
        ),
        finding(
            "refreshed",
            "There is a pair of refresh functions for each stream.",
            Moment::AfterTrial,
            audit::done(kinds, [NEW_SALES, OLD_SALES].into_iter(), streams),
        ),
    ]
}

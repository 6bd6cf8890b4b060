//! Whether the shares of the scripts among the transactions are those of their weights.

use super::{KIND, Planned};
use crate::share::AllowedShare;
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;

pub fn audit(scripts: &[Planned], kinds: &[KindTotals]) -> Vec<CheckResult> {
    let done = |name: &str| {
        kinds.iter().filter(|kind| kind.kind == name).map(|kind| kind.finished() + kind.failed).sum::<u64>()
    };
    let all: u64 = scripts.iter().map(|script| done(script.name)).sum();
    let weights: u64 = scripts.iter().map(|script| u64::from(script.weight)).sum();
    let share = |script: &Planned| {
        let share = AllowedShare::exactly(f64::from(script.weight) / weights as f64);
        let rule = format!("{} is {} of {weights} transactions, by its weight.", script.name, script.weight);
        finding(
            format!("{KIND}/share-of-{}", script.name),
            rule,
            Moment::AfterTrial,
            share.judge(done(script.name), all),
        )
    };
    // A single script always has all transactions.
    if scripts.len() > 1 { scripts.iter().map(share).collect() } else { Vec::new() }
}

pub fn finding(name: String, rule: String, moment: Moment, verdict: Verdict) -> CheckResult {
    CheckResult { name, rule, moment, verdict }
}

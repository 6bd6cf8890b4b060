//! Whether the database moved by what was acknowledged, and whether every question was answered.

use super::DecisionSupportDs;
use super::checks::{CHANNELS, finding};
use super::function::Function;
use super::settings::Settings;
use super::tally::KINDS;
use crate::decision_support::audit;
use crate::ledger::{Ledger, compare};
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;

/// A power phase, and two phases of several streams.
const fn streams(settings: &Settings) -> u64 {
    1 + 2 * settings.streams as u64
}

/// Refresh runs of both maintenance phases.
const fn runs(settings: &Settings) -> u64 {
    2 * settings.refresh_runs() as u64
}

pub fn reconcile(ledger: &Ledger<'_>, workload: &DecisionSupportDs) -> Vec<CheckResult> {
    let sets = compare(ledger.moved("sets"), &ledger.acknowledged(Function::DeleteStore.name(), 1));
    let rule = "As many refresh sets are counted as were taken.";
    let mut findings = vec![finding("acknowledged-sets", rule, Moment::AfterTrial, sets)];
    let before = u32::try_from(ledger.before.get("sets").copied().unwrap_or(0)).unwrap_or(0);
    let functions = [Function::InsertStoreSales, Function::InsertCatalogSales, Function::InsertWebSales];
    for ((name, channel), function) in CHANNELS.into_iter().zip(functions) {
        let lines = |sets: i64| {
            let last = before + u32::try_from(sets).unwrap_or(0);
            workload.new_lines(channel, before + 1..=last).cast_signed()
        };
        let sets = ledger.acknowledged(function.name(), 1);
        let verdict = compare(ledger.moved(name), &(lines(*sets.start())..=lines(*sets.end())));
        let rule = format!("As many lines of new {name} sales came as the refresh sets have that were inserted.");
        findings.push(finding(&format!("acknowledged-{name}-sales"), &rule, Moment::AfterTrial, verdict));
    }
    findings
}

/// In each trial, every stream asks each question once, and every refresh run has each function once.
pub fn audit(settings: &Settings, kinds: &[KindTotals]) -> Vec<CheckResult> {
    let names = |counted: bool| KINDS.iter().filter(move |kind| kind.counted == counted).map(|kind| kind.name);
    vec![
        finding(
            "answered",
            "Every stream has an answer to each question within its limit of time.",
            Moment::AfterTrial,
            audit::answered(kinds, names(true), streams(settings)),
        ),
        finding(
            "maintained",
            "There is a refresh run for two streams of each phase of several streams, with all its functions.",
            Moment::AfterTrial,
            audit::done(kinds, names(false), runs(settings)),
        ),
    ]
}

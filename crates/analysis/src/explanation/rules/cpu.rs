//! Rules on the CPU time that a machine got and did not get: sharing, quotas, moves, frequency.

use super::{Reason, RuleOutcome, ShareOf, SharedCpu, THROTTLED, Unknown};
use crate::counted::places::VcpuTime;
use crate::counted::{CountedTrial, SideCounts};
use crate::estimate::Estimate;
use crate::explanation::evidence::{BOTH, Evidence, Who, is_apart, nearest_end};
use record::telemetry::Side;
use std::collections::BTreeSet;

const SHARED_OF_WANTED: f64 = 0.05;
const SHARED_OF_WINDOW: f64 = 0.02;
const APART: f64 = 0.05;

fn host(trial: &CountedTrial) -> Option<&SideCounts> {
    trial.side(Side::Host)
}

fn vcpus(trial: &CountedTrial) -> Vec<VcpuTime> {
    host(trial).map(SideCounts::vcpus).unwrap_or_default()
}

fn vcpu(trial: &CountedTrial, name: &str) -> Option<VcpuTime> {
    vcpus(trial).into_iter().find(|vcpu| vcpu.name == name)
}

/// Names of the vCPUs in any trial of a contender, in their order.
fn names(evidence: &Evidence<'_>, who: Who) -> Vec<String> {
    let trials = evidence.trials(who).flat_map(vcpus);
    let names: BTreeSet<(usize, String)> = trials.map(|vcpu| (vcpu.name.len(), vcpu.name)).collect();
    names.into_iter().map(|(_, name)| name).collect()
}

/// The share of the window that vCPUs waited, averaged over all of them.
fn waited_share(trial: &CountedTrial) -> Option<f64> {
    let vcpus = vcpus(trial);
    let waited_ms: f64 = vcpus.iter().map(|vcpu| vcpu.wait_ms).sum();
    let share = host(trial)?.share_of_window(waited_ms)?;
    (!vcpus.is_empty()).then(|| share / vcpus.len() as f64)
}

pub fn shared(evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
    if BOTH.into_iter().all(|who| names(evidence, who).is_empty()) {
        return vec![Err(Unknown::VcpusNotSampled)];
    }
    BOTH.into_iter().filter_map(|who| shared_by(evidence, who)).collect()
}

fn shared_by(evidence: &Evidence<'_>, who: Who) -> Option<RuleOutcome> {
    let names = names(evidence, who);
    let waits = |name: &String| {
        let of_wanted = evidence.above(SHARED_OF_WANTED, who, &|trial| {
            let vcpu = vcpu(trial, name)?;
            let wanted_ms = vcpu.run_ms + vcpu.wait_ms;
            (wanted_ms > 0.0).then(|| vcpu.wait_ms / wanted_ms)
        })?;
        let of_window = evidence.value(who, &|trial| host(trial)?.share_of_window(vcpu(trial, name)?.wait_ms))?;
        (of_window.point > SHARED_OF_WINDOW).then(|| (name.clone(), of_wanted, of_window))
    };
    let mut waiting: Vec<(String, Estimate, Estimate)> = names.iter().filter_map(waits).collect();
    let all = waiting.len() == names.len() && waiting.len() > 1;
    waiting.sort_by(|one, other| one.1.point.total_cmp(&other.1.point));
    let (vcpu, of_wanted, of_window) = waiting.pop()?;
    let (name, other) = (evidence.name(who), of_the_other(evidence, who));
    if evidence.above(THROTTLED, who, &CountedTrial::throttled_share).is_some() {
        return Some(Err(Unknown::SharingBehindQuota { who: name }));
    }
    let of_window = if all { evidence.value(who, &waited_share)? } else { of_window };
    Some(Ok(Reason::SharedCpu(SharedCpu { who: name, all, vcpu, of_wanted, of_window, other })))
}

/// The same share for the other contender, if it has vCPUs as well.
fn of_the_other(evidence: &Evidence<'_>, who: Who) -> Option<ShareOf> {
    let other = if who == Who::Baseline { Who::Contender } else { Who::Baseline };
    Some(ShareOf { who: evidence.name(other), share: evidence.value(other, &waited_share)? })
}

pub fn disagreement(evidence: &Evidence<'_>, who: Who) -> Option<RuleOutcome> {
    let difference = evidence.signed_value(who, &|trial| Some(waited_share(trial)? - trial.stolen_share()?))?;
    let by_host = evidence.value(who, &waited_share)?;
    let by_machine = evidence.value(who, &CountedTrial::stolen_share)?;
    let is_so = nearest_end(&difference, 0.0).is_some_and(|end| end.abs() > APART);
    is_so.then(|| Ok(Reason::StolenDisagreement { who: evidence.name(who), by_host, by_machine }))
}

pub fn frequency(evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
    let said = || {
        let pair = evidence.pair(&|trial| host(trial)?.worth("frequency.mean"))?;
        let ratio = pair.ratio.filter(is_apart)?;
        Some(Ok(Reason::CpuFrequency { pair: evidence.both(pair.baseline, pair.contender), ratio }))
    };
    said().into_iter().collect()
}

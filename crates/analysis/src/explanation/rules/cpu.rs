//! Rules on the CPU time that a machine got and did not get: sharing, quotas, moves, frequency.

use super::{OfOther, Reason, SMALLEST_RATIO, Said, Unknown};
use crate::counted::places::VcpuTime;
use crate::counted::{CountedTrial, SideCounts};
use crate::estimate::Estimate;
use crate::explanation::evidence::{BOTH, Evidence, Who, nearest_end};
use record::telemetry::Side;
use std::collections::BTreeSet;

const SHARED_OF_WANTED: f64 = 0.05;
const SHARED_OF_WINDOW: f64 = 0.02;
const STOLEN: f64 = 0.02;
const APART: f64 = 0.05;
const HELD_BACK: f64 = 0.01;
const MIGRATIONS_PER_SECOND: f64 = 10.0;

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
    let trials = evidence.trials(who).into_iter().flat_map(vcpus);
    let names: BTreeSet<(usize, String)> = trials.map(|vcpu| (vcpu.name.len(), vcpu.name)).collect();
    names.into_iter().map(|(_, name)| name).collect()
}

fn is_above(estimate: &Estimate, limit: f64) -> bool {
    estimate.bounds.known().is_some_and(|(low, _)| low > limit)
}

/// The share of the window that vCPUs waited, averaged over all of them.
fn waited_share(trial: &CountedTrial) -> Option<f64> {
    let vcpus = vcpus(trial);
    let waited_ms: f64 = vcpus.iter().map(|vcpu| vcpu.wait_ms).sum();
    let share = host(trial)?.share_of_window(waited_ms)?;
    (!vcpus.is_empty()).then(|| share / vcpus.len() as f64)
}

pub fn shared(evidence: &Evidence<'_>) -> Vec<Said> {
    let said: Vec<Said> = BOTH.into_iter().filter_map(|who| shared_by(evidence, who)).collect();
    let nobody = BOTH.into_iter().all(|who| names(evidence, who).is_empty());
    if nobody {
        return vec![Err(Unknown::VcpusNotSampled)];
    }
    said
}

fn shared_by(evidence: &Evidence<'_>, who: Who) -> Option<Said> {
    let all = names(evidence, who);
    let waits = |name: &String| {
        let of_wanted = evidence.value(who, &|trial| {
            let vcpu = vcpu(trial, name)?;
            let wanted_ms = vcpu.run_ms + vcpu.wait_ms;
            (wanted_ms > 0.0).then(|| vcpu.wait_ms / wanted_ms)
        })?;
        let of_window = evidence.value(who, &|trial| host(trial)?.share_of_window(vcpu(trial, name)?.wait_ms))?;
        let is_so = is_above(&of_wanted, SHARED_OF_WANTED) && of_window.point > SHARED_OF_WINDOW;
        is_so.then(|| (name.clone(), of_wanted, of_window))
    };
    let waiting: Vec<(String, Estimate, Estimate)> = all.iter().filter_map(waits).collect();
    let worst = waiting.iter().max_by(|one, other| one.1.point.total_cmp(&other.1.point))?;
    let name = evidence.name(who).to_owned();
    if throttled(evidence, who).is_some() {
        return Some(Err(Unknown::SharingBehindQuota { who: name }));
    }
    let all = waiting.len() == all.len() && all.len() > 1;
    let of_window = if all { evidence.value(who, &waited_share)? } else { worst.2.clone() };
    Some(Ok(Reason::SharedCpu {
        who: name,
        all,
        vcpu: worst.0.clone(),
        of_wanted: worst.1.clone(),
        of_window,
        other: of_the_other(evidence, who),
    }))
}

/// The same share for the other contender, if it has vCPUs as well.
fn of_the_other(evidence: &Evidence<'_>, who: Who) -> Option<OfOther> {
    let other = if who == Who::Baseline { Who::Contender } else { Who::Baseline };
    let share = evidence.value(other, &waited_share)?;
    Some(OfOther { who: evidence.name(other).to_owned(), share })
}

pub fn stolen(evidence: &Evidence<'_>) -> Vec<Said> {
    let of = |who: Who| {
        let share = evidence.value(who, &CountedTrial::stolen_share).filter(|share| is_above(share, STOLEN))?;
        Some(Ok(Reason::StolenTime { who: evidence.name(who).to_owned(), share }))
    };
    BOTH.into_iter().filter_map(of).collect()
}

pub fn disagreement(evidence: &Evidence<'_>) -> Vec<Said> {
    let of = |who: Who| {
        let difference = evidence.signed_value(who, &|trial| Some(waited_share(trial)? - trial.stolen_share()?))?;
        let (by_host, by_machine) =
            (evidence.value(who, &waited_share)?, evidence.value(who, &CountedTrial::stolen_share)?);
        let is_so = nearest_end(&difference, 0.0).is_some_and(|end| end.abs() > APART);
        let who = evidence.name(who).to_owned();
        is_so.then_some(Ok(Reason::StolenDisagreement { who, by_host, by_machine }))
    };
    BOTH.into_iter().filter_map(of).collect()
}

/// The share of the window in which it was throttled, if that is certain.
fn throttled(evidence: &Evidence<'_>, who: Who) -> Option<Estimate> {
    evidence.value(who, &CountedTrial::throttled_share).filter(|share| is_above(share, HELD_BACK))
}

pub fn quota(evidence: &Evidence<'_>) -> Vec<Said> {
    let of = |who: Who| {
        let share = throttled(evidence, who)?;
        Some(Ok(Reason::CpuQuota { who: evidence.name(who).to_owned(), share }))
    };
    BOTH.into_iter().filter_map(of).collect()
}

pub fn migrating(evidence: &Evidence<'_>) -> Vec<Said> {
    let of = |who: Who| {
        let rate = evidence.value(who, &|trial| host(trial)?.vcpu_migrations_per_second());
        let rate = rate.filter(|rate| is_above(rate, MIGRATIONS_PER_SECOND))?;
        Some(Ok(Reason::MigratingVcpus { who: evidence.name(who).to_owned(), per_second: rate }))
    };
    BOTH.into_iter().filter_map(of).collect()
}

pub fn frequency(evidence: &Evidence<'_>) -> Vec<Said> {
    let Some(pair) = evidence.pair(&|trial| host(trial)?.worth("frequency.mean")) else { return Vec::new() };
    let Some(ratio) =
        pair.ratio.filter(|ratio| nearest_end(ratio, 1.0).is_some_and(|end| end.max(1.0 / end) > SMALLEST_RATIO))
    else {
        return Vec::new();
    };
    vec![Ok(Reason::CpuFrequency { pair: evidence.both(pair.baseline, pair.contender), ratio })]
}

//! What the analysis reports beside the figures: reasons to doubt them, each with a code, a severity, a subject, and
//! quantities. The report puts them into words.
//!
//! [`catalog`] has all of them. [`of_run`] collects the findings of one run; those of two runs are in [`crate::two_runs`].

mod catalog;
mod concerns;
pub mod of_run;

pub use self::catalog::{CODES, Code, FindingKind, What, code, names};
use crate::estimate::Estimate;
use crate::gathered::{by_first, by_key};
use record::plan::Plan;
use record::settings::Differing;
use serde::{Deserialize, Serialize, Serializer};
use std::cmp::Reverse;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    #[serde(flatten, serialize_with = "with_code")]
    pub what: What,
    #[serde(flatten)]
    pub subject: Subject,
    /// Why the study accepts it, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

/// The code follows from the kind.
fn with_code<S: Serializer>(what: &What, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Coded<'a> {
        code: &'static str,
        #[serde(flatten)]
        what: &'a What,
    }
    Coded { code: what.code(), what }.serialize(serializer)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The comparison may be wrong, or a part of it is missing.
    Serious,
    /// Worth knowing before believing small differences.
    Caution,
}

/// Whether the answer of a run may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stamp {
    #[default]
    Usable,
    /// Small differences may have other causes.
    WithCare,
    /// The figures do not answer the question.
    NotUsable,
}

/// What a finding is about. If everything is empty, it is about the whole run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Subject {
    /// Which of two runs it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<WhichRun>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contender: Option<String>,
    /// Scenario and swept values.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub coordinates: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhichRun {
    Old,
    New,
}

/// How long a contender's load engine waited for CPUs, in its worst trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineWait {
    pub contender: String,
    /// Of the measured window.
    pub share: f64,
    pub us_per_turn: f64,
}

/// One contender's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContenderValue {
    pub contender: String,
    pub value: String,
}

/// Contender over baseline on one of several hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostRatio {
    pub host: String,
    pub ratio: Estimate,
}

/// A value and the contenders that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedValue {
    pub value: String,
    pub contenders: Vec<String>,
}

impl SharedValue {
    /// Each value with its contenders, sorted by value.
    pub fn by_value<V: Into<String> + Ord>(each: impl IntoIterator<Item = (V, String)>) -> Vec<Self> {
        by_key(each).into_iter().map(|(value, contenders)| Self { value: value.into(), contenders }).collect()
    }
}

/// A value and the trials in which it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTrials {
    pub value: String,
    pub trials: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactDiffers {
    pub fact: String,
    pub values: Vec<SharedValue>,
}

/// Rows and checksum of a loaded table, by contender; a contender without it is not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSums {
    pub table: String,
    pub sums: Vec<ContenderValue>,
    pub without: Vec<String>,
}

/// A measure that differs from the baseline's by more than is tolerated, per transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnequalWork {
    pub measure: String,
    pub baseline: String,
    pub contender: String,
    pub of_baseline: f64,
    pub of_contender: f64,
    /// The share by which they were allowed to differ.
    pub tolerance: f64,
}

/// A measure of work per transaction, in the old run and in the new one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedWork {
    pub measure: String,
    pub old: f64,
    pub new: f64,
}

/// A property in which machines of a trial differ, with the machines that have each value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Property {
    pub name: String,
    pub values: Vec<OfMachines>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OfMachines {
    pub value: String,
    /// Their numbers, counted from 1.
    pub machines: Vec<u32>,
}

/// A value in the old run and the different one in the new run; `None` where it is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueChange {
    pub name: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

impl From<Differing> for ValueChange {
    fn from(Differing { key, old, new }: Differing) -> Self {
        let [old, new] = [old, new].map(|value| value.map(|value| value.to_string()));
        Self { name: key, old, new }
    }
}

/// Readings of a host before and after each trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostFact {
    Governor,
    Turbo,
    Mitigations,
    Frequency,
    CpuTime,
    ProcessTime,
    Memory,
    Stalls,
}

/// The part of two runs that was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedPart {
    Settings,
    Machines,
    Servers,
    Loads,
}

impl Finding {
    /// About the whole run.
    pub fn new(what: What) -> Self {
        Self { severity: what.kind().severity, what, subject: Subject::default(), accepted: None }
    }

    #[must_use]
    pub fn of(mut self, contender: &str) -> Self {
        self.subject.contender = Some(contender.to_owned());
        self
    }

    #[must_use]
    pub fn at(mut self, coordinates: &str) -> Self {
        coordinates.clone_into(&mut self.subject.coordinates);
        self
    }

    #[must_use]
    pub fn in_trials(mut self, trials: impl IntoIterator<Item = u32>) -> Self {
        self.subject.trials = trials.into_iter().collect();
        self
    }

    fn rank(&self) -> (bool, Reverse<Stamp>, Severity) {
        (self.accepted.is_some(), Reverse(self.what.kind().stamp), self.severity)
    }
}

/// The same finding in several trials once, with the trials; sorted by the first of them. Several machines of a trial may have the same
/// finding.
pub(crate) fn gathered(found: impl IntoIterator<Item = (Finding, u32)>) -> Vec<Finding> {
    let with_trials = |(finding, mut trials): (Finding, Vec<u32>)| {
        trials.dedup();
        finding.in_trials(trials)
    };
    let mut findings: Vec<Finding> = by_first(found).into_iter().map(with_trials).collect();
    findings.sort_by_key(|finding| finding.subject.trials.first().copied());
    findings
}

/// Marks what a plan accepts. Puts the worst first and accepted findings last; otherwise the order stays.
pub(crate) fn accept(findings: &mut [Finding], plan: &Plan) {
    for finding in &mut *findings {
        let (name, code) = (finding.what.kind().name, finding.what.code());
        let may = catalog::code(code).is_some_and(|code| code.acceptable);
        let why = plan.accept.get(name).or_else(|| plan.accept.get(code));
        finding.accepted = why.filter(|_| may).cloned();
    }
    findings.sort_by_key(Finding::rank);
}

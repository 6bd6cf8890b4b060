//! A judgement of a workload about its data or its transactions, before the finding has the workload's name.

use record::check::{CheckResult, Moment, Verdict};

/// A rule and whether it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    pub name: String,
    pub rule: String,
    pub verdict: Verdict,
}

pub fn judgement(name: impl Into<String>, rule: impl Into<String>, verdict: Verdict) -> Judgement {
    Judgement { name: name.into(), rule: rule.into(), verdict }
}

impl Judgement {
    /// As a finding about a workload of this kind.
    pub fn into_finding(self, kind: &str, moment: Moment) -> CheckResult {
        let Self { name, rule, verdict } = self;
        CheckResult { name: format!("{kind}/{name}"), rule, moment, verdict }
    }

    #[cfg(test)]
    pub fn is_violated(&self) -> bool {
        matches!(self.verdict, Verdict::Violated { .. })
    }
}

/// The verdict on something that was seen.
pub fn holds_if(holds: bool, seen: String) -> Verdict {
    if holds { Verdict::Holds { seen: Some(seen) } } else { Verdict::Violated { seen } }
}

/// The verdict on everything that is wrong.
pub fn none_of(wrong: &[String]) -> Verdict {
    if wrong.is_empty() { Verdict::Holds { seen: None } } else { Verdict::Violated { seen: wrong.join("; ") } }
}

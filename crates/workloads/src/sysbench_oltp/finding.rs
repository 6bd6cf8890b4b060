//! Names of findings.

use record::check::{CheckResult, Moment, Verdict};

/// A finding of this workload.
pub fn finding(name: &str, rule: &str, moment: Moment, verdict: Verdict) -> CheckResult {
    CheckResult { name: format!("{}/{name}", super::KIND), rule: rule.to_owned(), moment, verdict }
}

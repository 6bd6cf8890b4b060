//! The results of checks on loaded data: findings, and an error if the data are wrong.

use crate::preparation::error::PreparationError;
use record::check::{CheckResult, Moment, Verdict};

pub(crate) fn checksum_finding(workload: &str, table: &str, sum: &agent::loading::TableChecksum) -> CheckResult {
    let verdict = if sum.expected == sum.stored {
        Verdict::Holds { seen: Some(format!("{} rows, checksum {:016x}", sum.stored.rows, sum.stored.sum)) }
    } else {
        let (expected, stored) = (sum.expected, sum.stored);
        let seen = format!(
            "{} rows with checksum {:016x} instead of {} rows with {:016x}",
            stored.rows, stored.sum, expected.rows, expected.sum
        );
        Verdict::Violated { seen }
    };
    CheckResult {
        name: CheckResult::checksum_name(workload, table),
        rule: format!("table {table} holds exactly the rows that the definition and the seed give"),
        moment: Moment::AfterLoad,
        verdict,
    }
}

pub(crate) fn require_right(findings: &[CheckResult]) -> Result<(), PreparationError> {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    let Some(first) = violated.first() else { return Ok(()) };
    let Verdict::Violated { seen } = &first.verdict else { return Ok(()) };
    Err(PreparationError::WrongData(format!(
        "{} of {} checks fail, first {} ({}): {seen}",
        violated.len(),
        findings.len(),
        first.name,
        first.rule
    )))
}

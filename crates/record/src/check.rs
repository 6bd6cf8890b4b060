//! Outcomes of data checks (`findings.json`).

use serde::{Deserialize, Serialize};

/// When a check ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    AfterLoad,
    AfterTrial,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Short stable name, for example `order-entry/consistency-03`.
    pub name: String,
    /// The rule in one sentence.
    pub rule: String,
    pub moment: Moment,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    Holds {
        /// What was seen, for checks that measure something ("mean order lines 9.98, allowed 9.8 to 10.2").
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
    Violated {
        /// What was seen, with up to a few offending keys.
        seen: String,
    },
    /// Not judged, for this reason: too few events, or not applicable at this size.
    Undecided { why: String },
}

/// Follows the workload in the names of findings that hold a table's checksum after loading.
const CHECKSUM: &str = "checksum-";
/// Ends the name of the finding of a workload that has no check of its data.
pub const UNCHECKED: &str = "/unchecked";

impl CheckResult {
    /// The name of a finding about a table's checksum.
    pub fn checksum_name(workload: &str, table: &str) -> String {
        format!("{workload}/{CHECKSUM}{table}")
    }

    /// The table whose checksum after loading this finding holds.
    pub fn checksum_of(&self) -> Option<&str> {
        let (_, name) = self.name.split_once('/')?;
        name.strip_prefix(CHECKSUM).filter(|_| self.moment == Moment::AfterLoad)
    }

    /// After a trial whose data no check looks at.
    pub fn unchecked(workload: &str, why: &str) -> Self {
        Self {
            name: format!("{workload}{UNCHECKED}"),
            rule: "The data are checked after a trial.".to_owned(),
            moment: Moment::AfterTrial,
            verdict: Verdict::Undecided { why: why.to_owned() },
        }
    }

    pub fn is_violated(&self) -> bool {
        matches!(self.verdict, Verdict::Violated { .. })
    }
}

//! Transactions of one kind, counted by how they ended.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KindTotals {
    pub kind: String,
    pub committed: u64,
    /// Rolled back because the workload demands it, not because of a failure.
    pub rolled_back: u64,
    pub retries: u64,
    /// Given up after the last allowed retry.
    pub failed: u64,
    /// Whether it is a step: a part of transactions that is timed by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub step: bool,
}

impl KindTotals {
    /// Adds another part of the same kind.
    pub fn add(&mut self, other: &Self) {
        self.committed += other.committed;
        self.rolled_back += other.rolled_back;
        self.retries += other.retries;
        self.failed += other.failed;
    }

    /// One sum for each kind, in the order of first occurrence.
    pub fn summed<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
        let mut sums: Vec<Self> = Vec::new();
        for part in parts {
            match sums.iter_mut().find(|sum| sum.kind == part.kind) {
                Some(sum) => sum.add(part),
                None => sums.push(part.clone()),
            }
        }
        sums
    }

    /// Transactions that ended as the workload demands: committed, or rolled back on purpose.
    pub fn finished(&self) -> u64 {
        self.committed + self.rolled_back
    }
}

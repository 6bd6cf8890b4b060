//! The transactions that were executed in the measured window, as the audits of the workloads read them.

use record::trial::KindTotals;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
pub struct Execution<'a> {
    pub kinds: &'a [KindTotals],
    pub tally: &'a BTreeMap<String, u64>,
    /// How many deferred transactions were queued at a time at most.
    pub waiting: u64,
}

impl Execution<'_> {
    pub fn totals(&self, kind: &str) -> Option<&KindTotals> {
        self.kinds.iter().find(|totals| totals.kind == kind)
    }

    /// Transactions of a kind that ended as the workload demands.
    pub fn done(&self, kind: &str) -> u64 {
        self.totals(kind).map_or(0, KindTotals::finished)
    }

    pub fn rolled_back(&self, kind: &str) -> u64 {
        self.totals(kind).map_or(0, |totals| totals.rolled_back)
    }

    pub fn counted(&self, counter: &str) -> u64 {
        self.tally.get(counter).copied().unwrap_or(0)
    }
}

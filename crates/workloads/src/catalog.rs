//! The list of workloads. Adding one is a folder and a line in each place here.

use crate::dataset::Dataset;
use crate::order_entry::{self, OrderEntry};
use crate::slob::{self, Slob};
use crate::sysbench_oltp::{self, SysbenchOltp};
use crate::workload::{Kind, Workload};
use serde_json::{Map, Value};
use settings::{Key, Problem};

/// A workload that a study may name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub kind: &'static str,
    /// One sentence for `bakeoff list`.
    pub meaning: &'static str,
    pub keys: &'static [Key],
    pub metric: Metric,
}

/// A workload's throughput figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub unit: &'static str,
    /// The figure is the number of counted transactions in this span.
    pub per_ms: u64,
}

pub const WORKLOADS: &[Entry] = &[order_entry::ENTRY, slob::ENTRY, sysbench_oltp::ENTRY];

/// The workload called `kind`, if there is one.
pub fn entry(kind: &str) -> Option<&'static Entry> {
    WORKLOADS.iter().find(|entry| entry.kind == kind)
}

/// One of the workloads, made. The driver matches on it once and then runs code made for that workload alone.
#[derive(Debug)]
pub enum AnyWorkload {
    OrderEntry(OrderEntry),
    Slob(Slob),
    SysbenchOltp(Box<SysbenchOltp>),
}

impl AnyWorkload {
    /// Makes the workload `kind` from its table, without the key "kind".
    pub fn from_table(kind: &str, table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        match kind {
            order_entry::KIND => OrderEntry::from_table(table).map(Self::OrderEntry),
            slob::KIND => Slob::from_table(table).map(Self::Slob),
            sysbench_oltp::KIND => SysbenchOltp::from_table(table).map(Box::new).map(Self::SysbenchOltp),
            other => Err(vec![unknown_kind(other)]),
        }
    }

    pub fn entry(&self) -> &'static Entry {
        match self {
            Self::OrderEntry(_) => &order_entry::ENTRY,
            Self::Slob(_) => &slob::ENTRY,
            Self::SysbenchOltp(_) => &sysbench_oltp::ENTRY,
        }
    }

    pub fn kinds(&self) -> &'static [Kind] {
        match self {
            Self::OrderEntry(workload) => workload.kinds(),
            Self::Slob(workload) => workload.kinds(),
            Self::SysbenchOltp(workload) => workload.kinds(),
        }
    }

    /// Whether any transaction is ever deferred to background sessions.
    pub fn defers(&self) -> bool {
        match self {
            Self::OrderEntry(workload) => workload.defers(),
            Self::Slob(workload) => workload.defers(),
            Self::SysbenchOltp(workload) => workload.defers(),
        }
    }

    pub fn dataset(&self) -> &dyn Dataset {
        match self {
            Self::OrderEntry(workload) => workload,
            Self::Slob(workload) => workload,
            Self::SysbenchOltp(workload) => &**workload,
        }
    }
}

fn unknown_kind(kind: &str) -> Problem {
    let known = || WORKLOADS.iter().map(|entry| entry.kind);
    Problem {
        path: "kind".to_owned(),
        found: format!("found \"{}\"", kind.escape_debug()),
        expected: known().collect::<Vec<_>>().join(" or "),
        nearest: settings::nearest(kind, known()).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn every_entry_is_found_and_made_from_its_defaults() {
        for listed in WORKLOADS {
            let made = AnyWorkload::from_table(listed.kind, &Map::new()).unwrap();
            assert_eq!(made.entry().kind, listed.kind);
            assert_eq!(entry(listed.kind).unwrap().metric, listed.metric);
            assert!(made.dataset().notice().contains("not comparable"));
            assert!(!made.dataset().deviations().is_empty());
        }
    }

    #[test]
    fn a_misspelt_workload_is_told_its_nearest() {
        let problems = AnyWorkload::from_table("order-entri", &Map::new()).unwrap_err();
        assert_eq!(problems[0].nearest.as_deref(), Some("order-entry"));
    }

    #[test]
    fn all_wrong_keys_are_told_at_once() {
        let wrong = table(&json!({ "warehouses": 0, "delivery": "later", "warehuoses": 1 }));
        let problems = AnyWorkload::from_table("order-entry", &wrong).unwrap_err();
        let paths: std::collections::BTreeSet<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["delivery", "warehouses", "warehuoses"].into());
    }
}

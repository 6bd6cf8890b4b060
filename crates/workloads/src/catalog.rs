//! The list of workloads. Adding one is a folder, its module, and a line here.

use crate::dataset::Dataset;
use crate::workload::{Kind, Workload};
use crate::{order_entry, slob, sysbench_oltp};
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

/// From one list: the entries, the enum, and what is done with whichever workload it is.
macro_rules! workloads {
    ($($folder:ident::$made:ident),+ $(,)?) => {
        pub const WORKLOADS: &[Entry] = &[$($folder::ENTRY),+];

        /// One of the workloads, made.
        #[derive(Debug)]
        pub enum AnyWorkload {
            $($made(Box<$folder::$made>)),+
        }

        impl AnyWorkload {
            /// Makes the workload `kind` from its table, without the key "kind".
            pub fn from_table(kind: &str, table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
                match kind {
                    $($folder::KIND => $folder::$made::from_table(table).map(Box::new).map(Self::$made),)+
                    other => Err(vec![unknown_kind(other)]),
                }
            }

            pub fn entry(&self) -> &'static Entry {
                match self { $(Self::$made(_) => &$folder::ENTRY),+ }
            }

            pub fn dataset(&self) -> &dyn Dataset {
                match self { $(Self::$made(workload) => &**workload),+ }
            }

            /// Picks the concrete type once; the visitor then runs code made for that workload alone.
            pub fn visit<V: WorkloadVisitor>(&self, visitor: V) -> V::Answer {
                match self { $(Self::$made(workload) => visitor.visit(&**workload)),+ }
            }

            pub fn kinds(&self) -> &'static [Kind] {
                match self { $(Self::$made(workload) => workload.kinds()),+ }
            }

            /// Whether any transaction is ever deferred to background sessions.
            pub fn defers(&self) -> bool {
                match self { $(Self::$made(workload) => workload.defers()),+ }
            }
        }
    };
}

workloads! {
    order_entry::OrderEntry,
    slob::Slob,
    sysbench_oltp::SysbenchOltp,
}

/// What is done with a workload, whichever it is.
pub trait WorkloadVisitor {
    type Answer;
    fn visit<W: Workload>(self, workload: &W) -> Self::Answer;
}

/// The workload called `kind`, if there is one.
pub fn entry(kind: &str) -> Option<&'static Entry> {
    WORKLOADS.iter().find(|entry| entry.kind == kind)
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

//! KVM's counters, as QEMU 7.1 and newer report them (`query-stats-schemas` once, `query-stats` each time).
//!
//! The host's kernel determines which counters exist, so their names, units and behaviour come from the schemas and
//! none is listed here. Counters of vCPUs are added up over the vCPUs; for a peak, the highest is taken.

use crate::counter::{Counter, part};
use record::telemetry::Behaviour;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum StatsError {
    #[error("QEMU's schemas of its counters are not of the documented form: {0}")]
    Schemas(String),
    #[error("QEMU's counters are not of the documented form: {0}")]
    Counters(String),
    #[error("QEMU reports no counters: without KVM there are none")]
    None,
}

/// How many characters of an answer an error shows; the whole may be long.
const SHOWN: usize = 200;

/// Every counter that this QEMU can report, by target (`vm`, `vcpu`) and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schemas(BTreeMap<(String, String), Schema>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Schema {
    kind: StatKind,
    unit: Cow<'static, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatKind {
    Cumulative,
    Instant,
    Peak,
    /// Each place of the list counts one range of values.
    Histogram,
}

impl Schemas {
    /// Parses the answer of `query-stats-schemas`.
    pub fn parse(answer: &Value) -> Result<Self, StatsError> {
        let unexpected = || StatsError::Schemas(shown(answer));
        let mut schemas = BTreeMap::new();
        for group in answer.as_array().ok_or_else(unexpected)? {
            if group["provider"] != "kvm" {
                continue;
            }
            let target = group["target"].as_str().ok_or_else(unexpected)?;
            for stat in group["stats"].as_array().ok_or_else(unexpected)? {
                let name = stat["name"].as_str().ok_or_else(unexpected)?;
                // Values of an unknown kind cannot be added up.
                if let Some(kind) = kind(stat) {
                    schemas.insert((target.to_owned(), name.to_owned()), Schema { kind, unit: unit(stat) });
                }
            }
        }
        if schemas.is_empty() { Err(StatsError::None) } else { Ok(Self(schemas)) }
    }

    /// The targets to use with `query-stats`.
    pub fn targets(&self) -> Vec<&str> {
        let mut targets: Vec<&str> = self.0.keys().map(|(target, _)| target.as_str()).collect();
        targets.dedup();
        targets
    }

    /// Parses the answer of `query-stats` for one target: `kvm.vcpu.exits`, `kvm.vm.pages_2m`, `kvm.vcpu.halt_wait_hist.07`.
    pub fn counters(&self, target: &str, answer: &Value) -> Result<Vec<Counter>, StatsError> {
        let unexpected = || StatsError::Counters(shown(answer));
        let mut sums: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for object in answer.as_array().ok_or_else(unexpected)? {
            for stat in object["stats"].as_array().ok_or_else(unexpected)? {
                let name = stat["name"].as_str().ok_or_else(unexpected)?;
                let Some(schema) = self.0.get(&(target.to_owned(), name.to_owned())) else { continue };
                let values = values(&stat["value"]).ok_or_else(unexpected)?;
                merge(sums.entry(name).or_default(), &values, schema.kind);
            }
        }
        let named = sums.into_iter().filter_map(|(name, values)| {
            let schema = self.0.get(&(target.to_owned(), name.to_owned()))?;
            Some(named(&format!("kvm.{}.{}", part(target), part(name)), schema, &values))
        });
        Ok(named.flatten().collect())
    }
}

fn kind(stat: &Value) -> Option<StatKind> {
    match stat["type"].as_str()? {
        "cumulative" => Some(StatKind::Cumulative),
        "instant" => Some(StatKind::Instant),
        "peak" => Some(StatKind::Peak),
        "linear-histogram" | "log2-histogram" => Some(StatKind::Histogram),
        _ => None,
    }
}

/// The unit's name with its scale: "ns", "bytes", or "2^10 bytes" where there is no common word.
fn unit(stat: &Value) -> Cow<'static, str> {
    let (base, exponent) = (stat["base"].as_i64().unwrap_or(10), stat["exponent"].as_i64().unwrap_or(0));
    // A histogram's values are numbers of events; its unit is that of the ranges.
    if stat["type"].as_str().is_some_and(|kind| kind.ends_with("histogram")) {
        return Cow::Borrowed("");
    }
    match (stat["unit"].as_str(), base, exponent) {
        (None | Some("boolean"), _, 0) => Cow::Borrowed(""),
        (Some("seconds"), 10, -9) => Cow::Borrowed("ns"),
        (Some("seconds"), 10, -6) => Cow::Borrowed("us"),
        (Some("seconds"), 10, -3) => Cow::Borrowed("ms"),
        (Some(unit), _, 0) => Cow::Owned(unit.to_owned()),
        (unit, base, exponent) => {
            Cow::Owned(format!("{base}^{exponent} {}", unit.unwrap_or_default()).trim().to_owned())
        }
    }
}

fn values(value: &Value) -> Option<Vec<u64>> {
    match value {
        Value::Bool(is) => Some(vec![u64::from(*is)]),
        Value::Number(number) => Some(vec![number.as_u64()?]),
        Value::Array(list) => list.iter().map(Value::as_u64).collect(),
        _ => None,
    }
}

fn merge(sums: &mut Vec<u64>, values: &[u64], kind: StatKind) {
    sums.resize(sums.len().max(values.len()), 0);
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = if kind == StatKind::Peak { (*sum).max(*value) } else { sum.saturating_add(*value) };
    }
}

fn named(name: &str, schema: &Schema, values: &[u64]) -> Vec<Counter> {
    let behaviour = match schema.kind {
        StatKind::Cumulative | StatKind::Histogram => Behaviour::Counts,
        StatKind::Instant | StatKind::Peak => Behaviour::Stands,
    };
    let counter = |name: String, value: u64| Counter { name, unit: schema.unit.clone(), behaviour, value };
    if schema.kind == StatKind::Histogram {
        let ranges = values.iter().enumerate();
        return ranges.map(|(range, count)| counter(format!("{name}.{range:02}"), *count)).collect();
    }
    values.iter().map(|value| counter(name.to_owned(), *value)).collect()
}

fn shown(answer: &Value) -> String {
    answer.to_string().chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Recorded from QEMU 7.2 with KVM on Linux 6.18: two vCPUs of a guest that waits in its firmware.
    const SCHEMAS: &str = include_str!("../../tests/qmp/stats-schemas.json");
    const VCPU: &str = include_str!("../../tests/qmp/stats-vcpu.json");
    const VM: &str = include_str!("../../tests/qmp/stats-vm.json");

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn find<'a>(counters: &'a [Counter], name: &str) -> Option<&'a Counter> {
        counters.iter().find(|counter| counter.name == name)
    }

    #[test]
    fn counters_of_vcpus_are_added_up_by_the_schemas() {
        let schemas = Schemas::parse(&parsed(SCHEMAS)).unwrap();
        assert_eq!(schemas.targets(), ["vcpu", "vm"]);
        let found = schemas.counters("vcpu", &parsed(VCPU)).unwrap();
        assert_eq!(find(&found, "kvm.vcpu.exits"), Some(&Counter::counts("kvm.vcpu.exits", "", 93 + 6_683)));
        let waited = Counter::counts("kvm.vcpu.halt_wait_ns", "ns", 4_945_552_218);
        assert_eq!(find(&found, "kvm.vcpu.halt_wait_ns"), Some(&waited));
        assert_eq!(find(&found, "kvm.vcpu.guest_mode").map(|mode| mode.behaviour), Some(Behaviour::Stands));
        let ranges = found.iter().filter(|counter| counter.name.starts_with("kvm.vcpu.halt_wait_hist."));
        assert_eq!(ranges.count(), 32);
        assert_eq!(find(&found, "kvm.vcpu.halt_wait_hist.00").map(|range| range.unit.as_ref()), Some(""));
    }

    #[test]
    fn counters_of_the_machine_are_as_they_are() {
        let schemas = Schemas::parse(&parsed(SCHEMAS)).unwrap();
        let found = schemas.counters("vm", &parsed(VM)).unwrap();
        let expected = Counter::counts("kvm.vm.mmu_shadow_zapped", "", 28);
        assert_eq!(find(&found, "kvm.vm.mmu_shadow_zapped"), Some(&expected));
        assert_eq!(find(&found, "kvm.vm.pages_2m").map(|pages| pages.behaviour), Some(Behaviour::Stands));
    }

    #[test]
    fn peaks_are_not_added_up_and_unknown_counters_are_left_out() {
        let schemas = Schemas::parse(&json!([{ "provider": "kvm", "target": "vcpu", "stats": [
            { "name": "deepest", "type": "peak", "exponent": 0 },
            { "name": "size", "type": "instant", "unit": "bytes", "base": 2, "exponent": 10 },
            { "name": "odd", "type": "of-the-future", "exponent": 0 }
        ]}, { "provider": "cryptodev", "target": "cryptodev", "stats": [] }]))
        .unwrap();
        let one = |deepest: u64| {
            json!({ "provider": "kvm", "stats": [
                { "name": "deepest", "value": deepest }, { "name": "size", "value": 4 },
                { "name": "odd", "value": 1 }, { "name": "unheard-of", "value": null }
            ]})
        };
        let found = schemas.counters("vcpu", &json!([one(7), one(9), one(2)])).unwrap();
        let expected = [Counter::stands("kvm.vcpu.deepest", "", 9), Counter::stands("kvm.vcpu.size", "2^10 bytes", 12)];
        assert_eq!(found, expected);
    }

    #[test]
    fn without_kvm_there_are_none() {
        assert_eq!(Schemas::parse(&json!([])), Err(StatsError::None));
        assert!(matches!(Schemas::parse(&json!({ "a": 1 })), Err(StatsError::Schemas(_))));
        let schemas = Schemas::parse(&parsed(SCHEMAS)).unwrap();
        assert!(matches!(schemas.counters("vm", &json!("no")), Err(StatsError::Counters(_))));
    }
}

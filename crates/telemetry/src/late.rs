//! Counters that another system, a hypervisor, keeps in steps of its own and reports only afterwards.
//!
//! It is one series of this host's side. A sample's time is the end of the step that it covers.

use crate::counter::Counter;
use record::looks::Reading;
use record::telemetry::{Column, Probe, Sample, Series, Side};
use std::collections::BTreeMap;

/// The counters of one step, and when it ended by this host's monotonic clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateSample {
    pub at_ns: u64,
    pub counters: Vec<Counter>,
}

/// The series of one probe, or of a probe that says why it has none. `asked_ns` is how long asking took.
pub fn late_series(name: &str, source: &str, found: Result<Vec<LateSample>, String>, asked_ns: u64) -> Series {
    let found = found.and_then(|samples| {
        let is_empty = samples.iter().all(|sample| sample.counters.is_empty());
        if is_empty { Err("nothing of it was counted meanwhile".to_owned()) } else { Ok(samples) }
    });
    let probe = |columns| Probe { name: name.to_owned(), source: source.to_owned(), columns };
    let mut samples = match found {
        Ok(samples) => samples,
        Err(why) => {
            let probes = vec![probe(Reading::Unavailable(why))];
            return Series { side: Side::Host, probes, columns: Vec::new(), cost_ns: None, samples: Vec::new() };
        }
    };
    samples.sort_by_key(|sample| sample.at_ns);
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut columns: Vec<Column> = Vec::new();
    for counter in samples.iter().flat_map(|sample| &sample.counters) {
        places.entry(&counter.name).or_insert_with(|| {
            columns.push(counter.column());
            columns.len() - 1
        });
    }
    let in_columns = |sample: &LateSample| {
        let mut values = vec![None; columns.len()];
        for counter in &sample.counters {
            values[places[counter.name.as_str()]] = Some(counter.value);
        }
        Sample { at_ns: sample.at_ns, took_ns: asked_ns, values }
    };
    let rows = samples.iter().map(in_columns).collect();
    let names = columns.iter().map(|column| column.name.clone()).collect();
    Series { side: Side::Host, probes: vec![probe(Reading::Known(names))], columns, cost_ns: None, samples: rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_in_order_and_what_is_missing_is_empty() {
        let sample = |at_ns: u64, counters: &[(&'static str, u64)]| LateSample {
            at_ns,
            counters: counters.iter().map(|(name, value)| Counter::stands(*name, "ms", *value)).collect(),
        };
        let found = vec![sample(40, &[("v.a", 2), ("v.b", 3)]), sample(20, &[("v.a", 1)])];
        let series = late_series("v", "a test", Ok(found), 5);
        let rows: Vec<_> = series.samples.iter().map(|sample| (sample.at_ns, sample.values.clone())).collect();
        assert_eq!(rows, [(20, vec![Some(1), None]), (40, vec![Some(2), Some(3)])]);
        assert_eq!(series.columns.len(), 2);
        assert_eq!(series.probes[0].columns.known().map(Vec::len), Some(2));
    }

    #[test]
    fn nothing_has_a_reason() {
        for found in [Err("the server is gone".to_owned()), Ok(Vec::new())] {
            let series = late_series("v", "a test", found, 0);
            assert!(series.columns.is_empty() && series.samples.is_empty());
            assert!(series.probes[0].columns.why_not().is_some_and(|why| !why.is_empty()));
        }
    }
}

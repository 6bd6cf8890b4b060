//! Columns of telemetry as metrics: the name of each, its base unit, and which part of the column's name becomes a label.
//!
//! A metric is named after its column, so that readers of the record recognise it: `disk.data.read_time` is
//! `bakeoff_telemetry_disk_read_time_seconds_total{of="data"}`. Only the unit is converted.

use super::exposition::{Family, Labels, MetricKind, MetricSample, MetricValue};
use record::telemetry::{Behaviour, Column};
use std::borrow::Cow;
use std::collections::HashMap;
use telemetry::LatestSample;

const PREFIX: &str = "bakeoff_telemetry_";

/// Probes of several similar things: the part after the probe's name says which one.
const OF_SEVERAL: [&str; 8] = ["cgroup", "disk", "io", "network", "numa_allocation", "pages", "qemu_disk", "vcpu"];
/// Probes whose columns have no name beyond which of several they are.
const OF_SEVERAL_ONLY: [&str; 2] = ["energy", "governor"];
/// For a counter with several ranges, the last part of the name is the number of the range.
const WITH_RANGES: &str = "kvm";

/// The kernel reports CPU times in hundredths of a second, whatever the rate of its own clock.
const TICKS_PER_SECOND: f64 = 100.0;

/// All columns that have a value, grouped by name.
pub fn families(latest_sample: &LatestSample, side: &'static str) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    let mut places: HashMap<Cow<'static, str>, usize> = HashMap::new();
    for (column, value) in latest_sample.columns.iter().zip(&latest_sample.sample.values) {
        let Some(value) = value else { continue };
        let (family, sample) = metric(column, *value, side);
        let place = *places.entry(family.name.clone()).or_insert(families.len());
        match families.get_mut(place) {
            None => families.push(Family { samples: vec![sample], ..family }),
            Some(known) if is_new_in(known, &family, &sample) => known.samples.push(sample),
            // Two columns whose names differ only in characters a metric cannot have: one is dropped to keep the text valid.
            Some(_) => {}
        }
    }
    families
}

fn is_new_in(known: &Family, family: &Family, sample: &MetricSample) -> bool {
    let is_alike = known.kind == family.kind && known.unit == family.unit;
    is_alike && known.samples.iter().all(|other| other.labels != sample.labels)
}

/// The family of a column without its samples, and the column's sample.
fn metric(column: &Column, value: u64, side: &'static str) -> (Family, MetricSample) {
    let (words, which) = parted(&column.name);
    let (unit, scale) = in_base_unit(&column.unit);
    let kind = match column.behaviour {
        Behaviour::Counts => MetricKind::Counter,
        Behaviour::Stands => MetricKind::Gauge,
    };
    let mut labels: Labels = vec![("side", side.to_owned())];
    labels.extend(which);
    let family = Family {
        name: name(&words, &unit, kind).into(),
        kind,
        help: help(column, &unit, labels.get(1)).into(),
        unit,
        samples: Vec::new(),
    };
    (family, MetricSample { labels, value: scale.applied_to(value) })
}

/// The words of a metric's name, and the label for the part that was cut out of the column's name.
fn parted(column: &str) -> (String, Option<(&'static str, String)>) {
    let parts: Vec<&str> = column.split('.').collect();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        [probe, which, field @ ..] if OF_SEVERAL.contains(probe) && !field.is_empty() => {
            (format!("{probe}_{}", field.join("_")), Some(("of", (*which).to_owned())))
        }
        [probe, which] if OF_SEVERAL_ONLY.contains(probe) => ((*probe).to_owned(), Some(("of", (*which).to_owned()))),
        [probe, counter @ .., range] if *probe == WITH_RANGES && counter.len() == 2 && is_number(range) => {
            (format!("{probe}_{}", counter.join("_")), Some(("range", (*range).to_owned())))
        }
        _ => (parts.join("_"), None),
    }
}

/// Counters get `_total` from their kind, so it must not appear twice.
fn name(words: &str, unit: &str, kind: MetricKind) -> String {
    let words = if kind == MetricKind::Counter { words.strip_suffix(kind.suffix()).unwrap_or(words) } else { words };
    let words = plain(words);
    let is_there = unit.is_empty() || words == unit || words.ends_with(&format!("_{unit}"));
    if is_there { format!("{PREFIX}{words}") } else { format!("{PREFIX}{words}_{unit}") }
}

fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}

/// The help text, which is the same for all samples of a family.
fn help(column: &Column, base_unit: &str, which: Option<&(&'static str, String)>) -> String {
    let Column { name, unit, .. } = column;
    let name = which.map_or(name.clone(), |(label, value)| {
        let (before, after) = name.split_once(&format!(".{value}")).unwrap_or((name, ""));
        format!("{before}.<{label}>{after}")
    });
    let kept_in = if unit == base_unit { String::new() } else { format!(", where it is in {unit}") };
    format!("Column {name} of the record{kept_in}.")
}

/// How a number in a column's unit is converted to the base unit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum UnitScale {
    One,
    /// Dividing rounds once; multiplying by a fraction rounds twice.
    Divided(f64),
    Times(f64),
}

impl UnitScale {
    fn applied_to(self, value: u64) -> MetricValue {
        match self {
            Self::One => MetricValue::Whole(value),
            Self::Divided(by) => MetricValue::Real(value as f64 / by),
            Self::Times(by) => MetricValue::Real(value as f64 * by),
        }
    }
}

fn in_base_unit(unit: &str) -> (Cow<'static, str>, UnitScale) {
    match unit {
        "" => ("".into(), UnitScale::One),
        "bytes" => ("bytes".into(), UnitScale::One),
        "s" => ("seconds".into(), UnitScale::One),
        "ms" => ("seconds".into(), UnitScale::Divided(1e3)),
        "us" => ("seconds".into(), UnitScale::Divided(1e6)),
        "ns" => ("seconds".into(), UnitScale::Divided(1e9)),
        "ticks" => ("seconds".into(), UnitScale::Divided(TICKS_PER_SECOND)),
        "uj" => ("joules".into(), UnitScale::Divided(1e6)),
        "khz" => ("hertz".into(), UnitScale::Times(1e3)),
        other => scaled(other).unwrap_or_else(|| (plain(other).into(), UnitScale::One)),
    }
}

/// "2^10 bytes", the form of units that have no usual name.
fn scaled(unit: &str) -> Option<(Cow<'static, str>, UnitScale)> {
    let (base, rest) = unit.split_once('^')?;
    let (exponent, unit) = rest.split_once(' ').unwrap_or((rest, ""));
    let (base, exponent): (f64, i32) = (base.parse().ok()?, exponent.parse().ok()?);
    let scale =
        if exponent < 0 { UnitScale::Divided(base.powi(-exponent)) } else { UnitScale::Times(base.powi(exponent)) };
    Some((plain(unit).into(), scale))
}

#[cfg(test)]
mod tests {
    use super::super::exposition::text;
    use super::*;
    use Behaviour::{Counts, Stands};
    use record::telemetry::Sample as Samples;

    fn shown(columns: &[(&str, &str, Behaviour, Option<u64>)]) -> String {
        let column = |&(name, unit, behaviour, _): &(&str, &str, Behaviour, Option<u64>)| Column {
            name: name.to_owned(),
            unit: unit.to_owned(),
            behaviour,
        };
        let values = columns.iter().map(|(_, _, _, value)| *value).collect();
        let sample = Samples { at_ns: 1, took_ns: 1, values };
        text(families(&LatestSample { columns: columns.iter().map(column).collect(), sample }, "host"))
    }

    #[test]
    fn a_metric_is_called_as_its_column_with_what_varies_as_a_label() {
        let text = shown(&[
            ("interrupts.total", "", Counts, Some(57_747_151)),
            ("disk.data.reads", "", Counts, Some(1_500)),
            ("disk.log.reads", "", Counts, Some(0)),
            ("switches.running", "tasks", Stands, Some(3)),
            ("memory.huge_pages", "pages", Stands, Some(4)),
            ("memory.total", "bytes", Stands, Some(25_276_502_016)),
            ("network.eth0.sent_bytes", "bytes", Counts, Some(77)),
            ("pressure.cpu.some", "us", Counts, None),
            ("governor.powersave", "cpus", Stands, Some(8)),
            ("kvm.vcpu.halt_wait_hist.07", "", Counts, Some(9)),
        ]);
        insta::assert_snapshot!(text, @r#"
        # HELP bakeoff_telemetry_interrupts Column interrupts.total of the record.
        # TYPE bakeoff_telemetry_interrupts counter
        bakeoff_telemetry_interrupts_total{side="host"} 57747151
        # HELP bakeoff_telemetry_disk_reads Column disk.<of>.reads of the record.
        # TYPE bakeoff_telemetry_disk_reads counter
        bakeoff_telemetry_disk_reads_total{side="host",of="data"} 1500
        bakeoff_telemetry_disk_reads_total{side="host",of="log"} 0
        # HELP bakeoff_telemetry_switches_running_tasks Column switches.running of the record.
        # TYPE bakeoff_telemetry_switches_running_tasks gauge
        # UNIT bakeoff_telemetry_switches_running_tasks tasks
        bakeoff_telemetry_switches_running_tasks{side="host"} 3
        # HELP bakeoff_telemetry_memory_huge_pages Column memory.huge_pages of the record.
        # TYPE bakeoff_telemetry_memory_huge_pages gauge
        # UNIT bakeoff_telemetry_memory_huge_pages pages
        bakeoff_telemetry_memory_huge_pages{side="host"} 4
        # HELP bakeoff_telemetry_memory_total_bytes Column memory.total of the record.
        # TYPE bakeoff_telemetry_memory_total_bytes gauge
        # UNIT bakeoff_telemetry_memory_total_bytes bytes
        bakeoff_telemetry_memory_total_bytes{side="host"} 25276502016
        # HELP bakeoff_telemetry_network_sent_bytes Column network.<of>.sent_bytes of the record.
        # TYPE bakeoff_telemetry_network_sent_bytes counter
        # UNIT bakeoff_telemetry_network_sent_bytes bytes
        bakeoff_telemetry_network_sent_bytes_total{side="host",of="eth0"} 77
        # HELP bakeoff_telemetry_governor_cpus Column governor.<of> of the record.
        # TYPE bakeoff_telemetry_governor_cpus gauge
        # UNIT bakeoff_telemetry_governor_cpus cpus
        bakeoff_telemetry_governor_cpus{side="host",of="powersave"} 8
        # HELP bakeoff_telemetry_kvm_vcpu_halt_wait_hist Column kvm.vcpu.halt_wait_hist.<range> of the record.
        # TYPE bakeoff_telemetry_kvm_vcpu_halt_wait_hist counter
        bakeoff_telemetry_kvm_vcpu_halt_wait_hist_total{side="host",range="07"} 9
        # EOF
        "#);
    }

    #[test]
    fn whatever_a_column_is_kept_in_its_metric_is_in_the_base_unit() {
        let text = shown(&[
            ("cpu.user", "ticks", Counts, Some(2_023_957)),
            ("a.ms", "ms", Counts, Some(1_500)),
            ("a.us", "us", Counts, Some(1_500)),
            ("vcpu.0.wait", "ns", Counts, Some(1_000_000_001)),
            ("frequency.mean", "khz", Stands, Some(2_400_001)),
            ("energy.package-0_dram", "uj", Counts, Some(1_500_000)),
            ("kvm.vm.stack", "2^10 bytes", Stands, Some(3)),
            ("kvm.vm.nap", "10^-4 seconds", Counts, Some(5)),
        ]);
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        insta::assert_snapshot!(samples.join("\n"), @r#"
        bakeoff_telemetry_cpu_user_seconds_total{side="host"} 20239.57
        bakeoff_telemetry_a_ms_seconds_total{side="host"} 1.5
        bakeoff_telemetry_a_us_seconds_total{side="host"} 0.0015
        bakeoff_telemetry_vcpu_wait_seconds_total{side="host",of="0"} 1.000000001
        bakeoff_telemetry_frequency_mean_hertz{side="host"} 2400001000.0
        bakeoff_telemetry_energy_joules_total{side="host",of="package-0_dram"} 1.5
        bakeoff_telemetry_kvm_vm_stack_bytes{side="host"} 3072.0
        bakeoff_telemetry_kvm_vm_nap_seconds_total{side="host"} 0.0005
        "#);
    }

    #[test]
    fn odd_names_leave_the_text_valid() {
        let twice = [("a.b-c", "", Counts, Some(1)), ("a.b_c", "", Counts, Some(2))];
        assert_eq!(shown(&twice).matches("bakeoff_telemetry_a_b_c_total").count(), 1);
        let other_kind = [("a", "", Counts, Some(1)), ("a", "", Stands, Some(2))];
        assert_eq!(shown(&other_kind).lines().filter(|line| line.starts_with("# TYPE")).count(), 1);
        assert!(shown(&[("vcpu.0", "odd unit", Stands, Some(1))]).contains("_vcpu_0_odd_unit{"));
    }
}

//! Checks that the dashboard, `docs/grafana/bakeoff.json`, uses only metrics that exist.

use super::course::{Intent, TrialCourse};
use super::exposition::{Family, MetricKind};
use super::{columns, text};
use record::event::Event;
use record::telemetry::{Series, Side};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use telemetry::{DiskLocation, DiskTarget, FamilyTarget, Interfaces, LatestSample, Sampler, Targets, ThreadTarget};

const DASHBOARD: &str = include_str!("../../../../docs/grafana/bakeoff.json");

/// A host on which everything in the dashboard can be read. Each file's path is on a line that begins with "==> ".
const HOST: &str = "\
==> /proc/stat
cpu  2023957 240976 659984 2449653 38713 0 19309 2195 2 0
cpu0 2023957 240976 659984 2449653 38713 0 19309 2195 2 0
intr 57747151 0 0
ctxt 67747151
processes 4711
procs_running 3
procs_blocked 0
==> /proc/interrupts
            CPU0
 24:         12   PCI-MSI  virtio0-requests
LOC:       4000   Local timer interrupts
RES:        500   Rescheduling interrupts
CAL:         60   Function call interrupts
==> /proc/schedstat
version 17
timestamp 4294967295
cpu0 0 0 0 0 0 0 900000000 70000000 1234
==> /proc/meminfo
MemTotal:       24683888 kB
MemFree:         9683888 kB
MemAvailable:   20683888 kB
Cached:          8683888 kB
Dirty:               128 kB
AnonPages:       1683888 kB
AnonHugePages:    102400 kB
==> /proc/pressure/cpu
some avg10=0.00 avg60=0.00 avg300=0.00 total=123456
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
==> /proc/pressure/io
some avg10=0.00 avg60=0.00 avg300=0.00 total=2345
full avg10=0.00 avg60=0.00 avg300=0.00 total=234
==> /proc/pressure/memory
some avg10=0.00 avg60=0.00 avg300=0.00 total=34
full avg10=0.00 avg60=0.00 avg300=0.00 total=3
==> /proc/net/dev
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
  eth0: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0
==> /sys/class/block/vda/stat
7268411 398862 402728958 6406040 16165212 1720358 1077363112 8644060 3 1087528 15453147 1655742 54 902564288 189387 345 213
==> /proc/77/stat
77 (qemu) S 1 77 77 0 -1 0 0 0 0 0 250 30 0 0 20 0 9 0 0 0 0 0
==> /proc/77/task/78/schedstat
5000000000 40000000 99
==> /proc/77/task/78/stat
78 (CPU 0/KVM) S 1 77 77 0 -1 0 0 0 0 0 250 30 0 0 20 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 200 0 0
==> /proc/77/task/78/status
voluntary_ctxt_switches:	5
nonvoluntary_ctxt_switches:	6
";

fn unpack(tree: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in tree.split("==> ").skip(1).filter_map(|file| file.split_once('\n')) {
        let path = root.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).and_then(|()| std::fs::write(&path, text)).unwrap();
    }
    root
}

fn latest_sample(root: &Path) -> LatestSample {
    let family = |label: &str| FamilyTarget {
        label: label.to_owned(),
        process: 77,
        without_threads: BTreeSet::new(),
        with_switches: false,
    };
    let targets = Targets {
        without_system: false,
        disks: vec![DiskTarget { label: "data".to_owned(), location: DiskLocation::Device("vda".to_owned()) }],
        interfaces: Interfaces::AllButLoopback,
        families: ["emulator", "machine"].map(family).into(),
        threads: vec![ThreadTarget { label: "vcpu.0".to_owned(), process: 77, thread: 78 }],
        ..Targets::default()
    };
    let mut sampler = Sampler::open(Side::Host, root, &targets, Vec::new());
    let sample = sampler.sample(1);
    let Series { columns, .. } = sampler.series(Vec::new());
    LatestSample { columns: Arc::from(columns), sample }
}

/// All metrics that are served while a trial of a run drives.
fn served() -> Vec<Family> {
    let now = Instant::now();
    let expected = Duration::from_mins(1);
    let intent = Intent { study: "s".to_owned(), counts: "NOPM".to_owned(), trials: 1, expected };
    let mut course = TrialCourse::new(intent, now);
    course.keep_in("runs/s".to_owned());
    let (contender, coordinates) = ("native".to_owned(), String::new());
    for event in [
        Event::TrialStarted { trial: 1, of: 1, block: 1, contender, coordinates, host: None },
        Event::PhaseStarted { trial: 1, phase: "measure".to_owned(), expected_ms: 1_000 },
        Event::Progress { what: "step".to_owned(), done: 1, of: 2 },
        Event::Throughput { trial: 1, measured: true, elapsed_ms: 1_000, counted: 1, committed: 1, errors: 0 },
    ] {
        course.take(&event, now);
    }
    let mut families = course.families(now);
    families.extend(columns::families(&latest_sample(unpack(HOST).path()), "host"));
    families.retain(|family| !family.samples.is_empty());
    families
}

fn dashboard() -> Value {
    serde_json::from_str(DASHBOARD).unwrap()
}

fn targets(dashboard: &Value) -> Vec<&Value> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets: Vec<&Value> = panels.filter_map(|panel| panel["targets"].as_array()).flatten().collect();
    assert!(targets.len() > 30, "{}", targets.len());
    targets
}

/// The names of metrics in an expression, each with whether its rate is taken.
fn named(expression: &str) -> Vec<(&str, bool)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let starts = expression.match_indices("bakeoff_").map(|(start, _)| start);
    let name = |start: usize| {
        let rest = &expression[start..];
        (rest.split(|letter| !is_part(letter)).next().unwrap(), expression[..start].ends_with("rate("))
    };
    starts.map(name).collect()
}

fn labels_in(legend: &str) -> Vec<&str> {
    legend.split("{{").skip(1).filter_map(|rest| rest.split_once("}}")).map(|(label, _)| label).collect()
}

#[test]
fn every_metric_of_the_dashboard_is_served_with_the_labels_it_shows() {
    let families = served();
    let by_name: BTreeMap<String, &Family> =
        families.iter().map(|family| (format!("{}{}", family.name, family.kind.suffix()), family)).collect();
    for target in targets(&dashboard()) {
        let expression = target["expr"].as_str().unwrap();
        let names = named(expression);
        assert!(!names.is_empty(), "{expression}");
        for (name, is_rate) in names {
            let family = by_name.get(name).unwrap_or_else(|| panic!("{name} is not served: {:?}", by_name.keys()));
            let counts = family.kind == MetricKind::Counter;
            assert!(!is_rate || counts, "only of what counts there is a rate: {expression}");
            for label in labels_in(target["legendFormat"].as_str().unwrap()) {
                let is_there = family.samples.iter().all(|sample| sample.labels.iter().any(|(own, _)| *own == label));
                assert!(is_there, "{name} has no label {label}");
            }
        }
    }
    assert!(text(families, None).ends_with("# EOF\n"));
}

#[test]
fn every_metric_that_is_no_telemetry_is_on_the_dashboard() {
    let dashboard = dashboard();
    let shown: BTreeSet<&str> = targets(&dashboard)
        .iter()
        .flat_map(|target| named(target["expr"].as_str().unwrap()))
        .map(|(name, _)| name)
        .collect();
    let of_run = served().into_iter().filter(|family| !family.name.starts_with("bakeoff_telemetry_"));
    let names = of_run.map(|family| format!("{}{}", family.name, family.kind.suffix()));
    let missing: Vec<String> = names.filter(|name| !shown.contains(name.as_str())).collect();
    // Steps within a phase, and a count that is already in the throughput.
    assert_eq!(missing, ["bakeoff_step_done", "bakeoff_step_planned", "bakeoff_trial_counted_total"]);
}

/// Why it loads in any installation: it has no id and no data source of ours, and its panels do not overlap.
#[test]
fn the_dashboard_belongs_to_no_installation() {
    let dashboard = dashboard();
    assert_eq!(dashboard["id"], Value::Null);
    assert!(!DASHBOARD.contains("pluginVersion") && dashboard.get("__inputs").is_none());
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let source = variables.iter().find(|variable| variable["type"] == "datasource").unwrap();
    assert_eq!((&source["name"], &source["query"]), (&"datasource".into(), &"prometheus".into()));
    let chosen = serde_json::json!({ "type": "prometheus", "uid": "${datasource}" });
    assert!(targets(&dashboard).iter().all(|target| target["datasource"] == chosen));
    let known: BTreeSet<String> =
        variables.iter().map(|variable| format!("${}", variable["name"].as_str().unwrap())).collect();
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        let [x, y, width, height] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
        assert!(x + width <= 24, "{panel}");
        let places = (x..x + width).flat_map(|x| (y..y + height).map(move |y| (x, y)));
        assert!(places.into_iter().all(|place| taken.insert(place)), "{} lies on another panel", panel["title"]);
        for used in panel.to_string().split('$').skip(1) {
            let name: String = used.chars().take_while(char::is_ascii_alphanumeric).collect();
            assert!(name.is_empty() || known.contains(&format!("${name}")), "${name} is no variable");
        }
    }
}

//! The table of a run's telemetry: for runs with some, for runs without any, and for folders that are no run.

use crate::setting::{Place, text};
use record::folder::RunFolder;
use record::looks::Reading;
use record::telemetry::{Behaviour, Column, Probe, Sample, Series, Side};
use record::trial::TrialRecord;
use serde_json::{Value, json};
use std::path::PathBuf;

const HEADING: &str = "trial,block,contender,cell,machine,side,at_s,column,unit,behaviour,value\n";

/// Two complete trials of the only cell, and a third that was not reached.
fn run(place: &Place) -> RunFolder {
    run_of(place, &cells(1))
}

fn cells(machines: u32) -> Value {
    json!([{ "id": 0, "contender": "native", "baseline": true, "settings": { "machine": { "count": machines } } }])
}

fn run_of(place: &Place, cells: &Value) -> RunFolder {
    let path = place.folder.path().join("runs/a");
    let trials: Vec<Value> = (1..=3).map(|id| json!({ "id": id, "block": id, "cell": 0, "seed": 1 })).collect();
    let plan = json!({
        "format": record::FORMAT, "question": "?", "study": "s", "seed": 1, "blocks": 3, "cells": cells, "trials": trials
    });
    let run = RunFolder::create(&path, "", &serde_json::from_value(plan).unwrap()).unwrap();
    for id in 1..=2 {
        let trial = run.trial(id);
        trial.begin().unwrap();
        trial.complete(&record(id, 5_000_000_000)).unwrap();
    }
    run
}

fn record(id: u32, window_start_ns: u64) -> TrialRecord {
    let record = json!({
        "format": record::FORMAT, "id": id, "block": id, "cell": 0, "contender": "native", "seed": 1,
        "outcome": { "outcome": "completed" }, "started": "2026-01-01T00:00:00Z", "phases": [],
        "driver": {
            "placement": "inside", "warmup_ms": 1000, "window_start_ns": window_start_ns, "measured_ms": 1000,
            "clients": 1, "sessions": 1, "shards": 1, "kinds": [], "tally": {},
            "metric": { "name": "TPS", "unit": "transactions/s", "per_ms": 1000, "counted": [] },
            "work": { "transactions": 0, "statements": 0, "rows_returned": 0, "rows_changed": 0 },
            "testimony": {
                "cpu_ns": 0, "lateness_p50_us": 0, "lateness_p99_us": 0, "lateness_max_us": 0, "busiest_shard": 0.0
            },
        },
    });
    serde_json::from_value(record).unwrap()
}

fn series() -> Series {
    let column = Column { name: "cpu.user".to_owned(), unit: "ticks".to_owned(), behaviour: Behaviour::Counts };
    let columns = Reading::Known(vec!["cpu.user".to_owned()]);
    let sample = |at_ns, value| Sample { at_ns, took_ns: 1, values: vec![value] };
    Series {
        side: Side::Machine,
        probes: vec![Probe { name: "cpu".to_owned(), source: "/proc/stat".to_owned(), columns }],
        columns: vec![column],
        cost_ns: None,
        samples: vec![sample(4_250_000_000, Some(7)), sample(5_250_000_000, None), sample(6_250_000_000, Some(9))],
    }
}

#[test]
fn all_values_of_a_run_are_one_table_and_what_has_none_is_named() {
    let place = Place::new("");
    record::telemetry_files::write(&run(&place).trial(2), &[series()]).unwrap();
    let output = place.bakeoff(&["export", "runs/a"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = "2,2,native,0,1,machine,-0.750000,cpu.user,ticks,counts,7\n2,2,native,0,1,machine,1.250000,cpu.user,ticks,counts,9\n";
    assert_eq!(text(&output.stdout), format!("{HEADING}{lines}"));
    let told = text(&output.stderr);
    assert!(told.contains("without telemetry: trials 1;") && told.contains("with telemetry: 1 of 2"), "{told}");
    let output = place.bakeoff(&["export", "runs/a", "--csv", "table.csv"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    let file = std::fs::read_to_string(place.folder.path().join("table.csv")).unwrap();
    assert_eq!(file, format!("{HEADING}{lines}"));
}

/// Each machine has lines by its own clock; the third was not sampled, and that is reported.
#[test]
fn machines_side_by_side_have_lines_of_their_own() {
    let place = Place::new("");
    let run = run_of(&place, &cells(3));
    for (number, window_start_ns) in [(1, 5_000_000_000), (2, 4_000_000_000), (3, 5_000_000_000)] {
        let machine = run.trial(1).machine(number);
        machine.begin().unwrap();
        machine.complete(&record(1, window_start_ns)).unwrap();
        if number < 3 {
            record::telemetry_files::write(&machine, &[series()]).unwrap();
        }
    }
    let output = place.bakeoff(&["export", "runs/a"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines: Vec<String> = text(&output.stdout).lines().skip(1).map(str::to_owned).collect();
    let expected = [
        "1,1,native,0,1,machine,-0.750000,cpu.user,ticks,counts,7",
        "1,1,native,0,1,machine,1.250000,cpu.user,ticks,counts,9",
        "1,1,native,0,2,machine,0.250000,cpu.user,ticks,counts,7",
        "1,1,native,0,2,machine,2.250000,cpu.user,ticks,counts,9",
    ];
    assert_eq!(lines, expected);
    let told = text(&output.stderr);
    assert!(told.contains("trial 1: nothing was sampled of machine 3"), "{told}");
    assert!(told.contains("without telemetry: trials 2;"), "{told}");
}

#[test]
fn a_run_of_old_has_a_heading_and_a_reason() {
    let place = Place::new("");
    run(&place);
    let output = place.bakeoff(&["export", "runs/a"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), HEADING.to_owned()));
    assert!(text(&output.stderr).contains("no trial of runs/a has telemetry"), "{}", text(&output.stderr));
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let place = Place::new("");
    let output = place.bakeoff(&["export", "nowhere", "--csv", "table.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nowhere"), "{}", text(&output.stderr));
    assert!(!place.folder.path().join("table.csv").exists(), "a table of nothing");
    run(&place);
    let output = place.bakeoff(&["export", "runs/a", "--csv", "no/such/table.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no/such/table.csv"), "{}", text(&output.stderr));
    let broken: PathBuf = place.folder.path().join("runs/a/trials/0002/telemetry.json");
    std::fs::write(&broken, "[").unwrap();
    let output = place.bakeoff(&["export", "runs/a"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("0002/telemetry.json"), "{}", text(&output.stderr));
}

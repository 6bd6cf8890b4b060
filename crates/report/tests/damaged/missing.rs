//! A completed trial whose files are incomplete, or contradict each other or the plan, enters no number.

use crate::OnDisk;
use analysis::compare::RatioVerdict;
use analysis::findings::{Severity, What};
use analysis::pairing::WhyUnusable;
use record::synthetic::{self, consolidated, neighbour};
use report::findings::sentence;
use serde_json::json;
use std::fs;

/// Expects the first of four trials to be left out of every number, with a warning that contains these words.
#[track_caller]
fn not_believed(disk: &OnDisk, words: &str) {
    let (run, analysis) = disk.analysed();
    let warned = analysis.findings.iter().any(|finding| {
        finding.severity == Severity::Serious && sentence(finding).contains(words) && finding.subject.trials == [1]
    });
    assert!(warned, "{words:?} is not in {:#?}", analysis.findings);
    let cell = &analysis.cells[run.trials[0].record.cell as usize];
    assert_eq!((cell.outcomes.disagreeing, cell.outcomes.completed), (1, cell.outcomes.planned - 1));
    assert!(cell.trials.iter().all(|trial| trial.valid == (trial.trial != 1)));
    let comparison = &analysis.comparisons[0];
    assert_eq!(comparison.left_out.len(), 1);
    assert_eq!(comparison.left_out[0].why[0].why, WhyUnusable::RecordDisagrees);
    let [html, markdown, _, terminal] = crate::told(&run, &analysis);
    // Lines of the terminal are wrapped.
    let terminal = terminal.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(terminal.contains(words), "{terminal}");
    assert!(html.contains("not believed") && markdown.contains("not believed"));
}

/// Expects all trials to be left out.
#[track_caller]
fn not_believed_any(disk: &OnDisk, words: &str) {
    let (run, analysis) = disk.analysed();
    assert!(run.trials.iter().all(|trial| trial.disagreements.iter().any(|text| text == words)));
    assert!(analysis.comparisons.iter().all(|comparison| comparison.throughput().is_none()));
}

/// Each is a file that bakeoff could have written.
#[test]
fn parts_that_were_swapped_lost_or_changed_are_named() {
    let run = synthetic::waits::sampled(synthetic::run(2));
    let disk = OnDisk::of(&run);
    let folder = record::folder::RunFolder::open(&disk.path()).unwrap();
    for trial in &run.trials {
        folder.trial(trial.record.id).complete(&trial.record).unwrap();
    }
    assert!(disk.open().unwrap().trials.iter().all(|trial| trial.disagreements.is_empty()));
    let of_same_cell = run.trials[1..].iter().find(|trial| trial.record.cell == run.trials[0].record.cell).unwrap();
    let [telemetry, counters] = ["telemetry-host.csv", "counters.json"].map(|name| format!("trials/0001/{name}"));
    let of_another = format!("trials/{:04}/telemetry-host.csv", of_same_cell.record.id);
    let read = |file: &str| fs::read(disk.file(file)).unwrap();
    let (good, also_good) = (read(&telemetry), read(&counters));
    disk.write(&telemetry, read(&of_another));
    not_believed(&disk, "telemetry-host.csv was changed after the trial");
    disk.write(&telemetry, good);
    fs::remove_file(disk.file(&counters)).unwrap();
    not_believed(&disk, "counters.json is missing");
    disk.write(&counters, also_good);
    disk.set("trials/0001/trial.json", "/driver/testimony/cpu_ns", 1);
    not_believed(&disk, "trial.json was changed after the trial");
    let seed = disk.json("plan.json")["seed"].as_u64().unwrap();
    disk.set("plan.json", "/seed", seed ^ 1);
    not_believed_any(&disk, "plan.json of the run was changed after the trial");
    disk.set("plan.json", "/seed", seed);
    disk.set("host.json", "/cpu.model", json!({"known": "another"}));
    not_believed_any(&disk, "host.json of the run was changed after the trial");
}

#[test]
fn a_trial_without_data_checks_has_not_passed_them() {
    let disk = OnDisk::of(&synthetic::run(2));
    fs::remove_file(disk.file("trials/0001/findings.json")).unwrap();
    not_believed(&disk, "it has no data checks (findings.json)");
    disk.write("trials/0001/findings.json", "[]");
    not_believed(&disk, "it has no data checks (findings.json)");
    let (run, analysis) = disk.analysed();
    assert_ne!(analysis.comparisons[0].verdict, RatioVerdict::WrongData, "nothing is known of its data");
    assert!(!report::terminal(&run, &analysis).contains("The data is correct"));
}

#[test]
fn a_trial_with_fewer_data_checks_than_others_of_its_cell_has_not_passed_them() {
    let disk = OnDisk::of(&synthetic::run(2));
    let mut findings = disk.json("trials/0001/findings.json");
    findings.as_array_mut().unwrap().remove(0);
    disk.write("trials/0001/findings.json", findings.to_string());
    not_believed(&disk, "lacks 1 data checks that other trials of its cell have: order-entry/consistency-01");
    // Another build may have other checks.
    disk.set("trials/0001/trial.json", "/made_by", "bakeoff 0.0.9");
    assert!(disk.analysed().0.trials.iter().all(|trial| trial.disagreements.is_empty()));
}

#[test]
fn a_trial_without_its_seconds_or_totals_has_not_been_measured() {
    let disk = OnDisk::of(&synthetic::run(2));
    fs::remove_file(disk.file("trials/0001/intervals.hlog")).unwrap();
    not_believed(&disk, "it has no intervals.hlog");
    let disk = OnDisk::of(&synthetic::run(2));
    disk.set("trials/0001/trial.json", "/driver", json!(null));
    not_believed(&disk, "trial.json has no totals");
}

#[test]
fn totals_that_are_not_those_of_the_seconds_are_not_believed() {
    let disk = OnDisk::of(&synthetic::run(2));
    let committed = disk.json("trials/0001/trial.json")["driver"]["kinds"][0]["committed"].as_u64().unwrap();
    disk.set("trials/0001/trial.json", "/driver/kinds/0/committed", committed ^ 1024);
    not_believed(&disk, "new-order: the log has");
    disk.set("trials/0001/trial.json", "/driver/kinds/0/committed", committed);
    disk.set("trials/0001/trial.json", "/driver/measured_ms", 12_000);
    not_believed(&disk, "the log's measured seconds are 24000 ms");
    let disk = OnDisk::of(&synthetic::run(2));
    let kinds = disk.json("trials/0001/trial.json")["driver"]["kinds"].clone();
    let twice: Vec<_> = kinds.as_array().unwrap().iter().chain([&kinds[0]]).cloned().collect();
    disk.set("trials/0001/trial.json", "/driver/kinds", twice);
    not_believed(&disk, "the totals have new-order twice");
}

#[test]
fn a_throughput_counted_otherwise_than_all_others_is_not_believed() {
    let disk = OnDisk::of(&synthetic::run(2));
    disk.set("trials/0001/trial.json", "/driver/metric/per_ms", 6_000);
    not_believed(&disk, "its throughput counts new-order per 6000 ms, unlike that of other trials");
    disk.set("trials/0001/trial.json", "/driver/metric/per_ms", 60_000);
    disk.set("trials/0001/trial.json", "/driver/metric/counted", json!(["payment"]));
    not_believed(&disk, "its throughput counts payment per 60000 ms");
    // With two trials, nobody knows which one is right.
    let disk = OnDisk::of(&synthetic::run(1));
    disk.set("trials/0001/trial.json", "/driver/metric/per_ms", 6_000);
    assert!(disk.analysed().0.trials.iter().all(|trial| trial.disagreements.len() == 1));
}

#[test]
fn each_of_several_machines_must_have_been_checked() {
    let disk = OnDisk::of(&consolidated::run(1, None));
    let run = disk.open().unwrap();
    let trial = run.trials.iter().find(|trial| trial.machines.len() == 2).unwrap().record.id;
    disk.write(&format!("trials/{trial:04}/machines/2/findings.json"), "[]");
    let of_trial = |disk: &OnDisk| {
        disk.open().unwrap().trials.into_iter().find(|one| one.record.id == trial).unwrap().disagreements
    };
    assert!(of_trial(&disk)[0].starts_with("machine 2: the trial is called completed, but it has no data checks"));
    fs::remove_dir_all(disk.file(&format!("trials/{trial:04}/machines/2"))).unwrap();
    assert!(of_trial(&disk)[0].contains("the record of one of its machines is missing"), "{:?}", of_trial(&disk));
}

/// It is not driven, and its data is not checked again.
#[test]
fn a_machine_that_stands_idle_needs_neither_seconds_nor_checks() {
    let disk = OnDisk::of(&neighbour::run(1, &["idle"]));
    let path = format!("trials/0001/machines/{}", neighbour::NEIGHBOUR);
    disk.write(&format!("{path}/findings.json"), "[]");
    let _ = fs::remove_file(disk.file(&format!("{path}/intervals.hlog")));
    assert_eq!(disk.json(&format!("{path}/trial.json")).get("driver"), None);
    assert!(disk.open().unwrap().trials.iter().all(|trial| trial.disagreements.is_empty()));
}

#[test]
fn the_record_of_another_trial_is_refused() {
    let disk = OnDisk::of(&synthetic::run(2));
    let name = "trials/0002/trial.json";
    let right = disk.json(name);
    let told = |key: &str, expected: &str| format!("{key}, but plan.json says {expected} of trial 2");
    for (key, wrong, expected) in [
        ("id", json!(99), right["id"].to_string()),
        ("cell", json!(7), right["cell"].to_string()),
        ("cell", json!(1 - right["cell"].as_u64().unwrap()), right["cell"].to_string()),
        ("block", json!(2), right["block"].to_string()),
        ("seed", json!(5), right["seed"].to_string()),
        ("contender", json!("vm"), right["contender"].to_string()),
    ] {
        disk.set(name, &format!("/{key}"), wrong.clone());
        disk.refused(name, &[&told(&format!("{key} is {wrong}"), &expected)]);
        disk.write(name, right.to_string());
    }
    assert!(disk.open().is_ok());
    let disk = OnDisk::of(&consolidated::run(1, None));
    let trial = disk.open().unwrap().trials.iter().find(|trial| trial.machines.len() == 2).unwrap().record.id;
    let name = format!("trials/{trial:04}/machines/2/trial.json");
    disk.set(&name, "/id", trial + 1);
    disk.refused(&name, &["id is"]);
}

#[test]
fn a_plan_that_cannot_be_one_is_refused() {
    let told = |pointer: &str, value: serde_json::Value, words: &str| {
        let disk = OnDisk::of(&synthetic::run(2));
        disk.set("plan.json", pointer, value);
        disk.refused("plan.json", &[words]);
    };
    told("/cells/1/id", json!(0), "cells[1].id is 0, and so is that of another cell");
    told("/cells/1/contender", json!("native"), "cells[1] is the same contender");
    told("/cells/1/baseline", json!(true), "cells[1].baseline is true");
    told("/cells/0/settings/machine/count", json!(u64::MAX), "cells[0]: settings.machine.count: must be 1 to 64");
    told("/trials/1/id", json!(1), "trials[1].id is 1");
    told("/trials/1/cell", json!(7), "trials[1].cell is 7, and there is no such cell");
    told("/trials/1/block", json!(9), "trials[1].block is 9; it must be 1 to 2");
    told("/blocks", json!(u32::MAX), "blocks is 4294967295");
}

/// A cell with another scenario than its baseline would silently be left out of every comparison.
#[test]
fn a_cell_that_lost_its_baseline_is_told_of() {
    let disk = OnDisk::of(&consolidated::run(1, None));
    disk.set("plan.json", "/cells/3/scenario", "2x3");
    let (_, analysis) = disk.analysed();
    let is_told = analysis
        .findings
        .iter()
        .any(|finding| finding.what == What::NoBaseline && finding.subject.coordinates == "2x3");
    assert!(is_told, "{:#?}", analysis.findings);
}

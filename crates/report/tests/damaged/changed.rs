//! Every value of every file of a run, changed to something unexpected: the result is a report, or an error that names the file.

use crate::{OnDisk, told};
use analysis::summary::analyse;
use record::run::Run;
use record::synthetic::{self, consolidated, neighbour};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Characters that a terminal acts on, HTML and Markdown marks, and what ends a table cell or a code block.
const FOREIGN: &str = "\x1b[2J\x07\u{9b}31m\u{202e}<script>|```\r\n\0é";

/// Places in a JSON file, one for each name: the entries of a list behave alike.
fn pointers(value: &Value, path: &str, name: &str, known: &mut BTreeSet<String>, found: &mut Vec<String>) {
    if known.insert(name.to_owned()) {
        found.push(path.to_owned());
    }
    match value {
        Value::Object(table) => table.iter().for_each(|(key, below)| {
            let escaped = key.replace('~', "~0").replace('/', "~1");
            pointers(below, &format!("{path}/{escaped}"), &format!("{name}/{key}"), known, found);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(place, below)| {
            pointers(below, &format!("{path}/{place}"), &format!("{name}/*"), known, found);
        }),
        _ => {}
    }
}

fn changes(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(_) => [
            json!(0),
            json!(-1),
            json!(1),
            json!(1_u64 << 31),
            json!(u32::MAX),
            json!(1_u64 << 53),
            json!(1_u64 << 57),
            json!((1_u64 << 62)),
            json!(-(1_i64 << 62)),
            json!(1_u64 << 63),
            json!(u64::MAX),
            json!(1e308),
            json!(0.5),
        ]
        .into(),
        Value::String(_) => vec![json!(""), json!(FOREIGN), json!("a".repeat(100_000)), json!(null)],
        Value::Array(list) => vec![json!([]), list.iter().chain(list).cloned().collect(), json!(null)],
        Value::Object(table) => {
            let renamed = table.iter().map(|(key, below)| (format!("{FOREIGN}{key}"), below.clone()));
            vec![json!({}), Value::Object(renamed.collect()), json!(null)]
        }
        Value::Bool(known) => vec![json!(!known), json!(null)],
        Value::Null => Vec::new(),
    }
}

/// True if nothing that a terminal acts on reaches any output, and no foreign mark-up reaches an HTML page.
fn is_clean(outputs: &[String]) -> bool {
    let acts = |letter: char| (letter.is_control() && letter != '\n') || ('\u{202a}'..='\u{202e}').contains(&letter);
    outputs.iter().all(|output| !output.contains(acts)) && outputs[0].matches("<script").count() == 1
}

/// Reads and reports the present files; returns the panic or the bad message, if there is one. The message may name a
/// file beside the changed one, if the two disagree.
fn wrong(disk: &OnDisk, file: &str) -> Option<String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| match disk.open() {
        Ok(run) => {
            let outputs = told(&run, &analyse(&run));
            (!is_clean(&outputs)).then(|| "something reaches the reader as it was".to_owned())
        }
        Err(error) => {
            let told = error.to_string();
            let folder = file.rsplit_once('/').map_or(file, |(folder, _)| folder);
            (!told.contains(folder) || told.contains(char::is_control)).then_some(told)
        }
    }));
    outcome.unwrap_or_else(|_| Some("it panics".to_owned()))
}

/// Changes each place of a file in each way, but only takes every `step`th of all changes.
fn survives(run: &Run, files: &[&str], step: usize) {
    let disk = OnDisk::of(run);
    let mut bad = Vec::new();
    for file in files {
        let whole = disk.json(file);
        let mut found = Vec::new();
        pointers(&whole, "", "", &mut BTreeSet::new(), &mut found);
        let of_place = |pointer: &String| {
            let values = changes(whole.pointer(pointer).expect("a place that was found"));
            values.into_iter().map(|value| (pointer.clone(), value)).collect::<Vec<_>>()
        };
        let all: Vec<(String, Value)> = found.iter().flat_map(of_place).collect();
        for (pointer, value) in all.into_iter().step_by(step) {
            let mut changed = whole.clone();
            *changed.pointer_mut(&pointer).expect("a place that was found") = value.clone();
            disk.write(file, changed.to_string());
            let short: String = value.to_string().chars().take(40).collect();
            bad.extend(wrong(&disk, file).map(|why| format!("{file} {pointer} = {short}: {why}")));
        }
        disk.write(file, whole.to_string());
    }
    assert!(bad.is_empty(), "{} changes: {bad:#?}", bad.len());
}

/// One of this many changes is tried; a number has thirteen, so that places get different ones. All would take minutes.
const STEP: usize = 47;
const STEP_OF_THE_FULL_SET: usize = 5;

fn single_machines(step: usize) {
    let files = ["plan.json", "host.json", "trial.json", "findings.json", "counters.json", "telemetry.json"];
    let of_trial = |name: &&str| {
        if ["plan.json", "host.json"].contains(name) { (*name).to_owned() } else { format!("trials/0001/{name}") }
    };
    let files: Vec<String> = files.iter().map(of_trial).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    survives(&synthetic::waits::sampled(synthetic::run(2)), &files, step);
}

fn machines_side_by_side(step: usize) {
    let mut run = consolidated::run(1, None);
    // The others are removed, as if not reached.
    run.trials.retain(|trial| trial.machines.len() == 2);
    let two = run.trials[0].record.id;
    let machine = format!("trials/{two:04}/machines/2/trial.json");
    let looks = format!("trials/{two:04}/machines/2/counters.json");
    survives(&run, &["plan.json", &machine, &looks], step);
}

fn a_neighbour(step: usize) {
    survives(&neighbour::run(1, &["stops"]), &["plan.json", "trials/0001/machines/3/trial.json"], step);
}

#[test]
fn no_value_of_a_run_of_single_machines_is_believed_blindly() {
    single_machines(STEP);
}

#[test]
fn no_value_of_a_run_of_machines_side_by_side_is_believed_blindly() {
    machines_side_by_side(STEP);
}

#[test]
fn no_value_of_a_run_with_a_neighbour_is_believed_blindly() {
    a_neighbour(STEP);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn no_value_of_any_run_is_believed_blindly() {
    single_machines(STEP_OF_THE_FULL_SET);
    machines_side_by_side(STEP_OF_THE_FULL_SET);
    a_neighbour(STEP_OF_THE_FULL_SET);
}

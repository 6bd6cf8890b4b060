//! Workloads with phases of their own, whose figures are those of the phases.

use crate::drive::{Database, bakeoff, events, succeeded};
use std::process::Command;

/// The report of the kept run computes the same figures in its own way.
#[test]
fn phases_of_a_workload_are_told_each_and_are_what_its_throughput_is_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["drive", "decision-support-h", "sqlite:orders.db", "--set", "scale=0.01", "--steps", "load,run,check"];
    let output = bakeoff(folder.path(), &[&asked[..], &["--json", "--record", "kept"]].concat()).output().unwrap();
    let told = succeeded(&output);
    assert!(told.contains("the geometric mean of the phases") && !told.contains("h22/s"), "{told}");
    let result = events(&output).pop().unwrap();
    let phases = result["phases"].as_array().unwrap();
    let names: Vec<_> = phases.iter().filter_map(|phase| phase["name"].as_str()).collect();
    assert_eq!(names, ["power", "throughput"]);
    assert!(phases.iter().all(|phase| phase["mean_us"].as_object().unwrap().len() == 22), "{phases:?}");
    let of_phases: f64 = phases.iter().filter_map(|phase| phase["rate"].as_f64()).product();
    let throughput = result["throughput"].as_f64().unwrap();
    assert!((of_phases.sqrt() / throughput - 1.0).abs() < 1e-9, "{result}");
    let observations = std::fs::read_to_string(folder.path().join("kept/observations.csv")).unwrap();
    let kept = observations.lines().find(|line| line.contains(",throughput,")).unwrap();
    assert!(kept.contains(&format!(",{throughput},")), "{kept}: not {throughput}");
}

/// Loads a workload at scale 1, where most questions have answers, and asks all of them.
fn answers_are_known(workload: &str, run: impl Fn(&[&str]) -> Command, url: &str) {
    let asked = ["drive", workload, url, "--set", "scale=1", "--steps", "load,check,clean"];
    let told = succeeded(&run(&asked).output().expect("running bakeoff"));
    assert!(told.contains(" 0 violated, 0 not judged"), "{workload} at {url}: {told}");
}

fn all_answers_are_known(run: impl Fn(&[&str]) -> Command, url: &str) {
    for workload in ["decision-support-h", "decision-support-ds"] {
        answers_are_known(workload, &run, url);
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn all_answers_at_scale_one_are_the_known_ones_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    all_answers_are_known(|arguments| bakeoff(folder.path(), arguments), "sqlite:large.db");
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn all_answers_at_scale_one_are_the_known_ones_on_postgres() {
    let Some(server) = Database::new(r#"{"shared_buffers": "1GiB", "work_mem": "64MiB"}"#) else { return };
    all_answers_are_known(|arguments| server.bakeoff(arguments), &server.url(""));
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn all_answers_at_scale_one_are_the_known_ones_on_mariadb() {
    let Some(server) = Database::mariadb(r#"{"innodb_buffer_pool_size": "2GiB"}"#) else { return };
    all_answers_are_known(|arguments| server.bakeoff(arguments), &server.url(""));
}

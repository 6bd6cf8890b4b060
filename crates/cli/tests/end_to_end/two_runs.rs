//! Two runs of the same study: compared, refused, and found to be slower.

use crate::runs::study;
use crate::setting::{NOT_USABLE, Place, has_qemu, missing, text};
use record::intervals::{KindInterval, Span};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The only run in a folder of runs.
fn only_run(runs: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(runs).expect("a folder of runs").flatten();
    let first = entries.next().expect("a run").path();
    assert!(entries.next().is_none(), "more than one run");
    first
}

/// Carries out the place's study and keeps the run under this name.
fn run(place: &Place, name: &str) -> PathBuf {
    let output = place.bakeoff(&["run", "study.toml", "--runs", name]);
    assert!(matches!(output.status.code(), Some(0) | NOT_USABLE), "{}", text(&output.stderr));
    only_run(&place.folder.path().join(name))
}

/// A copy of a run that may be changed.
pub fn copy(run: &Path, to: &Path) -> PathBuf {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(run).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
    to.to_owned()
}

pub fn change_json(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    change(&mut value);
    std::fs::write(path, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
}

/// A copy of a run in which each second has this many transactions of the first kind, in the log and in the totals.
fn paced(place: &Place, run: &Path, name: &str, each_second: u32) -> PathBuf {
    let paced = copy(run, &place.folder.path().join(name));
    for trial in ["0001", "0002", "0003"] {
        pace(&paced.join("trials").join(trial), each_second);
    }
    paced
}

fn pace(trial: &Path, each_second: u32) {
    const USUAL_US: u64 = 1_000;
    let path = trial.join("intervals.hlog");
    let mut measured = record::hlog::read(&std::fs::read(&path).unwrap()[..]).unwrap();
    let mut left = 0;
    for second in &mut measured.intervals {
        // On a starved host a second may have none.
        for (place, span) in [Span::Response, Span::Service].into_iter().enumerate() {
            if !second.kinds.iter().any(|part| part.kind == 0 && part.span == span) {
                second.kinds.insert(place, KindInterval { kind: 0, span, counts: Vec::new() });
            }
        }
        for part in second.kinds.iter_mut().filter(|part| part.kind == 0) {
            part.counts = vec![(part.counts.first().map_or(USUAL_US, |(value, _)| *value), each_second)];
            left += u64::from(second.measured && part.span == Span::Response) * u64::from(each_second);
        }
    }
    std::fs::write(path, record::hlog::write(&measured).unwrap()).unwrap();
    change_json(&trial.join("trial.json"), |record| {
        let kind = &mut record["driver"]["kinds"][0];
        (kind["committed"], kind["rolled_back"]) = (left.into(), 0.into());
        record["files"] = serde_json::json!({});
    });
}

fn compared(place: &Place, old: &Path, new: &Path, more: &[&str]) -> Output {
    place.bakeoff(&[&["compare", old.to_str().unwrap(), new.to_str().unwrap()], more].concat())
}

fn ended_with(output: &Output, code: i32, expected: &[&str]) {
    let told = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{told}");
    for part in expected {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
}

#[test]
fn two_runs_are_compared_refused_and_found_slower() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let study = study("sqlite", "512MiB", "").replace("blocks = 2", "blocks = 3").replace("clients = 2", "clients = 1");
    // Commits do not wait for a disk that others may use.
    let study = study.replace("kind = \"sqlite\"", "kind = \"sqlite\"\nprofile = \"relaxed\"");
    let place = Place::new(&study);
    let (old, new) = (run(&place, "old"), run(&place, "new"));
    host_was_read(&new);
    // Two runs of a few seconds on a shared host may differ by anything, so the verdict is asked for by a run and its copy.
    let again = copy(&old, &place.folder.path().join("again"));
    let alike = compared(&place, &old, &again, &["--threshold", "90%", "--allow-undecided"]);
    ended_with(
        &alike,
        0,
        &["\nnative\n", "3 trials of the old run, 3 of the new", "NOPM", "new-order p50, ms", "90 %"],
    );
    // Three trials neither show a difference of a thousandth nor rule one out.
    let strict = compared(&place, &old, &old, &["--threshold", "0.1%"]);
    ended_with(&strict, 10, &["undecided", "INCONCLUSIVE: no regression above 0.1 % was found"]);
    // On a host short of CPU, so few transactions finish that the original runs have no p99.
    let (even, slow) = (paced(&place, &new, "even", 50), paced(&place, &new, "slow", 1));
    let json = compared(&place, &paced(&place, &old, "before", 50), &even, &["--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let figures = json["cells"][0]["figures"].as_array().unwrap();
    assert_eq!(figures.iter().filter(|figure| figure["judged"] == true).count(), 4, "{json}");
    assert!(json["cells"][0]["figures"][0]["change"]["low"].is_number(), "{json}");

    ended_with(&compared(&place, &even, &slow, &["--threshold", "50%"]), 7, &["slower: REGRESSION", "REGRESSION: "]);
    ended_with(&compared(&place, &even, &slow, &[]), 0, &["slower", "No threshold was given"]);

    change_json(&slow.join("trials/0001/trial.json"), |record| {
        record["driver"]["kinds"][0]["committed"] = 500_000.into();
    });
    let told = ["record-disagrees", "trial 1", "3 trials of the old run, 2 of the new"];
    ended_with(&compared(&place, &even, &slow, &["--threshold", "50%"]), 8, &told);

    std::fs::remove_file(slow.join("trials/0001/trial.json")).unwrap();
    std::fs::remove_file(slow.join("trials/0002/trial.json")).unwrap();
    ended_with(&compared(&place, &even, &slow, &["--threshold", "50%"]), 8, &["too few trials", "INCONCLUSIVE"]);

    let other = copy(&new, &place.folder.path().join("other"));
    change_json(&other.join("plan.json"), |plan| plan["cells"][0]["settings"]["workload"]["warehouses"] = 7.into());
    let refused = compared(&place, &old, &other, &["--threshold", "3%"]);
    ended_with(&refused, 2, &["are not compared", "native: workload.warehouses was 1 and is 7"]);
    assert!(refused.stdout.is_empty());
}

/// The host was read at both ends of each window, and the readings are plausible.
fn host_was_read(run: &Path) {
    for trial in record::run::Run::open(run).unwrap().trials {
        let driver = trial.record.driver.expect("driver facts");
        // These clients work back to back, but a busy host holds them up.
        let longest_ms = u64::from(driver.clients) * driver.measured_ms;
        assert!(driver.paused_ms.is_some_and(|paused_ms| paused_ms < longest_ms), "{driver:?}");
        let state = trial.record.host_state.expect("the host was read");
        assert!(state.span_ns() > (driver.measured_ms - 1_000) * 1_000_000, "{state:?}");
        let ours = |reading: &record::host_state::HostReading| reading.processes.known().expect("processes").ours_ticks;
        assert!(ours(&state.end) > ours(&state.start), "the load takes CPU time: {state:?}");
    }
    let analysis: Value = serde_json::from_slice(&std::fs::read(run.join("analysis.json")).unwrap()).unwrap();
    let consistency = &analysis["consistency"];
    assert_eq!(consistency["littles_law"].as_array().map(Vec::len), Some(3), "{consistency}");
    assert!(consistency["loaded_data"][0]["tables"].as_u64().is_some_and(|tables| tables >= 9), "{consistency}");
    assert_eq!(consistency["host"]["trials"].as_array().map(Vec::len), Some(3), "{consistency}");
}

#[test]
fn what_is_no_run_and_no_threshold_is_refused() {
    let place = Place::new("");
    let here = place.folder.path().to_owned();
    ended_with(&compared(&place, &here, &here, &[]), 2, &["name a run folder"]);
    ended_with(&compared(&place, &here, &here, &["--threshold", "100"]), 2, &["as in 3%"]);
}

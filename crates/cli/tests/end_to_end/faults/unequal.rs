//! Faults that hit only one contender, or a part of a window: other load, less CPU, other data, a wrong clock.

use super::{for_a_while, named};
use crate::running::{Running, send};
use crate::runs::{at_an_easy_pace, small, with_time};
use crate::setting::{NOT_USABLE, Place, end_of, has_qemu, missing, text};
use crate::starved::{counts_or_was_starved, was_starved};
use engines::server::Endpoint;
use engines::sqlite::settings::DatabaseFile;
use record::trial::{Outcome, TrialRecord};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const OTHER: &str = "[[contender]]\nname = \"other\"\nplatform = { kind = \"native\" }\n";

/// Other load on the host, limited to two minutes of CPU time.
struct Hog(Child);

impl Hog {
    fn begin() -> Self {
        Self::of("ulimit -t 120; while :; do :; done")
    }

    /// Of the disk, whatever the folder of temporary files is on. It stops by itself.
    fn of_disk() -> Self {
        let file = format!("{}/hog", env!("CARGO_TARGET_TMPDIR"));
        let write = format!("dd if=/dev/zero of={file} bs=64k count=64 conv=notrunc oflag=direct 2> /dev/null");
        Self::of(&format!("for turn in $(seq 1000); do {write}; done"))
    }

    fn of(script: &str) -> Self {
        Self(Command::new("sh").args(["-c", script]).spawn().unwrap())
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "needs a quiet host, since other load hides what comes and goes: cargo xtask ci --full"]
fn load_beside_one_contender_only_is_told() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let warmed = small("sqlite", "512MiB", OTHER).replace("warmup = \"0s\"", "warmup = \"1s\"");
    let place = Place::new(&warmed.replace("measure = \"1s\"", "measure = \"2s\""));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    let mut hogs = None;
    while let Some(line) = running.next_line() {
        if line.contains("other") && line.contains(": warm up") {
            hogs = Some([Hog::begin(), Hog::of_disk()]);
        } else if line.contains(": check") {
            hogs = None;
        }
    }
    assert!(hogs.is_none());
    let (_, told) = running.end();
    assert!(warned_of(&place, "host-busy-beside-one"), "{told}");
    assert!(warned_of(&place, "host-disk-busy-beside-one"), "{told}");
}

#[test]
fn a_trial_that_others_disturb_is_run_again_and_then_no_measurement() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let limited = "measure = \"2s\"\nmax_other_cpu = \"0.1%\"\nmax_repeats = 1";
    let place = Place::new(&small("sqlite", "512MiB", "").replace("measure = \"1s\"", limited));
    let planned = text(&place.bakeoff(&["plan", "study.toml"]).stdout);
    let again = "a trial beside which others use more than 0.1 % of the host's CPU time is run again, at most once\n";
    assert!(planned.contains(again) && planned.contains("with every such repeat about "), "{planned}");

    let hog = Hog::begin();
    let output = place.bakeoff(&["run", "study.toml"]);
    drop(hog);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("trial 1 is run again, 1 of at most 1 times: others used "), "{told}");
    let record = place.record().trials.remove(0).record;
    let Outcome::Invalid { why } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert!(why.starts_with("others used ") && why.contains("more than the 0.1 % of load.max_other_cpu"), "{why}");
    let other_load = record.other_load.expect("the study has a limit");
    assert_eq!(other_load.disturbed.len(), 1);
    assert!(other_load.disturbed[0].by.other_cpu > 0.001, "{other_load:?}");
    let run = place.run_folder();
    assert!(run.join("earlier/0001-1/trial.json").exists());

    let analysis: serde_json::Value =
        serde_json::from_slice(&std::fs::read(run.join("analysis.json")).unwrap()).unwrap();
    let others = &analysis["consistency"]["host"]["trials"][0]["others"];
    assert_eq!(others.as_f64().as_ref(), other_load.other_cpu.known(), "there is one figure");
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("Trial 1 was run once more, because others used "), "{report}");
}

/// True if the analysis has a finding with this code.
fn warned_of(place: &Place, code: &str) -> bool {
    let analysis = std::fs::read(place.run_folder().join("analysis.json")).unwrap();
    let analysis: serde_json::Value = serde_json::from_slice(&analysis).unwrap();
    analysis["findings"].as_array().expect("findings").iter().any(|finding| finding["kind"] == code)
}

/// From the middle of the window on, the agent gets a quarter of the time.
#[test]
fn less_cpu_in_the_second_half_of_a_window_is_told() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&small("sqlite", "512MiB", "").replace("measure = \"1s\"", "measure = \"6s\""));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until(": measure");
    let agent = named(running.id(), "/run/bakeoff/agent\0agent\0");
    let slice = Duration::from_millis(40);
    for_a_while(Duration::from_secs(3));
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        for (signal, span) in [(Signal::STOP, 3 * slice), (Signal::CONT, slice)] {
            for process in &agent {
                send(*process, signal);
            }
            for_a_while(span);
        }
    }
    let (code, told) = running.end();
    // If this test itself gets no CPU in time, one of its stops may be long enough to be reported as a stall.
    let stood_still = code == Some(4) && told.contains("the load generator stood still");
    assert!(stood_still || code == NOT_USABLE, "{told}");
    assert!(stood_still || warned_of(&place, "halves-unlike"), "{told}");
}

/// A product's price changes in the cached data once the first trial has its clone, so the second contender begins with it.
#[test]
fn data_that_is_changed_for_one_contender_are_found() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::apart(&small("sqlite", "512MiB", OTHER), "micro");
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until(": start");
    change_a_price(place.cache());
    let (code, told) = running.end();
    assert_eq!(code, Some(6), "{told}");
    let run = place.record();
    let wrong: Vec<bool> =
        run.trials.iter().map(|trial| trial.findings.iter().any(record::check::CheckResult::is_violated)).collect();
    assert_eq!(wrong.iter().filter(|wrong| **wrong).count(), 1, "{wrong:?}");
    let page = std::fs::read_to_string(place.run_folder().join("report.md")).expect("a report");
    assert!(warned_of(&place, "check-violated") && page.contains("products"), "{told}{page}");
}

/// As an upgrade or a build does while a run goes on.
#[test]
fn a_program_that_is_replaced_meanwhile_changes_nothing() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&at_an_easy_pace(&with_time(&small("sqlite", "512MiB", OTHER))));
    let program = place.folder.path().join("bakeoff");
    std::fs::copy(crate::setting::program(), &program).unwrap();
    let asked = place.command(&["run", "study.toml"]);
    let mut command = Command::new(&program);
    command.args(asked.get_args()).current_dir(place.folder.path());
    command.envs(asked.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut running = Running::of(command);
    running.until(": measure");
    let other = place.folder.path().join("another");
    std::fs::copy("/bin/false", &other).unwrap();
    std::fs::rename(&other, &program).unwrap();
    let (code, told) = running.end();
    let records: Vec<TrialRecord> = place.record().trials.into_iter().map(|trial| trial.record).collect();
    assert_eq!(code, end_of(!records.iter().any(was_starved)), "{told}");
    assert_eq!(records.iter().filter(|record| counts_or_was_starved(record)).count(), 2, "{told}");
}

fn change_a_price(cache: &Path) {
    let mut disks = std::fs::read_dir(cache.join("data")).unwrap().flatten().map(|entry| entry.path().join("disk.img"));
    let image = disks.find(|path| path.exists()).expect("a loaded disk");
    let folder = tempfile::tempdir().unwrap();
    let debugfs = |requests: &str| {
        let script = folder.path().join("requests");
        std::fs::write(&script, requests).unwrap();
        let output = Command::new("debugfs").args(["-w", "-f"]).args([&script, &image]).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let file = folder.path().join("bakeoff.db");
    debugfs(&format!("dump /sqlite/bakeoff.db {}\n", file.display()));
    let endpoint = Endpoint::Sqlite(DatabaseFile {
        file: file.clone(),
        journal_mode: "wal".to_owned(),
        synchronous: "full".to_owned(),
        cache_bytes: 1 << 20,
        busy_timeout_ms: 1000,
        wal_autocheckpoint_pages: 1000,
    });
    let mut admin = engines::catalog::admin(&endpoint).unwrap();
    admin.script("UPDATE products SET price = price + 1 WHERE prod_id = 7").unwrap();
    drop(admin);
    debugfs(&format!("cd /sqlite\nrm bakeoff.db\nwrite {} bakeoff.db\n", file.display()));
}

/// QEMU counts instructions instead of time, so the guest's clock runs as fast as the guest computes.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_guest_whose_clock_runs_wrong_is_not_measured() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let study = small("sqlite", "384MiB", "");
    let place = Place::new(&study.replace("{ kind = \"native\" }", "{ kind = \"qemu\", accelerator = \"tcg\" }"));
    let wrapper = place.temporary().join("qemu-system-x86_64");
    let real = which("qemu-system-x86_64");
    // One thread for all vCPUs, since counting instructions requires it.
    let script = format!(
        "#!/bin/bash\nwords=()\nfor word in \"$@\"; do words+=(\"${{word/thread=multi/thread=single}}\"); done\n\
         exec {real} \"${{words[@]}}\" -icount shift=6,sleep=off\n"
    );
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = place.command(&["run", "study.toml"]);
    let output = command.env("PATH", format!("{}:{path}", place.temporary().display())).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    let outcome = place.record().trials[0].record.outcome.clone();
    let (Outcome::Invalid { why } | Outcome::Failed { why, .. }) = &outcome else { panic!("{outcome:?}") };
    assert!(why.contains("the machine's clock"), "{why}");
}

fn which(program: &str) -> String {
    text(&Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().stdout).trim().to_owned()
}

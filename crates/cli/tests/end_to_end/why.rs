//! What host and guest counted while a guest was measured, and what the report concludes from it.

use crate::runs::{small, study};
use crate::setting::{NOT_USABLE, Place, has_qemu, missing, text};
use analysis::counted::{self, CountedTrial};
use record::run::StoredTrial;
use record::telemetry::{Series, Side};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The most operations per second of the limited guest's disk.
const LIMIT: f64 = 80.0;

/// A process that always wants a CPU. Dropping this ends it.
struct BusyLoop(Child);

impl BusyLoop {
    fn on(cpu: u32) -> Self {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
        Self(command.stdin(Stdio::null()).spawn().expect("a busy loop"))
    }
}

impl Drop for BusyLoop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn guest(name: &str, disk: &str) -> String {
    format!("[[contender]]\nname = \"{name}\"\nplatform = {{ kind = \"qemu\", accelerator = \"tcg\"{disk} }}\n")
}

fn limited() -> String {
    guest("limited", &format!(", disk = {{ operations_limit = {LIMIT} }}"))
}

const NATIVE: &str = "[[contender]]\nname = \"native\"\nplatform = { kind = \"native\" }\n";

/// Machines with one vCPU each in place of the native one. The guest that is called free shares its CPU.
fn carried_out(study: &str, machines: &str) -> Place {
    let place = Place::new(&study.replace(NATIVE, machines));
    // Machines with one vCPU get the first CPU that we may use.
    let first = telemetry::own_cpus().and_then(|cpus| cpus.first().copied()).expect("a CPU");
    let mut run = place.command(&["run", "study.toml"]).stderr(Stdio::piped()).spawn().expect("running bakeoff");
    let (mut busy, mut told) = (None, String::new());
    for line in BufReader::new(run.stderr.take().expect("its progress")).lines().map_while(Result::ok) {
        // While a guest boots, its kernel calibrates its clock, and gets that wrong if it is interrupted.
        if line.ends_with("free: warm up") {
            busy = Some(BusyLoop::on(first));
        } else if line.ends_with(": check") {
            busy = None;
        }
        told.push_str(&line);
        told.push('\n');
    }
    drop(busy);
    let code = run.wait().expect("its end").code();
    // What a guest did that this host let wait is no measurement, but is counted all the same.
    let stood_still = code == Some(4) && told.contains(": invalid: the load generator stood still");
    assert!(stood_still || matches!(code, Some(0) | NOT_USABLE), "{told}");
    place
}

#[test]
fn host_and_guest_count_the_same_of_a_limited_disk() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let study = small("sqlite", "512MiB", "").replace("measure = \"1s\"", "measure = \"8s\"");
    // Only the guest is looked at.
    let short = format!("{NATIVE}set = {{ \"load.measure\" = \"2s\" }}\n");
    let place = carried_out(&study, &(short + &limited()));
    let markdown = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    for part in ["Load profile", "Operating system", "I/O profile"] {
        assert!(markdown.contains(part), "{part} is missing from {markdown}");
    }
    let run = place.record();
    agrees_between_layers(run.trials.iter().find(|trial| trial.record.contender == "limited").expect("its trial"));
}

#[test]
#[ignore = "needs a quiet host, since other load hides a limit: cargo xtask ci --full"]
fn what_holds_a_guest_back_is_named() {
    if missing("qemu", has_qemu()) {
        return;
    }
    // Long enough for a mean, and for a variation from second to second.
    let study = study("sqlite", "512MiB", "").replace("measure = \"3s\"", "measure = \"8s\"");
    // Equal except for what holds them back.
    let place = carried_out(&study.replace("blocks = 2", "blocks = 3"), &[guest("free", ""), limited()].concat());
    let analysis = std::fs::read(place.run_folder().join("analysis.json")).unwrap();
    let analysis: Value = serde_json::from_slice(&analysis).unwrap();
    let reasons = analysis["explanations"][0]["reasons"].as_array().expect("reasons");
    let found = |rule: &str, who: &str| {
        reasons.iter().filter(|one| one["rule"] == rule && one["quantities"]["who"] == who).count()
    };
    assert_eq!(found("held-back-disk", "limited"), 1, "{reasons:#?}");
    assert_eq!(reasons.iter().filter(|one| one["rule"] == "held-back-disk").count(), 1, "{reasons:#?}");
    assert!(found("shared-cpu", "free") > 0, "{reasons:#?}");
    let markdown = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    assert!(markdown.contains("limited's disk looks limited"), "{markdown}");
}

fn side(trial: &StoredTrial, side: Side) -> &Series {
    let series = trial.telemetry.iter().find(|series| series.side == side);
    series.unwrap_or_else(|| panic!("trial {} has nothing from {side:?}", trial.record.id))
}

/// Guest and QEMU count the same requests, each on its own clock and in its own samples.
fn agrees_between_layers(trial: &StoredTrial) {
    let counted: CountedTrial = counted::of_trial(trial).expect("a measured window");
    let (host, machine) = (counted.host.expect("the host's counts"), counted.machine.expect("the guest's counts"));
    assert!(host.samples >= 7 && machine.samples >= 5, "{} and {}", host.samples, machine.samples);
    let sum = |side: &counted::SideCounts, disk: &str| {
        side.worth(&format!("{disk}.read_bytes")).unwrap() + side.worth(&format!("{disk}.write_bytes")).unwrap()
    };
    let (by_qemu, by_guest) = (sum(&host, "qemu_disk.data"), sum(&machine, "disk.data"));
    assert!(by_guest > 0.0 && (by_qemu / by_guest - 1.0).abs() < 0.2, "{by_qemu} by QEMU, {by_guest} by the guest");
    let second = machine.disk().expect("the disk's counts").operations() / machine.seconds;
    assert!(second < 1.2 * LIMIT, "{second} operations/s");
    for (side, names) in [(Side::Host, &["vcpu.0", "emulator", "cpu"][..]), (Side::Machine, &["server", "interrupts"])]
    {
        for name in names {
            let probe = self::side(trial, side).probes.iter().find(|probe| probe.name == **name).expect("a probe");
            assert!(probe.columns.known().is_some(), "{probe:?}");
        }
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn who_does_not_want_telemetry_gets_none() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let unsampled =
        "[[contender]]\nname = \"unsampled\"\nplatform = { kind = \"native\" }\nset = { \"load.telemetry\" = false }\n";
    let place = Place::new(&study("sqlite", "512MiB", unsampled).replace("blocks = 2", "blocks = 1"));
    let output = place.bakeoff(&["run", "study.toml"]);
    assert_eq!(output.status.code(), NOT_USABLE, "{}", text(&output.stderr));
    for trial in &place.record().trials {
        let sides = if trial.record.contender == "unsampled" { 0 } else { 2 };
        assert_eq!(trial.telemetry.len(), sides, "{}", trial.record.contender);
        let looks = trial.looks.as_ref().expect("a window that is long enough");
        assert_eq!(looks.waits().is_some(), sides > 0, "{}", trial.record.contender);
    }
    let run = place.run_folder();
    let output = place.bakeoff(&["export", run.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("native"), "{}", text(&output.stdout));
    assert!(!text(&output.stdout).contains("unsampled"));
}
